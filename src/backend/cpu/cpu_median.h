/* Exact order statistics without storing or sorting all numbers: counting passes narrow a bracket that starts at the
 * answer of the last iteration, and the result is selected from the numbers that remain in it. */
#ifndef SVMP_BACKEND_CPU_CPU_MEDIAN_H
#define SVMP_BACKEND_CPU_CPU_MEDIAN_H

#include "backend/cpu/lanes.h"

/* The capacity of the list of numbers in a bracket, for `numbers` numbers in total. */
static inline size_t svmp_median_capacity(size_t numbers) {
    const size_t share = numbers / 32, least = 2048, most = 65536;
    return share < least ? least : share > most ? most : share;
}

/* The last answer, how far it moved, and the width of a bracket around its predicted position. It affects the time,
 * never the answer. Initially zero. */
typedef struct middle {
    double at, moved, reach;
} middle;

/* Counts all numbers into a tally whose bracket is set and whose counts are 0. */
typedef void (*counting_pass)(void *user_data, tally *t);

/* The numbers of ranks lower <= upper <= lower + 1 (0: the smallest); no number may be negative. NaN counts as the
 * largest. `list` has room for svmp_median_capacity numbers. */
void svmp_median_find(counting_pass pass, void *user_data, size_t lower, size_t upper, double *list, size_t capacity,
                      middle *last, double *at_lower, double *at_upper);

#endif
