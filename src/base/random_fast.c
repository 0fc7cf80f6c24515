/* Normal numbers, and logarithms of uniform ones, by arithmetic that vectorises: no call, no branch, the same bits on
 * every machine. The polynomials are those of FreeBSD's msun (e_log.c, k_sin.c, k_cos.c): below 1 ulp each. */
#include <Random123/philox.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/target_clones.h"

enum { BLOCK = 128 };

static inline double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The middle of one of 2^52 equal cells of (0, 1), exactly. */
static inline double uniform(uint64_t word) {
    return from_bits(word >> 12 | UINT64_C(0x3ff0000000000000)) - 1 + 0x1p-53;
}

/* log of a number from 2^-53 to 1: u = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2). */
static inline double quick_log(double u) {
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd), bits = svmp_double_bits(u) - root; /* sqrt(1/2) */
    const uint64_t biased = (bits + (UINT64_C(1024) << 52)) >> 52; /* 1024 + k; as a double: the low bits of 2^52 */
    const double k = from_bits(UINT64_C(0x4330000000000000) | biased) - (0x1p52 + 1024);
    const double f = from_bits((bits & UINT64_C(0x000fffffffffffff)) + root) - 1;
    const double s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double odd =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    return k * ln2_high - ((half - (s * (half + (even + odd)) + k * ln2_low)) - f);
}

/* cos and sin of 2 pi v, 0 < v < 1: v = q/4 + r, |r| <= 1/8. */
static inline void quick_turn(double v, double *cosine, double *sine) {
    const double two_pi = 6.283185307179586476925;
    const double shifted = 4 * v + 0x1.8p52; /* rounds to the nearest whole number, in the low bits */
    const uint64_t q = svmp_double_bits(shifted);
    const double r = two_pi * (v - 0.25 * (shifted - 0x1.8p52)), z = r * r, w = z * z;
    const double s = r + r * z *
                             (-1.66666666666666324348e-01 +
                              z * (8.33333333332248946124e-03 +
                                   z * (-1.98412698298579493134e-04 +
                                        z * (2.75573137070700676789e-06 +
                                             z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const double c = 1 - 0.5 * z +
                     w * (4.16666666666666019037e-02 +
                          z * (-1.38888888888741095749e-03 +
                               z * (2.48015872894767294178e-05 +
                                    z * (-2.75573143513906633035e-07 +
                                         z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
    const uint64_t odd = 0 - (q & 1), s_bits = svmp_double_bits(s), c_bits = svmp_double_bits(c);
    const uint64_t first = (c_bits & ~odd) | (s_bits & odd), second = (s_bits & ~odd) | (c_bits & odd);
    *cosine = from_bits(first ^ ((q + 1) & 2) << 62); /* minus in the second and third quarter */
    *sine = from_bits(second ^ (q & 2) << 62);        /* and in the third and fourth */
}

/* `count` words, at least one, from number `from` on, which is a multiple of four; up to three more are written. */
static void fill(random_stream stream, size_t from, size_t count, uint64_t *words) {
    const philox4x64_key_t key = {{stream.seed, UINT64_C(0x73766d70)}}; /* "svmp" */
    size_t b = 0;
    do {
        const philox4x64_ctr_t counter = {{from / 4 + b, stream.a, stream.b, (uint64_t)stream.purpose}};
        const philox4x64_ctr_t made = philox4x64(counter, key);
        memcpy(words + 4 * b, made.v, sizeof made.v);
    } while (4 * ++b < count);
}

/* Two normal numbers of two words each, for `pairs` of them. */
SVMP_CLONES static void make_normals(size_t pairs, const uint64_t *words, double *made) {
#pragma omp simd
    for (size_t p = 0; p < pairs; p++) {
        double cosine, sine;
        const double radius = sqrt(-2 * quick_log(uniform(words[2 * p])));
        quick_turn(uniform(words[2 * p + 1]), &cosine, &sine);
        made[2 * p] = radius * cosine;
        made[2 * p + 1] = radius * sine;
    }
}

SVMP_CLONES static void make_logs(size_t count, const uint64_t *words, double *made) {
#pragma omp simd
    for (size_t l = 0; l < count; l++) made[l] = quick_log(uniform(words[l]));
}

/* Calls `make` for blocks that begin at multiples of four, and keeps the numbers that are asked for. */
static void make_blocks(random_stream stream, size_t n, void (*make)(size_t count, const uint64_t *words, double *made),
                        double *values) {
    uint64_t words[BLOCK] = {0}; /* all that are read are filled */
    double made[BLOCK];
    const size_t first = (size_t)stream.first, last = first + n;
    for (size_t from = first - first % 4; from < last; from += BLOCK) {
        const size_t to = from + BLOCK < last ? from + BLOCK : last, begin = from < first ? first : from;
        fill(stream, from, to - from, words);
        make(to - from, words, made);
        memcpy(values + (begin - first), made + (begin - from), (to - begin) * sizeof *values);
    }
}

static void make_pairs(size_t count, const uint64_t *words, double *made) {
    make_normals((count + 1) / 2, words, made);
}

void svmp_random_quick_normals(random_stream stream, size_t n, double *values) {
    make_blocks(stream, n, make_pairs, values);
}

void svmp_random_log_uniforms(random_stream stream, size_t n, double *values) {
    make_blocks(stream, n, make_logs, values);
}
