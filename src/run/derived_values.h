/* What follows from the particles of a run: leaves are drawn, then what is monitored is computed. */
#ifndef SVMP_RUN_DERIVED_VALUES_H
#define SVMP_RUN_DERIVED_VALUES_H

#include "method/method.h"
#include "sample/particles.h"

/* Fills the leaves and what is monitored of `made`, natural values, from the variables of the same particles. */
svmp_status svmp_run_follow(const svmp_run *run, const double *variables, svmp_particles *made);

/* The same of parts of a model, from the backend's variables x, own ones first: state k of `states` that each of its
 * particles has in `made`, one after the other. *probabilities, NULL at first, goes from state to state; the caller
 * releases it. For all processes to call. */
svmp_status svmp_run_follow_part(const svmp_run *run, const double *x, size_t k, size_t states, double **probabilities,
                                 svmp_particles *made);

#endif
