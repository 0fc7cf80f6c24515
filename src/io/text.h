/* A text file held whole and taken line by line, with errors that name file and line. A copy of the struct is a mark
 * to go back to. */
#ifndef SVMP_IO_TEXT_H
#define SVMP_IO_TEXT_H

#include "base/context.h"

typedef struct text_file {
    svmp_context *context;
    const char *path; /* the caller's */
    char *bytes, *stop;
    char *next;        /* where the next line starts */
    char *start, *end; /* the current line, without blanks around it */
    size_t line;       /* its number, from 1 */
} text_file;

/* Reads the whole file; a NUL byte in it is an error. */
svmp_status svmp_text_open(svmp_context *context, const char *path, text_file *text);
void svmp_text_close(text_file *text); /* takes one that is all zeros */

/* Goes to the next line that is neither blank nor begins with `comment`; 0 at the end of the file. */
int svmp_text_next_line(text_file *text, char comment);

/* Finds the next word, between blanks, from *cursor on in the current line; 0 when there is none. */
int svmp_text_next_word(const text_file *text, char **cursor, char **word);

/* SVMP_BAD_INPUT with the sentence "PATH:LINE: ...". */
svmp_status svmp_text_fail(const text_file *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* [start, end) made fit for a message: cut short, without control characters; returns `quoted`. */
enum { TEXT_QUOTED = 48 };
const char *svmp_text_quote(const char *start, const char *end, char quoted[TEXT_QUOTED]);

#endif
