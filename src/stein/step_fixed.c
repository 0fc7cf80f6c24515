#include "stein/step_rule.h"

static void apply(const step_rule *rule, size_t n, double rate, size_t t, double *phi, double *first, double *second) {
    (void)rule, (void)t, (void)first, (void)second;
#pragma omp simd
    for (size_t l = 0; l < n; l++) phi[l] *= rate;
}

const step_rule svmp_step_fixed = {"fixed", SVMP_STEP_FIXED, 0, 0, apply, 0, 0, 0};
const step_rule svmp_step_decay = {"decay", SVMP_STEP_FIXED, 0, 0, apply, 0, 0, 0};
