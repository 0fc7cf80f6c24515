#include <math.h>

#include "stein/step_rule.h"

/* G = 0.9 G + 0.1 phi^2,  dx = rate phi / (delta + sqrt(G)) */
static void apply(const step_rule *rule, size_t n, double rate, size_t t, double *phi, double *mean, double *unused) {
    (void)t, (void)unused;
    const double delta = rule->delta, decay = rule->decay1;
#pragma omp simd
    for (size_t l = 0; l < n; l++) {
        mean[l] = decay * mean[l] + (1 - decay) * phi[l] * phi[l];
        phi[l] = rate * phi[l] / (delta + sqrt(mean[l]));
    }
}

const step_rule svmp_step_rmsprop = {"rmsprop", SVMP_STEP_RMSPROP, 1, 0, apply, .decay1 = 0.9, .delta = 1e-8};
