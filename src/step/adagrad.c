#include <math.h>

#include "step/step.h"

/* G += phi^2,  dx = rate phi / (delta + sqrt(G)) */
static void apply(size_t n, double rate, size_t t, double *phi, double *sum, double *unused) {
    (void)t, (void)unused;
    const double delta = 1e-8;
#pragma omp simd
    for (size_t l = 0; l < n; l++) {
        sum[l] += phi[l] * phi[l];
        phi[l] = rate * phi[l] / (delta + sqrt(sum[l]));
    }
}

const step_rule svmp_step_adagrad = {"adagrad", 1, 0, apply};
