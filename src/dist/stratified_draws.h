/* Stratified random numbers for n sources in an order that matters, such as particles sorted by the mean of what is
 * drawn: an orthogonal array (Tang, JASA 1993). The sources are cut into groups of neighbours. Each group has one
 * number in each of `size` equal intervals, and all n together have about one in each of n, so their numbers hardly
 * depend on the place in the order even by chance. Each source by itself has independent uniform numbers. */
#ifndef SVMP_DIST_STRATIFIED_DRAWS_H
#define SVMP_DIST_STRATIFIED_DRAWS_H

#include "base/random.h"

/* size*groups is n, or a little more: then a few intervals stay empty. */
typedef struct strata {
    uint64_t size, groups;
} strata;

/* Groups of about sqrt(n); n > 0. */
strata svmp_strata(uint64_t n);

/* The interval, of the size*groups equal ones of (0, 1), that the number `used` of the source at `place` falls into.
 * The stream tells sets of sources apart by its seed and a. */
uint64_t svmp_stratum(strata s, random_stream stream, uint64_t used, uint64_t place);

#endif
