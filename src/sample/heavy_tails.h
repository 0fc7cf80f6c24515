/* Heavy tails: variables whose means and sds cannot be estimated from any practical number of draws. */
#ifndef SVMP_SAMPLE_HEAVY_TAILS_H
#define SVMP_SAMPLE_HEAVY_TAILS_H

#include "sample/particles.h"

/* The shape of a generalised Pareto distribution in a tail, and the share of the variance that is beyond the largest
 * draw, of values whose mean is 0 and whose variance is 1; INFINITY from shape 1/2 on. The share allows for the shape
 * of one of many variables being an estimate. */
typedef struct heavy_tail {
    double shape, share;
} heavy_tail;

/* The tail of a sample that has more of the variance, of one of `variables`; -INFINITY and 0 if both are plainly light,
 * or there are too few draws to tell. `workspace` has `count` numbers. */
heavy_tail svmp_heavier_tail(size_t count, size_t variables, const double *values, double *workspace);

#endif
