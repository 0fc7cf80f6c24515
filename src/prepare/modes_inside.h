/* Internal declarations of the search for modes, shared by modes_by_mass.c, mode_starts.c and mode_weights.c. */
#ifndef SVMP_PREPARE_MODES_INSIDE_H
#define SVMP_PREPARE_MODES_INSIDE_H

#include "base/random.h"
#include "maths/sparse_factor.h"
#include "model/curvature.h"
#include "prepare/many_ascents.h"
#include "prepare/modes_by_mass.h"
#include "prepare/prepare_constants.h"

typedef struct mode_search {
    const svmp_model *model;
    svmp_context *context;
    gaussian *q;
    uint64_t seed, drawn; /* draws so far: each has a number of its own */
    size_t d;
    const sparsity *pattern;
    curvature *curve;
    factorisation *factor;
    evaluator *lanes, *one; /* of ASCENT_LANES particles, and of one */
    double *sd;             /* of q */
    found_modes *found;     /* room for MOST_MODES; mode 0 is q */
    size_t spikes;          /* examined so far */
    double bound;           /* of q */

    /* Starts that wait, point after point. */
    double *points;
    size_t count, capacity;

    double *x, *density;          /* d * ASCENT_LANES, and ASCENT_LANES: to be evaluated together */
    double *step, *score, *trial; /* d each */
    double *H;                    /* entries */
} mode_search;

/* (x - mean)' A (x - mean), of a point whose numbers are `stride` apart; `workspace` has d numbers. */
double svmp_sparse_distance(const sparsity *pattern, const double *A, const double *mean, const double *x,
                            size_t stride, double *workspace);

/* Room for one more start, at the end of the list, which the caller fills; NULL without memory. */
svmp_status svmp_starts_add(mode_search *s, double **point);

/* Log densities of `count` points, points[k*d + i]; not finite where they have none. */
svmp_status svmp_modes_evaluate(mode_search *s, size_t count, const double *points, double *log_density);

/* The starts of the first round, from q; and those from mode k. */
svmp_status svmp_starts_first(mode_search *s);
svmp_status svmp_starts_again(mode_search *s);
svmp_status svmp_starts_from(mode_search *s, size_t k);

/* A Gaussian by its bound, from the mode's top; for all modes from the same draws. The bound becomes the mass. */
svmp_status svmp_mode_fit(mode_search *s, found_mode *mode, bool *fitted);

/* Masses by importance sampling; shares; drops modes without one that counts, and sorts the others. */
svmp_status svmp_modes_weigh(mode_search *s);

#endif
