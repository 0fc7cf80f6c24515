/* Threads: parallel loops, the number of the calling thread, and the number of threads that a piece of work is
 * worth. */
#ifndef SVMP_BASE_THREADS_H
#define SVMP_BASE_THREADS_H

#include <stdatomic.h>
#include <stddef.h>

/* Calls body(work, k) for every k below `count`, on the calling thread and up to threads - 1 others, `chunk` items at a
 * time; 0: as many as give each thread one share. All calls have ended on return. Within a body the loop is the calling
 * thread's alone. Threads are started once for each calling thread, sleep when there is nothing to do, and are started
 * anew in a forked process. A loop that gets no threads runs on the calling one. */
void svmp_parallel_for(int threads, size_t count, size_t chunk, void (*body)(void *work, size_t k), void *work);

/* The number of the calling thread in its loop, below `threads`; 0 outside of loops. */
int svmp_thread_number(void);

/* How many threads this process may use: OMP_NUM_THREADS, or else its processors. */
int svmp_threads_offered(void);

/* The number of threads for some work: waking and waiting for threads takes microseconds, so each should have about a
 * hundred thousand operations. The number of threads never affects the bits. */
static inline int svmp_threads_for(int most, double operations) {
    const double grain = 100000, share = operations / grain;
    return share >= most ? most : share > 1 ? (int)share : 1;
}

/* *least = min(*least, value): of all items of a loop, the first that failed. */
static inline void svmp_keep_least(atomic_size_t *least, size_t value) {
    size_t now = atomic_load(least);
    while (value < now && !atomic_compare_exchange_weak(least, &now, value)) continue;
}

/* *largest = max(*largest, value), without NaN. */
static inline void svmp_keep_largest(_Atomic double *largest, double value) {
    double now = atomic_load(largest);
    while (value > now && !atomic_compare_exchange_weak(largest, &now, value)) continue;
}

#endif
