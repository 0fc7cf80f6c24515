/* Groups whose factors are linear-quadratic: they are Gaussian factors, and can be part of the quadratic. */
#ifndef SVMP_MODEL_GAUSSIAN_GROUP_H
#define SVMP_MODEL_GAUSSIAN_GROUP_H

#include <stdbool.h>

#include "model/model.h"

/* Whether the group can be part of the quadratic. */
bool svmp_gaussian_group_is(const factor_group *group);

/* Whether that makes it cheaper to evaluate. The square of a sum of many variables is better left as it is: its matrix
 * is full. */
bool svmp_gaussian_group_pays(const factor_group *group);

/* Adds the group's factors to the quadratic of the model, c + b'x - x'Ax/2 each. *added is false when a coefficient is
 * not finite, and nothing was added then. The graph is left alone. Of a fragment all processes call it: c is that of
 * the whole group, and so is *added. */
svmp_status svmp_gaussian_group_add(svmp_model *model, const factor_group *group, bool *added);

#endif
