/* Modes of a model text that its discrete unknowns make: a change point, an indicator of a model. Given each value of
 * an unknown that most of the data depend on, a Gaussian is fitted; its bound on the evidence says what share the value
 * has. Modes are kept only if some of them are so far apart that particles would not go from one to the other. */
#ifndef SVMP_PREPARE_MODE_SEARCH_H
#define SVMP_PREPARE_MODE_SEARCH_H

#include "lang/compile.h"
#include "model/posterior_modes.h"

/* model->modes; it stays NULL where the model has no such unknown, too many variables or values for this to be cheap,
 * or modes that meet. The model was compiled from `parsed` with the choices `made`. Costs a compilation and a fit of a
 * Gaussian for each combination of values. */
svmp_status svmp_modes_find(svmp_model *model, const parsed_model *parsed, const choices *made);

#endif
