/* The normal distribution's functions, and log(1 - exp(-x)). */
#include "maths/special.h"

#include <math.h>

static const double sqrt_half = 0.70710678118654752440;
static const double sqrt_two_pi = 2.5066282746310005024;
static const double log_sqrt_two_pi = 0.91893853320467274178;

SPECIAL double svmp_log1m_exp(double x) { return x < 0.69314718055994530942 ? log(-expm1(-x)) : log1p(-exp(-x)); }

SPECIAL double svmp_normal_density(double x) { return exp(-0.5 * x * x) / sqrt_two_pi; }

SPECIAL double svmp_normal_cdf(double x) { return 0.5 * erfc(-x * sqrt_half); }

/* From here on the tail is computed by a continued fraction instead of erfc. */
static const double tail = -5;

/* density(t)/Phi(-t) - t = 1/(t + 2/(t + 3/(t + ...))), t >= 5. */
SPECIAL_OWN double mills_excess(double t) {
    double fraction = t;
    for (int k = 60; k > 1; k--) fraction = t + k / fraction;
    return 1 / fraction;
}

SPECIAL_OWN double mills_ratio(double t) { return 1 / (t + mills_excess(t)); }

SPECIAL double svmp_log_normal_cdf(double x) {
    if (x < tail) return -0.5 * x * x - log_sqrt_two_pi + log(mills_ratio(-x));
    return x < 0 ? log(svmp_normal_cdf(x)) : log1p(-svmp_normal_cdf(-x));
}

SPECIAL double svmp_normal_hazard(double x) {
    return x < tail ? 1 / mills_ratio(-x) : svmp_normal_density(x) / svmp_normal_cdf(x);
}

/* -h(x)(h(x) + x) */
SPECIAL double svmp_normal_hazard_slope(double x) {
    const double excess = x < tail ? mills_excess(-x) : svmp_normal_hazard(x) + x;
    return -svmp_normal_hazard(x) * excess;
}

/* Newton's method on log Phi(x) = log p for p <= 1/2, from Hastings' rational approximation (26.2.23 in Abramowitz
 * and Stegun), whose error is below 4.5e-4. */
SPECIAL_OWN double lower_quantile(double p) {
    double target = log(p), t = sqrt(-2 * target);
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    for (int k = 0; k < 3; k++) x -= (svmp_log_normal_cdf(x) - target) / svmp_normal_hazard(x);
    return x;
}

SPECIAL double svmp_normal_quantile(double p) {
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (p == 0.5) return 0;
    return p < 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
}
