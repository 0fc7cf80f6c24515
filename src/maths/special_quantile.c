/* Quantiles of the gamma, beta and t distributions: Newton's method for the logarithm of the smaller tail, F or 1 - F,
 * in u = log x or logit x. Both densities are log-concave in u, and so are F and 1 - F: from its first step on,
 * Newton's method converges monotonically. */
#include "maths/special.h"

#include <float.h>
#include <math.h>

#define QUANTILE_STEPS 400

/* One Newton step towards the zero of a concave function; returns whether it has converged to rounding. */
SPECIAL_OWN int quantile_step(double value, double slope, double *u) {
    const double step = value / slope;
    if (!isfinite(step)) return 1;
    *u -= step;
    return fabs(step) <= 4 * DBL_EPSILON * (1 + fabs(*u));
}

/* The start: X^(1/3) is approximately normal (Wilson and Hilferty), and P is about x^a / gamma(a + 1) for small x. */
SPECIAL_OWN double gamma_quantile_start(double p, double a) {
    const double c = 1 / (9 * a), root = 1 - c + sqrt(c) * svmp_normal_quantile(p);
    const double small = (log(p) + svmp_log_gamma(a + 1)) / a;
    return root > 0.2 ? log(a) + 3 * log(root) : small;
}

SPECIAL double svmp_gamma_quantile(double p, double a) {
    if (!(p >= 0 && p <= 1 && a > 0 && a < INFINITY)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? 0 : INFINITY;
    const int upper = p > 0.5;
    const double target = upper ? log1p(-p) : log(p), norm = svmp_log_gamma(a);
    double u = gamma_quantile_start(p, a);
    for (int k = 0; k < QUANTILE_STEPS; k++) {
        const double x = exp(u), tail = upper ? svmp_log_gamma_q(a, x) : svmp_log_gamma_p(a, x);
        const double slope = exp(a * u - x - norm - tail); /* x density(x) / tail */
        if (quantile_step(tail - target, upper ? -slope : slope, &u)) break;
    }
    return exp(u);
}

/* log I at logit u. Near 1 the complement is accurate. */
SPECIAL_OWN double beta_tail(double u, double a, double b, double norm) {
    const double x = 1 / (1 + exp(-u)), other = 1 / (1 + exp(u));
    if (x < DBL_MIN) return a * u - log(a) - norm;
    if (other > 1e-3) return svmp_log_beta_i(x, a, b);
    const double beyond = other < DBL_MIN ? -INFINITY : svmp_log_beta_i(other, b, a);
    return beyond < -1e-4 ? log1p(-exp(beyond)) : svmp_log_beta_i(x, a, b);
}

/* The logit of the x with log I = target. */
SPECIAL_OWN double beta_quantile_logit(double target, double a, double b) {
    const double norm = svmp_log_gamma(a) + svmp_log_gamma(b) - svmp_log_gamma(a + b);
    double u = log(a / b);
    for (int k = 0; k < QUANTILE_STEPS; k++) {
        const double log_x = -log1p(exp(-u)), log_other = -log1p(exp(u)), tail = beta_tail(u, a, b, norm);
        const double slope = exp(a * log_x + b * log_other - norm - tail); /* x (1 - x) density(x) / I */
        if (quantile_step(tail - target, slope, &u)) break;
    }
    return u;
}

SPECIAL double svmp_beta_quantile(double p, double a, double b) {
    if (!(p >= 0 && p <= 1 && a > 0 && b > 0 && a < INFINITY && b < INFINITY)) return NAN;
    if (p == 0 || p == 1) return p;
    const double u = p <= 0.5 ? beta_quantile_logit(log(p), a, b) : -beta_quantile_logit(log1p(-p), b, a);
    return 1 / (1 + exp(-u));
}

/* k / (k + t^2) has a beta distribution, and its complement. */
SPECIAL double svmp_t_quantile(double p, double k) {
    if (!(p >= 0 && p <= 1 && k > 0 && k < INFINITY)) return NAN;
    const double tail = p < 0.5 ? p : 1 - p, side = p < 0.5 ? -1 : 1;
    if (tail == 0) return side * INFINITY;
    if (tail < 0.25) {
        const double share = svmp_beta_quantile(2 * tail, 0.5 * k, 0.5);
        return side * sqrt(k * (1 - share) / share);
    }
    const double share = svmp_beta_quantile(1 - 2 * tail, 0.5, 0.5 * k);
    return side * sqrt(k * share / (1 - share));
}
