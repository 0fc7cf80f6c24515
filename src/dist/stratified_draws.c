#include "dist/stratified_draws.h"

#include <math.h>

strata svmp_strata(uint64_t n) {
    const double root = sqrt((double)n);
    strata best = {1, n};
    uint64_t waste = UINT64_MAX;
    for (uint64_t size = (uint64_t)ceil(root / 2); (double)size <= 2 * root; size++) {
        const uint64_t groups = (n + size - 1) / size, empty = size * groups - n;
        if (empty > waste || (empty == waste && fabs((double)size - root) > fabs((double)best.size - root))) continue;
        best = (strata){size, groups};
        waste = empty;
    }
    return best;
}

uint64_t svmp_stratum(strata s, random_stream stream, uint64_t used, uint64_t place) {
    const uint64_t group = place / s.size;
    random_stream order = stream;
    order.purpose = RANDOM_STRATUM;
    order.b = used << 40 | group;
    const uint64_t interval = svmp_random_place(order, place % s.size, s.size);
    order.purpose = RANDOM_STRATUM_GROUP;
    order.b = used << 40 | interval;
    return interval * s.groups + svmp_random_place(order, group, s.groups);
}
