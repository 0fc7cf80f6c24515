#include <math.h>

#include "stein/step_rule.h"

/* G += phi^2,  dx = rate phi / (delta + sqrt(G)) */
static void apply(const step_rule *rule, size_t n, double rate, size_t t, double *phi, double *sum, double *unused) {
    (void)t, (void)unused;
    const double delta = rule->delta;
#pragma omp simd
    for (size_t l = 0; l < n; l++) {
        sum[l] += phi[l] * phi[l];
        phi[l] = rate * phi[l] / (delta + sqrt(sum[l]));
    }
}

const step_rule svmp_step_adagrad = {"adagrad", SVMP_STEP_ADAGRAD, 1, 0, apply, .delta = 1e-8};
