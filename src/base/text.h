/* A text file taken line by line, of which no more than a line and a block is ever held, with errors that name file and
 * line. */
#ifndef SVMP_BASE_TEXT_H
#define SVMP_BASE_TEXT_H

#include "base/context.h"

typedef struct text_file {
    svmp_context *context;
    const char *path; /* the caller's */
    FILE *file;
    char *bytes; /* what was read and is not done with: next ... stop - 1, and a NUL */
    size_t capacity;
    char *next, *stop;
    char *start, *end; /* the current line, without blanks around it; valid until the next one */
    size_t line;       /* its number, from 1 */
    int ended;         /* the file has no more than stands before `stop` */
} text_file;

svmp_status svmp_text_open(svmp_context *context, const char *path, text_file *text);
void svmp_text_close(text_file *text); /* takes one that is all zeros */

/* Goes to the next line; *there is 0 at the end of the file. A NUL byte is an error. */
svmp_status svmp_text_any_line(text_file *text, int *there);

/* The same, past lines that are blank or begin with `comment`. */
svmp_status svmp_text_next_line(text_file *text, char comment, int *there);

/* Finds the next word, between blanks, from *cursor on in the current line; 0 when there is none. */
int svmp_text_next_word(const text_file *text, char **cursor, char **word);

/* SVMP_BAD_INPUT with the sentence "PATH:LINE: ...". */
svmp_status svmp_text_fail(const text_file *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes lines out of a text in memory (ended; NULL: there is none): those for which `take`, given a line without the
 * blanks behind it, sets *taken, which was 0. Its first failure ends it, and the text is then of no use. */
typedef svmp_status (*text_take)(const char *line, const char *end, int *taken, void *user_data);
svmp_status svmp_text_take_lines(char *text, text_take take, void *user_data);

/* [start, end) made fit for a message: cut short, without control characters; returns `quoted`. */
enum { TEXT_QUOTED = 48 };
const char *svmp_text_quote(const char *start, const char *end, char quoted[TEXT_QUOTED]);

#endif
