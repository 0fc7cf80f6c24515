/* Compares two backends with the same particles, one iteration at a time. */
#ifndef SVMP_TESTS_COMPARE_H
#define SVMP_TESTS_COMPARE_H

#include "backend/backend.h"

typedef struct comparison {
    const svmp_model *model;
    const backend_kind *reference, *other;
    const char *kernel, *step; /* kernel NULL: Langevin dynamics */
    size_t n, iterations;
    size_t measured; /* the number of particles used for the discrepancy; 0: all */
    /* The particles of variable i at the start of iteration t; NULL: normal at first, then those of the previous one.
     * */
    void (*place)(size_t t, size_t i, size_t n, double *row);
} comparison;

/* The largest differences over all iterations. Those of scores and velocities are relative to the variable's largest
 * score or largest velocity, whichever is larger; those of particles after a step by the same phi to max(1, |x|).
 * INFINITY: only one of the two has a number that is not finite. */
typedef struct differences {
    double score, phi, x;
    size_t iterations; /* completed before the particles left the support of the model, if they did */
} differences;

/* After some iterations, the largest difference between the discrepancies measured by a backend and those computed on
 * the CPU from its arrays, over all nodes and the total. Differences of V and U are relative to V of one particle,
 * others to max(1, value). INFINITY: the backend did not measure, or a second measurement had other bits. */
svmp_status compare_discrepancies(const comparison *c, double *largest);

/* Every iteration starts from the particles and the step's state of the reference. */
svmp_status compare_backends(const comparison *c, differences *found);

#endif
