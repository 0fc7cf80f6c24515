/* Joins several samples as the chains of one. */
#include <string.h>

#include "base/notes.h"
#include "base/peers.h"
#include "sample/sampler_totals.h"

enum { CALLED = 256 };

/* How a message names a sample: by its file or its position. */
static const char *call(const svmp_particles *const *parts, size_t p, char called[CALLED]) {
    if (parts[p]->path)
        snprintf(called, CALLED, "'%.200s'", parts[p]->path);
    else
        snprintf(called, CALLED, "sample %zu", p + 1);
    return called;
}

static svmp_status check_lengths(svmp_context *context, size_t count, const svmp_particles *const *parts) {
    const size_t each = parts[0]->count / parts[0]->chains;
    char one[CALLED], other[CALLED];
    for (size_t p = 1; p < count; p++)
        if (parts[p]->count / parts[p]->chains != each)
            return svmp_fail(context, SVMP_BAD_INPUT, "The chains differ in length: %zu draws in %s, but %zu in %s.",
                             each, call(parts, 0, one), parts[p]->count / parts[p]->chains, call(parts, p, other));
    return SVMP_OK;
}

/* Whether two chains have identical draws, bit by bit. */
static int are_equal(const svmp_particles *p, size_t a, size_t b) {
    const size_t each = p->count / p->chains;
    size_t i = 0;
    while (i < p->variables && memcmp(p->values + i * p->count + a * each, p->values + i * p->count + b * each,
                                      each * sizeof *p->values) == 0)
        i++;
    return i == p->variables;
}

/* The part that contains a chain of the joined sample. */
static size_t part_of(const svmp_particles *const *parts, size_t chain) {
    size_t p = 0;
    for (; chain >= parts[p]->chains; p++) chain -= parts[p]->chains;
    return p;
}

/* Refuses duplicate chains, which would look like two chains that agree. */
static svmp_status check_chains(const svmp_particles *const *parts, const svmp_particles *made) {
    char one[CALLED], other[CALLED];
    for (size_t b = 1; b < made->chains; b++)
        for (size_t a = 0; a < b; a++) {
            const size_t p = part_of(parts, a), q = part_of(parts, b);
            if (p != q && are_equal(made, a, b))
                return svmp_fail_notes(made->context, SVMP_BAD_INPUT,
                                       NOTES(svmp_advice(SVMP_NOTE_OTHER_SEEDS, "seed", NULL)),
                                       "%s and %s contain the same draws.", call(parts, p, one), call(parts, q, other));
        }
    return SVMP_OK;
}

/* Copies the draws of a part after the first `before` draws. */
static svmp_status join_values(const svmp_particles *first, const svmp_particles *part, size_t before,
                               svmp_particles *made) {
    size_t *here = NULL, *there = NULL;
    SVMP_TRY(svmp_particles_match(first, "the first sample", part, "another", &here, &there));
    for (size_t k = 0; k < made->variables; k++)
        memcpy(made->values + here[k] * made->count + before, part->values + there[k] * part->count,
               part->count * sizeof *made->values);
    svmp_release_all(made->context, here, there);
    return SVMP_OK;
}

/* Copies a statistic of the first part, if all parts have it. */
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
    size_t before = 0, chains = 0, totals = 0;
    for (size_t i = 0; i < made->variables; i++)
        SVMP_TRY(svmp_particles_set_name(made, i, svmp_particles_name(first, i)));
    for (size_t p = 0; p < count; before += parts[p++]->count) {
        SVMP_TRY(join_values(first, parts[p], before, made));
        chains += parts[p]->chains;
        totals += (size_t)svmp_sampler_totals_are_kept(parts[p]);
    }
    SVMP_TRY(svmp_particles_set_chains(made, chains));
    if (totals > 0) SVMP_TRY(svmp_sampler_totals_keep(count, parts, made));
    for (size_t k = 0; k < first->statistic_count; k++)
        SVMP_TRY(join_statistic(count, parts, first->statistics[k].name, column, made));
    if (first->comments) SVMP_TRY(svmp_duplicate(made->context, first->comments, &made->comments));
    return svmp_particles_copy_extras(made, first);
}

svmp_status svmp_particles_join(size_t count, const svmp_particles *const *parts, svmp_particles **joined) {
    if (count == 0 || parts == NULL || parts[0] == NULL) return SVMP_BAD_CALL;
    svmp_context *context = parts[0]->context;
    size_t draws = 0;
    for (size_t p = 0; p < count && parts[p]; p++) draws += parts[p]->count;
    for (size_t p = 0; p < count; p++)
        if (joined == NULL || parts[p] == NULL || parts[p]->peers->count > 1)
            return svmp_fail(context, SVMP_BAD_CALL,
                             "svmp_particles_join: a sample or the result is NULL, or a sample is not whole.");
    svmp_particles *made = NULL;
    double *column = NULL;
    svmp_status status;
    SVMP_TRY(check_lengths(context, count, parts));
    SVMP_CHECK(svmp_particles_create(context, parts[0]->variables, draws, NULL, &made));
    SVMP_CHECK(SVMP_NEW(context, column, draws));
    SVMP_CHECK(fill(count, parts, column, made));
    SVMP_CHECK(check_chains(parts, made));
    *joined = made;
    made = NULL;
done:
    svmp_release(context, column);
    svmp_particles_free(made);
    return status;
}
