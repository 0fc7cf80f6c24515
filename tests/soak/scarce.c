/* LD_PRELOAD: in the whole process, allocation number SVMP_FAIL_AT and the next SVMP_FAIL_COUNT - 1 fail.
 * SVMP_FAIL_LEAST: only allocations of at least this many bytes count. SVMP_FAIL_REPORT: a file that receives the
 * number of allocations at the end of the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    if ((long)size < least) return 0;
    const long k = atomic_fetch_add(&made, 1) + 1;
    const int failed = fail_at > 0 && k >= fail_at && k < fail_at + fail_count;
    if (failed) errno = ENOMEM;
    return failed;
}

void *malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { return fails(size) ? NULL : __libc_realloc(pointer, size); }

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("SVMP_FAIL_REPORT");
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&made));
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    if (file < 0) return;
    if (write(file, text, (size_t)length) != length) unlink(path);
    close(file);
}
