/* Status, errors, log and memory: the foundation of every part of the library. */
#ifndef SVMP_BASE_CONTEXT_H
#define SVMP_BASE_CONTEXT_H

#include <stdio.h>

#include "svmp_tools.h"

enum { CONTEXT_ADVICE = 4 };

struct svmp_context {
    svmp_allocator allocator;
    int threads; /* 0: as many as OpenMP offers */
    svmp_log_function log;
    svmp_error_function on_error; /* of an error */
    void *log_data, *on_error_data;
    char error[1024];
    svmp_speller spell; /* of options in advice; NULL: "iterations = 8000" */
    void *spell_data;
    svmp_note advice[CONTEXT_ADVICE]; /* of the last error */
    size_t advised;
    const struct svmp_peers *peers; /* all processes that work on one model; alone: svmp_alone, never NULL */
};

/* Returns from the calling function if a call failed; the error message is already in the context. */
#define SVMP_TRY(call)                                                                                                 \
    do {                                                                                                               \
        svmp_status try_status_ = (call);                                                                              \
        if (try_status_ != SVMP_OK) return try_status_;                                                                \
    } while (0)

/* The same for functions with one exit path: jumps to `done:` with the failure in `status`. */
#define SVMP_CHECK(call)                                                                                               \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != SVMP_OK) goto done;                                                                              \
    } while (0)

/* Records the message, calls the error callback, and returns `status`, so that a failure is one line:
 * return svmp_fail(context, SVMP_BAD_CALL, "..."). Do not call it from a parallel region. It is a macro so that
 * compilers and analysers, which see one file at a time, know that it returns the given status. */
#define svmp_fail(context, status, ...) (svmp_record((context), (status), __VA_ARGS__), svmp_failure(status))
void svmp_record(svmp_context *context, svmp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline svmp_status svmp_failure(svmp_status status) { return status; }

void svmp_log(svmp_context *context, svmp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int svmp_context_threads(const svmp_context *context);

/* Fails if `bytes` exceeds the memory of the machine or a limit of the process: systems may promise
 * more memory than they have and then kill the process. The message is "Out of memory: {what} 80 GB, ...". */
svmp_status svmp_require_memory(svmp_context *context, double bytes, const char *what);

/* `count` items of `size` bytes, zeroed; an error (no memory, or a size that overflows) is recorded. */
svmp_status svmp_allocate(svmp_context *context, size_t count, size_t size, void **pointer);

/* Grows *pointer to hold at least `needed` items, by at least half; *capacity is updated. The new part is not zeroed.
 * On failure the old array remains valid. */
svmp_status svmp_grow(svmp_context *context, size_t needed, size_t size, void **pointer, size_t *capacity);

/* A copy of `text`. */
svmp_status svmp_duplicate(svmp_context *context, const char *text, char **copy);

/* NULL-safe. svmp_release_all(context, a, b, c) releases several in this order; all are read before the first goes. */
void svmp_release(svmp_context *context, void *pointer);
void svmp_release_each(svmp_context *context, size_t count, void *const *pointers);
#define svmp_release_all(context, ...)                                                                                 \
    svmp_release_each((context), sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__})

/* SVMP_NEW(context, array, count): a zeroed array of the pointer's own type. */
#define SVMP_NEW(context, pointer, count) svmp_allocate((context), (count), sizeof *(pointer), (void **)&(pointer))
#define SVMP_GROW(context, pointer, capacity, needed)                                                                  \
    svmp_grow((context), (needed), sizeof *(pointer), (void **)&(pointer), &(capacity))

#endif
