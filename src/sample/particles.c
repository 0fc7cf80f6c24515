#include "sample/particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/peers.h"

static svmp_status make(svmp_context *context, size_t variables, size_t count, const double *values,
                        svmp_particles **particles) {
    svmp_status status = SVMP_OK;
    svmp_particles *made = NULL;
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    made->context = context;
    made->peers = &svmp_alone;
    made->variables = made->whole = variables;
    made->count = count;
    made->chains = 1;
    SVMP_CHECK(SVMP_NEW(context, made->values, variables * count));
    SVMP_CHECK(SVMP_NEW(context, made->standard, variables));
    SVMP_CHECK(SVMP_NEW(context, made->given, variables));
    if (values) memcpy(made->values, values, variables * count * sizeof *values);
    for (size_t i = 0; i < variables; i++) snprintf(made->standard[i], sizeof made->standard[i], "x.%zu", i + 1);
    *particles = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}

svmp_status svmp_particles_create(svmp_context *context, size_t variables, size_t count, const double *values,
                                  svmp_particles **particles) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (particles == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_create: the result is NULL.");
    if (variables == 0 || count == 0)
        return svmp_fail(context, SVMP_BAD_CALL,
                         "At least one variable and one particle are needed; %zu and %zu were given.", variables,
                         count);
    if (count > SIZE_MAX / variables)
        return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: %zu particles of %zu variables do not fit.", count,
                         variables);

    return make(context, variables, count, values, particles);
}

svmp_status svmp_particles_create_part(svmp_context *context, const svmp_peers *peers, size_t whole, size_t own,
                                       const uint32_t *place, size_t count, const double *values,
                                       svmp_particles **particles) {
    svmp_particles *made = NULL;
    SVMP_TRY(make(context, own, count, values, &made));
    const svmp_status status = place ? SVMP_NEW(context, made->place, own) : SVMP_OK;
    if (status != SVMP_OK) {
        svmp_particles_free(made);
        return status;
    }
    if (place && own > 0) memcpy(made->place, place, own * sizeof *place);
    made->peers = peers;
    made->whole = whole;
    *particles = made;
    return SVMP_OK;
}

static void free_arrays(svmp_context *context, extra_arrays *arrays) {
    for (size_t k = 0; k < arrays->count; k++) svmp_release_all(context, arrays->list[k].name, arrays->list[k].values);
    svmp_release(context, arrays->list);
}

void svmp_particles_free(svmp_particles *particles) {
    if (particles == NULL) return;
    svmp_context *context = particles->context;
    if (particles->given)
        for (size_t i = 0; i < particles->variables; i++) svmp_release(context, particles->given[i]);
    for (size_t k = 0; k < particles->statistic_count; k++)
        svmp_release_all(context, particles->statistics[k].name, particles->statistics[k].values);
    for (size_t k = 0; k < particles->series_count; k++) {
        svmp_release_all(context, particles->series[k].name, particles->series[k].along, particles->series[k].values);
    }
    svmp_particles_free(particles->compressed);
    free_arrays(context, &particles->observed);
    free_arrays(context, &particles->known);
    svmp_release_all(context, particles->series, particles->statistics, particles->given, particles->comments,
                     particles->path, particles->standard, particles->place, particles->values, particles);
}

size_t svmp_particles_variables(const svmp_particles *particles) { return particles ? particles->variables : 0; }

size_t svmp_particles_whole(const svmp_particles *particles) { return particles ? particles->whole : 0; }

size_t svmp_particles_count(const svmp_particles *particles) { return particles ? particles->count : 0; }

const svmp_particles *svmp_particles_compressed(const svmp_particles *draws) {
    return draws ? draws->compressed : NULL;
}

svmp_status svmp_particles_set_compressed(svmp_particles *draws, const svmp_particles *particles) {
    svmp_particles *copy = NULL;
    if (draws == NULL) return SVMP_BAD_CALL;
    if (particles) SVMP_TRY(svmp_particles_select(particles, particles->variables, NULL, 1, &copy));
    svmp_particles_free(draws->compressed);
    draws->compressed = copy;
    return SVMP_OK;
}

const char *svmp_particles_comments(const svmp_particles *particles) {
    return particles && particles->comments ? particles->comments : "";
}

double *svmp_particles_values(svmp_particles *particles) { return particles ? particles->values : NULL; }

const char *svmp_particles_name(const svmp_particles *particles, size_t variable) {
    if (particles == NULL || variable >= particles->variables) return NULL;
    return particles->given[variable] ? particles->given[variable] : particles->standard[variable];
}

svmp_status svmp_particles_set_name(svmp_particles *particles, size_t variable, const char *name) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (variable >= particles->variables)
        return svmp_fail(context, SVMP_BAD_CALL,
                         "Variable %zu is out of range: the particles have %zu variables, counted from 0.", variable,
                         particles->variables);
    if (name == NULL) return svmp_fail(context, SVMP_BAD_CALL, "The name of variable %zu is NULL.", variable);
    const char *fault = svmp_name_problem(name);
    if (fault == NULL && svmp_name_is_internal(name))
        fault = "ends in '__', which is reserved for columns that are not variables";
    if (fault)
        return svmp_fail(context, SVMP_BAD_CALL, "'%.80s' cannot be the name of a variable: it %s.", name, fault);

    char *copy;
    SVMP_TRY(svmp_duplicate(context, name, &copy));
    svmp_release(context, particles->given[variable]);
    particles->given[variable] = copy;
    return SVMP_OK;
}

static int order_of_names(const void *a, const void *b) {
    const named_variable *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->variable > right->variable) - (left->variable < right->variable);
}

svmp_status svmp_particles_by_name(const svmp_particles *particles, named_variable **sorted) {
    named_variable *made;
    SVMP_TRY(SVMP_NEW(particles->context, made, particles->variables));
    for (size_t i = 0; i < particles->variables; i++) made[i] = (named_variable){svmp_particles_name(particles, i), i};
    qsort(made, particles->variables, sizeof *made, order_of_names);
    *sorted = made;
    return SVMP_OK;
}

svmp_status svmp_particles_repeated_name(const svmp_particles *particles, const char **name) {
    named_variable *sorted;
    SVMP_TRY(svmp_particles_by_name(particles, &sorted));
    *name = NULL;
    for (size_t k = 1; k < particles->variables && *name == NULL; k++)
        if (strcmp(sorted[k - 1].name, sorted[k].name) == 0) *name = sorted[k].name;
    svmp_release(particles->context, sorted);
    return SVMP_OK;
}

uint64_t svmp_particles_checksum(const svmp_particles *particles) {
    uint64_t hash = SVMP_HASH_START;
    for (size_t i = 0; particles && i < particles->variables; i++) {
        const char *name = svmp_particles_name(particles, i);
        hash = svmp_hash_bytes(hash, strlen(name), name);
        for (size_t l = 0; l < particles->count; l++) {
            const double value = particles->values[i * particles->count + l], one_nan = isnan(value) ? NAN : value;
            hash = svmp_hash_bytes(hash, sizeof one_nan, &one_nan);
        }
    }
    return hash;
}
