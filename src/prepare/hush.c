#include "prepare/hush.h"

#include <string.h>

/* No error is recorded here: what is logged while one is on its way must not replace it. */
static void keep(svmp_log_level level, const char *message, void *data) {
    hushed *h = data;
    char kept[sizeof h->context->error];
    char *text = NULL;
    memcpy(kept, h->context->error, sizeof kept);
    if (SVMP_GROW(h->context, h->messages, h->capacity, h->count + 1) == SVMP_OK &&
        svmp_duplicate(h->context, message, &text) == SVMP_OK)
        h->messages[h->count++] = (logged){level, text};
    else
        h->lost = true;
    memcpy(h->context->error, kept, sizeof kept);
}

void svmp_hush(svmp_context *context, bool keeps, hushed *h) {
    *h = (hushed){.context = context, .log = context->log, .tell = context->on_error, .log_data = context->log_data};
    h->keeps = keeps && context->log;
    context->log = h->keeps ? keep : NULL;
    if (h->keeps) context->log_data = h;
    context->on_error = NULL;
}

void svmp_unhush(hushed *h, svmp_status status) {
    h->context->log = h->log;
    h->context->log_data = h->log_data;
    h->context->on_error = h->tell;
    if (status == SVMP_NO_MEMORY && h->tell) h->tell(status, h->context->error, h->context->on_error_data);
}

svmp_status svmp_hushed_log(hushed *h) {
    for (size_t k = 0; k < h->count; k++) svmp_log(h->context, h->messages[k].level, "%s", h->messages[k].text);
    if (h->lost) return svmp_fail(h->context, SVMP_NO_MEMORY, "Out of memory: no room for a message of the log.");
    return SVMP_OK;
}

void svmp_hushed_free(hushed *h) {
    for (size_t k = 0; k < h->count; k++) svmp_release(h->context, h->messages[k].text);
    svmp_release(h->context, h->messages);
    h->messages = NULL;
    h->count = h->capacity = 0;
}
