/* Maximises the bound F(m, A) of prepare/fitted_gaussian.h from one start. */
#ifndef SVMP_PREPARE_BOUND_ASCENT_H
#define SVMP_PREPARE_BOUND_ASCENT_H

#include "maths/sparse_factor.h"
#include "model/curvature.h"
#include "model/evaluator.h"

typedef struct ascent_point {
    double *mean, *A;  /* of the variables, and of the entries of the pattern */
    double *x, *score; /* its draws, and their scores */
    double bound;      /* F, without constants */
} ascent_point;

typedef struct ascent {
    const svmp_model *model;
    int threads;
    size_t most, draws; /* the capacity, and the current number */
    evaluator *evaluate;
    curvature *curve;
    const sparsity *pattern;
    factorisation *factor;
    double *z; /* variables*draws standard normal numbers in antithetic pairs, every variable's second moment 1 */

    ascent_point here, next;
    double *H, *slope, *unit, *log_density; /* -mean Hessian, mean score, sd of each variable given the others */
    size_t iterations;
    double gain; /* of the last iteration */
} ascent;

/* With memory for at most this many draws. */
svmp_status svmp_ascent_create(const svmp_model *model, size_t most, ascent **made);
void svmp_ascent_free(ascent *a);

/* Sets the number of draws: even, and at most the capacity. Keyed by the seed. */
svmp_status svmp_ascent_set_draws(ascent *a, uint64_t seed, size_t draws);

/* begin: F at here.mean with a narrow A from the curvature there; until F is finite, A is narrowed and the mean is
 * moved towards 0. resume: F at (here.mean, here.A), narrowed until it is finite. *found: whether it is finite. */
svmp_status svmp_ascent_begin(ascent *a, int *found);
svmp_status svmp_ascent_resume(ascent *a, int *found);

/* The stopping rule: `steps` full steps in a row, or three times as many shorter ones, that each gain less than `gain`.
 * A full step may lose up to `loss`: for a finite number of draws the maximum of F and the solution of A = H, slope = 0
 * differ slightly, and full steps converge to the latter. */
typedef struct ascent_goal {
    double gain, loss;
    int steps;
    double level; /* an ascent within this of a known bound has reached it; 0: the means must agree, too */
    double worth; /* shorter steps are not tried if they promise less */
} ascent_goal;

/* `known`, unless NULL, is a point found earlier: an ascent ends if it reaches this point, or cannot reach its bound at
 * the current rate. */
typedef enum ascent_outcome { ASCENT_CONVERGED, ASCENT_KNOWN, ASCENT_LOW, ASCENT_NOT_CONVERGED } ascent_outcome;
svmp_status svmp_ascent_climb(ascent *a, ascent_goal goal, const ascent_point *known, ascent_outcome *end);

#endif
