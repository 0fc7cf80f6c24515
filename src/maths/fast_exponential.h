/* Exponentials by additions and multiplications alone, so that loops of them run with several lanes an instruction and
 * give the same bits with any: libm's are called once a lane. What overflows, underflows gradually or is not a number
 * is as in libm.
 *
 *     a = k log 2 + r,    k whole,  |r| <= log(2)/2 and a little
 *     e^r = 1 + r + r^2 (1/2 + r s(r)),    s of degree 9 to 1e-19 */
#ifndef SVMP_MATHS_FAST_EXPONENTIAL_H
#define SVMP_MATHS_FAST_EXPONENTIAL_H

#include "maths/fast_bits.h"

#ifdef SVMP_DEVICE
#define svmp_exp   exp
#define svmp_expm1 expm1
#define svmp_sinh  sinh
#define svmp_cosh  cosh
#define svmp_tanh  tanh

/* e^(a + tail) */
FAST double svmp_exp_sum(double a, double tail) {
    const double e = exp(a);
    return e + e * expm1(tail);
}
#else
/* 2^k of a whole number that was added to `shifter`: its low bits are those of k. */
static const double svmp_shifter = 0x1.8p52; /* rounds to whole numbers */
FAST double svmp_power_of_two(double shifted) { return svmp_from_bits((svmp_to_bits(shifted) + 1023) << 52); }

/* e^(a + tail) = 2^k (1 + r + rest), of a between -746 and 711. */
typedef struct reduced_exponential {
    double k, r, rest;
} reduced_exponential;

FAST reduced_exponential svmp_reduce_exponential(double a, double tail) {
    const double k = (a * 0x1.71547652b82fep+0 + svmp_shifter) - svmp_shifter;
    const double high = a - k * 0x1.62e42fee00000p-1, low = k * 0x1.a39ef35793c76p-33 - tail; /* high is exact */
    const double r = high - low, rest = (high - r) - low;
    static const double s[] = {0.5,
                               0x1.5555555555556p-3,
                               0x1.5555555555555p-5,
                               0x1.11111111109adp-7,
                               0x1.6c16c16c167dep-10,
                               0x1.a01a01a7c8d47p-13,
                               0x1.a01a01a47db6fp-16,
                               0x1.71de0d9c145d0p-19,
                               0x1.27e4e1ea0f53ap-22,
                               0x1.af38d53857513p-26,
                               0x1.1f66f85dfa20ap-29};
    const reduced_exponential e = {k, r, rest + r * r * SVMP_POLYNOMIAL(r, s)};
    return e;
}

/* 1 + r + rest */
FAST double svmp_reduced_power(reduced_exponential e) {
    const double one = 1 + e.r, lost = e.r - (one - 1);
    return one + (lost + e.rest);
}

/* e^(a + tail), the tail below the last place of a. */
FAST double svmp_exp_sum(double a, double tail) {
    a = a > 710 ? 710 : a;   /* inf */
    a = a < -746 ? -746 : a; /* 0 */
    const reduced_exponential e = svmp_reduce_exponential(a, tail);
    const double half = e.k * 0.5 + svmp_shifter, other = e.k - (half - svmp_shifter); /* 2^1024 is no number */
    return svmp_reduced_power(e) * svmp_power_of_two(half) * svmp_power_of_two(other + svmp_shifter);
}

FAST double svmp_exp(double a) { return svmp_exp_sum(a, 0); }

/* 2^k (r + rest + (1 - 2^-k)) */
FAST double svmp_reduced_expm1(reduced_exponential e) {
    const double c = 1 - svmp_power_of_two((e.k > 60 ? -60 : -e.k) + svmp_shifter);
    const double sum = c + e.r, lost = e.r - (sum - c);
    return (sum + (lost + e.rest)) * 2 * svmp_power_of_two(e.k - 1 + svmp_shifter);
}

FAST double svmp_expm1(double a) {
    a = a > 710 ? 710 : a;
    a = a < -60 ? -60 : a; /* -1 */
    return svmp_reduced_expm1(svmp_reduce_exponential(a, 0));
}

/* e^|a| / 2 of |a| up to 711, which is a number where e^|a| is none. */
FAST double svmp_reduced_half(reduced_exponential e) {
    return svmp_reduced_power(e) * svmp_power_of_two(e.k - 2 + svmp_shifter) * 2;
}

/* With m = e^|a| - 1: (m + m / (m + 1)) / 2. */
FAST double svmp_sinh(double a) {
    const double most = fabs(a) > 711 ? 711 : fabs(a);
    const reduced_exponential e = svmp_reduce_exponential(most, 0);
    const double m = svmp_reduced_expm1(e), near = 0.5 * (m + m / (m + 1));
    return svmp_signed(most > 40 ? svmp_reduced_half(e) : near, a);
}

FAST double svmp_cosh(double a) {
    const double most = fabs(a) > 711 ? 711 : fabs(a), half = svmp_reduced_half(svmp_reduce_exponential(most, 0));
    return half + 0.25 / half;
}

/* With m = e^(-2|a|) - 1: -m / (m + 2). */
FAST double svmp_tanh(double a) {
    const double m = svmp_expm1(-2 * fabs(a));
    return svmp_signed(m / (m + 2), a);
}
#endif

#endif
