/* Sine, cosine, tangent and their inverses, in the manner of fast_exponential.h.
 *
 *     a = k pi/2 + r,    k whole,  |r| <= pi/4 and a little
 * with pi/2 in three parts whose products with k, below 2^16, are exact but for the last: of arguments up to 10^5. */
#ifndef SVMP_MATHS_FAST_TRIGONOMETRIC_H
#define SVMP_MATHS_FAST_TRIGONOMETRIC_H

#include "maths/fast_exponential.h"

#ifdef SVMP_DEVICE
#define svmp_sin  sin
#define svmp_cos  cos
#define svmp_tan  tan
#define svmp_asin asin
#define svmp_acos acos
#define svmp_atan atan
#else

/* a = k pi/2 + r + rest; the sine and the cosine of r + rest. */
typedef struct reduced_angle {
    uint64_t quarter; /* k, of which the last two bits count */
    double sine, cosine;
} reduced_angle;

FAST reduced_angle svmp_reduce_angle(double a) {
    static const double sines[] = {-0x1.5555555555555p-3, 0x1.1111111110ba7p-7,   -0x1.a01a019e8107dp-13,
                                   0x1.71de37931f5dbp-19, -0x1.ae600773f282bp-26, 0x1.5e09d226f9b7ap-33};
    static const double cosines[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16961p-10, 0x1.a01a019f4d5e3p-16,
                                     -0x1.27e4fa1624487p-22, 0x1.1eeb67216c051p-29,  -0x1.907c5b4677537p-37};
    const double shifted = a * 0x1.45f306dc9c883p-1 + svmp_shifter, k = shifted - svmp_shifter;
    const double first = a - k * 0x1.921fb54440000p+0, second = k * 0x1.68c234c4c0000p-39; /* both exact */
    const double high = first - second, third = k * 0x1.98a2e03707345p-77;
    const double v = high - first, lost = (first - (high - v)) - (second + v); /* first - second = high + lost */
    const double low = lost - third, r = high + low, rest = (high - r) + low;
    const double square = r * r, half = 0.5 * square, one = 1 - half;
    const double bend = square * SVMP_POLYNOMIAL(square, sines);
    const double cosine = square * square * SVMP_POLYNOMIAL(square, cosines);
    const reduced_angle reduced = {svmp_to_bits(shifted), r + (r * bend + rest * one),
                                   one + (((1 - one) - half) + (cosine - r * rest))};
    return reduced;
}

/* The bits of a where the last bit of `which` is 1, those of b where it is 0. */
FAST uint64_t svmp_choose_bits(uint64_t which, double a, double b) {
    const uint64_t all = -(which & 1);
    return (svmp_to_bits(a) & all) | (svmp_to_bits(b) & ~all);
}

FAST double svmp_near_sin(double a) {
    const reduced_angle r = svmp_reduce_angle(a);
    return svmp_from_bits(svmp_choose_bits(r.quarter, r.cosine, r.sine) ^ (r.quarter & 2) << 62);
}

FAST double svmp_near_cos(double a) {
    const reduced_angle r = svmp_reduce_angle(a);
    return svmp_from_bits(svmp_choose_bits(r.quarter, r.sine, r.cosine) ^ ((r.quarter + 1) & 2) << 62);
}

FAST double svmp_near_tan(double a) {
    const reduced_angle r = svmp_reduce_angle(a);
    const double above = svmp_from_bits(svmp_choose_bits(r.quarter, r.cosine, r.sine) ^ r.quarter << 63);
    return above / svmp_from_bits(svmp_choose_bits(r.quarter, r.sine, r.cosine));
}

/* Of all arguments. */
#define SVMP_NEAR_ANGLE(a) (fabs(a) <= 1e5)
FAST double svmp_sin(double a) { return SVMP_NEAR_ANGLE(a) ? svmp_near_sin(a) : sin(a); }
FAST double svmp_cos(double a) { return SVMP_NEAR_ANGLE(a) ? svmp_near_cos(a) : cos(a); }
FAST double svmp_tan(double a) { return SVMP_NEAR_ANGLE(a) ? svmp_near_tan(a) : tan(a); }

/* atan(x) = atan(c) + atan((x - c) / (1 + c x)) with the nearest c of 0, 1/2, 1, 3/2 and infinity. */
FAST double svmp_atan(double a) {
    static const double q[] = {-0x1.5555555555554p-2, 0x1.999999999884fp-3, -0x1.24924923afb50p-3, 0x1.c71c7135ea016p-4,
                               -0x1.745cff5280483p-4, 0x1.3b11603f8fe39p-4, -0x1.10ed0dd6d837ap-4, 0x1.df0a85f43e7a5p-5,
                               -0x1.9c5c0704635fep-5, 0x1.35cf3eab8bfb6p-5, -0x1.1f5fbd9e613d9p-6};
    const double x = fabs(a);
    double c = 0, high = 0, low = 0;
    c = x < 0.4375 ? c : 0.5, high = x < 0.4375 ? high : 0x1.dac670561bb4fp-2,
    low = x < 0.4375 ? low : 0x1.a2b7f222f65e2p-56;
    c = x < 0.6875 ? c : 1, high = x < 0.6875 ? high : 0x1.921fb54442d18p-1,
    low = x < 0.6875 ? low : 0x1.1a62633145c07p-55;
    c = x < 1.1875 ? c : 1.5, high = x < 1.1875 ? high : 0x1.f730bd281f69bp-1,
    low = x < 1.1875 ? low : 0x1.007887af0cbbdp-56;
    const int far = x > 2.4375;
    const double t = (far ? -1 : x - c) / (far ? x : 1 + c * x), square = t * t;
    high = far ? 0x1.921fb54442d18p+0 : high, low = far ? 0x1.1a62633145c07p-54 : low;
    return svmp_signed(high + (t + (t * square * SVMP_POLYNOMIAL(square, q) + low)), a);
}

/* asin(x) - x, of |x| <= 1/2 and a little. */
FAST double svmp_asin_excess(double x) {
    static const double q[] = {0x1.5555555555555p-3,  0x1.3333333333389p-4, 0x1.6db6db6dac0eap-5, 0x1.f1c71c7a5e151p-6,
                               0x1.6e8ba121b9d5fp-6,  0x1.1c4efd20ebb99p-6, 0x1.c990a42b32b03p-7, 0x1.7b02ef007d23ep-7,
                               0x1.3b462d121c5d2p-7,  0x1.31777489dfd29p-7, 0x1.8dcdf11997e0fp-9, 0x1.40c91fa8deb7ep-6,
                               -0x1.3bd7e353ddbc2p-6, 0x1.e58a4f278e007p-6};
    const double square = x * x;
    return x * square * SVMP_POLYNOMIAL(square, q);
}

/* Of |x| > 1/2: pi/2 - 2 asin(sqrt((1 - |x|)/2)), with what the root loses. */
FAST double svmp_asin(double a) {
    const double x = fabs(a), w = 0.5 * (1 - x);
    const int far = x > 0.5;
    const double root = sqrt(w), lead = svmp_leading(root), lost = w > 0 ? (w - lead * lead) / (root + lead) : 0;
    const double e = svmp_asin_excess(far ? root : x);
    /* pi/4 - 2 lead is exact enough */
    const double big =
        0x1.921fb54442d18p-1 - ((2 * e - (0x1.1a62633145c07p-54 - 2 * lost)) - (0x1.921fb54442d18p-1 - 2 * lead));
    return svmp_signed(far ? big : x + e, a);
}

FAST double svmp_acos(double a) {
    const double x = fabs(a), w = 0.5 * (1 - x);
    const int far = x > 0.5;
    const double root = sqrt(w), lead = svmp_leading(root), lost = w > 0 ? (w - lead * lead) / (root + lead) : 0;
    const double e = svmp_asin_excess(far ? root : a);
    const double near = 0x1.921fb54442d18p+0 - (a - (0x1.1a62633145c07p-54 - e));
    const double high = 2 * (lead + (lost + e));
    const double minus = 0x1.921fb54442d18p+1 - 2 * (root + (e - 0x1.1a62633145c07p-54));
    return far ? (a < 0 ? minus : high) : near;
}
#endif

#endif
