/* A factor given as a C function: a group of one instance. */
#ifndef SVMP_MODEL_CALLBACK_FACTORS_H
#define SVMP_MODEL_CALLBACK_FACTORS_H

#include "model/factor_group.h"

/* A group of one instance with `slots` variables, which the caller fills in. */
svmp_status svmp_callback_group(svmp_context *context, size_t slots, svmp_factor_function function, void *user_data,
                                factor_group *group);

#endif
