#include "backend/cpu/lanes.h"

#include <string.h>

static int always(void) { return 1; }

#ifdef SVMP_X86
static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#endif

static const struct {
    const lane_ops *ops;
    int (*runs)(void);
} sets[] = {
#ifdef SVMP_X86
    {&svmp_lanes_avx512, has_avx512},
    {&svmp_lanes_avx2, has_avx2},
#endif
    {&svmp_lanes_baseline, always},
};

enum { SETS = sizeof sets / sizeof *sets };

const lane_ops *svmp_lanes_best(void) {
    size_t k = 0;
    while (!sets[k].runs()) k++;
    return sets[k].ops;
}

const lane_ops *svmp_lanes_named(const char *name) {
    for (size_t k = 0; k < SETS; k++)
        if (strcmp(sets[k].ops->name, name) == 0 && sets[k].runs()) return sets[k].ops;
    return NULL;
}
