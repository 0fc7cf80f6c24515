/* The summary of many variables: scalars and small arrays in full, the variables that are worst off, and one line for
 * every larger array. What it shows depends on the names and numbers alone. */
#ifndef SVMP_CLI_TABLE_OVERVIEW_H
#define SVMP_CLI_TABLE_OVERVIEW_H

#include "convergence.h"
#include "svmp_tools.h"

enum {
    OVERVIEW_FROM = 51,   /* fewer variables are shown one by one */
    OVERVIEW_SMALL = 10,  /* elements of an array that is shown in full */
    OVERVIEW_ROWS = 50,   /* of variables in full, at most */
    OVERVIEW_WORST = 10,  /* variables that are worst off */
    OVERVIEW_INDICES = 8, /* dimensions of an array */
};

/* All variables whose names differ in their indices alone, x.1.1, x.1.2, ...: an array; or a scalar. */
typedef struct overview_array {
    const char *name; /* the first `length` characters; points into the particles */
    size_t length, rank, low[OVERVIEW_INDICES], high[OVERVIEW_INDICES];
    size_t first, count; /* its variables are order[first] ... order[first + count - 1] of the overview */
} overview_array;

typedef struct overview {
    overview_array *arrays; /* in the order of their first variables */
    size_t count, *order;
} overview;

/* Returns 0 without memory. overview_free accepts an all-zero value. */
int overview_make(const svmp_particles *particles, overview *made);
void overview_free(overview *o);

/* Whether a name is that of an element of an array, x.3.1. */
int is_element(const char *name);

/* Puts the scalars among some variables before the elements of arrays; both keep their order. Returns 0 without memory.
 */
int scalars_first(const svmp_particles *particles, size_t count, size_t *which);

/* The variables of scalars and small arrays, at most `most`; returns how many, and in *more how many there are besides.
 */
size_t overview_scalars(const overview *o, size_t most, size_t *rows, size_t *more);

/* The variables that are worst off, the worst first: of chains those with the highest R-hat; of particles those of the
 * nodes in the record that is `c`. Returns how many. */
size_t overview_worst(const svmp_particles *particles, const svmp_mixing *mixing, const convergence *c,
                      size_t rows[OVERVIEW_WORST]);

/* A line for each larger array: the range of its means and standard deviations; of chains, the highest R-hat and the
 * fewest effective draws. `moments` and `mixing` (or NULL) are of all variables. */
void overview_print_arrays(const overview *o, const svmp_moments *moments, const svmp_mixing *mixing);

#endif
