/* What one thread of a kernel does, or one team: compiled for the device by device.cu and as plain C by the tests. A
 * sum over particles or rows has a fixed order, and nothing is added to what another thread adds to. */
#ifndef SVMP_CUDA_THREAD_BODIES_H
#define SVMP_CUDA_THREAD_BODIES_H

#include <math.h>

#include "base/random.h"
#include "cuda/interpret_code.h"

/* A team is the 32 threads of a warp, or one thread of the host. EACH shares the numbers below n out, LANES those below
 * 32; the others give every thread of the team the result of all. */
#ifdef __CUDACC__
#define EACH(l, n) for (size_t l = threadIdx.x % 32; l < (n); l += 32)
#define LANES(k)   for (unsigned k = threadIdx.x % 32, once = 1; once; once = 0)
BODY double team_sum(double value) {
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    return value;
}
BODY double team_max(double value) {
    for (int apart = 16; apart > 0; apart /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, apart));
    return value;
}
BODY float team_sum_single(float value) {
    for (int apart = 16; apart > 0; apart /= 2) value = __fadd_rn(value, __shfl_xor_sync(0xffffffffu, value, apart));
    return value;
}
BODY void team_wait(void) { __syncwarp(); }
BODY uint64_t multiply_high(uint64_t a, uint64_t b) { return __umul64hi(a, b); }
#else
#define EACH(l, n) for (size_t l = 0; l < (n); l++)
#define LANES(k)   for (unsigned k = 0; k < 32; k++)
BODY double team_sum(double value) { return value; }
BODY double team_max(double value) { return value; }
BODY float team_sum_single(float value) { return value; }
BODY void team_wait(void) {}
BODY uint64_t multiply_high(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
}
#endif

/* ---- scores ------------------------------------------------------------------------------------------------------ */

BODY size_t sum_row(const sum_args *a, size_t e) { return a->item ? a->item[e] : a->column ? a->column[e] : e; }

BODY size_t sum_end(const sum_args *a, size_t k) { return a->end ? a->end[k] : a->start[k + 1]; }

BODY size_t sum_to(const sum_args *a, size_t k) { return a->to ? a->to[k] : k; }

/* TOGETHER entries of a list from e on. */
BODY double add_entries(const sum_args *a, size_t e, size_t l, double sum) {
    const double sign = a->minus ? -1 : 1;
    double weight[TOGETHER], value[TOGETHER];
    size_t row[TOGETHER];
    if (a->item) {
        UNROLL for (size_t j = 0; j < TOGETHER; j++) row[j] = a->item[e + j];
    } else if (a->column) {
        UNROLL for (size_t j = 0; j < TOGETHER; j++) row[j] = a->column[e + j];
    } else {
        UNROLL for (size_t j = 0; j < TOGETHER; j++) row[j] = e + j;
    }
    UNROLL for (size_t j = 0; j < TOGETHER; j++) {
        value[j] = a->rows[row[j] * a->n + l];
        weight[j] = a->weight ? sign * a->weight[e + j] : sign;
    }
    UNROLL for (size_t j = 0; j < TOGETHER; j++) sum = fma(weight[j], value[j], sum);
    return sum;
}

/* List k for particle l, added to `sum`. Fused by name: the same bits wherever it is compiled into. */
BODY double add_list(const sum_args *a, size_t k, size_t l, double sum) {
    const double sign = a->minus ? -1 : 1;
    const size_t end = sum_end(a, k);
    size_t e = a->start[k];
    for (; e + TOGETHER <= end; e += TOGETHER) sum = add_entries(a, e, l, sum);
    for (; e < end; e++) sum = fma(a->weight ? sign * a->weight[e] : sign, a->rows[sum_row(a, e) * a->n + l], sum);
    return sum;
}

BODY void body_sum(const sum_args *a, size_t thread) {
    const size_t k = over(thread, a->n), l = thread - k * a->n, at = sum_to(a, k) * a->n + l;
    a->out[at] = add_list(a, k, l, a->constant ? a->constant[k] : a->adds ? a->out[at] : 0);
}

BODY void body_score(const score_args *a, size_t thread) {
    const size_t k = over(thread, a->first.n), l = thread - k * a->first.n;
    const double sum = add_list(&a->first, k, l, a->first.constant ? a->first.constant[k] : 0);
    a->first.out[thread] = a->second.start ? add_list(&a->second, k, l, sum) : sum;
}

/* ---- places of particles ----------------------------------------------------------------------------------------- */

BODY double row_mean_offset(const double *x, size_t n) {
    double sum = 0;
    EACH(l, n) sum += x[l] - x[0];
    return team_sum(sum) / (double)n;
}

/* What rows in single precision are centred at: about the mean, from this thread's part of the sum. */
BODY double single_offset(float sum, size_t n) { return (double)(team_sum_single(sum) * (1.0f / (float)n)); }

/* The exponent of the largest power of two that is not above the largest |z|, as in base/row_sums.h. */
BODY int row_exponent(const double *x, double offset, size_t n) {
    double largest = 0;
    int exponent;
    EACH(l, n) largest = fmax(largest, fabs((x[l] - x[0]) - offset));
    largest = team_max(largest);
    if (!(largest > 0 && largest <= 0x1.fffffffffffffp+1023)) return 0;
    (void)frexp(largest, &exponent);
    return exponent - 1;
}

BODY double row_sd(const double *x, double offset, size_t n) {
    const int exponent = row_exponent(x, offset, n);
    const double by = ldexp(1.0, -exponent); /* exact */
    double sum = 0;
    EACH(l, n) {
        const double z = ((x[l] - x[0]) - offset) * by;
        sum += z * z;
    }
    return ldexp(sqrt(team_sum(sum) / (double)n), exponent);
}

/* What single-precision rows are centred at. Of up to 64 particles, lane k has 2k and 2k + 1. */
BODY double row_single(size_t n, const double *x) {
    float sum = 0;
    if (n > 64) {
        EACH(l, n) sum += (float)(x[l] - x[0]);
    } else {
        LANES(k) {
            const float here = 2 * k < n ? (float)(x[2 * k] - x[0]) : 0,
                        there = 2 * k + 1 < n ? (float)(x[2 * k + 1] - x[0]) : 0;
            sum += here + there;
        }
    }
    return single_offset(sum, n);
}

BODY void place_row(size_t n, const double *x, double offset, float *to) {
    EACH(l, tile_places(n)) to[l] = l < n ? (float)((x[l] - x[0]) - offset) : 0;
}

BODY void body_centre(const centre_args *a, size_t i) {
    const size_t n = a->n;
    const double *x = a->x + i * n, kept = 0.95;
    double sd = 0, by = 0, single = 0;
    if (a->z32) single = row_single(n, x);
    if (a->placed) place_row(n, x, single, a->placed + i * tile_places(n));
    if (a->brief) {
        EACH(l, n) a->z32[i * n + l] = (float)((x[l] - x[0]) - single);
        return;
    }
    const double offset = row_mean_offset(x, n), now = row_sd(x, offset, n);
    if (a->sd) {
        sd = a->sd[i];
        sd = sd > 0 ? kept * sd + (1 - kept) * now : now;
        by = sd > 0 ? 1 / sd : 0;
    }
    team_wait(); /* all have read sd */
    if (a->sd) {
        a->sd[i] = sd;
        a->inverse[i] = by;
    }
    a->variance[i] = now * now;
    a->mean[i] = x[0] + offset;
    EACH(l, n) {
        const double z = (x[l] - x[0]) - offset;
        if (a->z64) a->z64[i * n + l] = z;
        if (a->z32) a->z32[i * n + l] = (float)((x[l] - x[0]) - single);
        if (a->scaled64) a->scaled64[i * n + l] = z * by;
        if (a->scaled32) a->scaled32[i * n + l] = (float)(z * by);
    }
}

/* svmp_message_standardise: what is not finite counts as the mean of the others. */
BODY void body_message(const message_args *a, size_t k) {
    const size_t n = a->n;
    const double *from = a->rows + k * n;
    double *row = a->scratch + k * n, largest = 0, sum = 0, count = 0;
    int exponent;
    EACH(l, n) largest = isfinite(from[l]) ? fmax(largest, fabs(from[l])) : largest;
    largest = team_max(largest);
    (void)frexp(largest, &exponent);
    const double unit = largest > 0 ? ldexp(1.0, exponent - 1) : 1;
    EACH(l, n) {
        const int known = isfinite(from[l]) != 0;
        row[l] = known ? from[l] / unit : NAN;
        sum += known ? row[l] : 0;
        count += known;
    }
    sum = team_sum(sum), count = team_sum(count);
    EACH(l, n) row[l] = isfinite(row[l]) ? row[l] : count > 0 ? sum / count : 0;
    team_wait();
    const double offset = row_mean_offset(row, n), sd = row_sd(row, offset, n), by = sd > 0 ? 1 / sd : 0;
    a->variance[a->to[k]] = sd > 0 ? 1 : 0;
    EACH(l, n) {
        const double z = ((row[l] - row[0]) - offset) * by;
        if (a->z64) a->z64[a->to[k] * n + l] = z;
        if (a->z32) a->z32[a->to[k] * n + l] = (float)z;
        if (a->scaled64) a->scaled64[a->to[k] * n + l] = z;
        if (a->scaled32) a->scaled32[a->to[k] * n + l] = (float)z;
    }
}

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

typedef struct random_words {
    uint64_t v[4];
} random_words;

/* Philox 4x64 with 10 rounds: the numbers of base/random.c. */
BODY random_words philox(uint64_t seed, uint64_t purpose, uint64_t a, uint64_t b, uint64_t index) {
    uint64_t c0 = index, c1 = a, c2 = b, c3 = purpose, k0 = seed, k1 = UINT64_C(0x73766d70);
    for (int round = 0; round < 10; round++) {
        const uint64_t m0 = UINT64_C(0xD2E7470EE14C6C93), m1 = UINT64_C(0xCA5A826395121157);
        const uint64_t high0 = multiply_high(m0, c0), low0 = m0 * c0, high1 = multiply_high(m1, c2), low1 = m1 * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += UINT64_C(0x9E3779B97F4A7C15);
        k1 += UINT64_C(0xBB67AE8584CAA73B);
    }
    const random_words words = {{c0, c1, c2, c3}};
    return words;
}

BODY double word_uniform(uint64_t word) { return ((double)(word >> 12) + 0.5) * 0x1p-52; }

BODY double random_normal(uint64_t seed, uint64_t purpose, uint64_t a, uint64_t b, uint64_t l) {
    const random_words words = philox(seed, purpose, a, b, l / 4);
    const double radius = sqrt(-2 * log(word_uniform(words.v[l % 4 & ~UINT64_C(1)])));
    const double angle = 6.283185307179586476925 * word_uniform(words.v[l % 4 | 1]);
    return radius * (l % 2 == 0 ? cos(angle) : sin(angle));
}

BODY void insert_ascending(uint32_t *drawn, size_t count, uint32_t place) {
    for (; count > 0 && drawn[count - 1] > place; count--) drawn[count] = drawn[count - 1];
    drawn[count] = place;
}

/* svmp_domain_draw, and the variables of what it draws. */
BODY void body_draw(const draw_args *a, size_t node) {
    const size_t set = a->neighbourhood_of[node], blanket = a->start[set + 1] - a->start[set] - 1;
    const uint32_t *closed = a->item + a->start[set];
    const size_t wanted = a->neighbours < blanket ? a->neighbours : blanket;
    const uint64_t key = a->whole ? a->whole[node] : node;
    uint32_t *drawn = a->drawn + node * (a->neighbours + 1);
    size_t own = 0, count = 0, to = node * a->width;
    while (closed[own] != node) own++;
    for (size_t j = blanket - wanted; j < blanket; j++) {
        size_t place = (size_t)(philox(a->seed, RANDOM_NEIGHBOURS, a->iteration, key, j).v[0] % (j + 1));
        const size_t last = j < own ? j : j + 1;
        int held = 0;
        place = place < own ? place : place + 1; /* the node itself is left out */
        for (size_t k = 0; k < count; k++) held |= drawn[k] == place;
        insert_ascending(drawn, count++, (uint32_t)(held ? last : place));
    }
    insert_ascending(drawn, count++, (uint32_t)own);
    a->begin[node] = to;
    for (size_t k = 0; k < count; k++) {
        const uint32_t there = closed[drawn[k]];
        for (size_t i = a->first[there]; i < a->first[there + 1]; i++) a->domain[to++] = (uint32_t)i;
    }
    a->end[node] = to;
}

enum { MATRIX_ROWS = 16 }; /* of a domain, that are added up together (pairs.h) */

/* ---- bandwidths -------------------------------------------------------------------------------------------------- */

/* svmp_bandwidth_value of the two middle distances. */
BODY double scale_of(const pair_args *a, double lower, double upper) {
    double h;
    if (a->rule == RULE_FIXED) return a->fixed < 1e-300 ? 0 : a->fixed;
    if (a->n < 2) return 0;
    if (a->rule == RULE_MEDIAN_ZEROS) {
        h = (lower + upper) / 2;
    } else {
        const double median = (sqrt(lower) + sqrt(upper)) / 2;
        h = a->rule == RULE_MEDIAN_LOG ? median * median / log((double)a->n) : median * median;
    }
    return h < 1e-300 ? 0 : h;
}

/* The bandwidth of a unit; or the summed variance of its domain, 1 in units of the sd. */
BODY double unit_scale(const pair_args *a, size_t u) {
    double v = 0;
    if (a->shape != SVMP_SHAPE_LINEAR) return scale_of(a, a->middle[2 * u], a->middle[2 * u + 1]);
    if (a->in_sd) return 1;
    for (size_t e = a->begin[u]; e < a->end[u]; e++) v += a->variance[a->domain[e]];
    return v;
}

BODY void body_scale(const pair_args *a, size_t u) { a->scale[u] = unit_scale(a, u); }

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* by / (delta + sqrt(square)). In single precision of pairs to about 1e-13, by a step of Newton's from single-precision
 * roots, which takes a third of the instructions. */
BODY double over_exact_root(const step_args *a, double by, double square) { return by / (a->delta + sqrt(square)); }

#ifdef __CUDACC__
BODY int has_quick_root(float square) { return (square > 1e-30f) & (square < 1e30f); }

BODY double over_quick_root(const step_args *a, double by, double square) {
    const float single = (float)square;
    float from, over;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(from) : "f"(single));
    const double about = (double)from, root = __dmul_rn(square, about);
    const double length = a->delta + __fma_rn(__fma_rn(-root, root, square), __dmul_rn(0.5, about), root);
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(over) : "f"(__fmaf_rn(single, from, (float)a->delta)));
    const double inverse = (double)over;
    return __dmul_rn(by, __fma_rn(__fma_rn(-length, inverse, 1.0), inverse, inverse));
}
#endif

BODY double over_root(const step_args *a, double by, double square) {
#ifdef __CUDACC__
    if (a->quick && has_quick_root((float)square)) return over_quick_root(a, by, square);
#endif
    return over_exact_root(a, by, square);
}

/* The new state of a scalar (step/): G += phi^2 and so on. The displacement is what this returns, over the root of
 * `square`, which is negative if there is none. */
BODY double advance(const step_args *a, int rule, double *first, double *second, double phi, double *square) {
    switch (rule) {
    case SVMP_STEP_ADAGRAD: *first = fma(phi, phi, *first); break;
    case SVMP_STEP_RMSPROP: *first = fma((1 - a->decay1) * phi, phi, a->decay1 * *first); break;
    case SVMP_STEP_ADAM:
        *first = fma(1 - a->decay1, phi, a->decay1 * *first);
        *second = fma((1 - a->decay2) * phi, phi, a->decay2 * *second);
        *square = a->correct2 * *second;
        return a->rate * (a->correct1 * *first);
    default: *square = -1; return a->rate * phi;
    }
    *square = *first;
    return a->rate * phi;
}

BODY double displacement(const step_args *a, double *first, double *second, double phi) {
    double square;
    const double by = advance(a, a->rule, first, second, phi, &square);
    return square < 0 ? by : over_root(a, by, square);
}

/* The new place, projected onto the box; what is not finite stays so. */
BODY double boxed(double to, double low, double high, int *wrong) {
    if (!isfinite(to)) *wrong = 1;
    return !isfinite(to) ? to : to < low ? low : to > high ? high : to;
}

BODY double move_to(const step_args *a, size_t i, size_t at, double by, int *wrong) {
    return a->phi[at] = boxed(a->x[at] + by, a->lower[i], a->upper[i], wrong);
}

/* By how much variable i moves. */
BODY double moves_by(const step_args *a, size_t i, double *first, double *second, double velocity, double *largest) {
    const double given = a->unit ? a->unit[i] : 1, unit = given > 0 ? given : 1, phi = unit * velocity;
    if (fabs(phi) > *largest) *largest = fabs(phi);
    return unit * displacement(a, first, second, phi);
}

/* What the step of a number reads. */
typedef struct {
    double x, first, second, low, high;
} step_state;

BODY step_state state_of(const step_args *a, size_t i, size_t at) {
    const step_state s = {a->x[at], a->first ? a->first[at] : 0, a->second ? a->second[at] : 0, a->lower[i],
                          a->upper[i]};
    return s;
}

/* Number `at` is of variable i. */
BODY double step_from(const step_args *a, size_t i, size_t at, double velocity, step_state s, double *largest,
                      int *wrong) {
    const double by = moves_by(a, i, &s.first, &s.second, velocity, largest);
    if (a->first) a->first[at] = s.first;
    if (a->second) a->second[at] = s.second;
    return a->phi[at] = boxed(s.x + by, s.low, s.high, wrong);
}

BODY double step_by(const step_args *a, size_t i, size_t at, double velocity, double *largest, int *wrong) {
    return step_from(a, i, at, velocity, state_of(a, i, at), largest, wrong);
}

BODY void body_step(const step_args *a, size_t at, double *largest, int *wrong) {
    step_by(a, over(at, a->n), at, a->phi[at], largest, wrong);
}

/* x + rate s + sqrt(2 rate) noise */
BODY void body_diffuse(const step_args *a, size_t at, double *largest, int *wrong) {
    const double s = a->score[at];
    if (fabs(s) > *largest) *largest = fabs(s);
    const size_t i = over(at, a->n);
    const double noise =
        random_normal(a->seed, RANDOM_LANGEVIN, a->iteration, a->whole ? a->whole[i] : i, at - i * a->n);
    move_to(a, i, at, a->rate * s + sqrt(2 * a->rate) * noise, wrong);
}

#endif
