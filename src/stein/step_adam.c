#include <math.h>

#include "stein/step_rule.h"

/* M = beta1 M + (1 - beta1) phi, V = beta2 V + (1 - beta2) phi^2, both corrected for their start at 0:
 * dx = rate M/(1 - beta1^(t+1)) / (delta + sqrt(V/(1 - beta2^(t+1)))) */
static void apply(const step_rule *rule, size_t n, double rate, size_t t, double *phi, double *first, double *second) {
    const double delta = rule->delta, beta1 = rule->decay1, beta2 = rule->decay2;
    const double correct1 = 1 / (1 - pow(beta1, (double)t + 1)), correct2 = 1 / (1 - pow(beta2, (double)t + 1));
#pragma omp simd
    for (size_t l = 0; l < n; l++) {
        first[l] = beta1 * first[l] + (1 - beta1) * phi[l];
        second[l] = beta2 * second[l] + (1 - beta2) * phi[l] * phi[l];
        phi[l] = rate * (correct1 * first[l]) / (delta + sqrt(correct2 * second[l]));
    }
}

const step_rule svmp_step_adam = {"adam", SVMP_STEP_ADAM, 2, 0, apply, 0.9, 0.999, 1e-8};

/* Adam in units of the particles' own sd: phi sd has no unit, and the displacement is rate sd times a number of order
 * 1, so that the units of the model do not matter. V decays faster than Adam's. */
const step_rule svmp_step_adam_sd = {"adam-sd", SVMP_STEP_ADAM, 2, 1, apply, 0.9, 0.99, 1e-12};
