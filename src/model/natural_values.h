/* The natural values of the nodes of a model, which are reported. Without transforms these are the variables; for a
 * model text they are on the scale of the text, while particles move on the unconstrained scale. */
#ifndef SVMP_MODEL_NATURAL_VALUES_H
#define SVMP_MODEL_NATURAL_VALUES_H

#include "model/model.h"

size_t svmp_model_outputs(const svmp_model *model);

/* Whether an output is a leaf, which is drawn after the run and has no variables. */
int svmp_model_is_drawn(const svmp_model *model, size_t output);

/* The number of monitored elements of deterministic nodes, which are reported after the outputs. */
size_t svmp_model_monitored(const svmp_model *model);

/* Like svmp_model_variable_name, for outputs and monitored elements. */
const char *svmp_model_output_name(const svmp_model *model, size_t output, char *buffer, size_t size);

/* Natural values of n particles from their variables, and back; particle-fast, variables*n and outputs*n numbers, of
 * which those of leaves are neither written nor read. */
svmp_status svmp_model_natural(const svmp_model *model, size_t n, const double *variables, double *outputs);
svmp_status svmp_model_unconstrain(const svmp_model *model, size_t n, const double *outputs, double *variables);

/* The natural value of a variable in one of n particles, for a message: the value reported under the variable's name.
 * Returns the variable itself if there is no such value, or no memory. */
double svmp_model_natural_value(const svmp_model *model, size_t n, const double *variables, size_t particle,
                                size_t variable);

/* n particles from the priors; fails if the model has none: only a model text has priors. */
svmp_status svmp_model_draw_priors(const svmp_model *model, uint64_t seed, size_t n, double *variables);

#endif
