/* Heavy tails: variables whose means and sds cannot be estimated from any practical number of draws. */
#ifndef SVMP_SAMPLE_HEAVY_TAILS_H
#define SVMP_SAMPLE_HEAVY_TAILS_H

#include "sample/particles.h"

/* The number of such variables, and the one with the heaviest tail. */
typedef struct heavy_tails {
    size_t count, worst;
    double shape;
} heavy_tails;

/* The larger shape of a generalised Pareto distribution in both tails of a sample; -INFINITY if both are plainly light,
 * or there are too few draws to tell. `workspace` has `count` numbers. */
double svmp_tail_shape(size_t count, const double *values, double *workspace);

/* Finds the variables with a shape above 1/2, where the variance is infinite; the more variables there are, the larger
 * the shape must be, since it is an estimate. */
svmp_status svmp_find_heavy_tails(const svmp_particles *particles, heavy_tails *found);

#endif
