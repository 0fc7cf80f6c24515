#include <math.h>

#include "step/step.h"

/* M = 0.9 M + 0.1 phi, V = 0.999 V + 0.001 phi^2, both corrected for their start at 0:
 * dx = rate M/(1 - 0.9^(t+1)) / (delta + sqrt(V/(1 - 0.999^(t+1)))) */
static void apply(size_t n, double rate, size_t t, double *phi, double *first, double *second) {
    const double delta = 1e-8, beta1 = 0.9, beta2 = 0.999;
    const double correct1 = 1 / (1 - pow(beta1, (double)t + 1)), correct2 = 1 / (1 - pow(beta2, (double)t + 1));
#pragma omp simd
    for (size_t l = 0; l < n; l++) {
        first[l] = beta1 * first[l] + (1 - beta1) * phi[l];
        second[l] = beta2 * second[l] + (1 - beta2) * phi[l] * phi[l];
        phi[l] = rate * (correct1 * first[l]) / (delta + sqrt(correct2 * second[l]));
    }
}

const step_rule svmp_step_adam = {"adam", 2, 0, apply};
