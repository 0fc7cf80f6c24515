/* Order statistics without sorting. */
#ifndef SVMP_BASE_SELECT_H
#define SVMP_BASE_SELECT_H

#include <stddef.h>

/* The value of the given rank (0: the smallest) among `count`; reorders them so that no value before the rank is larger
 * and no value after it is smaller. Linear time on average. */
double svmp_select(double *values, size_t count, size_t rank);

#endif
