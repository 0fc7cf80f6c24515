/* Clocks, for measuring only: no result depends on them. */
#ifndef SVMP_BASE_CLOCK_H
#define SVMP_BASE_CLOCK_H

#include <time.h>

/* 0 where there is no such clock. */
static inline double svmp_clock_seconds(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of the calling thread, hardly affected by other load on the machine; where it is not known, time. */
static inline double svmp_clock_thread_seconds(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return svmp_clock_seconds();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
