/* Chains and named statistics of particles. */
#include <string.h>

#include "sample/particles.h"

size_t svmp_particles_chains(const svmp_particles *particles) { return particles ? particles->chains : 0; }

svmp_status svmp_particles_set_chains(svmp_particles *particles, size_t chains) {
    if (particles == NULL) return SVMP_BAD_CALL;
    if (chains == 0 || particles->count % chains != 0)
        return svmp_fail(particles->context, SVMP_BAD_CALL,
                         "%zu particles cannot be divided into %zu chains of equal length.", particles->count, chains);
    particles->chains = chains;
    return SVMP_OK;
}

size_t svmp_particles_statistics(const svmp_particles *particles) { return particles ? particles->statistic_count : 0; }

const char *svmp_particles_statistic_name(const svmp_particles *particles, size_t statistic) {
    if (particles == NULL || statistic >= particles->statistic_count) return NULL;
    return particles->statistics[statistic].name;
}

const double *svmp_particles_statistic(const svmp_particles *particles, const char *name) {
    if (particles == NULL || name == NULL) return NULL;
    for (size_t k = 0; k < particles->statistic_count; k++)
        if (strcmp(particles->statistics[k].name, name) == 0) return particles->statistics[k].values;
    return NULL;
}

static svmp_status check_name(svmp_context *context, const char *name) {
    const char *fault = svmp_name_problem(name);
    if (fault == NULL && !svmp_name_is_internal(name)) fault = "does not end in '__'";
    if (fault == NULL && strcmp(name, "chain__") == 0) fault = "is reserved for the chain number";
    if (fault == NULL) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_CALL, "'%.80s' cannot be the name of a statistic: it %s.", name, fault);
}

svmp_status svmp_particles_set_statistic(svmp_particles *particles, const char *name, const double *values) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (name == NULL || values == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_set_statistic: the name or the values are NULL.");
    SVMP_TRY(check_name(context, name));
    double *there = (double *)svmp_particles_statistic(particles, name);
    if (there) {
        memmove(there, values, particles->count * sizeof *values);
        return SVMP_OK;
    }
    struct statistic made = {0};
    const size_t count = particles->statistic_count;
    SVMP_TRY(SVMP_GROW(context, particles->statistics, particles->statistic_capacity, count + 1));
    SVMP_TRY(svmp_duplicate(context, name, &made.name));
    svmp_status status = SVMP_NEW(context, made.values, particles->count);
    if (status != SVMP_OK) {
        svmp_release(context, made.name);
        return status;
    }
    memcpy(made.values, values, particles->count * sizeof *values);
    particles->statistics[count] = made;
    particles->statistic_count++;
    return SVMP_OK;
}

void svmp_particles_drop_statistic(svmp_particles *particles, const char *name) {
    size_t left = 0;
    for (size_t k = 0; k < particles->statistic_count; k++) {
        struct statistic *here = &particles->statistics[k];
        if (strcmp(here->name, name) != 0) {
            particles->statistics[left++] = *here;
            continue;
        }
        svmp_release_all(particles->context, here->name, here->values);
    }
    particles->statistic_count = left;
}
