#include "sample/sampler_totals.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { FIELDS = sizeof(sampler_totals) / sizeof(double) };

static const struct {
    const char *name;
    size_t offset;
} fields[FIELDS] = {
    {"sampled_draws", offsetof(sampler_totals, draws)},
    {"sampled_divergent", offsetof(sampler_totals, divergent)},
    {"sampled_deepest", offsetof(sampler_totals, deepest)},
    {"sampled_ebfmi", offsetof(sampler_totals, ebfmi)},
};

static double *field_of(sampler_totals *totals, size_t k) { return (double *)((char *)totals + fields[k].offset); }

/* The stored numbers of a field, one per chain, or NULL. */
static const double *kept(const svmp_particles *particles, size_t k) {
    for (size_t s = 0; s < particles->series_count; s++) {
        const struct series *found = &particles->series[s];
        if (strcmp(found->name, fields[k].name) == 0 && strcmp(found->along, SAMPLER_TOTALS_ALONG) == 0 &&
            found->count == particles->chains)
            return found->values;
    }
    return NULL;
}

/* Files of others may hold anything: checks that counts are integers, and that there are at least as many draws as
 * present. */
int svmp_sampler_totals_are_kept(const svmp_particles *particles) {
    const double least = (double)(particles->count / particles->chains), most = 1e15;
    int all = 1;
    for (size_t k = 0; k < FIELDS; k++) all &= kept(particles, k) != NULL;
    for (size_t c = 0; all && c < particles->chains; c++) {
        const double draws = kept(particles, 0)[c], divergent = kept(particles, 1)[c], deepest = kept(particles, 2)[c];
        all =
            draws >= least && draws <= most && divergent >= 0 && divergent <= draws && deepest >= 0 && deepest <= draws;
    }
    return all;
}

static double count_from(size_t count, const double *values, double least) {
    size_t found = 0;
    for (size_t l = 0; values && l < count; l++) found += values[l] >= least;
    return (double)found;
}

/* Betancourt's E-BFMI: the share of the energy's variance that one draw of the momenta explores. NaN if the energy is
 * constant. */
static double ebfmi_of(size_t draws, const double *energy) {
    double sum = 0, steps = 0, spread = 0;
    for (size_t l = 0; l < draws; l++) sum += energy[l];
    const double mean = sum / (double)draws;
    for (size_t l = 0; l < draws; l++) {
        spread += (energy[l] - mean) * (energy[l] - mean);
        if (l > 0) steps += (energy[l] - energy[l - 1]) * (energy[l] - energy[l - 1]);
    }
    return spread > 0 ? steps / spread : NAN;
}

/* A statistic from the first draw of a chain on. */
static const double *statistic(const svmp_particles *particles, const char *name, size_t chain) {
    const double *values = svmp_particles_statistic(particles, name);
    return values ? values + chain * (particles->count / particles->chains) : NULL;
}

sampler_totals svmp_sampler_totals_of(const svmp_particles *particles, size_t chain) {
    const size_t draws = particles->count / particles->chains;
    const double *energy = statistic(particles, "energy__", chain);
    sampler_totals totals = {
        .draws = (double)draws,
        .divergent = count_from(draws, statistic(particles, "divergent__", chain), 1),
        .deepest = count_from(draws, statistic(particles, "treedepth__", chain), NUTS_DEEPEST),
        .ebfmi = energy ? ebfmi_of(draws, energy) : NAN,
    };
    for (size_t k = 0; svmp_sampler_totals_are_kept(particles) && k < FIELDS; k++)
        *field_of(&totals, k) = kept(particles, k)[chain];
    return totals;
}

static svmp_status set(svmp_particles *to, sampler_totals *all, double *column) {
    for (size_t k = 0; k < FIELDS; k++) {
        for (size_t c = 0; c < to->chains; c++) column[c] = *field_of(&all[c], k);
        SVMP_TRY(svmp_particles_set_series(to, fields[k].name, SAMPLER_TOTALS_ALONG, to->chains, column));
    }
    return SVMP_OK;
}

svmp_status svmp_sampler_totals_keep(size_t count, const svmp_particles *const *parts, svmp_particles *to) {
    sampler_totals *all = NULL;
    double *column = NULL;
    size_t chains = 0;
    svmp_status status = SVMP_NEW(to->context, all, to->chains);
    if (status == SVMP_OK) status = SVMP_NEW(to->context, column, to->chains);
    for (size_t p = 0; status == SVMP_OK && p < count; p++)
        for (size_t c = 0; c < parts[p]->chains; c++) all[chains++] = svmp_sampler_totals_of(parts[p], c);
    if (status == SVMP_OK) status = set(to, all, column);
    svmp_release_all(to->context, column, all);
    return status;
}

svmp_status svmp_sampler_totals_keep_one(const svmp_particles *from, size_t chain, svmp_particles *to) {
    sampler_totals totals = svmp_sampler_totals_of(from, chain);
    double value;
    return set(to, &totals, &value);
}
