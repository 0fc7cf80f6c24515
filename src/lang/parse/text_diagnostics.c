#include "lang/parse/text_diagnostics.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

svmp_status svmp_diagnostics_create(svmp_context *context, const text_source *source, diagnostics **made) {
    SVMP_TRY(SVMP_NEW(context, *made, 1));
    (*made)->context = context;
    (*made)->source = source;
    return SVMP_OK;
}

void svmp_diagnostics_free(diagnostics *noted) {
    if (noted) svmp_release(noted->context, noted);
}

int svmp_diagnostics_full(const diagnostics *noted) { return noted->count == DIAGNOSTICS_MOST; }

svmp_status svmp_diagnose(diagnostics *noted, size_t offset, const char *format, ...) {
    if (svmp_diagnostics_full(noted)) return SVMP_BAD_INPUT;
    for (size_t k = 0; k < noted->count; k++)
        if (noted->items[k].offset == offset) return SVMP_BAD_INPUT;
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    diagnostic *item = &noted->items[noted->count++];
    item->offset = offset;
    svmp_source_describe(noted->source, offset, "error", sentence, item->text, sizeof item->text);
    return SVMP_BAD_INPUT;
}

static int by_offset(const void *a, const void *b) {
    const diagnostic *left = a, *right = b;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

svmp_status svmp_diagnostics_status(const diagnostics *noted) { return noted->count > 0 ? SVMP_BAD_INPUT : SVMP_OK; }

svmp_status svmp_diagnostics_report(diagnostics *noted) {
    if (noted->count == 0) return SVMP_OK;
    qsort(noted->items, noted->count, sizeof *noted->items, by_offset);
    for (size_t k = 0; k < noted->count; k++) svmp_fail(noted->context, SVMP_BAD_INPUT, "%s", noted->items[k].text);
    snprintf(noted->context->error, sizeof noted->context->error, "%s", noted->items[0].text);
    return SVMP_BAD_INPUT;
}
