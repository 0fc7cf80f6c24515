/* L-BFGS: finds a local maximum of a smooth function, optionally in a box (Nocedal and Wright, Algorithm 7.5). */
#ifndef SVMP_MATHS_LBFGS_H
#define SVMP_MATHS_LBFGS_H

#include "base/context.h"

typedef struct lbfgs_problem {
    size_t dimension;
    const double *lower, *upper; /* bounds on x, or NULL */
    /* Value and gradient at x; if the value is not finite, the step is shortened. A status other than SVMP_OK ends the
     * search. */
    svmp_status (*evaluate)(void *user_data, const double *x, double *value, double *gradient);
    void *user_data;
} lbfgs_problem;

typedef enum lbfgs_outcome {
    LBFGS_CONVERGED, /* converged: further gains are at the level of rounding */
    LBFGS_DIVERGED,  /* diverged: x became too large */
    LBFGS_FAILED,    /* not converged: the start is not finite, or the search got stuck or took too long */
} lbfgs_outcome;

typedef struct lbfgs_result {
    lbfgs_outcome outcome;
    double value;
    size_t iterations;
} lbfgs_result;

/* Starts at x and replaces it by the best point found. All sums have a fixed order. Needs memory for 25 vectors. */
svmp_status svmp_lbfgs_maximise(svmp_context *context, const lbfgs_problem *problem, double *x, lbfgs_result *end);

#endif
