/* Memory, errors and the log of the library that has loaded this plug-in. */
#ifndef SVMP_CUDA_CUDA_HOST_H
#define SVMP_CUDA_CUDA_HOST_H

#include "svmp.h"
#include "svmp_plugin.h"

/* Returns from the calling function if a call failed; the library has recorded why. */
#define CUDA_TRY(call)                                                                                                 \
    do {                                                                                                               \
        svmp_status try_status_ = (call);                                                                              \
        if (try_status_ != SVMP_OK) return try_status_;                                                                \
    } while (0)

/* The same for functions with one exit path: jumps to `done:` with the failure in `status`. */
#define CUDA_CHECK(call)                                                                                               \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != SVMP_OK) goto done;                                                                              \
    } while (0)

/* `count` items of `size` bytes, zeroed. */
svmp_status svmp_host_allocate(const svmp_host *host, size_t count, size_t size, void **pointer);
void svmp_host_release(const svmp_host *host, void *pointer); /* NULL-safe */
void svmp_host_release_each(const svmp_host *host, size_t count, void *const *pointers);
#define svmp_host_release_all(host, ...)                                                                               \
    svmp_host_release_each((host), sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__})

/* Grows *pointer to at least `needed` items; the new part is zeroed. On failure the old array remains valid. */
svmp_status svmp_host_grow(const svmp_host *host, size_t needed, size_t size, void **pointer, size_t *capacity);

#define CUDA_NEW(host, pointer, count) svmp_host_allocate((host), (count), sizeof *(pointer), (void **)&(pointer))
#define CUDA_GROW(host, pointer, capacity, needed)                                                                     \
    svmp_host_grow((host), (needed), sizeof *(pointer), (void **)&(pointer), &(capacity))

/* Records an error and returns its status. */
svmp_status svmp_host_fail(const svmp_host *host, svmp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void svmp_host_log(const svmp_host *host, svmp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
