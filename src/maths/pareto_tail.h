/* Generalised Pareto tails: how heavy a sample's tail is. */
#ifndef SVMP_MATHS_PARETO_TAIL_H
#define SVMP_MATHS_PARETO_TAIL_H

#include <stddef.h>

typedef struct pareto_tail {
    double shape; /* moments of order 1/shape and above do not exist */
    double scale;
} pareto_tail;

/* Fits the distribution to exceedances over a threshold: at least 5 numbers above 0, ascending. The estimate of Zhang
 * and Stephens (2009), a posterior mean, with the shape drawn a little towards 0.5 as Vehtari et al. (2024) do. The
 * shape is NaN if there are fewer numbers, or all are equal. */
pareto_tail svmp_pareto_fit(size_t count, const double *exceedances);

/* The exceedance that a share p of the distribution lies below. */
double svmp_pareto_quantile(pareto_tail tail, double p);

#endif
