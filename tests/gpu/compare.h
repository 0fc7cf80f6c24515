/* Two backends side by side: the same particles, an iteration at a time. */
#ifndef SVMP_TESTS_COMPARE_H
#define SVMP_TESTS_COMPARE_H

#include "backend/backend.h"

typedef struct comparison {
    const svmp_model *model;
    const backend_kind *reference, *other;
    const char *kernel, *step; /* kernel NULL: Langevin dynamics */
    size_t n, iterations;
    size_t measured; /* particles of which the discrepancy is taken; 0: all */
    /* Where the particles of variable i begin iteration t; NULL: normal at first, then where the last one left them. */
    void (*place)(size_t t, size_t i, size_t n, double *row);
} comparison;

/* The largest differences of any iteration. Of scores and velocities they are relative to the largest score of the
 * variable, or the largest velocity where that is larger; of particles after a step by the same phi, to their distance
 * from 0, or 1 where that is larger. INFINITY: one has a number that is not finite, and the other does not. */
typedef struct differences {
    double score, phi, x;
    size_t iterations; /* done before the particles left the support of the model, if they did */
} differences;

/* The largest difference of the discrepancies that a backend measures itself from those of its arrays on the CPU, of
 * all nodes and the total: of V and U relative to V of one particle, of others to themselves, or to 1 where they are
 * small. After some iterations. INFINITY: the backend did not measure, or did not measure the same bits again. */
svmp_status compare_discrepancies(const comparison *c, double *largest);

/* Every iteration starts from the particles and the step's state of the reference. */
svmp_status compare_backends(const comparison *c, differences *found);

#endif
