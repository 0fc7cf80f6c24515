#include "cuda/cuda_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

svmp_status svmp_host_allocate(const svmp_host *host, size_t count, size_t size, void **pointer) {
    const size_t bytes = size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    void *made = host->allocate(host->context, bytes > 0 ? bytes : 1);
    memcpy(pointer, &made, sizeof made); /* *pointer may be a pointer of any type: no store through a void ** */
    return made ? SVMP_OK : SVMP_NO_MEMORY;
}

void svmp_host_release(const svmp_host *host, void *pointer) { host->release(host->context, pointer); }

void svmp_host_release_each(const svmp_host *host, size_t count, void *const *pointers) {
    for (size_t k = 0; k < count; k++) svmp_host_release(host, pointers[k]);
}

svmp_status svmp_host_grow(const svmp_host *host, size_t needed, size_t size, void **pointer, size_t *capacity) {
    void *old, *grown = NULL;
    if (needed <= *capacity) return SVMP_OK;
    const size_t count = needed > *capacity + *capacity / 2 ? needed : *capacity + *capacity / 2;
    CUDA_TRY(svmp_host_allocate(host, count, size, &grown));
    memcpy(&old, pointer, sizeof old);
    if (old) memcpy(grown, old, *capacity * size);
    svmp_host_release(host, old);
    memcpy(pointer, &grown, sizeof grown);
    *capacity = count;
    return SVMP_OK;
}

svmp_status svmp_host_fail(const svmp_host *host, svmp_status status, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    host->fail(host->context, status, sentence);
    return status;
}

void svmp_host_log(const svmp_host *host, svmp_log_level level, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    host->log(host->context, level, sentence);
}
