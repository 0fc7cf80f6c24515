/* Reads a text file line by line, holding no more than one line and one block; errors name the file and the line. */
#ifndef SVMP_BASE_TEXT_LINES_H
#define SVMP_BASE_TEXT_LINES_H

#include "base/context.h"

typedef struct text_file {
    svmp_context *context;
    const char *path; /* the caller's */
    FILE *file;
    char *bytes; /* read but not yet consumed: next ... stop - 1, and a NUL */
    size_t capacity;
    char *next, *stop;
    char *start, *end; /* the current line without surrounding blanks; valid until the next line */
    size_t line;       /* its number, from 1 */
    int ended;         /* the whole file has been read */
    int cut;           /* the last line has no newline */
    size_t size;       /* bytes read, and their checksum */
    uint64_t checksum;
} text_file;

svmp_status svmp_text_open(svmp_context *context, const char *path, text_file *text);
void svmp_text_close(text_file *text); /* accepts an all-zero value */

/* Moves to the next line; *there is 0 at the end of the file. A NUL byte is an error. */
svmp_status svmp_text_any_line(text_file *text, int *there);

/* The same, skipping lines that are blank or begin with `comment`. */
svmp_status svmp_text_next_line(text_file *text, char comment, int *there);

/* Finds the next word of the current line from *cursor on; returns 0 if there is none. */
int svmp_text_next_word(const text_file *text, char **cursor, char **word);

/* SVMP_BAD_INPUT with the sentence "PATH:LINE: ...". */
svmp_status svmp_text_fail(const text_file *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes lines from a text in memory (terminated, or NULL): those for which `take`, called with the line without
 * trailing blanks, sets *taken. If `take` fails, the function stops, and the contents of the text are undefined. */
typedef svmp_status (*text_line_visitor)(const char *line, const char *end, int *taken, void *user_data);
svmp_status svmp_text_each_line(char *text, text_line_visitor take, void *user_data);

/* Copies [start, end) for use in a message: shortened, without control characters; returns `quoted`. */
enum { TEXT_QUOTED = 48 };
const char *svmp_text_quote(const char *start, const char *end, char quoted[TEXT_QUOTED]);

#endif
