/* Sorting values together with their original positions. */
#ifndef SVMP_MATHS_SORT_WITH_INDICES_H
#define SVMP_MATHS_SORT_WITH_INDICES_H

#include <stddef.h>

typedef struct placed {
    double value;
    size_t place;
} placed;

/* Sorts by value, stably; `spare` has room for as many items. There must be no NaN. */
void svmp_sort(placed *items, placed *spare, size_t count);

/* Linear interpolation between order statistics, h = (n - 1) p: R's type 7. */
double svmp_quantile(const placed *sorted, size_t count, double p);

#endif
