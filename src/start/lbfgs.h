/* L-BFGS: a local maximum of a smooth function, in a box if there is one (Nocedal and Wright, Algorithm 7.5). */
#ifndef SVMP_START_LBFGS_H
#define SVMP_START_LBFGS_H

#include "base/context.h"

typedef struct lbfgs_problem {
    size_t dimension;
    const double *lower, *upper; /* a box that x is kept in, or NULL */
    /* Value and gradient at x; not finite: x is outside, come nearer. Another status than SVMP_OK ends the search. */
    svmp_status (*evaluate)(void *user_data, const double *x, double *value, double *gradient);
    void *user_data;
} lbfgs_problem;

typedef enum lbfgs_outcome {
    LBFGS_FOUND, /* what is left to gain is rounding, or close to it */
    LBFGS_AWAY,  /* x left every bound that a number of meaning has */
    LBFGS_LOST,  /* the start is not finite, or the search was stuck, or took too long, where there was still to gain */
} lbfgs_outcome;

typedef struct lbfgs_end {
    lbfgs_outcome outcome;
    double value;
    size_t iterations;
} lbfgs_end;

/* From x, which becomes the best point that was found. All sums have a fixed order. Takes 25 vectors of memory. */
svmp_status svmp_lbfgs_maximise(svmp_context *context, const lbfgs_problem *problem, double *x, lbfgs_end *end);

#endif
