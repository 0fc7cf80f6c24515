/* The parts of functions without branches, whose loops process several lanes with one instruction. Every operation is
 * IEEE's and no two are fused, so that the bits are the same with any number of lanes. */
#ifndef SVMP_MATHS_FAST_BITS_H
#define SVMP_MATHS_FAST_BITS_H

#ifndef SVMP_DEVICE /* a device that compiles this file has its own of these */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* How such functions are declared. FAST_CALLED: on a device compiled once, for all that call it. */
#define FAST        static inline __attribute__((always_inline))
#define FAST_CALLED FAST

FAST uint64_t svmp_to_bits(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

FAST double svmp_from_bits(uint64_t bits) {
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}
#endif

/* |a| with the sign of b. */
FAST double svmp_signed(double a, double b) {
    const uint64_t sign = (uint64_t)1 << 63;
    return svmp_from_bits((svmp_to_bits(a) & ~sign) | (svmp_to_bits(b) & sign));
}

/* The 26 leading binary digits: the product of two such numbers is exact. */
FAST double svmp_leading(double a) { return svmp_from_bits(svmp_to_bits(a) & ~(uint64_t)0x7ffffff); }

/* Adding 2^52 rounds to whole numbers, also where there is no instruction for that. */
FAST double svmp_floor(double a) {
    const double size = a < 0 ? -a : a, near = svmp_signed((size + 0x1p52) - 0x1p52, a);
    return size < 0x1p52 ? (near > a ? near - 1 : near) : a;
}

FAST double svmp_trunc(double a) {
    const double size = a < 0 ? -a : a, near = (size + 0x1p52) - 0x1p52;
    return size < 0x1p52 ? svmp_signed(near > size ? near - 1 : near, a) : a;
}

/* c[0] + c[1] x + ... + c[n-1] x^(n-1), n <= 32: four terms at a time, for short chains of operations, and without a
 * loop, for loops around it. */
FAST double svmp_polynomial(double x, int n, const double *c) {
    const double square = x * x, fourth = square * square;
    double sum = 0;
#define SVMP_TERMS(k)                                                                                                  \
    if (k < n) {                                                                                                       \
        const double low = k + 1 < n ? c[k] + x * c[k + 1] : c[k];                                                     \
        const double both = k + 3 < n   ? low + square * (c[k + 2] + x * c[k + 3])                                     \
                            : k + 2 < n ? low + square * c[k + 2]                                                      \
                                        : low;                                                                         \
        sum = k + 4 < n ? both + fourth * sum : both;                                                                  \
    }
    /* clang-format off */
    SVMP_TERMS(28) SVMP_TERMS(24) SVMP_TERMS(20) SVMP_TERMS(16) SVMP_TERMS(12) SVMP_TERMS(8) SVMP_TERMS(4) SVMP_TERMS(0)
    /* clang-format on */
#undef SVMP_TERMS
        return sum;
}
#define SVMP_POLYNOMIAL(x, table) svmp_polynomial(x, (int)(sizeof(table) / sizeof *(table)), table)

#endif
