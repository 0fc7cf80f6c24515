/* Sorted values that know where they came from. */
#ifndef SVMP_DIAG_SORT_H
#define SVMP_DIAG_SORT_H

#include <stddef.h>

typedef struct placed {
    double value;
    size_t place;
} placed;

/* Ascending by value, equal ones by place when they came so; `spare` has room for as many. No NaN. */
void svmp_sort(placed *items, placed *spare, size_t count);

/* Linear interpolation between order statistics, h = (n - 1) p: R's type 7. */
double svmp_quantile(const placed *sorted, size_t count, double p);

#endif
