/* Tallies: statistics of all draws of a sampler, chain by chain. Thinned draws keep them, because divergences and
 * energy steps cannot be counted from every Kth draw. They are stored as series along sampled_chain: sampled_draws,
 * sampled_divergent, sampled_deepest and sampled_ebfmi. */
#ifndef SVMP_SAMPLE_TALLY_H
#define SVMP_SAMPLE_TALLY_H

#include "sample/particles.h"

#define TALLY_ALONG "sampled_chain"

enum { NUTS_DEEPEST = 10 }; /* doublings of a trajectory of NUTS */

typedef struct chain_tally {
    double draws, divergent, deepest, ebfmi; /* ebfmi NaN: not defined */
} chain_tally;

/* Whether tallies are stored with the particles. */
int svmp_tally_is_kept(const svmp_particles *particles);

/* The tally of a chain: stored, or counted from the draws. */
chain_tally svmp_tally_of(const svmp_particles *particles, size_t chain);

/* Copies the tallies of all chains of the parts to `to`, which has as many chains. */
svmp_status svmp_tally_keep(size_t count, const svmp_particles *const *parts, svmp_particles *to);

/* The same for one chain. */
svmp_status svmp_tally_keep_one(const svmp_particles *from, size_t chain, svmp_particles *to);

#endif
