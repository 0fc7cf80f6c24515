/* The exponential, computed with additions and multiplications only, so that the compiler vectorises loops over it, and
 * with the same bits for any vector width. libm's exp would be called once per lane. The error is below 0.7 units in
 * the last place; overflow, gradual underflow, infinities and NaN are those of libm.
 *
 *     exp(a) = 2^k exp(r),    k the integer nearest to a / log 2,    |r| <= log(2)/2 and a little,
 *     exp(r) = 1 + (r + r^2 (1/2 + r s(r))),                         s of degree 9 to 1e-19 */
#ifndef SVMP_MATHS_FAST_EXPONENTIAL_H
#define SVMP_MATHS_FAST_EXPONENTIAL_H

#ifdef __CUDACC__
#define svmp_exp exp
#else
#include <stdint.h>
#include <string.h>

/* 2^k for an integer k that was added to `shifter`: the low bits of the sum are those of k. */
static inline double svmp_power_of_two(double shifted) {
    uint64_t bits;
    double power;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static inline double svmp_exp(double a) {
    const double shifter = 0x1.8p52; /* adding it rounds to an integer */
    a = a > 710 ? 710 : a;           /* inf */
    a = a < -746 ? -746 : a;         /* 0 */
    const double k = (a * 0x1.71547652b82fep+0 + shifter) - shifter;
    const double high = a - k * 0x1.62e42fee00000p-1, low = k * 0x1.a39ef35793c76p-33; /* high is exact */
    const double r = high - low, rest = (high - r) - low;
    double s = 0x1.1f66f85dfa20ap-29;
    s = s * r + 0x1.af38d53857513p-26;
    s = s * r + 0x1.27e4e1ea0f53ap-22;
    s = s * r + 0x1.71de0d9c145d0p-19;
    s = s * r + 0x1.a01a01a47db6fp-16;
    s = s * r + 0x1.a01a01a7c8d47p-13;
    s = s * r + 0x1.6c16c16c167dep-10;
    s = s * r + 0x1.11111111109adp-7;
    s = s * r + 0x1.5555555555555p-5;
    s = s * r + 0x1.5555555555556p-3;
    s = s * r + 0.5;
    const double one = 1 + r, lost = r - (one - 1);
    const double power = one + (lost + (rest + r * r * s));
    const double half = k * 0.5 + shifter, other = k - (half - shifter); /* 2^1024 and 2^-1075 are not normal numbers */
    return power * svmp_power_of_two(half) * svmp_power_of_two(other + shifter);
}
#endif

#endif
