/* Exact order statistics of many numbers that are too many, or not worth, to store and sort: counting passes narrow a
 * bracket that starts from where the last iteration's answer stood, and what lies in it at the end is selected from. */
#ifndef SVMP_BACKEND_CPU_MEDIAN_H
#define SVMP_BACKEND_CPU_MEDIAN_H

#include "backend/cpu/lanes.h"

/* Room for the numbers in a bracket, of so many in all. */
static inline size_t svmp_median_capacity(size_t numbers) {
    const size_t share = numbers / 32, least = 2048, most = 65536;
    return share < least ? least : share > most ? most : share;
}

/* Where the last answer stood, how it had moved, and how wide a bracket around the place where it should be next is
 * likely to hold it. It changes the time, never the answer. Starts as zeros. */
typedef struct middle {
    double at, moved, reach;
} middle;

/* Counts all numbers into a tally whose bracket is set and whose counts are 0. */
typedef void (*counting_pass)(void *user_data, tally *t);

/* The numbers of ranks lower <= upper <= lower + 1 (0: the smallest), none of them negative. Those that
 * are NaN count as the largest: NaN is the answer where the rank is one of theirs. `list` has room for
 * svmp_median_capacity numbers. */
void svmp_median_find(counting_pass pass, void *user_data, size_t lower, size_t upper, double *list, size_t capacity,
                      middle *last, double *at_lower, double *at_upper);

#endif
