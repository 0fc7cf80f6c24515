/* Series with their own length, and observed data, stored with particles. */
#include <string.h>

#include "sample/sampler_totals.h"

/* Letters, digits, dots and underscores; chain and draw are the dimensions of the particles themselves. */
static int is_plain(const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const size_t length = strspn(name, plain);
    return length > 0 && length <= SERIES_NAME && name[length] == '\0' && strcmp(name, "chain") != 0 &&
           strcmp(name, "draw") != 0;
}

int svmp_particles_series(const svmp_particles *particles, size_t which, svmp_series *series) {
    if (particles == NULL || series == NULL || which >= particles->series_count) return 0;
    const struct series *found = &particles->series[which];
    *series = (svmp_series){found->name, found->along, found->count, found->values};
    return 1;
}

static svmp_status check_series(const svmp_particles *particles, const char *name, const char *along, size_t count,
                                const double *values) {
    svmp_context *context = particles->context;
    if (name == NULL || along == NULL || (values == NULL && count > 0))
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_set_series: a name or the values are NULL.");
    if (!is_plain(name) || !is_plain(along))
        return svmp_fail(context, SVMP_BAD_CALL, "'%.80s' along '%.80s' cannot be the names of a series.", name, along);
    for (size_t k = 0; k < particles->series_count; k++)
        if (strcmp(particles->series[k].along, along) == 0 && particles->series[k].count != count &&
            strcmp(particles->series[k].name, name) != 0)
            return svmp_fail(context, SVMP_BAD_CALL,
                             "The series '%.80s' has %zu numbers along '%.80s', but '%.80s' has %zu.", name, count,
                             along, particles->series[k].name, particles->series[k].count);
    return SVMP_OK;
}

static void free_series(svmp_context *context, struct series *s) {
    svmp_release_all(context, s->name, s->along, s->values);
}

svmp_status svmp_particles_set_series(svmp_particles *particles, const char *name, const char *along, size_t count,
                                      const double *values) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    struct series made = {.count = count};
    size_t at = 0;
    svmp_status status;
    SVMP_TRY(check_series(particles, name, along, count, values));
    while (at < particles->series_count && strcmp(particles->series[at].name, name) != 0) at++;
    SVMP_CHECK(SVMP_GROW(context, particles->series, particles->series_capacity, at + 1));
    SVMP_CHECK(svmp_duplicate(context, name, &made.name));
    SVMP_CHECK(svmp_duplicate(context, along, &made.along));
    SVMP_CHECK(SVMP_NEW(context, made.values, count));
    if (count > 0) memcpy(made.values, values, count * sizeof *values);
    if (at < particles->series_count)
        free_series(context, &particles->series[at]);
    else
        particles->series_count++;
    particles->series[at] = made;
    made = (struct series){0};
done:
    free_series(context, &made);
    return status;
}

svmp_status svmp_extra_add(svmp_context *context, extra_arrays *to, const svmp_array *array, const double *values) {
    struct extra_array made = {.rank = array->rank};
    size_t count = 1;
    for (size_t k = 0; k < array->rank; k++) count *= made.dimensions[k] = array->dimensions[k];
    SVMP_TRY(SVMP_GROW(context, to->list, to->capacity, to->count + 1));
    SVMP_TRY(svmp_duplicate(context, array->name, &made.name));
    svmp_status status = SVMP_NEW(context, made.values, count);
    if (status != SVMP_OK) {
        svmp_release(context, made.name);
        return status;
    }
    memcpy(made.values, values, count * sizeof *made.values);
    to->list[to->count++] = made;
    return SVMP_OK;
}

static svmp_status copy_arrays(svmp_context *context, const extra_arrays *from, extra_arrays *to) {
    for (size_t k = 0; k < from->count; k++) {
        const struct extra_array *a = &from->list[k];
        const svmp_array array = {.name = a->name, .rank = a->rank, .dimensions = a->dimensions};
        SVMP_TRY(svmp_extra_add(context, to, &array, a->values));
    }
    return SVMP_OK;
}

svmp_status svmp_particles_copy_extras(svmp_particles *particles, const svmp_particles *from) {
    for (size_t k = 0; k < from->series_count; k++) {
        const struct series *s = &from->series[k];
        if (strcmp(s->along, SAMPLER_TOTALS_ALONG) != 0)
            SVMP_TRY(svmp_particles_set_series(particles, s->name, s->along, s->count, s->values));
    }
    SVMP_TRY(copy_arrays(particles->context, &from->observed, &particles->observed));
    return copy_arrays(particles->context, &from->known, &particles->known);
}
