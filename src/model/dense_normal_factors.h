/* Factors that are multivariate normal densities of many dimensions, whose covariance or precision matrix is computed:
 * its entries are computed rows (computed.h). */
#ifndef SVMP_MODEL_DENSE_NORMAL_FACTORS_H
#define SVMP_MODEL_DENSE_NORMAL_FACTORS_H

#include <stdbool.h>

#include "model/factor_group.h"

/* Where the p values, the p means and the lower triangle of the matrix, row by row, come from: a slot, or
 * DENSE_NUMBER + the place among the numbers of an instance. */
typedef struct dense_normal {
    size_t p, slots, numbers;
    bool precision; /* the matrix is the inverse of the covariance */
    uint32_t *source;
} dense_normal;

#define DENSE_NUMBER 0x80000000u

static inline size_t svmp_dense_normal_sources(size_t p) { return 2 * p + p * (p + 1) / 2; }

/* Fills *group. variables[k*slots + j] and numbers[k*numbers + j] are those of instance k; all are copied. */
svmp_status svmp_dense_normal_group(svmp_context *context, const dense_normal *shape, size_t instances,
                                    const uint32_t *variables, const double *numbers, factor_group *group);

#endif
