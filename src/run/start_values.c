/* Starts from values of unknowns, as other samplers are given them: JAGS' and BUGS' inits (an R dump or a list), Stan's
 * (JSON). Each file is a start; particles take them in turn. Unknowns that a file does not name keep their start.
 * Particles beyond the number of files are spread around the points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/notes.h"
#include "base/random.h"
#include "data/data_set.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "run/start_given.h"
#include "svmp_tools.h"

/* CSV files hold particles. */
static int is_csv(const char *path, size_t length) {
    return length > 4 && strncasecmp(path + length - 4, ".csv", 4) == 0;
}

/* Other files: values if their first words say so, or else particles. */
static int is_text_of_values(const char *path, size_t length) {
    char copy[4096];
    if (length >= sizeof copy) return 0;
    memcpy(copy, path, length);
    copy[length] = '\0';
    const data_kind kind = svmp_data_kind_of_file(copy);
    return kind == DATA_DUMP || kind == DATA_JSON;
}

int svmp_start_is_values(const char *paths) {
    if (paths == NULL) return 0;
    for (const char *at = paths;; at++) {
        const size_t length = strcspn(at, ",");
        if (is_csv(at, length) || !(svmp_data_is_read(at, length) || is_text_of_values(at, length))) return 0;
        at += length;
        if (*at == '\0') return 1;
    }
}

/* The element of the array that an output x.3.1 names; NULL if it is not an element of this array. */
static const double *element_of(const data_array *array, const char *output) {
    const size_t length = strlen(array->name);
    if (strncmp(output, array->name, length) != 0) return NULL;
    const char *at = output + length;
    size_t offset = 0, stride = 1;
    if (*at == '\0') return array->count == 1 ? array->values : NULL;
    for (size_t k = 0; k < array->rank; k++) {
        char *end;
        if (*at != '.' || at[1] < '1' || at[1] > '9') return NULL;
        const unsigned long index = strtoul(at + 1, &end, 10);
        if (index > array->dimensions[k]) return NULL;
        offset += (index - 1) * stride;
        stride *= array->dimensions[k];
        at = end;
    }
    return *at == '\0' ? &array->values[offset] : NULL;
}

/* Whether a name of a start that is not an output is allowed: computed and discrete nodes, leaves, settings of
 * generators. */
static int is_skipped(const svmp_run *run, const data_array *array) {
    const lowered_summed *summed = &run->model->lowered->summed;
    const size_t length = strlen(array->name);
    if (array->name[0] == '.' || svmp_model_computes(run->model, array->name)) return 1;
    for (size_t k = 0; k < summed->count; k++)
        if (strncmp(summed->unknowns[k].name, array->name, length) == 0 &&
            strchr(".", summed->unknowns[k].name[length]))
            return 1;
    return 0;
}

typedef struct values_start {
    svmp_run *run;
    size_t n, outputs;
    double *natural; /* outputs*n */
    uint8_t *given;  /* output -> whether some file has it */
} values_start;

static svmp_status unknown_name(const values_start *s, const data_set *data, const data_array *array) {
    char sentence[200], text[900];
    snprintf(sentence, sizeof sentence,
             "'%.100s' is not an unknown of the model, or has different dimensions in the model", array->name);
    svmp_data_describe(data, array, "error", sentence, text, sizeof text);
    return svmp_fail(s->run->context, SVMP_BAD_INPUT, "%s", text);
}

/* Checks that an array of the start has as many elements as that of the model, with NA for those not given. */
static svmp_status check_size(const values_start *s, const data_set *data, const data_array *array) {
    const lowered_model *lowered = s->run->model->lowered;
    for (size_t k = 0; k < lowered->array_count; k++) {
        const lowered_array *there = &lowered->arrays[k];
        size_t count = 1;
        if (strcmp(there->name, array->name) != 0) continue;
        for (size_t d = 0; d < there->rank; d++) count *= there->dimensions[d];
        if (count == array->count) return SVMP_OK;
        char sentence[200], text[900];
        snprintf(sentence, sizeof sentence, "'%.100s' has %zu value%s here, but %zu in the model", array->name,
                 array->count, array->count == 1 ? "" : "s", count);
        svmp_data_describe(data, array, "error", sentence, text, sizeof text);
        return svmp_fail(s->run->context, SVMP_BAD_INPUT, "%s", text);
    }
    return SVMP_OK;
}

/* Text is skipped unless it is the name of an unknown. */
static svmp_status refuse_text(const values_start *s, const data_set *data) {
    for (size_t output = 0; data->text_names.count > 0 && output < s->outputs; output++) {
        char name[1024];
        svmp_model_output_name(s->run->model, output, name, sizeof name);
        name[strcspn(name, ".[")] = '\0';
        SVMP_TRY(svmp_data_refuse_text(data, name));
    }
    return SVMP_OK;
}

/* Sets the particles which, which + every, ... to the values of a file. */
static svmp_status take(values_start *s, const data_set *data, size_t which, size_t every) {
    SVMP_TRY(refuse_text(s, data));
    for (size_t k = 0; k < data->count; k++) {
        const data_array *array = &data->arrays[k];
        int found = 0;
        for (size_t output = 0; output < s->outputs; output++) {
            char name[1024];
            const double *value = element_of(array, svmp_model_output_name(s->run->model, output, name, sizeof name));
            if (value == NULL) continue;
            found = 1;
            if (isnan(*value)) continue; /* NA: not given */
            s->given[output] = 1;
            for (size_t l = which; l < s->n; l += every) s->natural[output * s->n + l] = *value;
        }
        if (found) SVMP_TRY(check_size(s, data, array));
        if (!found && !is_skipped(s->run, array)) return unknown_name(s, data, array);
    }
    return SVMP_OK;
}

static svmp_status read_files(values_start *s, const char *paths, size_t count) {
    svmp_context *context = s->run->context;
    svmp_status status = SVMP_OK;
    for (size_t which = 0; status == SVMP_OK && which < count; which++) {
        const size_t length = strcspn(paths, ",");
        data_set *data = NULL;
        char *path;
        SVMP_TRY(SVMP_NEW(context, path, length + 1));
        memcpy(path, paths, length);
        status = svmp_data_create(context, &data);
        if (status == SVMP_OK) status = svmp_data_read(data, path);
        if (status == SVMP_OK) status = take(s, data, which, count);
        svmp_data_free(data);
        svmp_release(context, path);
        paths += length + 1;
    }
    return status;
}

/* Spreads particles around the given points, in the variables of the nodes. */
static void spread(const values_start *s, size_t files, double *x) {
    const lowered_model *lowered = s->run->model->lowered;
    for (size_t v = 0; v < lowered->node_count; v++) {
        const lowered_node *node = &lowered->nodes[v];
        int given = 0;
        for (size_t k = 0; k < node->outputs; k++) given |= s->given[node->output + k];
        for (size_t k = 0; given && k < node->variables; k++)
            for (size_t l = files; l < s->n; l++)
                x[(node->variable + k) * s->n + l] +=
                    START_SPREAD * svmp_random_normal((random_stream){.seed = s->run->options.seed,
                                                                      .purpose = RANDOM_INIT,
                                                                      .a = UINT64_MAX,
                                                                      .b = node->variable + k},
                                                      l);
    }
}

svmp_status svmp_start_values(svmp_run *run, const char *paths, double *x) {
    values_start s = {.run = run, .n = run->backend->n, .outputs = svmp_model_outputs(run->model)};
    size_t files = 1;
    svmp_status status;
    if (run->model->lowered == NULL || run->model->graph->halo)
        return svmp_fail_notes(run->context, SVMP_UNSUPPORTED,
                               NOTES(svmp_advice(SVMP_NOTE_WRITE_START, "iterations", "0"),
                                     svmp_advice(SVMP_NOTE_START_FROM, "init", "FILE")),
                               "'%.200s' contains values of unknowns, which requires a model text and one process.",
                               paths);
    for (const char *at = paths; *at; at++) files += *at == ',';
    SVMP_CHECK(SVMP_NEW(run->context, s.natural, s.outputs * s.n));
    SVMP_CHECK(SVMP_NEW(run->context, s.given, s.outputs));
    SVMP_CHECK(svmp_model_natural(run->model, s.n, x, s.natural));
    SVMP_CHECK(read_files(&s, paths, files));
    SVMP_CHECK(svmp_model_unconstrain(run->model, s.n, s.natural, x));
    spread(&s, files, x);
done:
    svmp_release(run->context, s.natural);
    svmp_release(run->context, s.given);
    return status;
}
