/* Texts that are written into memory as into a file. Where memory runs out, open_memstream of glibc loses some of the
 * text and reports no error; these do. */
#ifndef SVMP_FRONT_MEMORY_FILE_H
#define SVMP_FRONT_MEMORY_FILE_H

#include <stdio.h>

/* *text and *size are valid after close_written; the caller frees *text. NULL: there is no memory. */
FILE *open_written(char **text, size_t *size);

/* Closes the stream. Returns whether the text is whole; if not, *text is freed and NULL. */
int close_written(FILE *stream, char **text);

#endif
