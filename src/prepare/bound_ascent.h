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
    size_t most, draws; /* that there is room for, and that there are */
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

/* Room for so many draws. */
svmp_status svmp_ascent_create(const svmp_model *model, size_t most, ascent **made);
void svmp_ascent_free(ascent *a);

/* How many draws there are from now on: an even number, at most as many as there is room for. Keyed by the seed. */
svmp_status svmp_ascent_set_draws(ascent *a, uint64_t seed, size_t draws);

/* F at here.mean with a narrow A from the curvature there, pulled in until it is finite: narrower, and the mean nearer
 * to 0. And F at (here.mean, here.A), narrower until it is finite. *found: whether it is. */
svmp_status svmp_ascent_begin(ascent *a, int *found);
svmp_status svmp_ascent_resume(ascent *a, int *found);

/* When it ends: after `steps` full steps in a row, or three times as many shorter ones, that each gain less than
 * `gain`. A full step may lose as much as `loss`: F and the equations A = H, slope = 0 have not quite the same solution
 * for a finite number of draws, and full steps go to that of the equations. */
typedef struct ascent_goal {
    double gain, loss;
    int steps;
    double level; /* an ascent that comes within this of a known bound has come there; 0: the means count, too */
    double worth; /* shorter steps are not tried if they promise less */
} ascent_goal;

/* `known`, unless NULL, is a point that was found already: an ascent that comes to it ends there, and so does one that
 * would not come as high at the pace it has. */
typedef enum ascent_outcome { ASCENT_CONVERGED, ASCENT_KNOWN, ASCENT_LOW, ASCENT_NOT_CONVERGED } ascent_outcome;
svmp_status svmp_ascent_climb(ascent *a, ascent_goal goal, const ascent_point *known, ascent_outcome *end);

#endif
