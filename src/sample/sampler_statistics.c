/* A summary of a sampler's statistics: acceptance, divergences, tree depth, and E-BFMI. */
#include <math.h>

#include "sample/sampler_totals.h"

/* The mean over all draws; NaN without values. */
static double mean_of(size_t count, const double *values) {
    double sum = 0;
    if (values == NULL) return NAN;
    for (size_t l = 0; l < count; l++) sum += values[l];
    return sum / (double)count;
}

svmp_status svmp_particles_sampling(const svmp_particles *particles, svmp_sampling *sampling) {
    if (particles == NULL || sampling == NULL) return SVMP_BAD_CALL;
    const size_t count = particles->count, chains = particles->chains;
    svmp_sampling found = {
        .chains = chains,
        .draws = count / chains,
        .acceptance = mean_of(count, svmp_particles_statistic(particles, "accept_stat__")),
        .leapfrogs = mean_of(count, svmp_particles_statistic(particles, "n_leapfrog__")),
        .ebfmi = NAN,
    };
    for (size_t c = 0; c < chains; c++) {
        const sampler_totals totals = svmp_sampler_totals_of(particles, c);
        found.trajectories += (size_t)totals.draws;
        found.divergent += (size_t)totals.divergent;
        found.deepest += (size_t)totals.deepest;
        if (!(totals.ebfmi >= found.ebfmi) && !isnan(totals.ebfmi)) {
            found.ebfmi = totals.ebfmi;
            found.ebfmi_chain = c;
        }
    }
    *sampling = found;
    return SVMP_OK;
}
