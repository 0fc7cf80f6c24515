/* Selects some variables of a sample, and every Kth of its draws. */
#include <string.h>

#include "base/peers.h"
#include "sample/sampler_totals.h"

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

/* Creates particles for the chosen variables of this process, of `whole` chosen in total; place[k] is the position of
 * variable k among these. */
static svmp_status place_chosen(const svmp_particles *from, size_t count, const size_t *variables, uint32_t *place,
                                size_t *whole) {
    enum { BITS = 62 }; /* bits of a word, so that sums of words do not overflow */
    svmp_context *context = from->context;
    const size_t words = from->whole / BITS + 1;
    int64_t *chosen = NULL;
    size_t *before = NULL; /* word -> the number chosen in earlier words */
    svmp_status status = SVMP_NEW(context, chosen, words);
    if (status == SVMP_OK) status = SVMP_NEW(context, before, words + 1);
    SVMP_CHECK(svmp_agree(context, from->peers, status));
    for (size_t k = 0; k < count; k++) {
        const uint32_t at = from->place[variables ? variables[k] : k];
        chosen[at / BITS] |= INT64_C(1) << at % BITS;
    }
    from->peers->sum(from->peers, words, chosen); /* no variable belongs to two processes */
    for (size_t w = 0; w < words; w++) before[w + 1] = before[w] + (size_t)__builtin_popcountll((uint64_t)chosen[w]);
    for (size_t k = 0; k < count; k++) {
        const uint32_t at = from->place[variables ? variables[k] : k];
        const int64_t lower = (INT64_C(1) << at % BITS) - 1;
        place[k] = (uint32_t)(before[at / BITS] + (size_t)__builtin_popcountll((uint64_t)(chosen[at / BITS] & lower)));
    }
    *whole = before[words];
done:
    svmp_release_all(context, chosen, before);
    return status;
}

/* New particles in several processes: the chosen variables of all, in the order of the whole. */
static svmp_status create_part(const svmp_particles *from, size_t count, const size_t *variables, size_t draws,
                               svmp_particles **made) {
    svmp_context *context = from->context;
    uint32_t *place = NULL;
    size_t whole = 0;
    svmp_status status;
    SVMP_CHECK(svmp_agree(context, from->peers, SVMP_NEW(context, place, count)));
    SVMP_CHECK(place_chosen(from, count, variables, place, &whole));
    if (whole == 0) SVMP_CHECK(svmp_fail(context, SVMP_BAD_CALL, "No variable is chosen in any process."));
    SVMP_CHECK(svmp_particles_create_part(context, from->peers, whole, count, place, draws, NULL, made));
done:
    svmp_release(context, place);
    return status;
}

/* Thinned draws lack information on the others, so their statistics are kept. */
static int needs_totals(const svmp_particles *particles, size_t every) {
    return svmp_sampler_totals_are_kept(particles) || (every > 1 && svmp_particles_statistic(particles, "divergent__"));
}

svmp_status svmp_particles_select(const svmp_particles *particles, size_t count, const size_t *variables, size_t every,
                                  svmp_particles **chosen) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (chosen == NULL || every == 0)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_select: the result is NULL or every is 0.");
    for (size_t k = 0; variables && k < count; k++)
        if (variables[k] >= particles->variables)
            return svmp_fail(context, SVMP_BAD_CALL,
                             "Variable %zu is out of range: the particles have %zu variables, counted from 0.",
                             variables[k], particles->variables);
    const size_t each = particles->count / particles->chains;
    if (every > each)
        return svmp_fail(context, SVMP_BAD_CALL, "Cannot keep one draw in %zu: there are only %zu draws.", every, each);
    svmp_particles *made = NULL;
    double *column = NULL;
    const size_t wanted = variables ? count : particles->variables, draws = each / every * particles->chains;
    svmp_status status = particles->peers->count > 1 ? create_part(particles, wanted, variables, draws, &made)
                                                     : svmp_particles_create(context, wanted, draws, NULL, &made);
    if (status == SVMP_OK) status = svmp_particles_set_chains(made, particles->chains);
    if (status == SVMP_OK) status = SVMP_NEW(context, column, made->count);
    if (status == SVMP_OK) status = select_values(particles, variables, every, made);
    if (status == SVMP_OK) status = select_statistics(particles, every, column, made);
    if (status == SVMP_OK) status = svmp_particles_copy_extras(made, particles);
    if (status == SVMP_OK && needs_totals(particles, every)) status = svmp_sampler_totals_keep(1, &particles, made);
    if (status == SVMP_OK && particles->compressed)
        status = svmp_particles_select(particles->compressed, count, variables, 1, &made->compressed);
    status = svmp_agree(context, particles->peers, status);
    if (status == SVMP_OK) {
        *chosen = made;
        made = NULL;
    }
    svmp_release(context, column);
    svmp_particles_free(made);
    return status;
}

svmp_status svmp_particles_chain(const svmp_particles *particles, size_t chain, svmp_particles **draws) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (draws == NULL || chain >= particles->chains)
        return svmp_fail(context, SVMP_BAD_CALL,
                         "svmp_particles_chain: the result is NULL, or chain %zu is out of range: there are %zu "
                         "chains, counted from 0.",
                         chain, particles->chains);
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
    SVMP_CHECK(svmp_particles_copy_extras(made, particles));
    if (svmp_sampler_totals_are_kept(particles)) SVMP_CHECK(svmp_sampler_totals_keep_one(particles, chain, made));
    *draws = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}
