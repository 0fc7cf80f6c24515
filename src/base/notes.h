/* Notes: lists of them, and errors with advice. */
#ifndef SVMP_BASE_NOTES_H
#define SVMP_BASE_NOTES_H

#include "base/context.h"

enum { NOTES_MOST = 32 };

typedef struct note_list {
    size_t count;
    svmp_note note[NOTES_MOST + 1]; /* the last one is overwritten by notes beyond the limit */
} note_list;

/* Adds a note of a code, without numbers and names. */
svmp_note *svmp_note_add(note_list *list, svmp_code code);

/* Adds advice; `either` as in svmp_note. `option` NULL or `value` NULL: none. */
void svmp_note_advise(note_list *list, uint32_t either, svmp_code code, const char *option, const char *value);

/* The same as a value, alone or as one of the alternatives `either`. */
svmp_note svmp_advice(svmp_code code, const char *option, const char *value);
svmp_note svmp_either(uint32_t either, svmp_note note);

/* Notes as sentences on one line: details after the note before them, alternatives in one sentence. Returns `buffer`.
 */
const char *svmp_notes_write(size_t count, const svmp_note *notes, svmp_speller spell, void *user_data, char *buffer,
                             size_t size);

/* A note on a line: "use 1 0 0 0 0 method nuts ", and back; a value with blanks is in quotation marks. Numbers are
 * those of the locale (base/number.h). Returns 0 if the line is not a note. */
void svmp_note_save(const svmp_note *note, char *buffer, size_t size);
int svmp_note_load(const char *line, svmp_note *note);

/* note_sentences.c: the sentence of a code, with fields in braces; NULL: it has none. */
const char *svmp_note_sentence(svmp_code code);

/* The name of a code, "r_hat", and the code of the first word of a text; SVMP_NOTE_NONE: there is no such code. */
const char *svmp_code_name(svmp_code code, char *buffer, size_t size);
svmp_code svmp_code_find(const char *text);

/* Fails like svmp_fail, with advice: return svmp_fail_notes(context, SVMP_BAD_INPUT, NOTES(svmp_advice(...), ...),
 * "..."). The advice follows the text, with options as the speller of the context writes them. */
#define NOTES(...)                                                                                                     \
    sizeof((svmp_note[]){__VA_ARGS__}) / sizeof(svmp_note), (svmp_note[]) { __VA_ARGS__ }
#define svmp_fail_notes(context, status, ...)                                                                          \
    (svmp_record_notes((context), (status), __VA_ARGS__), svmp_failure(status))
void svmp_record_notes(svmp_context *context, svmp_status status, size_t count, const svmp_note *advice,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Logs notes. */
void svmp_log_notes(svmp_context *context, svmp_log_level level, size_t count, const svmp_note *notes);

#endif
