/* Values derived from particles: draws leaves, then computes monitored values. */
#ifndef SVMP_RUN_DERIVED_VALUES_H
#define SVMP_RUN_DERIVED_VALUES_H

#include "model/model.h"
#include "sample/particles.h"

typedef struct derivation {
    const svmp_model *model; /* of a text */
    uint64_t seed;
    bool one_sample; /* Particles that interact, and draws that are matched to averages, have less noise than
                        independent draws, so their leaves are stratified. Draws of samplers are not, because they must
                        not depend on the number of draws. */
} derivation;

/* Fills the leaves and monitored values of `made`, particles of natural values, from the variables of the same
 * particles. */
svmp_status svmp_derive(const derivation *d, const double *variables, svmp_particles *made);

/* The same for parts of a model, from the backend's variables x, own ones first: state k of the `states` that each of
 * its particles has in `made`, in order. *probabilities, initially NULL, accumulates over states; the caller releases
 * it. Collective. */
svmp_status svmp_derive_part(const derivation *d, const double *x, size_t k, size_t states, double **probabilities,
                             svmp_particles *made);

#endif
