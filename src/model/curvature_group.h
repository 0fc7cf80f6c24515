/* Second derivatives of the instances of a group: from its kind if that provides them, by differences otherwise. */
#ifndef SVMP_MODEL_CURVATURE_GROUP_H
#define SVMP_MODEL_CURVATURE_GROUP_H

#include <stdbool.h>

#include "model/factor_group.h"

typedef struct curvature_group {
    const factor_group *factors;
    size_t pairs; /* of slots, row >= column, each once */
    const uint32_t *row, *column;
    struct hessian *exact; /* NULL: by differences */
    uint32_t *all_row, *all_column;
    factor_group view; /* the factors, slot j reading variable j */
} curvature_group;

svmp_status svmp_curvature_group_create(svmp_context *context, const factor_group *factors, curvature_group *made);
void svmp_curvature_group_free(svmp_context *context, curvature_group *group); /* accepts an all-zero value */

/* Whether it comes by differences for many slots, from the first few particles alone. */
bool svmp_curvature_group_is_expensive(const curvature_group *group);

/* Bytes for the means of so many instances and the scratch behind them. */
size_t svmp_curvature_group_scratch(const curvature_group *group, size_t n, size_t instances);

/* mean[(k - first)*pairs + p], as svmp_hessian_mean; `width` as in curvature.h. Returns FACTOR_DONE or
 * what was wrong. */
int svmp_curvature_group_mean(const curvature_group *group, size_t first, size_t count, size_t n, const double *x,
                              const double *width, void *scratch, double *mean);

#endif
