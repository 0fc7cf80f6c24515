/* The loops of lanes.h; included by each lanes_*.c, which defines LANES (the width) and LANES_ISA (its name). Vectors
 * are extensions of the compiler, so that the source is the same for all instruction sets. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/lanes.h"

typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t ivec __attribute__((vector_size(LANES * sizeof(double)))); /* masks: -1 or 0 */
typedef uint64_t bits __attribute__((vector_size(LANES * sizeof(double))));

#define INLINE   static inline __attribute__((always_inline))
#define EACH_ROW _Pragma("GCC unroll 4") for (int r = 0; r < TILE_ROWS; r++)

INLINE vec load(const double *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(double *p, vec v) { memcpy(p, &v, sizeof v); }

INLINE vec splat(double a) { return a - (vec){0}; }

/* The lanes of v where the mask is set, 0 elsewhere. */
INLINE vec keep(ivec mask, vec v) { return (vec)((bits)v & (bits)mask); }

/* The lanes of a where the mask is set, those of b elsewhere. */
INLINE vec choose(ivec mask, vec a, vec b) { return (vec)(((bits)a & (bits)mask) | ((bits)b & ~(bits)mask)); }

/* sum[r] += the lanes of row[r], for all rows of a tile: the lanes of two rows at a time are interleaved and added. */
#define BOTH(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

INLINE void add_rows(const vec *row, double *sum) {
#if LANES == 8
    const vec a = BOTH(row[0], row[1], 0, 8, 2, 10, 4, 12, 6, 14) + BOTH(row[0], row[1], 1, 9, 3, 11, 5, 13, 7, 15);
    const vec b = BOTH(row[2], row[3], 0, 8, 2, 10, 4, 12, 6, 14) + BOTH(row[2], row[3], 1, 9, 3, 11, 5, 13, 7, 15);
    const vec halves = BOTH(a, b, 0, 1, 8, 9, 4, 5, 12, 13) + BOTH(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    for (int r = 0; r < TILE_ROWS; r++) sum[r] += halves[r] + halves[r + TILE_ROWS];
#elif LANES == 4
    const vec a = BOTH(row[0], row[1], 0, 4, 2, 6) + BOTH(row[0], row[1], 1, 5, 3, 7);
    const vec b = BOTH(row[2], row[3], 0, 4, 2, 6) + BOTH(row[2], row[3], 1, 5, 3, 7);
    store(sum, load(sum) + BOTH(a, b, 0, 1, 4, 5) + BOTH(a, b, 2, 3, 6, 7));
#else
    for (int r = 0; r < TILE_ROWS; r++) sum[r] += row[r][0] + row[r][1];
#endif
}

/* ---- order statistics -------------------------------------------------------------------------------------------- */

/* Counts the same columns of all rows of a tile: those below in `lower`, lane by lane. Few numbers are listed, so one
 * branch decides for all of them. */
#if LANES == 8
#include <immintrin.h>

INLINE void list_lanes(__mmask8 which, vec v, tally *t) {
    const size_t at = t->inside < t->capacity ? t->inside : t->capacity;
    store(t->list + at, (vec)_mm512_maskz_compress_pd(which, (__m512d)v));
    t->inside += (size_t)__builtin_popcount(which);
}

INLINE ivec count_rows(const vec *distance, ivec lower, tally *t) {
    const __m512d low = _mm512_set1_pd(t->low), high = _mm512_set1_pd(t->high);
    __mmask8 inside[TILE_ROWS], any = 0;
    EACH_ROW {
        const __mmask8 under = _mm512_cmp_pd_mask((__m512d)distance[r], low, _CMP_LT_OQ);
        lower = (ivec)_mm512_mask_sub_epi64((__m512i)lower, under, (__m512i)lower, _mm512_set1_epi64(-1));
        inside[r] = _kxor_mask8(_mm512_cmp_pd_mask((__m512d)distance[r], high, _CMP_LE_OQ), under);
        any = _kor_mask8(any, inside[r]);
    }
    if (!_kortestz_mask8_u8(any, any)) EACH_ROW list_lanes(inside[r], distance[r], t);
    return lower;
}
#else
INLINE ivec count_rows(const vec *distance, ivec lower, tally *t) {
    ivec inside[TILE_ROWS], any = {0};
    EACH_ROW {
        const ivec under = distance[r] < t->low;
        lower -= under;
        inside[r] = (distance[r] <= t->high) ^ under;
        any |= inside[r];
    }
    int64_t found = 0;
    for (int k = 0; k < LANES; k++) found |= any[k];
    if (found) EACH_ROW for (int k = 0; k < LANES; k++) if (inside[r][k]) {
            if (t->inside < t->capacity) t->list[t->inside] = distance[r][k];
            t->inside++;
        }
    return lower;
}
#endif

static void count(const tile *t, const double *distance, tally *counts) {
    tally all = *counts;
    ivec lower = {0};
    for (size_t v = 0; v < t->vectors; v++) {
        vec row[TILE_ROWS];
        EACH_ROW row[r] = load(distance + (v * TILE_ROWS + (size_t)r) * LANES);
        lower = count_rows(row, lower, &all);
    }
    for (int k = 0; k < LANES; k++) all.below += (size_t)lower[k];
    *counts = all;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

/* A row's distances to m, m + 1, ..., infinite in the lanes m <= l. */
INLINE vec cut_corner(vec distance, size_t m, size_t l) {
    bits lane;
    for (size_t k = 0; k < LANES; k++) lane[k] = m + k;
    return choose((ivec)(lane <= (bits){0} + l), splat(INFINITY), distance);
}

/* `columns` vectors of the tile from the one with the number v, which share the loads of the rows. */
INLINE void measure(const packed_rows *rows, const tile *t, size_t v, const int columns, int more, double *distance) {
    const size_t m = t->first + 1 + v * LANES;
    double *d = distance + v * TILE_ROWS * LANES;
    vec sum[2][TILE_ROWS];
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < TILE_ROWS; r++) sum[c][r] = more ? load(d + (c * TILE_ROWS + r) * LANES) : splat(0);
    for (size_t j = 0; j < rows->count; j++) {
        const double *x = rows->x + j * rows->stride, *left = x + t->first;
        vec right[2];
        for (int c = 0; c < columns; c++) right[c] = load(x + m + c * LANES);
        for (int r = 0; r < TILE_ROWS; r++)
            for (int c = 0; c < columns; c++) {
                const vec u = left[r] - right[c];
                sum[c][r] += u * u;
            }
    }
    for (int c = 0; c < columns; c++) {
        const size_t before = (v + (size_t)c) * LANES;
        if (before < TILE_ROWS - 1) EACH_ROW sum[c][r] = cut_corner(sum[c][r], before + 1, (size_t)r);
        EACH_ROW store(d + (c * TILE_ROWS + r) * LANES, sum[c][r]);
    }
}

static void distances(const packed_rows *rows, const tile *t, int more, double *distance) {
    size_t v = 0;
    for (; v + 2 <= t->vectors; v += 2) measure(rows, t, v, 2, more, distance);
    if (v < t->vectors) measure(rows, t, v, 1, more, distance);
}

/* ---- distances on a grid ----------------------------------------------------------------------------------------- */

/* The coarser grid of row l and of the columns m, m + 1, ... */
INLINE vec coarser(const double *grid, size_t l, size_t m) {
    const vec left = splat(grid[l]), right = load(grid + m);
    return choose(left > right, left, right);
}

INLINE bits load_bits(const void *p) {
    bits b;
    memcpy(&b, p, sizeof b);
    return b;
}

INLINE void measure_steps(const packed_rows *rows, const tile *t, size_t v, const int columns, const double *grid,
                          int more, int64_t *steps) {
    const size_t m = t->first + 1 + v * LANES;
    int64_t *d = steps + v * TILE_ROWS * LANES;
    vec base[2][TILE_ROWS];
    bits sum[2][TILE_ROWS];
    for (int c = 0; c < columns; c++)
        EACH_ROW base[c][r] = coarser(grid, t->first + (size_t)r, m + (size_t)c * LANES), sum[c][r] = (bits){0};
    for (size_t j = 0; j < rows->count; j++) {
        const double *x = rows->x + j * rows->stride, *left = x + t->first;
        vec right[2];
        for (int c = 0; c < columns; c++) right[c] = load(x + m + c * LANES);
        for (int r = 0; r < TILE_ROWS; r++)
            for (int c = 0; c < columns; c++) {
                const vec u = left[r] - right[c];
                sum[c][r] += (bits)(u * u + base[c][r]);
            }
    }
    for (int c = 0; c < columns; c++) EACH_ROW {
            int64_t *at = d + (c * TILE_ROWS + r) * LANES;
            const bits counted = sum[c][r] - rows->count * (bits)base[c][r];
            const bits all = (counted & (bits)(base[c][r] < INFINITY)) + (more ? load_bits(at) : (bits){0});
            memcpy(at, &all, sizeof all);
        }
}

static void steps(const packed_rows *rows, const tile *t, const double *grid, int more, int64_t *steps) {
    size_t v = 0;
    for (; v + 2 <= t->vectors; v += 2) measure_steps(rows, t, v, 2, grid, more, steps);
    if (v < t->vectors) measure_steps(rows, t, v, 1, grid, more, steps);
}

static int from_steps(const tile *t, const double *grid, double few, double *distance) {
    ivec near = {0};
    for (size_t v = 0; v < t->vectors; v++) EACH_ROW {
            double *at = distance + (v * TILE_ROWS + (size_t)r) * LANES;
            const vec step = coarser(grid, t->first + (size_t)r, t->first + 1 + v * LANES) * 0x1p-52;
            const vec counted = __builtin_convertvector((ivec)load_bits(at), vec);
            vec here = choose(step < INFINITY, counted * step, splat(INFINITY));
            if (v * LANES < TILE_ROWS - 1) here = cut_corner(here, v * LANES + 1, (size_t)r);
            near |= here < few * step;
            store(at, here);
        }
    int64_t any = 0;
    for (int k = 0; k < LANES; k++) any |= near[k];
    return any != 0;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* exp(-D/h) = 2^(z/STEPS) with z = -STEPS log2(e) D/h = i + f, i an integer and |f| <= 1/2. 2^(f/STEPS) is the
 * polynomial that interpolates it in Chebyshev's points; 2^(i/STEPS) is a number of the table, times a power of two
 * that is added to the exponent. A table in a register makes the polynomial short; instruction sets without
 * permutations use a longer one. */
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

typedef struct gaussian {
    double scale, furthest;
} gaussian;

INLINE gaussian gaussian_of(double h) {
    return (gaussian){-0x1.71547652b82fep+0 * (1 << STEPS_LOG2) / h, fmin(708 * h, DBL_MAX)};
}

INLINE vec gaussian_at(gaussian g, vec distance) {
    const double magic = 0x1.8p52; /* adding it rounds to an integer in the lowest bits */
    const vec shifted = distance * g.scale + magic, f = distance * g.scale - (shifted - magic);
    const vec value = power_of_two(f) * look_up((bits)shifted);
    const bits scaled = (bits)value + (((bits)shifted >> STEPS_LOG2) << 52);
    return keep(distance <= g.furthest, (vec)scaled);
}

static void rbf(const tile *t, double h, double *k) {
    const gaussian g = gaussian_of(h);
    for (size_t p = 0; p < t->vectors * TILE_ROWS; p++) store(k + p * LANES, gaussian_at(g, load(k + p * LANES)));
}

INLINE vec square_root(vec v) {
    vec root;
    for (int k = 0; k < LANES; k++) root[k] = sqrt(v[k]);
    return root;
}

static void imq(const tile *t, double h, double *k, double *r) {
    const double scale = 1 / h;
    for (size_t p = 0; p < t->vectors * TILE_ROWS * LANES; p += LANES) {
        const vec value = 1 / square_root(1 + scale * load(k + p));
        store(k + p, value);
        store(r + p, scale * value * value * value);
    }
}

/* ---- velocities -------------------------------------------------------------------------------------------------- */

/* `count` rows of weights and sums, 1 or 2, for which the kernel is read once. */
INLINE void weigh_together(const tile *t, const double *k, const int count, const double *w, double *sum,
                           size_t stride) {
    vec left[2][TILE_ROWS], row_sum[2][TILE_ROWS];
    for (int i = 0; i < count; i++)
        EACH_ROW left[i][r] = splat(w[(size_t)i * stride + t->first + (size_t)r]), row_sum[i][r] = splat(0);
    for (size_t v = 0; v < t->vectors; v++) {
        const size_t m = t->first + 1 + v * LANES;
        vec right[2], column_sum[2];
        for (int i = 0; i < count; i++)
            right[i] = load(w + (size_t)i * stride + m), column_sum[i] = load(sum + (size_t)i * stride + m);
        EACH_ROW {
            const vec here = load(k + (v * TILE_ROWS + (size_t)r) * LANES);
            for (int i = 0; i < count; i++) {
                column_sum[i] += here * left[i][r];
                row_sum[i][r] += here * right[i];
            }
        }
        for (int i = 0; i < count; i++) store(sum + (size_t)i * stride + m, column_sum[i]);
    }
    for (int i = 0; i < count; i++) add_rows(row_sum[i], sum + (size_t)i * stride + t->first);
}

static void weigh(const tile *t, const double *k, size_t count, const double *w, double *sum, size_t stride) {
    size_t i = 0;
    for (; i + 2 <= count; i += 2) weigh_together(t, k, 2, w + i * stride, sum + i * stride, stride);
    if (i < count) weigh_together(t, k, 1, w + i * stride, sum + i * stride, stride);
}

static void rbf_and_weigh(const tile *t, double h, double *k, const double *w, double *sum, double *total) {
    const gaussian g = gaussian_of(h);
    vec left[TILE_ROWS], row_sum[TILE_ROWS], row_total[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; r++) left[r] = splat(w[t->first + (size_t)r]), row_sum[r] = row_total[r] = splat(0);
    for (size_t v = 0; v < t->vectors; v++) {
        const size_t m = t->first + 1 + v * LANES;
        const vec right = load(w + m);
        vec column_sum = load(sum + m), column_total = load(total + m);
        for (int r = 0; r < TILE_ROWS; r++) {
            double *at = k + (v * TILE_ROWS + (size_t)r) * LANES;
            const vec here = gaussian_at(g, load(at));
            store(at, here);
            column_sum += here * left[r];
            row_sum[r] += here * right;
            column_total += here;
            row_total[r] += here;
        }
        store(sum + m, column_sum);
        store(total + m, column_total);
    }
    add_rows(row_sum, sum + t->first);
    add_rows(row_total, total + t->first);
}

#define TEXT_OF(name) #name
#define NAME(name)    TEXT_OF(name)
#define TABLE_(name)  svmp_lanes_##name
#define TABLE(name)   TABLE_(name)

const lane_ops TABLE(LANES_ISA) = {NAME(LANES_ISA), LANES, distances, steps, from_steps,
                                   count,           rbf,   imq,       weigh, rbf_and_weigh};
