#include <math.h>

#include "step/step.h"

/* Adam in units of the particles' own sd: phi sd has no unit, and the displacement is rate sd times a number of the
 * size of 1, so that the units of the model do not matter. A shorter memory than Adam's: M = 0.9 M + 0.1 phi, V = 0.99
 * V + 0.01 phi^2, dx = rate M/(1 - 0.9^(t+1)) / (delta + sqrt(V/(1 - 0.99^(t+1)))) */
static void apply(size_t n, double rate, size_t t, double *phi, double *first, double *second) {
    const double delta = 1e-12, beta1 = 0.9, beta2 = 0.99;
    const double correct1 = 1 / (1 - pow(beta1, (double)t + 1)), correct2 = 1 / (1 - pow(beta2, (double)t + 1));
#pragma omp simd
    for (size_t l = 0; l < n; l++) {
        first[l] = beta1 * first[l] + (1 - beta1) * phi[l];
        second[l] = beta2 * second[l] + (1 - beta2) * phi[l] * phi[l];
        phi[l] = rate * (correct1 * first[l]) / (delta + sqrt(correct2 * second[l]));
    }
}

const step_rule svmp_step_adam_sd = {"adam-sd", 2, 1, apply};
