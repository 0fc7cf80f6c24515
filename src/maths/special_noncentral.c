/* Functions of noncentral distributions: 0F1(; b; z), and the integral of v^k exp(-(v - m)^2 / 2) over v > 0, as
 * logarithms, with their derivatives with respect to b and k. Both are sums of positive terms, from the largest one
 * outwards. */
#include "maths/special.h"

#include <math.h>

/* The log of a sum, and its first and second derivative with respect to a parameter. */
typedef struct noncentral_sum {
    double log_sum, slope, bend;
} noncentral_sum;

/* Terms t with d log t = s and d^2 log t = r: d log S = E s, d^2 log S = E r + var s, with weights t. */
typedef struct noncentral_moments {
    double sum, first, second, bend;
} noncentral_moments;

SPECIAL_OWN void noncentral_add(noncentral_moments *m, double term, double s, double r) {
    m->sum += term;
    m->first += term * s;
    m->second += term * s * s;
    m->bend += term * r;
}

SPECIAL_OWN noncentral_sum noncentral_finish(const noncentral_moments *m, double log_largest) {
    const double mean = m->first / m->sum;
    const noncentral_sum made = {log_largest + log(m->sum), mean, (m->bend + m->second) / m->sum - mean * mean};
    return made;
}

/* Terms z^j / (j! b (b + 1) ... (b + j - 1)): d log t_j / db = digamma(b) - digamma(b + j). */
SPECIAL_OWN noncentral_sum hypergeometric_0f1(double b, double z) {
    const noncentral_sum nothing = {0, 0, 0}, wrong = {NAN, NAN, NAN};
    if (!(b > 0 && z >= 0 && b < INFINITY && z < INFINITY)) return wrong;
    if (z == 0) return nothing;
    const double peak = floor(fmax(0.0, 0.5 * (sqrt((b - 1) * (b - 1) + 4 * z) - b - 1)));
    const double log_largest = peak * log(z) - svmp_log_gamma(peak + 1) - svmp_log_gamma(b + peak) + svmp_log_gamma(b);
    const double s0 = svmp_digamma(b) - svmp_digamma(b + peak), r0 = svmp_trigamma(b) - svmp_trigamma(b + peak);
    noncentral_moments m = {0, 0, 0, 0};
    double term = 1, s = s0, r = r0;
    for (double j = peak; term > 1e-18 * m.sum; j++) {
        noncentral_add(&m, term, s, r);
        term *= z / ((j + 1) * (b + j));
        s -= 1 / (b + j);
        r += 1 / ((b + j) * (b + j));
    }
    term = 1, s = s0, r = r0;
    for (double j = peak; j > 0; j--) {
        term *= j * (b + j - 1) / z;
        s += 1 / (b + j - 1);
        r -= 1 / ((b + j - 1) * (b + j - 1));
        if (term <= 1e-18 * m.sum) break;
        noncentral_add(&m, term, s, r);
    }
    return noncentral_finish(&m, log_largest);
}

SPECIAL double svmp_log_0f1(double b, double z) { return hypergeometric_0f1(b, z).log_sum; }
SPECIAL double svmp_log_0f1_shape(double b, double z) { return hypergeometric_0f1(b, z).slope; }
SPECIAL double svmp_log_0f1_bend(double b, double z) { return hypergeometric_0f1(b, z).bend; }

/* The trapezoidal rule in u = log v for exp((k + 1) u - (e^u - m)^2 / 2), which is largest where v (v - m) = k + 1,
 * with curvature v^2 + k + 1. d log t / dk = u. The integrand is analytic and bounded for |Im u| < pi/4, so the error
 * of the rule is about exp(-2 pi (pi/4) / step): rounding. */
SPECIAL_OWN noncentral_sum normal_power(double k, double m) {
    const noncentral_sum wrong = {NAN, NAN, NAN};
    if (!(k > -1 && k < INFINITY && m > -INFINITY && m < INFINITY)) return wrong;
    const double root = sqrt(m * m + 4 * (k + 1)), v = m > 0 ? 0.5 * (m + root) : 2 * (k + 1) / (root - m);
    const double top = log(v), step = fmin(0.12, 0.4 / sqrt(v * v + k + 1)),
                 largest = (k + 1) * top - 0.5 * (v - m) * (v - m);
    noncentral_moments sums = {0, 0, 0, 0};
    noncentral_add(&sums, 1, 0, 0); /* u relative to the maximum, so that the variance loses no digits */
    for (int side = -1; side <= 1; side += 2)
        for (double j = 1;; j++) {
            const double u = side * j * step, x = v * exp(u);
            const double term = exp((k + 1) * u - 0.5 * (x - v) * (x + v - 2 * m));
            if (!(term > 1e-18 * sums.sum)) break;
            noncentral_add(&sums, term, u, 0);
        }
    noncentral_sum made = noncentral_finish(&sums, largest + log(step));
    made.slope += top;
    return made;
}

SPECIAL double svmp_log_normal_power(double k, double m) { return normal_power(k, m).log_sum; }
SPECIAL double svmp_log_normal_power_shape(double k, double m) { return normal_power(k, m).slope; }
SPECIAL double svmp_log_normal_power_bend(double k, double m) { return normal_power(k, m).bend; }
