#include "base/machine_memory.h"
#include "base/peers.h"
#include "base/threads.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *standard_allocate(size_t size, void *user_data) { return (void)user_data, calloc(1, size); }

static void *standard_resize(void *pointer, size_t size, void *user_data) {
    return (void)user_data, realloc(pointer, size);
}

static void standard_release(void *pointer, void *user_data) {
    (void)user_data;
    free(pointer);
}

svmp_status svmp_context_create(const svmp_allocator *allocator, svmp_context **context) {
    svmp_allocator chosen = {standard_allocate, standard_resize, standard_release, NULL};
    if (context == NULL) return SVMP_BAD_CALL;
    if (allocator) chosen = *allocator;
    if (chosen.allocate == NULL || chosen.resize == NULL || chosen.release == NULL) return SVMP_BAD_CALL;
    svmp_context *made = chosen.allocate(sizeof *made, chosen.user_data);
    if (made == NULL) return SVMP_NO_MEMORY;
    *made = (svmp_context){.allocator = chosen, .peers = &svmp_alone};
    *context = made;
    return SVMP_OK;
}

svmp_status svmp_context_set_threads(svmp_context *context, int threads) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (threads < 0) return svmp_fail(context, SVMP_BAD_CALL, "The number of threads cannot be negative: %d.", threads);
    context->threads = threads;
    return SVMP_OK;
}

svmp_status svmp_context_set_log(svmp_context *context, svmp_log_function log, void *user_data) {
    if (context == NULL) return SVMP_BAD_CALL;
    context->log = log;
    context->log_data = user_data;
    return SVMP_OK;
}

svmp_status svmp_context_set_error(svmp_context *context, svmp_error_function error, void *user_data) {
    if (context == NULL) return SVMP_BAD_CALL;
    context->on_error = error;
    context->on_error_data = user_data;
    return SVMP_OK;
}

void svmp_context_free(svmp_context *context) {
    if (context == NULL) return;
    svmp_allocator allocator = context->allocator;
    context->peers->leave(context->peers);
    allocator.release(context, allocator.user_data);
}

const char *svmp_context_error(const svmp_context *context) { return context ? context->error : ""; }

void svmp_record(svmp_context *context, svmp_status status, const char *format, ...) {
    va_list arguments;
    context->advised = 0;
    va_start(arguments, format);
    vsnprintf(context->error, sizeof context->error, format, arguments);
    va_end(arguments);
    if (context->on_error) context->on_error(status, context->error, context->on_error_data);
}

void svmp_log(svmp_context *context, svmp_log_level level, const char *format, ...) {
    if (context->log == NULL) return;
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->log(level, message, context->log_data);
}

int svmp_context_threads(const svmp_context *context) {
    if (context->threads > 0) return context->threads;
    const int offered = svmp_threads_offered(), sharing = (int)context->peers->sharing;
    if (sharing < 2 || getenv("OMP_NUM_THREADS")) return offered;
    return offered > sharing ? offered / sharing : 1;
}

svmp_status svmp_require_memory(svmp_context *context, double bytes, const char *what) {
    const double machine = svmp_machine_memory();
    if (bytes <= machine) return SVMP_OK;
    return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: %s %.3g GB, but this machine has %.3g GB%s.", what,
                     bytes / 1e9, machine / 1e9, svmp_machine_is_limited() ? " for this process" : "");
}

static svmp_status out_of_memory(svmp_context *context, size_t count, size_t size) {
    return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: %zu items of %zu bytes could not be allocated.", count,
                     size);
}

svmp_status svmp_allocate(svmp_context *context, size_t count, size_t size, void **pointer) {
    if (count > SIZE_MAX / 2 / size) return out_of_memory(context, count, size);
    size_t bytes = count > 0 ? count * size : 1;
    void *made = context->allocator.allocate(bytes, context->allocator.user_data);
    if (made == NULL) return out_of_memory(context, count, size);
    memcpy(pointer, &made, sizeof made); /* *pointer may be a pointer of any type: no store through a void ** */
    return SVMP_OK;
}

svmp_status svmp_grow(svmp_context *context, size_t needed, size_t size, void **pointer, size_t *capacity) {
    if (needed <= *capacity) return SVMP_OK;
    size_t wanted = needed > *capacity + *capacity / 2 ? needed : *capacity + *capacity / 2;
    if (wanted < 8) wanted = 8;
    if (wanted > SIZE_MAX / 2 / size) return out_of_memory(context, wanted, size);
    void *old, *grown;
    memcpy(&old, pointer, sizeof old);
    grown = context->allocator.resize(old, wanted * size, context->allocator.user_data);
    if (grown == NULL) return out_of_memory(context, wanted, size);
    memcpy(pointer, &grown, sizeof grown);
    *capacity = wanted;
    return SVMP_OK;
}

svmp_status svmp_duplicate(svmp_context *context, const char *text, char **copy) {
    size_t length = strlen(text) + 1;
    char *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, length));
    *copy = memcpy(made, text, length);
    return SVMP_OK;
}

void svmp_release(svmp_context *context, void *pointer) {
    if (pointer) context->allocator.release(pointer, context->allocator.user_data);
}

void svmp_release_each(svmp_context *context, size_t count, void *const *pointers) {
    for (size_t k = 0; k < count; k++) svmp_release(context, pointers[k]);
}
