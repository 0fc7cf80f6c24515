/* Threads: the number of the calling thread, and how many threads a piece of work is worth. */
#ifndef SVMP_BASE_THREADS_H
#define SVMP_BASE_THREADS_H

#include <stddef.h>

/* The number of the calling thread within its team: 0 without OpenMP. */
#ifdef _OPENMP
#include <omp.h>
static inline int svmp_thread_number(void) { return omp_get_thread_num(); }
#else
static inline int svmp_thread_number(void) { return 0; }
#endif

/* The number of threads for some work: starting and joining threads takes microseconds, so each should have about a
 * hundred thousand operations. The number of threads never affects the bits. */
static inline int svmp_threads_for(int most, double operations) {
    const double grain = 100000, share = operations / grain;
    return share >= most ? most : share > 1 ? (int)share : 1;
}

#endif
