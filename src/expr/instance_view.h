/* A view of some instances of a group, each with one node whose variables are read from y instead of x. */
#ifndef SVMP_EXPR_INSTANCE_VIEW_H
#define SVMP_EXPR_INSTANCE_VIEW_H

#include <stddef.h>
#include <stdint.h>

typedef struct instance_view {
    size_t count;
    const uint32_t *instance; /* instances of the group, by position in the view */
    const uint32_t *shift;    /* variable i of the k-th node is row i + shift[k], modulo 2^32, of y */
    const unsigned char
        *own;            /* slot -> whether it holds a variable of the node, the same in all instances of the view */
    const double *x, *y; /* rows of n numbers; y NULL: all variables are read from x */

    /* NULL, or the rows in the slots of the first instance of the view, then those of the second one, and so on. Then
     * only `count` and `instance` are read besides. */
    const double *const *row;
} instance_view;

#endif
