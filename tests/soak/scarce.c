/* LD_PRELOAD: the allocation with the number SVMP_FAIL_AT, and the next SVMP_FAIL_COUNT - 1, fail in the whole process,
 * whoever makes them. SVMP_FAIL_LEAST: only those of so many bytes count. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);

static atomic_long made;
static long fail_at, fail_count = 1, least;

static long number_of(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
    least = number_of("SVMP_FAIL_LEAST", 0);
    fail_count = number_of("SVMP_FAIL_COUNT", 1);
    fail_at = number_of("SVMP_FAIL_AT", 0);
}

static int fails(size_t size) {
    if (fail_at == 0 || (long)size < least) return 0;
    const long k = atomic_fetch_add(&made, 1) + 1;
    const int failed = k >= fail_at && k < fail_at + fail_count;
    if (failed) errno = ENOMEM;
    return failed;
}

void *malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { return fails(size) ? NULL : __libc_realloc(pointer, size); }
