/* Time that passes; nothing that a run yields depends on it. */
#ifndef SVMP_BASE_CLOCK_H
#define SVMP_BASE_CLOCK_H

#include <time.h>

static inline double svmp_clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time that the calling thread has been at work: what others do on the machine counts little in it. */
static inline double svmp_clock_thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
