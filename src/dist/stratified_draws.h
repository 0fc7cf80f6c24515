/* Stratified random numbers for n sources in an order that matters, such as particles sorted by the mean of what is
 * drawn: an orthogonal array (Tang, JASA 1993). The sources are cut into groups of neighbours. Each group has one
 * number in each of `size` equal intervals, and all n together have about one in each of n, so their numbers are nearly
 * uncorrelated with the order. The numbers of each single source are independent and uniform. */
#ifndef SVMP_DIST_STRATIFIED_DRAWS_H
#define SVMP_DIST_STRATIFIED_DRAWS_H

#include "base/random.h"

/* size*groups is n or slightly more; then a few intervals stay empty. */
typedef struct strata {
    uint64_t size, groups;
} strata;

/* Groups of about sqrt(n); n > 0. */
strata svmp_strata(uint64_t n);

/* Which of the size*groups equal intervals of (0, 1) contains number `used` of the source at `place`. Sets of sources
 * differ in the stream's seed and a. */
uint64_t svmp_stratum(strata s, random_stream stream, uint64_t used, uint64_t place);

#endif
