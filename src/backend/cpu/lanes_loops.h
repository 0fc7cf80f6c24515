/* The loops of lanes.h; included by each isa_*.c, which says LANES (the width) and LANES_ISA (its name). Vectors
 * are the compiler's own, so that the source is the same for all instruction sets. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/lanes.h"

typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t ivec __attribute__((vector_size(LANES * sizeof(double))));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const double *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(double *p, vec v) { memcpy(p, &v, sizeof v); }

INLINE vec splat(double a) { return a - (vec){0}; }

/* The lanes of v where the mask is set, 0 elsewhere. */
INLINE vec keep(ivec mask, vec v) {
    ivec bits = (ivec)v & mask;
    return (vec)bits;
}

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

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

INLINE int any(ivec mask) {
#if defined(__AVX512F__) && LANES == 8
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__) && LANES == 4
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    int64_t set = 0;
    for (int k = 0; k < LANES; k++) set |= mask[k];
    return set != 0;
#endif
}

static void count(size_t numbers, const double *distance, tally *t) {
    const double low = t->low, high = t->high;
    ivec below = {0};
    for (size_t p = 0; p < numbers; p += LANES) {
        const vec d = load(distance + p);
        const ivec under = d < low, in = (d >= low) & (d <= high);
        below -= under; /* a mask is -1 */
        if (!any(in)) continue;
        for (int k = 0; k < LANES; k++)
            if (in[k] && t->inside++ < t->capacity) t->list[t->inside - 1] = distance[p + (size_t)k];
    }
    for (int k = 0; k < LANES; k++) t->below += (size_t)below[k];
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* exp(y) for y <= 0: y = i ln 2 + r (i times the high part of ln 2 is exact) with |r| <= ln(2)/2, exp(r) by the
 * polynomial that interpolates it in Chebyshev's points (relative error 2.9e-16), times 2^i by adding i to the
 * exponent. */
INLINE vec exp_negative(vec y) {
    const double log2e = 0x1.71547652b82fep+0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    const double magic = 0x1.8p52; /* added, it rounds to an integer that then stands in the lowest bits */
    const vec shifted = y * log2e + magic, i = shifted - magic;
    const vec r = (y - i * ln2_high) - i * ln2_low, r2 = r * r, r4 = r2 * r2;
    const vec p01 = 0x1.000000000001ep+0 * r + 1.0, p23 = 0x1.555555554b736p-3 * r + 0x1.0000000000005p-1;
    const vec p45 = 0x1.1111112ddae8bp-7 * r + 0x1.55555555520a4p-5;
    const vec p67 = 0x1.a01978b8b3d18p-13 * r + 0x1.6c16c17f46982p-10;
    const vec p89 = 0x1.72fafebdaf273p-19 * r + 0x1.a019a6611cad5p-16;
    const vec low = p23 * r2 + p01, high = p67 * r2 + p45, top = 0x1.28a2ca617b969p-22 * r2 + p89;
    const vec p = (top * r4 + high) * r4 + low;
    const ivec scaled = (ivec)p + ((ivec)shifted << 52);
    return keep(y >= -708, (vec)scaled);
}

static void rbf(size_t numbers, double h, double *k) {
    const double scale = -1 / h;
    for (size_t p = 0; p < numbers; p += LANES) store(k + p, exp_negative(scale * load(k + p)));
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
