/* A source text with a path, for the data readers and the model language, and error messages that point into it. */
#ifndef SVMP_BASE_SOURCE_TEXT_H
#define SVMP_BASE_SOURCE_TEXT_H

#include "base/context.h"

typedef struct text_source {
    char *path;
    char *text; /* length bytes and a 0; a 0 may also stand inside */
    size_t length;
    size_t added; /* where statements begin that were added to the text, which places call "<statements>"; 0: none */
} text_source;

/* Reads a whole file; one of more than 1 GiB is refused. On failure *source holds nothing. */
svmp_status svmp_source_read(svmp_context *context, const char *path, text_source *source);

/* The same from memory; everything is copied. Texts of more than 1 GiB are refused here, too. */
svmp_status svmp_source_copy(svmp_context *context, const char *path, const char *text, size_t length,
                             text_source *source);

/* Adds statements behind the text, and takes them away again. After a failure there are none. */
svmp_status svmp_source_add(svmp_context *context, text_source *source, const char *statements);
void svmp_source_truncate(text_source *source);

/* Accepts an empty source. */
void svmp_source_free(svmp_context *context, text_source *source);

/* Line and column of a byte, both from 1; columns count characters of UTF-8. */
void svmp_source_place(const text_source *source, size_t offset, size_t *line, size_t *column);

/* Writes "path:line:column: kind: sentence", the line itself and a caret below the place, cut to fit. */
void svmp_source_describe(const text_source *source, size_t offset, const char *kind, const char *sentence,
                          char *buffer, size_t size);

/* Fails as SVMP_BAD_INPUT with such a text. */
svmp_status svmp_source_fail(svmp_context *context, const text_source *source, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
