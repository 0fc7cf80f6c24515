/* Logarithms and what consists of them, in the manner of fast_exponential.h.
 *
 *     x = 2^k (1 + f),    sqrt(1/2) <= 1 + f < sqrt(2)
 *     s = f / (2 + f),    log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + s^2 q(s^2)) */
#ifndef SVMP_MATHS_FAST_LOGARITHM_H
#define SVMP_MATHS_FAST_LOGARITHM_H

#include "maths/fast_exponential.h"

/* What 1 + x loses. */
FAST double svmp_lost_of_1p(double x) {
    const double sum = 1 + x;
    return x < 1 ? x - (sum - 1) : 1 - (sum - x);
}

#ifdef SVMP_DEVICE
#define svmp_ln                          log
#define svmp_log1p                       log1p
#define svmp_log_ilogit(a)               (((a) < 0 ? (a) : 0) - log1p(exp(-fabs(a))))
#define svmp_logistic_tail(a)            exp(-fabs(a))
#define svmp_log_ilogit_by_tail(a, tail) (((a) < 0 ? (a) : 0) - log1p(tail))
#define svmp_logit(a)                    (log(a) - log1p(-(a)))
#define svmp_asinh                       asinh
#define svmp_acosh                       acosh
#define svmp_atanh                       atanh

/* log(x + c), of c below the last place of x. */
FAST double svmp_log_sum(double x, double c) { return fabs(x - 1) < 0.5 ? log1p((x - 1) + c) : log(x); }

FAST_CALLED double svmp_log1m_exp(double x) { return x < 0.69314718055994530942 ? log(-expm1(-x)) : log1p(-exp(-x)); }
#else

static const double svmp_log_2_high = 0x1.62e42fee00000p-1, svmp_log_2_low = 0x1.a39ef35793c76p-33;

/* k log(2) + log(1 + f) + low, -0.3 < f <= 0.5. */
FAST double svmp_log_reduced(double k, double f, double low) {
    static const double q[] = {0x1.5555555555555p-1, 0x1.9999999999f30p-2, 0x1.24924923dba6ap-2, 0x1.c71c72e2f78d5p-3,
                               0x1.745cab2727663p-3, 0x1.3b29fcbbce66dp-3, 0x1.0e88ea4725d3dp-3, 0x1.16b68338bd78bp-3};
    const double s = f / (2 + f), square = s * s, half = 0.5 * f * f;
    const double part = s * (half + square * SVMP_POLYNOMIAL(square, q));
    return k * svmp_log_2_high - ((half - (part + (k * svmp_log_2_low + low))) - f);
}

/* x = 2^k (1 + f), of x > 0. */
typedef struct reduced_logarithm {
    double k, f, scale; /* 2^-k */
} reduced_logarithm;

FAST reduced_logarithm svmp_reduce_logarithm(double x) {
    const uint64_t below = UINT64_C(0x3fe6a09e667f3bcd), one = UINT64_C(1023) << 52;
    const int tiny = x < 0x1p-1022; /* its leading digit is no digit 1 */
    const uint64_t bits = svmp_to_bits(tiny ? x * 0x1p54 : x) + (one - below);
    const uint64_t exponent = bits >> 52;
    const double k = svmp_from_bits(exponent | UINT64_C(0x433) << 52) - (0x1p52 + 1023);
    const reduced_logarithm reduced = {tiny ? k - 54 : k,
                                       svmp_from_bits((bits & ((UINT64_C(1) << 52) - 1)) + below) - 1,
                                       svmp_from_bits((2046 - exponent) << 52)};
    return reduced;
}

/* The result for x > 0; and what it is elsewhere. */
FAST double svmp_log_edges(double x, double result) {
    result = x < INFINITY ? result : x;
    return x > 0 ? result : x == 0 ? -INFINITY : NAN;
}

/* Not svmp_log, which writes messages. */
FAST double svmp_ln(double x) {
    const reduced_logarithm r = svmp_reduce_logarithm(x);
    return svmp_log_edges(x, svmp_log_reduced(r.k, r.f, 0));
}

/* log(x + c), of c below the last place of x. log(1 + f + c) = log(1 + f) + c / (1 + f), nearly. */
FAST double svmp_log_sum(double x, double c) {
    const reduced_logarithm r = svmp_reduce_logarithm(x);
    const double low = c * r.scale, f = r.f;
    return svmp_log_edges(x, svmp_log_reduced(r.k, f, low - low * (f - f * (f - f * f))));
}

FAST double svmp_log1p(double x) { return svmp_log_sum(1 + x, svmp_lost_of_1p(x)); }

/* -log(1 + e^-a) = min(a, 0) - log(1 + e^-|a|): e^-|a| in [0, 1] is the tail, which the derivative needs, too. */
FAST double svmp_log_ilogit_by_tail(double a, double tail) {
    const int halved = tail > 0.5;
    return (a < 0 ? a : 0) - svmp_log_reduced(halved ? 1 : 0, halved ? 0.5 * (tail - 1) : tail, 0);
}

FAST double svmp_log_ilogit(double a) { return svmp_log_ilogit_by_tail(a, svmp_exp(-fabs(a))); }

/* e^-|a|, 0 where it is not a normal number. */
FAST double svmp_logistic_tail(double a) {
    const double least = -708, most = -fabs(a);
    const reduced_exponential e = svmp_reduce_exponential(most < least ? least : most, 0);
    return most < least ? 0 : svmp_reduced_power(e) * svmp_power_of_two(e.k + svmp_shifter);
}

/* log(1 - e^-x), x > 0 */
FAST double svmp_log1m_exp(double x) {
    const int near = x < 0.69314718055994530942;
    const double e = -svmp_exp(-x);
    return svmp_log_sum(near ? -svmp_expm1(-x) : 1 + e, near ? 0 : svmp_lost_of_1p(e));
}

/* log(p / (1 - p)) = log(1 + (2 p - 1) / (1 - p)), which keeps its digits near p = 1/2. */
FAST double svmp_logit(double p) {
    const int middle = p > 0.25 && p < 0.75;
    const double ratio = (middle ? 2 * p - 1 : p) / (1 - p);
    return svmp_log_sum(middle ? 1 + ratio : ratio, middle ? svmp_lost_of_1p(ratio) : 0);
}

/* log(x + sqrt(x^2 + 1)) = log1p(x + x^2 / (1 + sqrt(x^2 + 1))), of |x| */
FAST double svmp_asinh(double a) {
    const double x = fabs(a), square = x * x;
    const int far = x > 0x1p28;
    const double v = far ? x : x + square / (1 + sqrt(square + 1));
    const double near = svmp_log_sum(far ? x : 1 + v, far ? 0 : svmp_lost_of_1p(v));
    return svmp_signed(far ? near + 0.69314718055994530942 : near, a);
}

/* With t = x - 1: log1p(t + sqrt(2 t + t^2)) */
FAST double svmp_acosh(double x) {
    const int far = x > 0x1p28;
    const double t = x - 1, v = t + sqrt(2 * t + t * t);
    const double near = svmp_log_sum(far ? x : 1 + v, far ? 0 : svmp_lost_of_1p(v));
    return far ? near + 0.69314718055994530942 : x >= 1 ? near : NAN;
}

FAST double svmp_atanh(double a) {
    const double x = fabs(a), h = 0.5 * svmp_log1p(2 * x / (1 - x));
    return a < 0 ? -h : h;
}
#endif

/* x log(y) and x log(1 - y), 0 where x is. */
FAST double svmp_xlogy(double x, double y) {
    const double l = svmp_ln(y);
    return x == 0 ? 0 : x * l;
}

FAST double svmp_xlog1my(double x, double y) {
    const double l = svmp_log1p(-y);
    return x == 0 ? 0 : x * l;
}

#endif
