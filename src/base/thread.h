/* The number of the calling thread within its team: 0 without OpenMP. */
#ifndef SVMP_BASE_THREAD_H
#define SVMP_BASE_THREAD_H

#ifdef _OPENMP
#include <omp.h>
static inline int svmp_thread_number(void) { return omp_get_thread_num(); }
#else
static inline int svmp_thread_number(void) { return 0; }
#endif

#endif
