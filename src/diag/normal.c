#include "diag/normal.h"

#include <math.h>

/* Newton's method on log P(x) = log p for p <= 1/2, from Hastings' rational approximation (26.2.23 in Abramowitz and
 * Stegun), whose error is below 4.5e-4. */
static double lower_score(double p) {
    const double root_half = 0.70710678118654752440, root_two_pi = 2.5066282746310005024;
    const double t = sqrt(-2 * log(p));
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    for (int k = 0; k < 3; k++) {
        const double below = 0.5 * erfc(-x * root_half), density = exp(-0.5 * x * x) / root_two_pi;
        x -= log(below / p) * below / density;
    }
    return x;
}

double svmp_normal_score(double p) {
    if (p == 0.5) return 0;
    return p < 0.5 ? lower_score(p) : -lower_score(1 - p);
}
