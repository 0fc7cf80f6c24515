/* lp__: the log density of every particle of a result. */
#ifndef SVMP_RUN_RESULT_LOG_DENSITY_H
#define SVMP_RUN_RESULT_LOG_DENSITY_H

#include "method/method.h"
#include "sample/particles.h"

/* Sets the statistic lp__ unless the method has set it already. `x` are the backend's particles with their halo, which
 * a part of a model is evaluated at; otherwise the particles' own values are. lp__ is left out if a factor's function
 * fails and, with a warning, if memory is short, so that this never costs the result. Collective. */
svmp_status svmp_run_set_log_density(const svmp_run *run, const double *x, svmp_particles *particles);

/* Additional bytes that this takes for `count` particles. */
double svmp_run_log_density_bytes(const svmp_model *model, size_t count);

#endif
