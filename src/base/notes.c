/* How notes become text. */
#include "base/notes.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What separates a detail from the one before it. */
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

/* Fields that several sentences use. */
static void write_word(const writer *w, const char *word) {
    const svmp_note *n = w->note;
    if (strcmp(word, "name") == 0) add(w->to, "%s", n->name);
    if (strcmp(word, "count") == 0) add(w->to, "%zu", n->count);
    if (strcmp(word, "total") == 0) add(w->to, "%zu", n->total);
    if (strcmp(word, "error") == 0) add(w->to, "%s", n->value);
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

/* Writes the contents of a pair of braces. */
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
    const char *sentence = svmp_note_sentence(w->note->code);
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
    const char *quote = strchr(note->value, ' ') ? "\"" : "";
    snprintf(buffer, size, "%s %u %zu %zu %.6g %.6g %s %s%s%s %s", svmp_code_name(note->code, name, sizeof name),
             (unsigned)note->either, note->count, note->total, note->amount, note->limit,
             *note->option ? note->option : "-", quote, *note->value ? note->value : "-", quote, note->name);
}

/* The next word, or words in quotation marks; "-": none. */
static const char *load_word(const char *from, char *word, size_t size) {
    from += strspn(from, " ");
    const int quoted = *from == '"';
    from += quoted;
    const size_t length = strcspn(from, quoted ? "\"" : " ");
    snprintf(word, size, "%.*s", (int)length, length == 1 && *from == '-' ? "" : from);
    return from + length + (quoted && from[length]);
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
