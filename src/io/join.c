/* Several samples as the chains of one. */
#include <string.h>

#include "io/particles.h"

static svmp_status check_parts(svmp_context *context, size_t count, const svmp_particles *const *parts) {
    const svmp_particles *first = parts[0];
    for (size_t p = 1; p < count; p++)
        if (parts[p]->count / parts[p]->chains != first->count / first->chains)
            return svmp_fail(context, SVMP_BAD_INPUT, "The chains differ in length: %zu draws, and %zu of sample %zu.",
                             first->count / first->chains, parts[p]->count / parts[p]->chains, p + 1);
    return SVMP_OK;
}

/* Copies the variables of a part behind those of `before` draws. */
static svmp_status join_values(const svmp_particles *first, const svmp_particles *part, size_t before,
                               svmp_particles *made) {
    size_t *here = NULL, *there = NULL;
    SVMP_TRY(svmp_particles_match(first, "the first sample", part, "another", &here, &there));
    for (size_t k = 0; k < made->variables; k++)
        memcpy(made->values + here[k] * made->count + before, part->values + there[k] * part->count,
               part->count * sizeof *made->values);
    svmp_release(made->context, here);
    svmp_release(made->context, there);
    return SVMP_OK;
}

/* A statistic of the first part, where all have it. */
static svmp_status join_statistic(size_t count, const svmp_particles *const *parts, const char *name, double *column,
                                  svmp_particles *made) {
    size_t before = 0;
    for (size_t p = 0; p < count; before += parts[p++]->count) {
        const double *values = svmp_particles_statistic(parts[p], name);
        if (values == NULL) return SVMP_OK;
        memcpy(column + before, values, parts[p]->count * sizeof *column);
    }
    return svmp_particles_set_statistic(made, name, column);
}

static svmp_status fill(size_t count, const svmp_particles *const *parts, double *column, svmp_particles *made) {
    const svmp_particles *first = parts[0];
    size_t before = 0, chains = 0;
    for (size_t i = 0; i < made->variables; i++)
        SVMP_TRY(svmp_particles_set_name(made, i, svmp_particles_name(first, i)));
    for (size_t p = 0; p < count; before += parts[p++]->count) {
        SVMP_TRY(join_values(first, parts[p], before, made));
        chains += parts[p]->chains;
    }
    SVMP_TRY(svmp_particles_set_chains(made, chains));
    for (size_t k = 0; k < first->statistic_count; k++)
        SVMP_TRY(join_statistic(count, parts, first->statistics[k].name, column, made));
    if (first->comments) SVMP_TRY(svmp_duplicate(made->context, first->comments, &made->comments));
    return svmp_particles_carry(made, first);
}

svmp_status svmp_particles_join(size_t count, const svmp_particles *const *parts, svmp_particles **joined) {
    if (count == 0 || parts == NULL || parts[0] == NULL) return SVMP_BAD_CALL;
    svmp_context *context = parts[0]->context;
    size_t draws = 0;
    for (size_t p = 0; p < count && parts[p]; p++) draws += parts[p]->count;
    for (size_t p = 0; p < count; p++)
        if (joined == NULL || parts[p] == NULL || parts[p]->team)
            return svmp_fail(context, SVMP_BAD_CALL,
                             "svmp_particles_join needs whole samples and a place for its result.");
    svmp_particles *made = NULL;
    double *column = NULL;
    svmp_status status;
    SVMP_TRY(check_parts(context, count, parts));
    SVMP_CHECK(svmp_particles_create(context, parts[0]->variables, draws, NULL, &made));
    SVMP_CHECK(SVMP_NEW(context, column, draws));
    SVMP_CHECK(fill(count, parts, column, made));
    *joined = made;
    made = NULL;
done:
    svmp_release(context, column);
    svmp_particles_free(made);
    return status;
}
