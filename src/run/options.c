#include "run/options.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* TEXT(field, letter, argument, default, group, help); NULL as default: the method decides
 * COUNT and REAL(field, letter, argument, default, smallest, largest, group, help)
 * OWN is a COUNT whose default the method decides */
#define OPTIONS(TEXT, COUNT, OWN, SEED, REAL)                                                                          \
    TEXT(method, 'm', "NAME", "graphical", "Method",                                                                   \
         "graphical, vanilla, independent, random, combined, langevin, mala, nuts, exact, dpmp or tpmp")               \
    TEXT(kernel, 0, "SUM", NULL, "Method",                                                                             \
         "terms WEIGHT*SHAPE@DOMAIN, '+' between: rbf, imq, linear; blanket, all, self, random:K [the method's own]")  \
    TEXT(bandwidth, 0, "RULE", "median", "Method", "median, median-log, median-zeros, a number")                       \
    TEXT(step, 0, "STEP", NULL, "Method",                                                                              \
         "RULE:RATE or RULE:FROM..TO; adagrad, rmsprop, adam, fixed; or decay:A,B,GAMMA [adagrad:1; langevin, "        \
         "mala: fixed:0.01]")                                                                                          \
    COUNT(particles, 'n', "N", 100, 1, 1000000000, "Size", "particles (chains, draws)")                                \
    OWN(iterations, 't', "T", SVMP_METHODS_OWN, 0, 1000000000000, "Size", "iterations [1000; dpmp and tpmp: 100]")     \
    REAL(tolerance, 0, "EPS", 0, 0, 1e300, "Size", "stop when |phi| is at most this; 0: never")                        \
    COUNT(chains, 0, "N", 4, 1, 1000000, "Samplers", "chains")                                                         \
    COUNT(warmup, 0, "N", 1000, 0, 1000000000, "Samplers", "iterations that adapt, and are not kept")                  \
    COUNT(draws, 0, "N", 1000, 1, 1000000000, "Samplers", "iterations that are kept")                                  \
    REAL(accept, 0, "P", 0.8, 0.001, 0.999, "Samplers", "acceptance that the step adapts to")                          \
    TEXT(init, 0, "START", "normal:1", "Start", "normal:SD, uniform:A,B, prior, gaussian, map, or FILE")               \
    SEED(seed, 0, "S", 1, 0, UINT64_MAX, "Start", "of every random number")                                            \
    TEXT(backend, 0, "NAME", "cpu", "Machine", "cpu, cpu-baseline, cpu-avx2, cpu-avx512 or ref")

typedef enum option_type { OPTION_TEXT, OPTION_COUNT, OPTION_SEED, OPTION_REAL } option_type;

typedef struct option_row {
    option_type type;
    size_t offset;
    double lower, upper; /* of COUNT and REAL */
} option_row;

#define TEXT_PUBLIC(field, letter, argument, standard, group, help) {#field, letter, argument, standard, help, group},
#define NUMBER_PUBLIC(field, letter, argument, standard, low, high, group, help)                                       \
    {#field, letter, argument, #standard, help, group},
#define OWN_PUBLIC(field, letter, argument, standard, low, high, group, help)                                          \
    {#field, letter, argument, NULL, help, group},
static const svmp_option options_public[] = {
    OPTIONS(TEXT_PUBLIC, NUMBER_PUBLIC, OWN_PUBLIC, NUMBER_PUBLIC, NUMBER_PUBLIC)};

#define TEXT_ROW(field, ...) {OPTION_TEXT, offsetof(svmp_run_options, field), 0, 0},
#define COUNT_ROW(field, letter, argument, standard, low, high, ...)                                                   \
    {OPTION_COUNT, offsetof(svmp_run_options, field), (double)(low), (double)(high)},
#define SEED_ROW(field, ...) {OPTION_SEED, offsetof(svmp_run_options, field), 0, 0},
#define REAL_ROW(field, letter, argument, standard, low, high, ...)                                                    \
    {OPTION_REAL, offsetof(svmp_run_options, field), low, high},
static const option_row rows[] = {OPTIONS(TEXT_ROW, COUNT_ROW, COUNT_ROW, SEED_ROW, REAL_ROW)};

enum { OPTION_COUNT_ = sizeof rows / sizeof *rows };

svmp_run_options svmp_run_options_default(void) {
#define TEXT_DEFAULT(field, letter, argument, standard, ...) .field = standard,
    return (svmp_run_options){OPTIONS(TEXT_DEFAULT, TEXT_DEFAULT, TEXT_DEFAULT, TEXT_DEFAULT, TEXT_DEFAULT)};
}

const svmp_option *svmp_run_option_table(size_t *count) {
    if (count) *count = OPTION_COUNT_;
    return options_public;
}

static void *field_of(svmp_run_options *options, size_t k) { return (char *)options + rows[k].offset; }

static svmp_status out_of_bounds(svmp_context *context, size_t k, const char *value) {
    if (rows[k].type == OPTION_SEED)
        return svmp_fail(context, SVMP_BAD_CALL, "The option '%s' is a whole number from 0 to 2^64 - 1, not '%s'.",
                         options_public[k].name, value);
    return svmp_fail(context, SVMP_BAD_CALL, "The option '%s' is a%s number from %.15g to %.15g, not '%s'.",
                     options_public[k].name, rows[k].type == OPTION_COUNT ? " whole" : "", rows[k].lower, rows[k].upper,
                     value);
}

static int within(const option_row *row, double value) { return value >= row->lower && value <= row->upper; }

/* Reads the text of a number into its field; 0 when it is none, or out of bounds. */
static int read_number(size_t k, const char *value, void *field) {
    const char *end = value + strlen(value);
    size_t count;
    double real;
    switch (rows[k].type) {
    case OPTION_COUNT:
        if (!svmp_number_parse_whole(value, end, &count) || !within(&rows[k], (double)count)) return 0;
        *(size_t *)field = count;
        return 1;
    case OPTION_SEED:
        if (!svmp_number_parse_size(value, end, &count)) return 0;
        *(uint64_t *)field = count;
        return 1;
    default:
        if (svmp_number_parse(value, end, &real) != NUMBER_FINITE || !within(&rows[k], real)) return 0;
        *(double *)field = real;
        return 1;
    }
}

svmp_status svmp_run_options_set(svmp_context *context, svmp_run_options *options, const char *name,
                                 const char *value) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (options == NULL || name == NULL || value == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_run_options_set needs options, a name and a value.");
    for (size_t k = 0; k < OPTION_COUNT_; k++) {
        if (strcmp(options_public[k].name, name) != 0) continue;
        void *field = field_of(options, k);
        if (rows[k].type == OPTION_TEXT) {
            *(const char **)field = value;
            return SVMP_OK;
        }
        number_locale locale = {0};
        SVMP_TRY(svmp_number_enter(context, &locale));
        int fits = read_number(k, value, field);
        svmp_number_leave(&locale);
        return fits ? SVMP_OK : out_of_bounds(context, k, value);
    }
    return svmp_fail(context, SVMP_BAD_CALL, "A run has no option '%s'.", name);
}

const char *svmp_options_text(const svmp_run_options *options, size_t k, char buffer[NUMBER_TEXT]) {
    svmp_run_options copy = *options;
    const void *field = field_of(&copy, k);
    switch (rows[k].type) {
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

svmp_status svmp_options_check(svmp_context *context, const svmp_run_options *options) {
    svmp_run_options copy = *options;
    for (size_t k = 0; k < OPTION_COUNT_; k++) {
        char text[32];
        double value;
        if (rows[k].type == OPTION_COUNT && options_public[k].standard == NULL &&
            *(size_t *)field_of(&copy, k) == SVMP_METHODS_OWN)
            continue;
        if (rows[k].type == OPTION_COUNT)
            value = (double)*(size_t *)field_of(&copy, k);
        else if (rows[k].type == OPTION_REAL)
            value = *(double *)field_of(&copy, k);
        else
            continue;
        snprintf(text, sizeof text, "%.15g", value);
        if (!within(&rows[k], value)) return out_of_bounds(context, k, text);
    }
    return SVMP_OK;
}

svmp_status svmp_options_copy(svmp_context *context, const svmp_run_options *options, svmp_run_options *copy) {
    *copy = *options;
    for (size_t k = 0; k < OPTION_COUNT_; k++) /* so that a failure below leaves nothing that is not ours */
        if (rows[k].type == OPTION_TEXT) *(char **)field_of(copy, k) = NULL;
    svmp_run_options from = *options;
    for (size_t k = 0; k < OPTION_COUNT_; k++) {
        if (rows[k].type != OPTION_TEXT) continue;
        const char *text = *(const char **)field_of(&from, k);
        if (text == NULL) text = options_public[k].standard;
        if (text) SVMP_TRY(svmp_duplicate(context, text, field_of(copy, k)));
    }
    return SVMP_OK;
}

void svmp_options_free(svmp_context *context, svmp_run_options *copy) {
    for (size_t k = 0; k < OPTION_COUNT_; k++)
        if (rows[k].type == OPTION_TEXT) svmp_release(context, *(char **)field_of(copy, k));
}
