/* Order statistics without sorting. */
#ifndef SVMP_MATHS_ORDER_STATISTICS_H
#define SVMP_MATHS_ORDER_STATISTICS_H

#include <stddef.h>

/* The value of the given rank (0: the smallest) among `count`; reorders them so that no value before the rank is larger
 * and no value after it is smaller. Linear time on average. */
double svmp_select(double *values, size_t count, size_t rank);

/* The values of ranks lower <= upper <= lower + 1 among `count`, equal to those of svmp_select, but faster for many
 * unordered values. The contents of `values` are undefined afterwards. */
void svmp_select_two(double *values, size_t count, size_t lower, size_t upper, double *at_lower, double *at_upper);

#endif
