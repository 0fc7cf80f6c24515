/* Groups of linear-quadratic factors: these are Gaussian factors and can be merged into the quadratic. */
#ifndef SVMP_MODEL_GAUSSIAN_FACTORS_H
#define SVMP_MODEL_GAUSSIAN_FACTORS_H

#include <stdbool.h>

#include "model/model.h"

/* Whether the group can be part of the quadratic. */
bool svmp_gaussian_group_is(const factor_group *group);

/* Whether merging makes it cheaper to evaluate. It does not for the square of a sum of many variables, whose matrix is
 * full. */
bool svmp_gaussian_group_is_cheaper(const factor_group *group);

/* Adds the group's factors to the quadratic of the model, c + b'x - x'Ax/2 each. *added is false if a coefficient is
 * not finite; then nothing was added. The graph does not change. For a fragment, collective: c and *added are those of
 * the whole group. `linear` has a zero for each variable, before and after. */
svmp_status svmp_gaussian_group_add(svmp_model *model, const factor_group *group, double *linear, bool *added);

#endif
