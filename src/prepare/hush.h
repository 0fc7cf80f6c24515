/* Attempts that may fail: their errors are not told, and what they log is dropped, or kept until it is known which
 * attempt counts. */
#ifndef SVMP_PREPARE_HUSH_H
#define SVMP_PREPARE_HUSH_H

#include <stdbool.h>

#include "base/context.h"

typedef struct logged {
    svmp_log_level level;
    char *text;
} logged;

typedef struct hushed {
    svmp_context *context;
    svmp_log_function log; /* those of the caller */
    svmp_error_function tell;
    void *log_data;
    bool keeps, lost; /* lost: there was no memory for a message */
    logged *messages;
    size_t count, capacity;
} hushed;

/* From here on nothing is told, until svmp_unhush. With `keeps`, messages of the log are kept for svmp_hushed_log; the
 * caller frees these. `h` must stay where it is. `status` is how the attempt ended: a lack of memory is told, since no
 * other attempt follows it. */
void svmp_hush(svmp_context *context, bool keeps, hushed *h);
void svmp_unhush(hushed *h, svmp_status status);

/* Logs what was kept. Fails if there was no memory for it. */
svmp_status svmp_hushed_log(hushed *h);
void svmp_hushed_free(hushed *h);

#endif
