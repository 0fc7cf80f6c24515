/* Values derived from the particles of a run: draws leaves, then computes monitored values. */
#ifndef SVMP_RUN_DERIVED_VALUES_H
#define SVMP_RUN_DERIVED_VALUES_H

#include "method/method.h"
#include "sample/particles.h"

/* Fills the leaves and monitored values of `made`, particles of natural values, from the variables of the same
 * particles. */
svmp_status svmp_run_follow(const svmp_run *run, const double *variables, svmp_particles *made);

/* The same for parts of a model, from the backend's variables x, own ones first: state k of the `states` that each of
 * its particles has in `made`, in order. *probabilities, initially NULL, accumulates over states; the caller releases
 * it. Collective. */
svmp_status svmp_run_follow_part(const svmp_run *run, const double *x, size_t k, size_t states, double **probabilities,
                                 svmp_particles *made);

#endif
