/* Totals of all draws of a sampler, chain by chain: divergences, deepest trees and E-BFMI. Thinned draws keep them,
 * because divergences and energy steps cannot be counted from every Kth draw. They are stored as series along
 * sampled_chain: sampled_draws, sampled_divergent, sampled_deepest and sampled_ebfmi. */
#ifndef SVMP_SAMPLE_SAMPLER_TOTALS_H
#define SVMP_SAMPLE_SAMPLER_TOTALS_H

#include "sample/particles.h"

#define SAMPLER_TOTALS_ALONG "sampled_chain"

enum { NUTS_DEEPEST = 10 }; /* doublings of a trajectory of NUTS */

typedef struct sampler_totals {
    double draws, divergent, deepest, ebfmi; /* ebfmi NaN: not defined */
} sampler_totals;

/* Whether totals are stored with the particles. */
int svmp_sampler_totals_are_kept(const svmp_particles *particles);

/* The totals of a chain: stored, or counted from the draws. */
sampler_totals svmp_sampler_totals_of(const svmp_particles *particles, size_t chain);

/* Copies the totals of all chains of the parts to `to`, which has as many chains. */
svmp_status svmp_sampler_totals_keep(size_t count, const svmp_particles *const *parts, svmp_particles *to);

/* The same for one chain. */
svmp_status svmp_sampler_totals_keep_one(const svmp_particles *from, size_t chain, svmp_particles *to);

#endif
