/* What a sampler's statistics say: acceptance, divergences, tree depth, and whether the momenta move the energy. */
#include <math.h>

#include "svmp.h"

enum { DEEPEST = 10 };

/* The mean over all draws; NaN without values. */
static double mean_of(size_t count, const double *values) {
    double sum = 0;
    if (values == NULL) return NAN;
    for (size_t l = 0; l < count; l++) sum += values[l];
    return sum / (double)count;
}

static size_t count_from(size_t count, const double *values, double least) {
    size_t found = 0;
    for (size_t l = 0; values && l < count; l++) found += values[l] >= least;
    return found;
}

/* Betancourt's E-BFMI: how much of the energy's variance one draw of the momenta explores. NaN: the energy stays. */
static double ebfmi_of(size_t draws, const double *energy) {
    const double mean = mean_of(draws, energy);
    double steps = 0, spread = 0;
    for (size_t l = 0; l < draws; l++) {
        spread += (energy[l] - mean) * (energy[l] - mean);
        if (l > 0) steps += (energy[l] - energy[l - 1]) * (energy[l] - energy[l - 1]);
    }
    return spread > 0 ? steps / spread : NAN;
}

svmp_status svmp_particles_sampling(const svmp_particles *particles, svmp_sampling *sampling) {
    if (particles == NULL || sampling == NULL) return SVMP_BAD_CALL;
    const size_t count = svmp_particles_count(particles), chains = svmp_particles_chains(particles);
    const size_t draws = count / chains;
    const double *energy = svmp_particles_statistic(particles, "energy__");
    svmp_sampling found = {
        .chains = chains,
        .draws = draws,
        .acceptance = mean_of(count, svmp_particles_statistic(particles, "accept_stat__")),
        .leapfrogs = mean_of(count, svmp_particles_statistic(particles, "n_leapfrog__")),
        .divergent = count_from(count, svmp_particles_statistic(particles, "divergent__"), 1),
        .deepest = count_from(count, svmp_particles_statistic(particles, "treedepth__"), DEEPEST),
        .ebfmi = NAN,
    };
    for (size_t c = 0; energy && c < chains; c++) {
        const double here = ebfmi_of(draws, energy + c * draws);
        if (!(here >= found.ebfmi) && !isnan(here)) {
            found.ebfmi = here;
            found.ebfmi_chain = c;
        }
    }
    *sampling = found;
    return SVMP_OK;
}
