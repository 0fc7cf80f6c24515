/* What a sampler's draws were when all of them were there, chain by chain. Thinned draws keep it, since neither how
 * many trajectories diverged nor the steps of the energy can be told from every so-many-th: as series along
 * sampled_chain, called sampled_draws, sampled_divergent, sampled_deepest and sampled_ebfmi. */
#ifndef SVMP_SAMPLE_TALLY_H
#define SVMP_SAMPLE_TALLY_H

#include "sample/particles.h"

#define TALLY_ALONG "sampled_chain"

typedef struct chain_tally {
    double draws, divergent, deepest, ebfmi; /* ebfmi NaN: not defined */
} chain_tally;

/* Whether the particles carry tallies. */
int svmp_tally_is_kept(const svmp_particles *particles);

/* That of a chain: kept, or counted. */
chain_tally svmp_tally_of(const svmp_particles *particles, size_t chain);

/* Makes the tallies of all chains of the parts those of `to`, which has as many chains. */
svmp_status svmp_tally_keep(size_t count, const svmp_particles *const *parts, svmp_particles *to);

/* That of one chain alone. */
svmp_status svmp_tally_keep_one(const svmp_particles *from, size_t chain, svmp_particles *to);

#endif
