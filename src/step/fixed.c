#include "step/step.h"

static void apply(size_t n, double rate, size_t t, double *phi, double *first, double *second) {
    (void)t, (void)first, (void)second;
#pragma omp simd
    for (size_t l = 0; l < n; l++) phi[l] *= rate;
}

const step_rule svmp_step_fixed = {"fixed", 0, 0, apply};
const step_rule svmp_step_decay = {"decay", 0, 0, apply};
