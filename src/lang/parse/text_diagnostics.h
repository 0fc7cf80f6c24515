/* Diagnostics of a model text: all independent errors of one pass, each with its line and a caret. */
#ifndef SVMP_LANG_PARSE_TEXT_DIAGNOSTICS_H
#define SVMP_LANG_PARSE_TEXT_DIAGNOSTICS_H

#include <stdbool.h>

#include "base/source_text.h"

enum { DIAGNOSTICS_MOST = 20 };

typedef struct diagnostic {
    size_t offset;
    char text[960];
} diagnostic;

typedef struct diagnostics {
    svmp_context *context;
    const text_source *source;
    size_t count;
    diagnostic items[DIAGNOSTICS_MOST];
} diagnostics;

svmp_status svmp_diagnostics_create(svmp_context *context, const text_source *source, diagnostics **made);
void svmp_diagnostics_free(diagnostics *noted); /* NULL-safe */

/* Notes an error at a byte of the source and returns SVMP_BAD_INPUT. Of two at one place the first stays; what comes
 * after DIAGNOSTICS_MOST is dropped. */
svmp_status svmp_diagnose(diagnostics *noted, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether there is room for more: when not, a pass may stop. */
int svmp_diagnostics_full(const diagnostics *noted);

/* SVMP_OK if nothing was noted, otherwise SVMP_BAD_INPUT. */
svmp_status svmp_diagnostics_status(const diagnostics *noted);

/* The same; calls the context's error callback for each error, in the order of the text, and leaves the first as the
 * context's error. */
svmp_status svmp_diagnostics_report(diagnostics *noted);

#endif
