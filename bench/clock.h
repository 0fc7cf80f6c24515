/* Time, and the core's own cycles. Machines are shared: the least of many short rounds is what counts. */
#ifndef SVMP_BENCH_CLOCK_H
#define SVMP_BENCH_CLOCK_H

#include <time.h>

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cycles a second, from a chain of additions that take a cycle each; 0 where this is not known. */
static inline double core_clock(void) {
#if defined(__x86_64__)
    double best = 1e300;
    for (int round = 0; round < 200; round++) {
        unsigned long chain = 0;
        const double started = seconds();
        for (int k = 0; k < 10000; k++)
            __asm__ volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
                             "add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
                             : "+r"(chain));
        const double spent = seconds() - started;
        best = spent < best ? spent : best;
    }
    return 80000 / best;
#else
    return 0;
#endif
}

#endif
