/* a^b = e^(b log a) with a logarithm of 66 digits: the error is below one unit in the last place. */
#ifndef SVMP_MATHS_FAST_POWER_H
#define SVMP_MATHS_FAST_POWER_H

#include "maths/fast_logarithm.h"

#ifdef SVMP_DEVICE
#define svmp_pow pow
#else

/* A number in two parts, the second below the last place of the first. */
typedef struct two_parts {
    double high, low;
} two_parts;

FAST two_parts svmp_two_sum(double large, double small) {
    const double sum = large + small;
    const two_parts parts = {sum, small - (sum - large)};
    return parts;
}

/* log(x), 0 < x < infinity, with s = f / (2 + f) and T = s^2/3 + s^4/5 + ... in two parts each:
 *     log(1 + f) = 2 s (1 + T) */
FAST two_parts svmp_log_parts(double x) {
    static const double q[] = {0x1.999999999999ap-3, 0x1.2492492492524p-3, 0x1.c71c71c6ea01fp-4, 0x1.745d177b22bcfp-4,
                               0x1.3b1395976d2f0p-4, 0x1.1118d458653bcp-4, 0x1.df7a2eafecf14p-5, 0x1.e0499f72e39b9p-5};
    const reduced_logarithm r = svmp_reduce_logarithm(x);
    const double below = 2 + r.f, lead = svmp_leading(below), inverse = 1 / below;
    const double s = svmp_leading(r.f * inverse), s_low = ((r.f - s * lead) - s * (r.f - (lead - 2))) * inverse;
    const double square = s * s, square_low = s_low * (2 * s + s_low), both = square + square_low;
    const double square_lead = svmp_leading(square);
    const double t = square_lead * 0x1.555555p-2, t_lead = svmp_leading(t);
    const double t_low = (t - t_lead) + (((square - square_lead) + square_low) * (1. / 3) +
                                         square_lead * 0x1.5555555555555p-28 + both * both * SVMP_POLYNOMIAL(both, q));
    const two_parts main = svmp_two_sum(s, s * t_lead);
    const double low = main.low + (s * t_low + s_low * (1 + (t_lead + t_low)));
    const two_parts sum = svmp_two_sum(r.k * svmp_log_2_high, 2 * main.high);
    return svmp_two_sum(sum.high, sum.low + (2 * low + r.k * svmp_log_2_low));
}

/* e^(b log a) */
FAST double svmp_exp_product(double b, two_parts l) {
    const double b_lead = svmp_leading(b), l_lead = svmp_leading(l.high), l_low = (l.high - l_lead) + l.low;
    const two_parts p = svmp_two_sum(b_lead * l_lead, b_lead * l_low + (b - b_lead) * l.high);
    return svmp_exp_sum(p.high, fabs(p.high) < 1000 ? p.low : 0);
}

/* As in libm for whole b, 0, 1, infinities and NaN. */
FAST double svmp_pow(double a, double b) {
    const double x = fabs(a), size = fabs(b), half = 0.5 * size, one = svmp_signed(1, a);
    const double near = (size + 0x1p52) - 0x1p52, near_half = (half + 0x1p52) - 0x1p52;
    double p = svmp_exp_product(b, svmp_log_parts(x));
    p = x == 0 ? (b > 0 ? 0 : INFINITY) : p;
    p = x == INFINITY ? (b > 0 ? INFINITY : 0) : p;
    p = size == INFINITY ? (b > 0 ? (x > 1 ? INFINITY : 0) : (x < 1 ? INFINITY : 0)) : p;
    p = size == INFINITY && x == 1 ? 1 : p;
    p = a < 0 && x < INFINITY && near != size && size < 0x1p52 ? NAN : p;
    p = (near == size || size >= 0x1p52) && near_half != half && half < 0x1p52 ? p * one : p;
    p = a != a ? a : p;
    p = b != b ? b : p;
    p = a == 1 ? 1 : p;
    return b == 0 ? 1 : p;
}
#endif

#endif
