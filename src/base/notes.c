/* The sentences of all notes, and how notes become text. */
#include "base/notes.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* In braces: a field, {name}; a number with a format, {amount:g2} as by %.2g, {amount:f0} as by %.0f, and {amount:p0}
 * in percent; a choice, {count?one|several}, {limit?none|some}, {amount<negative|positive}; the option as the user
 * writes it, {option}; and what several sentences share: see `write_word`. */
static const char *const sentences[] = {
    [SVMP_NOTE_PASSED] = "Passed",
    [SVMP_NOTE_FAILED] = "Failed: the particles change under exact moves",
    [SVMP_NOTE_DRAWS_FAILED] = "Failed: the draws change under exact moves",
    [SVMP_NOTE_SLOW] = "No verdict: exact moves found nothing wrong, but {slow} mix{several?es|} too slowly to tell "
                       "({amount:f0} moves)",
    [SVMP_NOTE_SLOW_TIME] = "No verdict: exact moves found nothing wrong, but {slow} had not mixed after {amount:f0} "
                            "moves, when the time limit was reached",
    [SVMP_NOTE_SLOW_INTERRUPTED] = "No verdict: exact moves found nothing wrong, but {slow} had not mixed after "
                                   "{amount:f0} moves, when the examination was interrupted",
    [SVMP_NOTE_NOT_EXAMINED] = "Not examined: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_TIME] = "Not examined, because there was not enough time: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_BOXES] = "Not examined, because exact moves do not support boxes: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_ERROR] = "Not examined, because the exact moves failed: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_INTERRUPTED] = "Not examined, because the examination was interrupted: convergence is "
                                           "unknown",

    [SVMP_NOTE_DIVERGED] = "Failed: the run diverged; these are its last finite particles",
    [SVMP_NOTE_INTERRUPTED] = "Not converged: the run was interrupted",
    [SVMP_NOTE_UNMOVED] = "Not converged: the particles have not moved from the start",
    [SVMP_NOTE_CHAIN_UNMOVED] = "Not converged: {name} never moved in {count} of {total} chain{total?|s}",
    [SVMP_NOTE_DISCREPANCY] = "Not converged: {count} of {total} node{total?|s} {count?is|are} farther from the "
                              "posterior than exact draws would be (worst: {name}){limit?|, and the other nodes depend "
                              "on {count?it|them}}",
    [SVMP_NOTE_LARGE_STEP] = "Not converged: the last step was still {amount:g2} sd ({name})",
    [SVMP_NOTE_NOT_SETTLED] = "Not converged: after {iterations} the averages have not settled",
    [SVMP_NOTE_AVERAGE_ERROR] = "Not converged: after {iterations} averages have standard errors above 0.05 sd: "
                                "{worst} ({amount:g2} sd)",
    [SVMP_NOTE_AVERAGE_DRIFT] = "Not converged: after {iterations} averages still drift: {worst} (mean by {amount:g2} "
                                "sd)",
    [SVMP_NOTE_IDENTITY] = "Not converged: after {iterations} averages still violate Stein's identities: {worst} "
                           "({amount:g2} sd)",
    [SVMP_NOTE_NOT_MIXED] = "Not converged: after {iterations} the particles have not mixed: {worst} ({amount:p0} of "
                            "the variance is between particles that do not mix)",
    [SVMP_NOTE_FEW_PARTICLES] = "Fewer than {limit:f0} particles: too few to judge convergence",
    [SVMP_NOTE_R_HAT] = "Not converged: the chains have not mixed: {worst} (R-hat {r_hat})",
    [SVMP_NOTE_R_HAT_OF_ONE] = "Not converged: the chain has not settled: {worst} (R-hat {r_hat})",
    [SVMP_NOTE_FEW_DRAWS] = "Not converged: there are too few effective draws: {worst} ({amount:f0})",
    [SVMP_NOTE_DIVERGENT] = "Not converged: {count} trajector{count?y|ies} diverged, so the draws may miss a narrow "
                            "part of the posterior",
    [SVMP_NOTE_LOW_ENERGY] = "Not converged: E-BFMI is {amount:g2} in chain {count}, which explores the tails slowly",
    [SVMP_NOTE_NOT_FINITE] = "Not converged: {name} has values or scores that are not finite. The posterior may be "
                             "improper",
    [SVMP_NOTE_SUM_TRUNCATED] =
        "Not the model's posterior: the sum over {name} was truncated at {amount:f0}, where its "
        "probability is not negligible",

    [SVMP_NOTE_MEAN_DIFFERS] = "{name} (mean {size:g2} sd too {amount<low|high})",
    [SVMP_NOTE_SD_DIFFERS] = "{name} (sd {size:p0} too {amount<small|large})",
    [SVMP_NOTE_SD_MULTIPLE] = "{name} (sd {amount:g2} times too large)",
    [SVMP_NOTE_MEDIAN_DIFFERS] = "{name} (median {size:g2} sd too {amount<low|high})",
    [SVMP_NOTE_TAILS_DIFFER] = "{name} (tails too {amount<light|heavy})",
    [SVMP_NOTE_SCORE_DIFFERS] = "{name} (too {amount<close to|far from} its mode given its neighbours)",
    [SVMP_NOTE_DENSITY_DIFFERS] = "the log density (too {amount<low: too wide or displaced|high: too narrow})",
    [SVMP_NOTE_DENSITY_ELSEWHERE] = "{name} (the density is equally high {size:g2} sd away, where there are no "
                                    "particles)",
    [SVMP_NOTE_QUANTILE_DIFFERS] = "{name} ({limit:p0} quantile {size:g2} sd too {amount<low|high})",
    [SVMP_NOTE_CORRELATION_DIFFERS] = "{name} (correlation {amount:f2}, should be {limit:f2})",
    [SVMP_NOTE_CORRELATIONS_DIFFER] = "correlations of {name} ({size:p0} too {amount<small|large})",
    [SVMP_NOTE_MORE_VARIABLES] = "{count} more of {total} variables",
    [SVMP_NOTE_MIXED] = "R-hat is at most {amount:f3} and there are at least {limit:f0} effective draws",
    [SVMP_NOTE_UNCHANGED] = "no mean, sd, quantile or score changed {amount?significantly|substantially} after {count} "
                            "exact {limit?|local }moves of each particle ({total} variable{total?|s})",
    [SVMP_NOTE_DRAWS_UNCHANGED] = "no mean, sd, quantile or score changed {amount?significantly|substantially} after "
                                  "{count} exact {limit?|local }moves of a sample of the draws ({total} "
                                  "variable{total?|s})",

    [SVMP_NOTE_DO_NOT_USE] = "Do not use these numbers",
    [SVMP_NOTE_DO_NOT_USE_YET] = "Do not use these numbers yet",
    [SVMP_NOTE_SMALL_CHANGES] = "{count} variable{count?|s} changed significantly, but by less than 0.2 sd and 20 %",
    [SVMP_NOTE_DISCREPANCY_CONFIRMED] = "The discrepancy of {count} of {total} node{total?|s} exceeds its limit, but "
                                        "the exact moves confirm no error",
    [SVMP_NOTE_NOT_SEARCHED] = "Other modes were not searched for",
    [SVMP_NOTE_DRAWS_NOT_EXAMINED] = "The draws were not examined, and other modes were not searched for",
    [SVMP_NOTE_ONE_CHAIN] = "Several chains would be a stronger test",
    [SVMP_NOTE_LEAVES] = "{count} variable{count?|s} drawn after the run {count?was|were} not examined",
    [SVMP_NOTE_IMPROPER] = "The density does not decrease along {name}: the posterior is improper, or nearly so",
    [SVMP_NOTE_VERY_WIDE] = "The density hardly changes along {name}: the posterior is far away, or very wide",
    [SVMP_NOTE_MODES_POSSIBLE] = "The posterior may have several modes",
    [SVMP_NOTE_MODES_IF_HIGH] = "If R-hat stays high, the posterior may have several modes",
    [SVMP_NOTE_SEVERAL_MODES] = "The posterior has several modes",
    [SVMP_NOTE_COLLINEAR] = "{name} are nearly collinear",
    [SVMP_NOTE_DENSITY_JUMPS] = "The density jumps in {name}, which gradients do not see",
    [SVMP_NOTE_MANY_TERMS] =
        "The sums over discrete unknowns have {count} terms: a run takes minutes, and less with a method "
        "that evaluates them less often",

    [SVMP_NOTE_GIVE_PRIOR] = "give {name} a proper prior",
    [SVMP_NOTE_GIVE_PRIORS] = "give every unknown in this direction a proper prior",
    [SVMP_NOTE_GIVE_PRIOR_OR_PARENTS] = "give {name}, or the unknowns it depends on, a proper prior",
    [SVMP_NOTE_CHECK_PRIORS] = "make sure that the posterior is proper: {name} {count?has|have} no proper prior",
    [SVMP_NOTE_ONE_MODE] = "constrain the model to one of them (order exchangeable parameters, or fix a sign)",
    [SVMP_NOTE_SEPARATING_PRIOR] = "use a prior that separates them",
    [SVMP_NOTE_SCALE_PREDICTORS] = "centre and scale the predictors",
    [SVMP_NOTE_OTHER_UNKNOWNS] = "write the model in other unknowns",
    [SVMP_NOTE_NON_CENTRED] = "use a non-centred parametrisation{brackets}",
    [SVMP_NOTE_DISCRETE_CHANGE_POINT] = "make a change point discrete, so that it is summed out (docs/jags.md, "
                                        "\"Change points\")",
    [SVMP_NOTE_OTHER_PRIORS] = "give the model other priors",
    [SVMP_NOTE_LIGHTER_TAILS] = "give the model lighter tails",
    [SVMP_NOTE_SHORTER_SUMS] = "make them shorter, with fewer sites or times, or with bounds T(,)",
    [SVMP_NOTE_TRUNCATE_LATER] = "truncate it in the model at a larger value, such as T(, {amount:f0})",

    [SVMP_NOTE_USE] = "use {option}",
    [SVMP_NOTE_COMPARE] = "compare with {option}",
    [SVMP_NOTE_RUN_LONGER] = "run longer{brackets}",
    [SVMP_NOTE_WARM_UP] = "warm up longer{brackets}",
    [SVMP_NOTE_MORE_DRAWS] = "run more draws{brackets}",
    [SVMP_NOTE_MORE_PARTICLES] = "use more particles{brackets}",
    [SVMP_NOTE_SMALLER_STEPS] = "take smaller steps{brackets}",
    [SVMP_NOTE_FALLING_STEPS] = "let the steps shrink{brackets}",
    [SVMP_NOTE_OTHER_STARTS] = "run from other starts{brackets} and compare",
    [SVMP_NOTE_START_GAUSSIAN] = "start from a Gaussian fit{brackets}",
    [SVMP_NOTE_ITERATE] = "use at least one iteration{brackets}",
    [SVMP_NOTE_FINISH] = "let the run finish",
    [SVMP_NOTE_TRY_ANOTHER] = "try another {option}",
    [SVMP_NOTE_LOWER] = "use a smaller {option}",
    [SVMP_NOTE_RAISE] = "use a larger {option}",
    [SVMP_NOTE_START_FROM] = "start from its particles{brackets}",
    [SVMP_NOTE_WRITE_PARTICLES] = "write its particles where it ran{brackets}",
    [SVMP_NOTE_WRITE_START] = "write the start to a file in one process{brackets}",
    [SVMP_NOTE_CONTINUE] = "continue from it{brackets}",
    [SVMP_NOTE_OTHER_SEEDS] = "run each chain with a seed of its own{brackets}",
    [SVMP_NOTE_PROVIDE_START] = "provide such a point{brackets}",
    [SVMP_NOTE_START_NEW] = "start a new run from its particles{brackets}",
    [SVMP_NOTE_CONTINUE_WITH] = "continue with {option}",
    [SVMP_NOTE_WITH] = "with {option}",
    [SVMP_NOTE_FEWER_PARTICLES] = "use fewer particles{brackets}",
    [SVMP_NOTE_CLOSER_START] = "start closer to the posterior{brackets}",
};
enum { CODES = sizeof sentences / sizeof *sentences };

/* Between a detail and the one before it. */
static const char *joint_of(svmp_code code) {
    switch (code) {
    case SVMP_NOTE_MORE_VARIABLES: return " and ";
    case SVMP_NOTE_UNCHANGED:
    case SVMP_NOTE_DRAWS_UNCHANGED: return "; ";
    default: return ", ";
    }
}

static const struct code_row {
    const char *name;
    svmp_code code;
    svmp_note_kind kind;
} codes[] = {
#define NOTE_ROW(name, number, kind) {#name, SVMP_##name, SVMP_##kind},
    SVMP_NOTE_LIST(NOTE_ROW)
#undef NOTE_ROW
};
enum { CODE_ROWS = sizeof codes / sizeof *codes };

static const struct code_row *row_of(svmp_code code) {
    size_t k = 0;
    while (k < CODE_ROWS && codes[k].code != code) k++;
    return k < CODE_ROWS ? &codes[k] : NULL;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Text that is added to, and cut off where the buffer ends. */
typedef struct text {
    char *start;
    size_t size, used;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(to->start + to->used, to->size - to->used, format, arguments);
    va_end(arguments);
    if (length > 0) to->used += (size_t)length < to->size - to->used ? (size_t)length : to->size - to->used - 1;
}

typedef struct writer {
    text *to;
    const svmp_note *note;
    svmp_speller spell;
    void *user_data;
} writer;

/* "iterations = 8000", of a program that does not say how its users write options. */
static void spell_plainly(const char *option, const char *value, void *user_data, char *buffer, size_t size) {
    (void)user_data;
    snprintf(buffer, size, *value ? "%s = %s" : "%s", option, value);
}

static void write_option(const writer *w, const char *before, const char *after) {
    char spelled[160] = "";
    if (!*w->note->option) return;
    w->spell(w->note->option, w->note->value, w->user_data, spelled, sizeof spelled);
    add(w->to, "%s%s%s", before, spelled, after);
}

/* What several sentences share. */
static void write_word(const writer *w, const char *word) {
    const svmp_note *n = w->note;
    if (strcmp(word, "name") == 0) add(w->to, "%s", n->name);
    if (strcmp(word, "count") == 0) add(w->to, "%zu", n->count);
    if (strcmp(word, "total") == 0) add(w->to, "%zu", n->total);
    if (strcmp(word, "option") == 0) write_option(w, "", "");
    if (strcmp(word, "brackets") == 0) write_option(w, " (", ")");
    if (strcmp(word, "iterations") == 0) add(w->to, "%.0f iterations", n->limit);
    if (strcmp(word, "r_hat") == 0)
        add(w->to, n->amount < 1.02 ? "%.4f" : n->amount < 100 ? "%.3f" : "%.3g", n->amount);
    if (strcmp(word, "slow") == 0 && n->count)
        add(w->to, "%zu of %zu variable%s (slowest: %s)", n->count, n->total, n->total == 1 ? "" : "s", n->name);
    else if (strcmp(word, "slow") == 0)
        add(w->to, "%s", n->name);
    if (strcmp(word, "worst") == 0) {
        add(w->to, "%s", n->name);
        if (n->count > 1) add(w->to, " and %zu more", n->count - 1);
        if (n->count > 1 && n->total) add(w->to, " of %zu variables", n->total);
    }
}

static double number_of(const svmp_note *note, const char *word) {
    if (strcmp(word, "size") == 0) return fabs(note->amount);
    return strcmp(word, "limit") == 0 ? note->limit : note->amount;
}

/* "g2", "f0", "p0" */
static void write_number(const writer *w, const char *word, const char *format) {
    const double number = number_of(w->note, word) + 0.0; /* not -0 */
    const int digits = format[1] - '0';
    if (*format == 'g') add(w->to, "%.*g", digits, number);
    if (*format == 'f') add(w->to, "%.*f", digits, number);
    if (*format == 'p') add(w->to, "%.*f %%", digits, 100 * number);
}

/* Whether the first of two alternatives holds. */
static int is_first(const svmp_note *note, const char *word, char test) {
    if (test == '<') return note->amount < 0;
    if (strcmp(word, "count") == 0) return note->count == 1;
    if (strcmp(word, "total") == 0) return note->total == 1;
    if (strcmp(word, "several") == 0) return note->count <= 1;
    return number_of(note, word) == 0;
}

static void write_template(const writer *w, const char *from, size_t length);

/* What is in a pair of braces. */
static void write_field(const writer *w, const char *field, size_t length) {
    char word[16];
    const size_t end = strcspn(field, ":?<}");
    snprintf(word, sizeof word, "%.*s", (int)end, field);
    if (field[end] == ':') write_number(w, word, field + end + 1);
    if (field[end] == '}') write_word(w, word);
    if (field[end] != '?' && field[end] != '<') return;
    const char *first = field + end + 1, *bar = strchr(first, '|');
    if (is_first(w->note, word, field[end]))
        write_template(w, first, (size_t)(bar - first));
    else
        write_template(w, bar + 1, (size_t)(field + length - bar - 1));
}

/* Where the brace that begins at `from` is closed. */
static const char *closing(const char *from) {
    int depth = 0;
    for (;; from++) {
        depth += (*from == '{') - (*from == '}');
        if (depth == 0) return from;
    }
}

static void write_template(const writer *w, const char *from, size_t length) {
    const char *const end = from + length;
    while (from < end) {
        if (*from != '{') {
            add(w->to, "%c", *from++);
            continue;
        }
        const char *last = closing(from);
        write_field(w, from + 1, (size_t)(last - from - 1));
        from = last + 1;
    }
}

/* A note as a clause, without a full stop. */
static void write_clause(const writer *w) {
    const char *sentence = (size_t)w->note->code < CODES ? sentences[w->note->code] : NULL;
    if (sentence) write_template(w, sentence, strlen(sentence));
}

static void write_capital(const writer *w) {
    const size_t first = w->to->used;
    write_clause(w);
    if (w->note->kind == SVMP_ADVICE && first < w->to->used)
        w->to->start[first] = (char)toupper((unsigned char)w->to->start[first]);
}

static int is_alternative(const svmp_note *notes, size_t k) {
    return k > 0 && notes[k].either > 0 && notes[k].either == notes[k - 1].either;
}

const char *svmp_notes_write(size_t count, const svmp_note *notes, svmp_speller spell, void *user_data, char *buffer,
                             size_t size) {
    text to = {.start = buffer, .size = size};
    *buffer = '\0';
    for (size_t k = 0; k < count; k++) {
        const writer w = {&to, &notes[k], spell ? spell : spell_plainly, user_data};
        if (notes[k].kind == SVMP_DETAIL && k > 0) {
            add(&to, "%s", notes[k - 1].kind == SVMP_DETAIL ? joint_of(notes[k].code) : ": ");
            write_clause(&w);
        } else if (k > 0 && notes[k].code == SVMP_NOTE_WITH) {
            add(&to, " ");
            write_clause(&w);
        } else if (is_alternative(notes, k)) {
            add(&to, "%s", k + 1 < count && is_alternative(notes, k + 1) ? ", " : ", or ");
            write_clause(&w);
        } else {
            add(&to, "%s", k ? ". " : "");
            write_capital(&w);
        }
    }
    add(&to, "%s", count ? "." : "");
    return buffer;
}

const char *svmp_note_text(const svmp_note *note, svmp_speller spell, void *user_data, char *buffer, size_t size) {
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    return note ? svmp_notes_write(1, note, spell, user_data, buffer, size) : buffer;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

svmp_note *svmp_note_add(note_list *list, svmp_code code) {
    const struct code_row *row = row_of(code);
    svmp_note *note = &list->note[list->count];
    *note = (svmp_note){.code = code, .kind = row ? row->kind : SVMP_FACT};
    list->count += list->count < NOTES_MOST;
    return note;
}

svmp_note svmp_advice(svmp_code code, const char *option, const char *value) {
    svmp_note note = {.code = code, .kind = SVMP_ADVICE};
    snprintf(note.option, sizeof note.option, "%s", option ? option : "");
    snprintf(note.value, sizeof note.value, "%s", value ? value : "");
    return note;
}

svmp_note svmp_either(uint32_t either, svmp_note note) {
    note.either = either;
    return note;
}

void svmp_note_advise(note_list *list, uint32_t either, svmp_code code, const char *option, const char *value) {
    *svmp_note_add(list, code) = svmp_either(either, svmp_advice(code, option, value));
}

/* ---- in files ---------------------------------------------------------------------------------------------------- */

const char *svmp_code_name(svmp_code code, char *buffer, size_t size) {
    const struct code_row *row = row_of(code);
    snprintf(buffer, size, "%s", row ? row->name + strlen("NOTE_") : "none");
    for (char *c = buffer; *c; c++) *c = (char)tolower((unsigned char)*c);
    return buffer;
}

svmp_code svmp_code_find(const char *from) {
    char name[40];
    for (size_t k = 0; k < CODE_ROWS; k++) {
        const size_t length = strlen(svmp_code_name(codes[k].code, name, sizeof name));
        if (strncmp(from, name, length) == 0 && (from[length] == ' ' || from[length] == '\0')) return codes[k].code;
    }
    return SVMP_NOTE_NONE;
}

void svmp_note_save(const svmp_note *note, char *buffer, size_t size) {
    char name[40];
    snprintf(buffer, size, "%s %u %zu %zu %.6g %.6g %s %s %s", svmp_code_name(note->code, name, sizeof name),
             (unsigned)note->either, note->count, note->total, note->amount, note->limit,
             *note->option ? note->option : "-", *note->value ? note->value : "-", note->name);
}

/* The next word, "-": none. */
static const char *load_word(const char *from, char *word, size_t size) {
    from += strspn(from, " ");
    const size_t length = strcspn(from, " ");
    snprintf(word, size, "%.*s", (int)length, length == 1 && *from == '-' ? "" : from);
    return from + length;
}

int svmp_note_load(const char *line, svmp_note *note) {
    const svmp_code code = svmp_code_find(line);
    if (code == SVMP_NOTE_NONE) return 0;
    char *rest;
    *note = (svmp_note){.code = code, .kind = row_of(code)->kind};
    line += strcspn(line, " ");
    note->either = (uint32_t)strtoul(line, &rest, 10);
    note->count = strtoul(rest, &rest, 10);
    note->total = strtoul(rest, &rest, 10);
    note->amount = strtod(rest, &rest);
    note->limit = strtod(rest, &rest);
    line = load_word(rest, note->option, sizeof note->option);
    line = load_word(line, note->value, sizeof note->value);
    snprintf(note->name, sizeof note->name, "%.127s", line + strspn(line, " "));
    return 1;
}

/* ---- errors and messages with advice ----------------------------------------------------------------------------- */

svmp_status svmp_context_set_speller(svmp_context *context, svmp_speller spell, void *user_data) {
    if (context == NULL) return SVMP_BAD_CALL;
    context->spell = spell;
    context->spell_data = user_data;
    return SVMP_OK;
}

int svmp_context_note(const svmp_context *context, size_t k, svmp_note *note) {
    if (context == NULL || note == NULL || k >= context->advised) return 0;
    *note = context->advice[k];
    return 1;
}

void svmp_record_notes(svmp_context *context, svmp_status status, size_t count, const svmp_note *advice,
                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->error, sizeof context->error - 1, format, arguments);
    va_end(arguments);
    const size_t length = strlen(context->error);
    context->error[length] = ' ';
    svmp_notes_write(count, advice, context->spell, context->spell_data, context->error + length + 1,
                     sizeof context->error - length - 1);
    context->advised = count < CONTEXT_ADVICE ? count : CONTEXT_ADVICE;
    memcpy(context->advice, advice, context->advised * sizeof *advice);
    if (context->on_error) context->on_error(status, context->error, context->on_error_data);
}

void svmp_log_notes(svmp_context *context, svmp_log_level level, size_t count, const svmp_note *notes) {
    char words[1024];
    svmp_log(context, level, "%s",
             svmp_notes_write(count, notes, context->spell, context->spell_data, words, sizeof words));
}
