/* A part of a sample: some of its variables, every so-many-th of its draws. */
#include <string.h>

#include "io/particles.h"

static svmp_status select_values(const svmp_particles *from, const size_t *variables, size_t every,
                                 svmp_particles *to) {
    const size_t each = from->count / from->chains, kept = to->count / to->chains;
    for (size_t k = 0; k < to->variables; k++) {
        const size_t i = variables ? variables[k] : k;
        for (size_t l = 0; l < to->count; l++)
            to->values[k * to->count + l] =
                from->values[i * from->count + l / kept * each + (l % kept + 1) * every - 1];
        SVMP_TRY(svmp_particles_set_name(to, k, svmp_particles_name(from, i)));
    }
    return SVMP_OK;
}

static svmp_status select_statistics(const svmp_particles *from, size_t every, double *column, svmp_particles *to) {
    const size_t each = from->count / from->chains, kept = to->count / to->chains;
    for (size_t k = 0; k < from->statistic_count; k++) {
        for (size_t l = 0; l < to->count; l++)
            column[l] = from->statistics[k].values[l / kept * each + (l % kept + 1) * every - 1];
        SVMP_TRY(svmp_particles_set_statistic(to, from->statistics[k].name, column));
    }
    return SVMP_OK;
}

svmp_status svmp_particles_select(const svmp_particles *particles, size_t count, const size_t *variables, size_t every,
                                  svmp_particles **chosen) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (chosen == NULL || every == 0)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_select needs a place for its result and every >= 1.");
    for (size_t k = 0; variables && k < count; k++)
        if (variables[k] >= particles->variables)
            return svmp_fail(context, SVMP_BAD_CALL, "There is no variable %zu; the particles have %zu.", variables[k],
                             particles->variables);
    const size_t each = particles->count / particles->chains;
    if (every > each) return svmp_fail(context, SVMP_BAD_CALL, "Every %zu-th of %zu draws is none.", every, each);
    svmp_particles *made = NULL;
    double *column = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_particles_create(context, variables ? count : particles->variables,
                                     each / every * particles->chains, NULL, &made));
    SVMP_CHECK(svmp_particles_set_chains(made, particles->chains));
    SVMP_CHECK(SVMP_NEW(context, column, made->count));
    SVMP_CHECK(select_values(particles, variables, every, made));
    SVMP_CHECK(select_statistics(particles, every, column, made));
    SVMP_CHECK(svmp_particles_carry(made, particles));
    *chosen = made;
    made = NULL;
done:
    svmp_release(context, column);
    svmp_particles_free(made);
    return status;
}

svmp_status svmp_particles_chain(const svmp_particles *particles, size_t chain, svmp_particles **draws) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (draws == NULL || chain >= particles->chains)
        return svmp_fail(context, SVMP_BAD_CALL, "There is no chain %zu to take out of %zu, counted from 0.", chain,
                         particles->chains);
    const size_t each = particles->count / particles->chains, first = chain * each;
    svmp_particles *made = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_particles_create(context, particles->variables, each, NULL, &made));
    for (size_t i = 0; i < particles->variables; i++) {
        memcpy(made->values + i * each, particles->values + i * particles->count + first, each * sizeof(double));
        SVMP_CHECK(svmp_particles_set_name(made, i, svmp_particles_name(particles, i)));
    }
    for (size_t k = 0; k < particles->statistic_count; k++)
        SVMP_CHECK(
            svmp_particles_set_statistic(made, particles->statistics[k].name, particles->statistics[k].values + first));
    SVMP_CHECK(svmp_particles_carry(made, particles));
    *draws = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}
