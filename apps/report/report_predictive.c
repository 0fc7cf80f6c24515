/* The posterior predictive check: replicates of the observed values, drawn from the particles, and leave-one-out
 * cross-validation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"
#include "report_json.h"
#include "report_parts.h"

enum { DRAWS_MOST = 1000, VALUES_MOST = 5000, REPLICATES = 20, NAME = 1024 };

/* Some of the draws, evenly spaced. */
static svmp_status thin(const svmp_particles *particles, svmp_particles **some) {
    const size_t count = svmp_particles_count(particles), variables = svmp_particles_variables(particles);
    const size_t each = count / svmp_particles_chains(particles), every = (count + DRAWS_MOST - 1) / DRAWS_MOST;
    size_t *all = calloc(variables, sizeof *all);
    if (all == NULL) return SVMP_NO_MEMORY;
    for (size_t i = 0; i < variables; i++) all[i] = i;
    const svmp_status status = svmp_particles_select(particles, variables, all,
                                                     every < each ? every
                                                     : each > 0   ? each
                                                                  : 1,
                                                     some);
    free(all);
    return status;
}

/* Whether the file has all unknowns, and the data are few enough for a page. */
static int is_possible(const svmp_model *model, const name_index *names) {
    char name[NAME];
    size_t observed = 0, i;
    svmp_array array;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++) observed += array.observed_count;
    for (size_t k = 0; k < svmp_model_values(model); k++)
        if (!names_find(names, svmp_model_value_name(model, k, name, sizeof name), &i)) return 0;
    return observed > 0 && observed <= VALUES_MOST;
}

/* y.rep.2.1 of the element at a row-major offset. */
static void replicate_name(const svmp_array *array, size_t offset, char name[NAME]) {
    size_t index[8], length = (size_t)snprintf(name, NAME, "%.900s.rep", array->name);
    for (size_t k = array->rank; k-- > 0; offset /= array->dimensions[k]) index[k] = offset % array->dimensions[k] + 1;
    const int single = array->rank == 1 && array->dimensions[0] == 1;
    for (size_t k = 0; k < array->rank && !single; k++)
        length += (size_t)snprintf(name + length, NAME - length, ".%zu", index[k]);
}

/* A list of numbers, one for each of the elements. */
static void write_list(FILE *file, size_t count, const double *values) {
    fputs(",[", file);
    for (size_t k = 0; k < count; k++) {
        if (k) fputc(',', file);
        json_number(file, values[k]);
    }
    fputc(']', file);
}

typedef struct replicate_rows {
    size_t count, *variable;
    double *place, *observed, *low, *middle, *high, *one; /* numbers of each element; one: of a replicate */
} replicate_rows;

/* One array: its name, how many dimensions, places, observed values, quantiles, and some replicates. */
static int write_array(FILE *file, const svmp_array *array, svmp_particles *made, const name_index *names,
                       replicate_rows *rows, const char *separator) {
    size_t all = 1;
    rows->count = 0;
    for (size_t k = 0; k < array->rank; k++) all *= array->dimensions[k];
    for (size_t k = 0; k < all; k++) {
        char name[NAME];
        svmp_moments m;
        size_t *variable = &rows->variable[rows->count];
        replicate_name(array, k, name);
        if (isnan(array->values[k]) || !names_find(names, name, variable)) continue;
        if (svmp_particles_moments(made, *variable, &m) != SVMP_OK) continue;
        const size_t row = rows->count++;
        rows->place[row] = (double)k + 1;
        rows->observed[row] = array->values[k];
        rows->low[row] = m.q05, rows->middle[row] = m.q50, rows->high[row] = m.q95;
    }
    if (rows->count == 0) return 0;
    fprintf(file, "%s[", separator);
    json_string(file, array->name);
    fprintf(file, ",%zu", array->rank);
    const double *const lists[] = {rows->place, rows->observed, rows->low, rows->middle, rows->high};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) write_list(file, rows->count, lists[k]);
    const size_t draws = svmp_particles_count(made), shown = draws < REPLICATES ? draws : REPLICATES;
    const double *values = svmp_particles_values(made);
    fputs(",[", file);
    for (size_t r = 0; r < shown; r++) {
        for (size_t k = 0; k < rows->count; k++) rows->one[k] = values[rows->variable[k] * draws + r * draws / shown];
        fputs(r ? ",[0" : "[0", file); /* a number in front, so that each list begins with a comma */
        write_list(file, rows->count, rows->one);
        fputc(']', file);
    }
    fputs("]]", file);
    return 1;
}

static void write_arrays(FILE *file, const svmp_model *model, svmp_particles *made, const name_index *names) {
    double *numbers = calloc(6 * VALUES_MOST, sizeof *numbers);
    replicate_rows rows = {.variable = calloc(VALUES_MOST + 1, sizeof *rows.variable)};
    svmp_array array;
    const char *separator = "\n";
    if (numbers && rows.variable) {
        double **const lists[] = {&rows.place, &rows.observed, &rows.low, &rows.middle, &rows.high, &rows.one};
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = numbers + k * VALUES_MOST;
        for (size_t k = 0; svmp_model_array(model, k, &array); k++)
            if (array.values && write_array(file, &array, made, names, &rows, separator)) separator = ",\n";
    }
    free(numbers);
    free(rows.variable);
}

static void write_loo(FILE *file, const svmp_particles *made) {
    svmp_criteria c;
    fputs(",\n\"loo\":", file);
    if (svmp_particles_criteria(made, &c) != SVMP_OK || isnan(c.loo)) {
        fputs("null", file);
        return;
    }
    fprintf(file, "[%zu,", c.observations);
    json_number(file, -0.5 * c.loo);
    fputc(',', file);
    json_number(file, 0.5 * c.loo_error);
    fputc(',', file);
    json_number(file, c.loo_parameters);
    fprintf(file, ",%zu]", c.loo_beyond);
}

/* Reads the model once more, with the particles as given draws. Fails silently where nothing can be predicted: its
 * messages belong to a context of its own. */
static svmp_status predict(size_t count, const char *const *paths, const char *coordinates,
                           const svmp_particles *particles, svmp_context **context, svmp_particles **made) {
    svmp_particles *some = NULL;
    svmp_model *model = NULL;
    svmp_status status = svmp_context_create(NULL, context);
    if (status == SVMP_OK) status = thin(particles, &some);
    const svmp_reading how = {
        .monitors = "posterior_predictive,log_lik,deviance", .coordinates = coordinates, .given = some};
    if (status == SVMP_OK) status = svmp_model_read(*context, count, paths, &how, &model);
    if (status == SVMP_OK) status = svmp_model_predict(model, some, 1, made);
    svmp_model_free(model);
    svmp_particles_free(some);
    return status;
}

int write_predictive(FILE *file, const svmp_model *model, const name_index *names, const svmp_particles *particles,
                     size_t count, const char *const *paths, const char *coordinates) {
    svmp_context *context = NULL;
    svmp_particles *made = NULL;
    name_index found = {0};
    int status = 0;
    const int is =
        model && is_possible(model, names) && predict(count, paths, coordinates, particles, &context, &made) == SVMP_OK;
    if (is) status = names_build(made, &found);
    fputs(",\n\"predictive\":[", file);
    if (is && status == 0) write_arrays(file, model, made, &found);
    fputc(']', file);
    if (is)
        write_loo(file, made);
    else
        fputs(",\n\"loo\":null", file);
    names_free(&found);
    svmp_particles_free(made);
    svmp_context_free(context);
    return status;
}
