/* Threads: who am I, and how many does a piece of work deserve. */
#ifndef SVMP_BASE_THREAD_H
#define SVMP_BASE_THREAD_H

#include <stddef.h>

/* The number of the calling thread within its team: 0 without OpenMP. */
#ifdef _OPENMP
#include <omp.h>
static inline int svmp_thread_number(void) { return omp_get_thread_num(); }
#else
static inline int svmp_thread_number(void) { return 0; }
#endif

/* Waking and joining a team takes microseconds: a thread is worth it from some hundred thousand operations on. How many
 * there are never shows in the bits. */
static inline int svmp_threads_for(int most, double operations) {
    const double grain = 100000, share = operations / grain;
    return share >= most ? most : share > 1 ? (int)share : 1;
}

#endif
