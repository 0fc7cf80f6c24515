/* Reconstructs arrays from the names of variables: x.1, x.2, ... form x; a.1.1, a.1.2, ... form a, with two dimensions.
 */
#ifndef SVMP_SAMPLE_NAME_SHAPES_H
#define SVMP_SAMPLE_NAME_SHAPES_H

#include "sample/particles.h"

enum { SHAPE_DIMENSIONS = 8 };

/* A complete array: each position of a box of indices is one variable. The box need not begin at 1, because the first
 * elements may be known. A variable that is not part of a complete array is a scalar with its full name. */
typedef struct shaped_array {
    const char *name; /* the first `length` characters; points into the particles, not terminated */
    size_t length;
    size_t dimensions, first[SHAPE_DIMENSIONS], extent[SHAPE_DIMENSIONS]; /* indices first, first + 1, ... */
    size_t count;                                                         /* the product of the extents */
    size_t *variable; /* its variables, the last index running fastest; within the shape's `order` */
} shaped_array;

typedef struct shape {
    shaped_array *arrays; /* in the order of their first variables */
    size_t count;
    size_t *order;
} shape;

svmp_status svmp_shape_of(const svmp_particles *particles, shape *made);
void svmp_shape_free(svmp_context *context, shape *made); /* accepts an all-zero value */

/* All variables, array after array, with the first index of each running fastest, as Stan writes them; `order` has room
 * for them. */
void svmp_shape_stan_order(const shape *made, size_t *order);

/* The name of the variable at `place` of an array; the inverse of the above. Truncated to `size`. */
void svmp_shape_name(const shaped_array *array, size_t place, char *buffer, size_t size);

#endif
