#include "run/option_table.h"

#include <string.h>

#include "backend/backend.h"
#include "method/method.h"
#include "prepare/start_particles.h"

/* TEXT(field, letter, argument, default, group, names, help); NULL as default: the method decides
 * COUNT and REAL(field, letter, argument, default, smallest, largest, group, help)
 * OWN is a COUNT whose default the method decides */
#define OPTIONS(TEXT, COUNT, OWN, SEED, REAL)                                                                          \
    TEXT(method, 'm', "NAME", METHOD_AUTO, "Method", svmp_method_choice, "{names}")                                    \
    TEXT(kernel, 0, "SUM", NULL, "Method", NULL,                                                                       \
         "a sum of WEIGHT*SHAPE[/sd]@DOMAIN: {shapes}; {domains} [set by the method]")                                 \
    TEXT(bandwidth, 0, "RULE", "median", "Method", svmp_bandwidth_name, "{names}")                                     \
    TEXT(step, 0, "STEP", NULL, "Method", svmp_step_name, "{names}; RATE may be FROM..TO [{defaults}]")                \
    COUNT(particles, 'n', "N", 100, 1, 1000000000, "Size", "number of particles")                                      \
    OWN(iterations, 't', "T", SVMP_METHODS_OWN, 0, 1000000000000, "Size", "maximum number of iterations [{defaults}]") \
    REAL(precision, 0, "P", 0.015, 0.001, 0.05, "Size", "error of the means of transport, in sd")                      \
    REAL(tolerance, 0, "EPS", 0, 0, 1e300, "Size", "stop when |phi| is at most EPS; 0: never")                         \
    COUNT(chains, 0, "N", 4, 1, 1000000, "Samplers", "number of chains")                                               \
    OWN(warmup, 0, "N", SVMP_METHODS_OWN, 0, 1000000000, "Samplers", "warm-up iterations [{defaults}]")                \
    OWN(draws, 0, "N", SVMP_METHODS_OWN, 1, 1000000000, "Samplers",                                                    \
        "draws per chain, of transport in all [{defaults}]")                                                           \
    REAL(accept, 0, "P", 0.8, 0.001, 0.999, "Samplers", "target acceptance rate")                                      \
    TEXT(init, 0, "START", NULL, "Start", svmp_init_name, "{names}, or FILE [{defaults}]")                             \
    SEED(seed, 0, "S", 1, 0, UINT64_MAX, "Start", "random seed")                                                       \
    TEXT(backend, 0, "NAME", "cpu", "Machine", svmp_backend_name,                                                      \
         "{names}; {devices}auto: a GPU where it pays, else cpu; "                                                     \
         "ref: plain loops, slow")

#define ROW(field, letter, argument, standard, type, low, high, group, names, help)                                    \
    {{#field, argument, standard, group, letter},                                                                      \
     type,                                                                                                             \
     offsetof(run_options, field),                                                                                     \
     (double)(low),                                                                                                    \
     (double)(high),                                                                                                   \
     names,                                                                                                            \
     help},
#define TEXT_ROW(field, letter, argument, standard, group, names, help)                                                \
    ROW(field, letter, argument, standard, OPTION_TEXT, 0, 0, group, names, help)
#define COUNT_ROW(field, letter, argument, standard, low, high, group, help)                                           \
    ROW(field, letter, argument, #standard, OPTION_COUNT, low, high, group, NULL, help)
#define OWN_ROW(field, letter, argument, standard, low, high, group, help)                                             \
    ROW(field, letter, argument, NULL, OPTION_COUNT, low, high, group, NULL, help)
#define SEED_ROW(field, letter, argument, standard, low, high, group, help)                                            \
    ROW(field, letter, argument, #standard, OPTION_SEED, low, high, group, NULL, help)
#define REAL_ROW(field, letter, argument, standard, low, high, group, help)                                            \
    ROW(field, letter, argument, #standard, OPTION_REAL, low, high, group, NULL, help)
static const option_row rows[] = {OPTIONS(TEXT_ROW, COUNT_ROW, OWN_ROW, SEED_ROW, REAL_ROW)};

enum { ROWS = sizeof rows / sizeof *rows };

struct svmp_options {
    svmp_context *context;
    run_options values;              /* the strings are its own */
    char numbers[ROWS][NUMBER_TEXT]; /* as text */
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

const option_row *svmp_option_rows(size_t *count) { return *count = ROWS, rows; }

const option_row *svmp_option_find(const char *name) {
    for (size_t k = 0; k < ROWS; k++)
        if (strcmp(rows[k].option.name, name) == 0) return &rows[k];
    return NULL;
}

int svmp_option_at(size_t which, svmp_option *option) {
    if (which >= ROWS || option == NULL) return 0;
    *option = rows[which].option;
    return 1;
}

const char *svmp_option_choice(const char *name, size_t which) {
    const option_row *row = name ? svmp_option_find(name) : NULL;
    return row && row->names ? row->names(which) : NULL;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

run_options svmp_run_options_default(void) {
#define DEFAULT(field, letter, argument, standard, ...) .field = standard,
    return (run_options){OPTIONS(DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT)};
}

static void *field_of(run_options *options, const option_row *row) { return (char *)options + row->offset; }

static const void *value_of(const run_options *options, const option_row *row) {
    return (const char *)options + row->offset;
}

static svmp_status out_of_bounds(svmp_context *context, const option_row *row, const char *value) {
    if (row->type == OPTION_SEED)
        return svmp_fail(context, SVMP_BAD_CALL, "The option '%s' must be a whole number from 0 to 2^64 - 1, not '%s'.",
                         row->option.name, value);
    return svmp_fail(context, SVMP_BAD_CALL, "The option '%s' must be a%s number from %.15g to %.15g, not '%s'.",
                     row->option.name, row->type == OPTION_COUNT ? " whole" : "", row->lower, row->upper, value);
}

static int within(const option_row *row, double value) { return value >= row->lower && value <= row->upper; }

/* Reads the text of a number into its field; returns 0 if it is not a number or out of bounds. */
static int read_number(const option_row *row, const char *value, void *field) {
    const char *end = value + strlen(value);
    size_t count;
    double real;
    switch (row->type) {
    case OPTION_COUNT:
        if (!svmp_number_parse_whole(value, end, &count) || !within(row, (double)count)) return 0;
        *(size_t *)field = count;
        return 1;
    case OPTION_SEED:
        if (!svmp_number_parse_size(value, end, &count)) return 0;
        *(uint64_t *)field = count;
        return 1;
    default:
        if (svmp_number_parse(value, end, &real) != NUMBER_FINITE || !within(row, real)) return 0;
        *(double *)field = real;
        return 1;
    }
}

const char *svmp_run_options_text(const run_options *options, const option_row *row, char buffer[NUMBER_TEXT]) {
    const void *field = value_of(options, row);
    switch (row->type) {
    case OPTION_TEXT: return *(const char *const *)field ? *(const char *const *)field : "";
    case OPTION_COUNT:
        if (*(const size_t *)field == SVMP_METHODS_OWN) return "";
        snprintf(buffer, NUMBER_TEXT, "%zu", *(const size_t *)field);
        break;
    case OPTION_SEED: snprintf(buffer, NUMBER_TEXT, "%llu", (unsigned long long)*(const uint64_t *)field); break;
    case OPTION_REAL: svmp_number_format(*(const double *)field, buffer); break;
    }
    return buffer;
}

svmp_status svmp_run_options_check(svmp_context *context, const run_options *options) {
    for (const option_row *row = rows; row < rows + ROWS; row++) {
        char text[32];
        double value;
        const void *field = value_of(options, row);
        if (row->type == OPTION_COUNT && row->option.standard == NULL && *(const size_t *)field == SVMP_METHODS_OWN)
            continue;
        if (row->type == OPTION_COUNT)
            value = (double)*(const size_t *)field;
        else if (row->type == OPTION_REAL)
            value = *(const double *)field;
        else
            continue;
        snprintf(text, sizeof text, "%.15g", value);
        if (!within(row, value)) return out_of_bounds(context, row, text);
    }
    return SVMP_OK;
}

svmp_status svmp_run_options_copy(svmp_context *context, const run_options *options, run_options *copy) {
    *copy = *options;
    for (const option_row *row = rows; row < rows + ROWS;
         row++) /* so that after a failure below, every string is owned */
        if (row->type == OPTION_TEXT) *(char **)field_of(copy, row) = NULL;
    for (const option_row *row = rows; row < rows + ROWS; row++) {
        if (row->type != OPTION_TEXT) continue;
        const char *text = *(const char *const *)value_of(options, row);
        if (text == NULL) text = row->option.standard;
        if (text) SVMP_TRY(svmp_duplicate(context, text, field_of(copy, row)));
    }
    return SVMP_OK;
}

void svmp_run_options_free(svmp_context *context, run_options *copy) {
    for (const option_row *row = rows; row < rows + ROWS; row++)
        if (row->type == OPTION_TEXT) svmp_release(context, *(char **)field_of(copy, row));
}

static svmp_status unknown_option(svmp_context *context, const char *name) {
    return svmp_fail(context, SVMP_BAD_CALL, "Unknown option '%s'.", name);
}

svmp_status svmp_run_options_set(svmp_context *context, run_options *options, const char *name, const char *value) {
    const option_row *row = svmp_option_find(name);
    number_locale locale = {0};
    if (row == NULL) return unknown_option(context, name);
    if (value == NULL) value = row->option.standard;
    if (row->type == OPTION_TEXT) return *(const char **)field_of(options, row) = value, SVMP_OK;
    if (value == NULL) return *(size_t *)field_of(options, row) = SVMP_METHODS_OWN, SVMP_OK;
    SVMP_TRY(svmp_number_enter(context, &locale));
    const int fits = read_number(row, value, field_of(options, row));
    svmp_number_leave(&locale);
    return fits ? SVMP_OK : out_of_bounds(context, row, value);
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

/* Keeps a number as text, too, for svmp_options_get. */
static svmp_status store_number_text(svmp_options *options, const option_row *row) {
    if (row == NULL) return SVMP_BAD_CALL;
    char *text = options->numbers[row - rows];
    number_locale locale = {0};
    SVMP_TRY(svmp_number_enter(options->context, &locale));
    if (row->type != OPTION_TEXT && svmp_run_options_text(&options->values, row, text) != text) *text = '\0';
    svmp_number_leave(&locale);
    return SVMP_OK;
}

static svmp_status make(svmp_context *context, const run_options *values, svmp_options **options) {
    svmp_options *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    svmp_status status = svmp_run_options_copy(context, values, &made->values);
    for (size_t k = 0; k < ROWS && status == SVMP_OK; k++) status = store_number_text(made, &rows[k]);
    if (status == SVMP_OK)
        *options = made;
    else
        svmp_options_free(made);
    return status;
}

svmp_status svmp_options_create(svmp_context *context, svmp_options **options) {
    const run_options standard = svmp_run_options_default();
    if (context == NULL) return SVMP_BAD_CALL;
    if (options == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_options_create: the result is NULL.");
    return make(context, &standard, options);
}

svmp_status svmp_options_copy(const svmp_options *options, svmp_options **copy) {
    if (options == NULL) return SVMP_BAD_CALL;
    if (copy == NULL) return svmp_fail(options->context, SVMP_BAD_CALL, "svmp_options_copy: the result is NULL.");
    return make(options->context, &options->values, copy);
}

void svmp_options_free(svmp_options *options) {
    if (options == NULL) return;
    svmp_run_options_free(options->context, &options->values);
    svmp_release(options->context, options);
}

run_options svmp_options_values(const svmp_options *options) {
    return options ? options->values : svmp_run_options_default();
}

svmp_context *svmp_options_context(const svmp_options *options) { return options->context; }

svmp_status svmp_options_set(svmp_options *options, const char *name, const char *value) {
    if (options == NULL) return SVMP_BAD_CALL;
    if (name == NULL) return svmp_fail(options->context, SVMP_BAD_CALL, "svmp_options_set: the name is NULL.");
    const option_row *row = svmp_option_find(name);
    if (row == NULL) return unknown_option(options->context, name);
    if (row->type != OPTION_TEXT) {
        SVMP_TRY(svmp_run_options_set(options->context, &options->values, name, value));
        return store_number_text(options, row);
    }
    char **field = field_of(&options->values, row), *copy = NULL;
    if (value == NULL) value = row->option.standard;
    if (value) SVMP_TRY(svmp_duplicate(options->context, value, &copy));
    svmp_release(options->context, *field);
    *field = copy;
    return SVMP_OK;
}

svmp_status svmp_options_set_count(svmp_options *options, const char *name, uint64_t value) {
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return svmp_options_set(options, name, text);
}

svmp_status svmp_options_set_number(svmp_options *options, const char *name, double value) {
    char text[NUMBER_TEXT];
    number_locale locale = {0};
    if (options == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(svmp_number_enter(options->context, &locale));
    svmp_number_format(value, text);
    svmp_number_leave(&locale);
    return svmp_options_set(options, name, text);
}

const char *svmp_options_get(const svmp_options *options, const char *name) {
    const option_row *row = options && name ? svmp_option_find(name) : NULL;
    if (row == NULL || row->type != OPTION_TEXT) return row ? options->numbers[row - rows] : NULL;
    return svmp_run_options_text(&options->values, row, NULL);
}
