/* Clocks, for measuring only: no result depends on them. */
#ifndef SVMP_BASE_CLOCK_H
#define SVMP_BASE_CLOCK_H

#include <time.h>

static inline double svmp_clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of the calling thread, hardly affected by other load on the machine. */
static inline double svmp_clock_thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
