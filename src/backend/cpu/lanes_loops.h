/* The loops of lanes.h; included by each isa_*.c, which says LANES (the width) and LANES_ISA (its name). Vectors
 * are the compiler's own, so that the source is the same for all instruction sets. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/lanes.h"

typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t ivec __attribute__((vector_size(LANES * sizeof(double)))); /* masks: -1 or 0 */
typedef uint64_t bits __attribute__((vector_size(LANES * sizeof(double))));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const double *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(double *p, vec v) { memcpy(p, &v, sizeof v); }

INLINE vec splat(double a) { return a - (vec){0}; }

/* The lanes of v where the mask is set, 0 elsewhere. */
INLINE vec keep(ivec mask, vec v) { return (vec)((bits)v & (bits)mask); }

INLINE double add_lanes(vec v) {
    double sum = 0;
    for (int k = 0; k < LANES; k++) sum += v[k];
    return sum;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

/* In the first vector of a tile, m = first + 1 + lane: of row r the lanes below r are no pairs with m > l. */
INLINE void cut_corner(const tile *t, double *distance) {
    for (size_t r = 1; r < TILE_ROWS; r++)
        for (size_t v = 0; v < t->vectors && v * LANES < r;
             v++) /* narrow vectors: the corner reaches into the second */
            for (size_t lane = 0; lane < LANES && v * LANES + lane < r; lane++)
                distance[(v * TILE_ROWS + r) * LANES + lane] = INFINITY;
}

static void distances(const packed_rows *rows, const tile *t, int more, double *distance) {
    for (size_t v = 0; v < t->vectors; v++) {
        const size_t m = t->first + 1 + v * LANES;
        double *d = distance + v * TILE_ROWS * LANES;
        vec sum[TILE_ROWS];
        for (int r = 0; r < TILE_ROWS; r++) sum[r] = more ? load(d + r * LANES) : splat(0);
        for (size_t j = 0; j < rows->count; j++) {
            const double *x = rows->x + j * rows->stride, *left = x + t->first;
            const vec right = load(x + m);
            for (int r = 0; r < TILE_ROWS; r++) {
                const vec u = left[r] - right;
                sum[r] += u * u;
            }
        }
        for (int r = 0; r < TILE_ROWS; r++) store(d + r * LANES, sum[r]);
    }
    cut_corner(t, distance);
}

/* ---- order statistics -------------------------------------------------------------------------------------------- */

/* The lanes where a < b, or a <= b, as bits. */
#if LANES == 8
#include <immintrin.h>
INLINE unsigned below(vec a, vec b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ); }
INLINE unsigned at_most(vec a, vec b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ); }
#elif LANES == 4
#include <immintrin.h>
INLINE unsigned below(vec a, vec b) { return (unsigned)_mm256_movemask_pd((__m256d)(a < b)); }
INLINE unsigned at_most(vec a, vec b) { return (unsigned)_mm256_movemask_pd((__m256d)(a <= b)); }
#else
INLINE unsigned below(vec a, vec b) { return (unsigned)(a[0] < b[0]) | (unsigned)(a[1] < b[1]) << 1; }
INLINE unsigned at_most(vec a, vec b) { return (unsigned)(a[0] <= b[0]) | (unsigned)(a[1] <= b[1]) << 1; }
#endif

static void count(size_t numbers, const double *distance, tally *t) {
    const vec low = splat(t->low), high = splat(t->high);
    size_t under_low = 0, inside = t->inside;
    for (size_t p = 0; p < numbers; p += LANES) {
        const vec d = load(distance + p);
        const unsigned under = below(d, low);
        under_low += (size_t)__builtin_popcount(under);
        for (unsigned in = at_most(d, high) & ~under; in; in &= in - 1, inside++)
            if (inside < t->capacity) t->list[inside] = distance[p + (size_t)__builtin_ctz(in)];
    }
    t->below += under_low;
    t->inside = inside;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* exp(-D/h) = 2^(z/STEPS) with z = -STEPS log2(e) D/h = i + f, i an integer and |f| <= 1/2. 2^(f/STEPS) is the
 * polynomial that interpolates it in Chebyshev's points; 2^(i/STEPS) is a number of the table, times a power of two
 * that is added to the exponent. A table in a register makes the polynomial short; vectors that cannot be permuted do
 * without. */
#if LANES == 8
enum { STEPS_LOG2 = 3 };
static const double power[] = {0x1.0000000000000p+0,  0x1.62e42fefa3d70p-4,  0x1.ebfbdff82c6c5p-9,
                               0x1.c6b08d5446da8p-14, 0x1.3b2ab6f1ef944p-19, 0x1.5d8efe8900130p-25,
                               0x1.430ded2056ccap-31}; /* error 8.9e-16 */

INLINE vec power_of_two(vec f) {
    const vec f2 = f * f, f4 = f2 * f2;
    const vec p01 = power[1] * f + power[0], p23 = power[3] * f + power[2], p45 = power[5] * f + power[4];
    return (power[6] * f2 + p45) * f4 + (p23 * f2 + p01);
}

INLINE vec look_up(bits i) {
    const vec table = {0x1.0000000000000p+0, 0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0,
                       0x1.6a09e667f3bcdp+0, 0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0};
    return (vec)_mm512_permutexvar_pd((__m512i)i, (__m512d)table); /* by the lowest bits of i */
}
#else
enum { STEPS_LOG2 = 0 };
static const double power[] = {0x1.0000000000000p+0,  0x1.62e42fefa3a19p-1,  0x1.ebfbdff82c598p-3,
                               0x1.c6b08d703cdf2p-5,  0x1.3b2ab6fba1dc6p-7,  0x1.5d87fe9d85abep-10,
                               0x1.4309130975155p-13, 0x1.ffcb53e3aafe9p-17, 0x1.62bfd46781ef6p-20,
                               0x1.b675df26cbf5ep-24, 0x1.e6065f532c950p-28}; /* error 2.2e-16 */

INLINE vec power_of_two(vec f) {
    const vec f2 = f * f, f4 = f2 * f2;
    const vec p01 = power[1] * f + power[0], p23 = power[3] * f + power[2], p45 = power[5] * f + power[4];
    const vec p67 = power[7] * f + power[6], p89 = power[9] * f + power[8];
    return ((power[10] * f2 + p89) * f4 + (p67 * f2 + p45)) * f4 + (p23 * f2 + p01);
}

INLINE vec look_up(bits i) { return (void)i, splat(1); }
#endif

static void rbf(size_t numbers, double h, double *k) {
    const double magic = 0x1.8p52; /* added, it rounds to an integer that then stands in the lowest bits */
    const double scale = -0x1.71547652b82fep+0 * (1 << STEPS_LOG2) / h, furthest = 708 * h;
    for (size_t p = 0; p < numbers; p += LANES) {
        const vec distance = load(k + p), shifted = distance * scale + magic, f = distance * scale - (shifted - magic);
        const vec value = power_of_two(f) * look_up((bits)shifted);
        const bits scaled = (bits)value + (((bits)shifted >> STEPS_LOG2) << 52);
        store(k + p, keep(distance <= furthest, (vec)scaled));
    }
}

INLINE vec square_root(vec v) {
    vec root;
    for (int k = 0; k < LANES; k++) root[k] = sqrt(v[k]);
    return root;
}

static void imq(size_t numbers, double h, double *k, double *r) {
    const double scale = 1 / h;
    for (size_t p = 0; p < numbers; p += LANES) {
        const vec value = 1 / square_root(1 + scale * load(k + p));
        store(k + p, value);
        store(r + p, scale * value * value * value);
    }
}

/* ---- velocities -------------------------------------------------------------------------------------------------- */

INLINE void weigh_tile(const tile *t, const double *k, const double *w, double *sum, double *total) {
    vec row_sum[TILE_ROWS], row_total[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; r++) row_sum[r] = row_total[r] = splat(0);
    for (size_t v = 0; v < t->vectors; v++) {
        const size_t m = t->first + 1 + v * LANES;
        const vec right = load(w + m);
        vec column_sum = load(sum + m), column_total = total ? load(total + m) : splat(0);
        for (int r = 0; r < TILE_ROWS; r++) {
            const vec here = load(k + (v * TILE_ROWS + (size_t)r) * LANES);
            column_sum += here * w[t->first + (size_t)r];
            row_sum[r] += here * right;
            if (total) column_total += here, row_total[r] += here;
        }
        store(sum + m, column_sum);
        if (total) store(total + m, column_total);
    }
    for (int r = 0; r < TILE_ROWS; r++) {
        sum[t->first + (size_t)r] += add_lanes(row_sum[r]);
        if (total) total[t->first + (size_t)r] += add_lanes(row_total[r]);
    }
}

static void weigh(const tile *t, const double *k, const double *w, double *sum) { weigh_tile(t, k, w, sum, NULL); }

static void weigh_and_total(const tile *t, const double *k, const double *w, double *sum, double *total) {
    weigh_tile(t, k, w, sum, total);
}

#define TEXT_OF(name) #name
#define NAME(name)    TEXT_OF(name)
#define TABLE_(name)  svmp_lanes_##name
#define TABLE(name)   TABLE_(name)

const lane_ops TABLE(LANES_ISA) = {NAME(LANES_ISA), LANES, distances, count, rbf, imq, weigh, weigh_and_total};
