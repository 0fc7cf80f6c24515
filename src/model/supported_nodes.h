/* The nodes with a support (model/node_support.h) of a model that functions build. */
#ifndef SVMP_MODEL_SUPPORTED_NODES_H
#define SVMP_MODEL_SUPPORTED_NODES_H

#include "model/callback_factors.h"
#include "model/model.h"

/* Prepares the support of the next node; svmp_supported_keep, which cannot fail, gives it to the node once it is added.
 * A support that is not kept is freed with the model. */
svmp_status svmp_supported_prepare(svmp_model *model, const char *name, svmp_support kind, size_t values,
                                   const double *lower, const double *upper);
void svmp_supported_keep(svmp_model *model, size_t node);
void svmp_supported_free(svmp_model *model);

bool svmp_supported_is(const svmp_model *model, size_t node);

/* A group of one function of some nodes, which reads their values. */
svmp_status svmp_supported_group(const svmp_model *model, size_t count, const size_t *nodes,
                                 svmp_factor_function function, void *user_data, factor_group *group);

/* What model/natural_values.h says, of a model with such nodes. */
size_t svmp_supported_values(const svmp_model *model);
const char *svmp_supported_name(const svmp_model *model, size_t output, char *buffer, size_t size);
svmp_status svmp_supported_natural(const svmp_model *model, size_t n, const double *variables, double *values);
svmp_status svmp_supported_inverse(const svmp_model *model, size_t n, const double *values, double *variables);

#endif
