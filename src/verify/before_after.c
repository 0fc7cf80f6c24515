#include "verify/before_after.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/row_sums.h"
#include "base/threads.h"
#include "maths/order_statistics.h"
#include "maths/special.h"
#include "verify/verdict_constants.h"

enum { ROOM = 1 << 25 }; /* the most numbers for these states; if they need more, only every kth row has quantiles */
static const double between_tails = 2 * 1.6448536269514722; /* sds between them, for a Gaussian */

/* Sums of powers of y = (x - centre)/unit over all particles and iterations of the window, and of the score in its
 * unit. Both are clipped at 5 units, which are sds for a Gaussian, because means of heavy-tailed values are no useful
 * test. */
typedef struct powers {
    double third, fourth, score, score_fourth;
} powers;

struct before_after {
    svmp_context *context;
    size_t variables, rows, n;
    int threads;
    size_t length, count, shot; /* of the window: all iterations and those done, kept states */
    size_t every;               /* every kth row has quantiles */
    double *start;              /* rows * n: the particles that are examined */
    double *score;              /* variables * n: their scores */
    double *centre, *unit;      /* rows: the median and the distance of quantiles when the window was opened */
    double *score_unit;         /* variables: the same of the score */
    double *sum, *square;       /* rows * n, over the window: of y and y^2 */
    powers *powers;             /* rows */
    double *shots;              /* rows / every * WINDOW_STATES * n */
    double *density;            /* WINDOW_STATES * n */
    double *sorted;             /* threads * (WINDOW_STATES + 1) * n */
};

static svmp_status make_arrays(before_after *a) {
    svmp_context *context = a->context;
    const size_t row = a->n * sizeof(double), kept = (a->rows + a->every - 1) / a->every;
    SVMP_TRY(svmp_allocate(context, a->rows, row, (void **)&a->start));
    SVMP_TRY(svmp_allocate(context, a->rows, row, (void **)&a->sum));
    SVMP_TRY(svmp_allocate(context, a->rows, row, (void **)&a->square));
    SVMP_TRY(svmp_allocate(context, kept, WINDOW_STATES * row, (void **)&a->shots));
    SVMP_TRY(svmp_allocate(context, (size_t)a->threads, (WINDOW_STATES + 1) * row, (void **)&a->sorted));
    SVMP_TRY(SVMP_NEW(context, a->density, WINDOW_STATES * a->n));
    SVMP_TRY(svmp_allocate(context, a->variables, row, (void **)&a->score));
    SVMP_TRY(SVMP_NEW(context, a->score_unit, a->variables));
    SVMP_TRY(SVMP_NEW(context, a->centre, a->rows));
    SVMP_TRY(SVMP_NEW(context, a->unit, a->rows));
    return SVMP_NEW(context, a->powers, a->rows);
}

/* The mean square, and the mean fourth power over its square. */
static double square_of(size_t n, const double *values, double *kurtosis) {
    const double square = svmp_dot(n, values, values) / (double)n;
    double fourth = 0;
    for (size_t l = 0; l < n; l++) fourth += values[l] * values[l] * values[l] * values[l] / (double)n;
    *kurtosis = square > 0 ? fourth / (square * square) : 0;
    return square;
}

svmp_status svmp_before_after_create(svmp_context *context, const before_after_size *size, const double *x,
                                     const double *score, const double *views, before_after **made) {
    const size_t variables = size->variables, rows = variables + size->views, n = size->n;
    before_after *a = NULL;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(context, a, 1));
    *a = (before_after){.context = context, .variables = variables, .rows = rows, .n = n, .threads = size->threads};
    a->every = (size_t)((double)rows * (double)n * WINDOW_STATES / ROOM) + 1;
    SVMP_CHECK(make_arrays(a));
    memcpy(a->start, x, variables * n * sizeof *x);
    if (size->views) memcpy(a->start + variables * n, views, size->views * n * sizeof *views);
    memcpy(a->score, score, variables * n * sizeof *score);
    *made = a;
    return SVMP_OK;
done:
    svmp_before_after_free(a);
    return status;
}

void svmp_before_after_free(before_after *a) {
    if (a == NULL) return;
    void *const arrays[] = {a->start,  a->score,  a->score_unit, a->centre,  a->unit,   a->sum,
                            a->square, a->powers, a->shots,      a->density, a->sorted, a};
    svmp_context *context = a->context;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
}

void svmp_before_after_open(before_after *a, size_t length) {
    a->length = length;
    a->count = a->shot = 0;
}

void svmp_before_after_extend(before_after *a) {
    const size_t n = a->n, kept = (a->rows + a->every - 1) / a->every;
    for (size_t k = 0; k <= kept; k++) { /* the log density is one row more; every other state stays */
        double *shots = k < kept ? a->shots + k * WINDOW_STATES * n : a->density;
        for (size_t shot = 0; shot < WINDOW_STATES / 2; shot++)
            memcpy(shots + shot * n, shots + (2 * shot + 1) * n, n * sizeof *shots);
    }
    a->length *= 2;
    a->shot = WINDOW_STATES / 2;
}

/* The unit: the distance between the quantiles 5 % and 95 % over that of a standard normal; if most values are equal,
 * the largest distance from them. */
static double unit_of(size_t n, const double *values, double centre, double *sorted) {
    double largest = 0;
    memcpy(sorted, values, n * sizeof *values);
    const size_t low = (size_t)(tail * (double)n);
    const double from = svmp_select(sorted, n, low), to = svmp_select(sorted, n, n - 1 - low);
    for (size_t l = 0; l < n; l++) largest = fmax(largest, fabs(values[l] - centre));
    return to > from ? (to - from) / between_tails : largest > 0 ? largest : 1;
}

static double clip(double y) { return y > clipped_at ? clipped_at : y < -clipped_at ? -clipped_at : y; }

static void open_row(before_after *a, size_t i, const double *x, const double *score, double *sorted) {
    const size_t n = a->n;
    memcpy(sorted, x, n * sizeof *x);
    a->centre[i] = svmp_select(sorted, n, n / 2);
    a->unit[i] = unit_of(n, x, a->centre[i], sorted);
    if (score) a->score_unit[i] = unit_of(n, score, 0, sorted);
    memset(a->sum + i * n, 0, n * sizeof *a->sum);
    memset(a->square + i * n, 0, n * sizeof *a->square);
    a->powers[i] = (powers){0};
}

static void add_score(powers *p, size_t n, const double *score, double by) {
    for (size_t l = 0; l < n; l++) {
        const double u = clip(score[l] * by);
        p->score += u * u;
        p->score_fourth += u * u * u * u;
    }
}

/* `score` is NULL for views. */
static void add_row(before_after *a, size_t i, const double *x, const double *score, double *sorted) {
    const size_t n = a->n;
    if (a->count == 0) open_row(a, i, x, score, sorted);
    const double centre = a->centre[i], by = 1 / a->unit[i];
    double *sum = a->sum + i * n, *square = a->square + i * n;
    powers p = a->powers[i];
    for (size_t l = 0; l < n; l++) {
        const double y = clip((x[l] - centre) * by);
        sum[l] += y;
        square[l] += y * y;
        p.third += y * y * y;
        p.fourth += y * y * y * y;
    }
    if (score) add_score(&p, n, score, 1 / a->score_unit[i]);
    a->powers[i] = p;
}

typedef struct add_work {
    before_after *a;
    const double *x, *score, *views;
    int shot;
} add_work;

static void add_one(void *work, size_t i) {
    const add_work *w = work;
    before_after *a = w->a;
    const size_t n = a->n;
    const int is_view = i >= a->variables;
    const double *row = is_view ? w->views + (i - a->variables) * n : w->x + i * n;
    double *sorted = a->sorted + (size_t)svmp_thread_number() * (WINDOW_STATES + 1) * n;
    add_row(a, i, row, is_view ? NULL : w->score + i * n, sorted);
    if (w->shot && i % a->every == 0)
        memcpy(a->shots + (i / a->every * WINDOW_STATES + a->shot) * n, row, n * sizeof *row);
}

int svmp_before_after_add(before_after *a, const double *x, const double *score, const double *views) {
    const int shot = (a->count + 1) * WINDOW_STATES / a->length > a->shot; /* evenly spaced, the last one at the end */
    const int threads = svmp_threads_for(a->threads, 12 * (double)a->rows * (double)a->n);
    svmp_parallel_for(threads, a->rows, 0, add_one, &(add_work){a, x, score, views, shot});
    a->count++;
    a->shot += (size_t)shot;
    return shot;
}

void svmp_before_after_add_density(before_after *a, const double *log_density) {
    memcpy(a->density + (a->shot - 1) * a->n, log_density, a->n * sizeof *log_density);
}

const double *svmp_before_after_start(const before_after *a, size_t i) { return a->start + i * a->n; }

const double *svmp_before_after_snapshots(const before_after *a, size_t i) {
    return i % a->every == 0 ? a->shots + i / a->every * WINDOW_STATES * a->n : NULL;
}

size_t svmp_before_after_snapshot_count(size_t n) { return WINDOW_STATES * n; }

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* The distribution of the window: mean, variance, skewness and kurtosis, and the variances of the estimated mean and
 * variance, from the particles' own averages. */
typedef struct moments {
    double mean, variance, skewness, kurtosis;
    double mean_error, variance_error, between_share; /* squared */
} moments;

/* The z of a mean of n independent values that have the skewness: first order of Cornish and Fisher's expansion. */
static double straighten(double z, double skewness, double n) {
    const double bend = skewness / (6 * sqrt(n)) * (z * z - 1);
    return fabs(bend) < fabs(z) / 2 ? z - bend : z / 2;
}

static double test_mean(const moments *m, double n, double difference, double *effect) {
    *effect = difference / sqrt(m->variance);
    return straighten(difference / sqrt(m->variance / n + m->mean_error), m->skewness, n);
}

/* Wilson and Hilferty: the cube root of a chi square over its freedom f is N(1 - 2/(9f), 2/(9f)), nearly. The degrees
 * of freedom of a mean square of n values follow from its relative variance, (kurtosis - 1)/n. `own` is the kurtosis of
 * the particles, which is larger if a few of them are too far out. `error` is the squared relative error of the
 * reference. */
static double test_square(double ratio, double kurtosis, double own, double n, double error, double *effect) {
    const double peaked = ratio > 1 ? fmax(kurtosis, own) : kurtosis;
    const double freedom = 2 * n / fmax(peaked - 1, 0.2), part = 2 / (9 * freedom);
    *effect = sqrt(ratio) - 1;
    return (cbrt(ratio) - (1 - part)) / sqrt(part + error / 9);
}

/* The share of `n` particles, `count` of them, where `share` is expected: Anscombe's arc sine. The quantiles come from
 * WINDOW_STATES * n dependent draws, which count as 2n. */
static double test_share(double count, double n, double share) {
    return 2 * (asin(sqrt((count + 0.375) / (n + 0.75))) - asin(sqrt(share))) / sqrt(1.5 / n);
}

static moments moments_of(const before_after *a, size_t i) {
    const size_t n = a->n;
    const double draws = (double)n * (double)a->count, of = (double)n, iterations = (double)a->count;
    const double *sum = a->sum + i * n, *square = a->square + i * n;
    const powers *p = &a->powers[i];
    const double mean = svmp_sum(n, sum) / draws, second = svmp_sum(n, square) / draws;
    const double third = p->third / draws, fourth = p->fourth / draws;
    moments m = {.mean = mean, .variance = second - mean * mean};
    const double variance = m.variance;
    m.skewness = (third - 3 * mean * second + 2 * mean * mean * mean) / (variance * sqrt(variance));
    m.kurtosis =
        (fourth - 4 * mean * third + 6 * mean * mean * second - 3 * mean * mean * mean * mean) / (variance * variance);
    double between = 0, wide = 0;
    for (size_t l = 0; l < n; l++) {
        const double own = sum[l] / iterations - mean;
        const double own_wide = square[l] / iterations - 2 * mean * (own + mean) + mean * mean - variance;
        between += own * own;
        wide += own_wide * own_wide;
    }
    m.between_share = between / (of - 1) / variance;
    m.mean_error = between / (of - 1) / of;
    m.variance_error = wide / (of - 1) / of / (variance * variance);
    return m;
}

static int compare_reals(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void svmp_before_after_sort(const double *values, size_t count, double *sorted) {
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_reals);
}

double svmp_before_after_rank(const double *sorted, size_t count, double x) {
    size_t below = 0, not_above = 0;
    for (size_t step = count; step > 0; step /= 2) { /* binary search for the largest index for which this holds */
        while (below + step <= count && sorted[below + step - 1] < x) below += step;
        while (not_above + step <= count && sorted[not_above + step - 1] <= x) not_above += step;
    }
    return 0.5 * (double)(below + not_above);
}

/* Neyman's smooth test: u is the share of draws afterwards below a particle, uniform for a sample of the same
 * distribution, so that the means of the four first Legendre polynomials, of variance 1 each, are 0. They measure
 * location, spread, skewness and tail weight: the sum of their squares is chi square with four degrees of freedom, and
 * each is normal. The less probable of the sum and the largest counts. */
static void add_polynomials(double rank, double draws, double weight, double sum[4]) {
    const double v = 2 * (rank + 0.5) / (draws + 1) - 1, vv = v * v;
    sum[0] += weight * sqrt(3) * v;
    sum[1] += weight * sqrt(5) * (3 * vv - 1) / 2;
    sum[2] += weight * sqrt(7) * v * (5 * vv - 3) / 2;
    sum[3] += weight * 3 * ((35 * vv - 30) * vv + 3) / 8;
}

/* Sums of few polynomials have heavier tails than the normal distribution: of 20 values from the same distribution, p <
 * 1e-6 came 22 times too often (in a million samples), and with this about twice. */
static double few_values(double z, size_t n) { return z / sqrt(1 + 0.4 * z * z * fmax(0, 1 / (double)n - 0.02)); }

/* With ties, as for clipped sums, the polynomials have other means: those over the draws. */
static double test_smooth(const double *sorted, size_t draws, const double *x, size_t n) {
    const double of = (double)draws;
    double sum[4] = {0}, mean[4] = {0}, square = 0, largest = 0;
    for (size_t l = 0; l < n; l++) add_polynomials(svmp_before_after_rank(sorted, draws, x[l]), of, 1, sum);
    for (size_t k = 0, next; k < draws; k = next) {
        for (next = k + 1; next < draws && sorted[next] == sorted[k];) next++;
        add_polynomials(0.5 * (double)(k + next) - 0.5, of - 1, (double)(next - k) / of, mean);
    }
    for (size_t k = 0; k < 4; k++) {
        const double z = fabs(sum[k] - (double)n * mean[k]) / sqrt(1.5 * (double)n); /* 1.5: as in test_share */
        square += z * z;
        largest = fmax(largest, z);
    }
    if (square > 200) return few_values(sqrt(square), n);
    const double of_sum = exp(-square / 2) * (1 + square / 2), of_largest = 4 * erfc(largest / sqrt(2));
    return few_values(-svmp_normal_quantile(fmin(2 * fmin(of_sum, of_largest), 1) / 2), n);
}

/* Linear between order statistics, R's type 7. */
static double quantile_of(const double *sorted, size_t count, double level) {
    const double at = level * (double)(count - 1);
    const size_t k = (size_t)at;
    return k + 1 < count ? sorted[k] + (at - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[count - 1];
}

/* The difference in shape is described by the quantile that is farthest off, in sds. */
static void test_shape(const double *after, size_t draws, const double *start, size_t n, double sd,
                       before_after_row *row) {
    static const double levels[] = {0.05, 0.25, 0.75, 0.95};
    row->z[TEST_SHAPE] = test_smooth(after, draws, start, n);
    row->effect[TEST_SHAPE] = row->level = 0;
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        const double off = (quantile_of(start, n, levels[k]) - quantile_of(after, draws, levels[k])) / sd;
        if (fabs(off) > fabs(row->effect[TEST_SHAPE])) row->effect[TEST_SHAPE] = off, row->level = levels[k];
    }
}

/* Counts the values below the median (ties as half) and outside the quantiles; without ties half and a tenth are
 * expected. */
typedef struct shares {
    double below, outside;
} shares;

static shares shares_of(size_t n, const double *values, double q05, double q50, double q95) {
    shares s = {0};
    for (size_t l = 0; l < n; l++) {
        s.below += (values[l] < q50) + (values[l] == q50) / 2.0;
        s.outside += (values[l] < q05) + (values[l] > q95);
    }
    return s;
}

/* `sorted` has room for the draws of the window and then for the particles. */
static void test_quantiles(const before_after *a, size_t i, double sd, double *sorted, before_after_row *row) {
    const size_t n = a->n, draws = WINDOW_STATES * n, low = (size_t)(tail * (double)draws);
    double *start = sorted + draws;
    svmp_before_after_sort(svmp_before_after_snapshots(a, i), draws, sorted);
    svmp_before_after_sort(svmp_before_after_start(a, i), n, start);
    const double q05 = sorted[low], q50 = sorted[draws / 2], q95 = sorted[draws - 1 - low];
    const shares are = shares_of(n, start, q05, q50, q95), be = shares_of(draws, sorted, q05, q50, q95);
    const double half = (be.below + 0.5) / ((double)draws + 1);
    row->z[TEST_MEDIAN] = -test_share(are.below, (double)n, half); /* above the median: positive, as for the mean */
    row->effect[TEST_MEDIAN] = svmp_normal_quantile(half) - svmp_normal_quantile((are.below + 0.5) / ((double)n + 1));
    row->z[TEST_TAILS] = test_share(are.outside, (double)n, be.outside / (double)draws);
    row->effect[TEST_TAILS] = are.outside / (double)n - be.outside / (double)draws;
    if (q95 > q05) test_shape(sorted, draws, start, n, sd, row);
}

static void test_scores(const before_after *a, size_t i, double *workspace, before_after_row *row) {
    const size_t n = a->n;
    const double of = (double)n, draws = of * (double)a->count;
    const powers *p = &a->powers[i];
    double peaked;
    for (size_t l = 0; l < n; l++) workspace[l] = clip(a->score[i * n + l] / a->score_unit[i]);
    const double start = square_of(n, workspace, &peaked);
    const double score = p->score / draws, kurtosis = p->score_fourth / draws / (score * score);
    row->z[TEST_SCORES] = test_square(start / score, kurtosis, peaked, of, kurtosis / of, &row->effect[TEST_SCORES]);
}

static void test_row(const before_after *a, size_t i, double *sorted, before_after_row *row) {
    const size_t n = a->n;
    const double of = (double)n;
    const moments m = moments_of(a, i);
    for (size_t k = 0; k < BEFORE_AFTER_TESTS; k++) row->effect[k] = row->z[k] = NAN;
    row->between_share = m.variance > 0 ? m.between_share : NAN;
    row->level = 0;
    if (!(m.variance > 0)) return;
    double peaked, mean = 0, away = 0;
    for (size_t l = 0; l < n; l++) {
        const double y = (a->start[i * n + l] - a->centre[i]) / a->unit[i];
        away += y / of;
        sorted[l] = clip(y);
    }
    mean = svmp_sum(n, sorted) / of;
    for (size_t l = 0; l < n; l++) sorted[l] -= mean;
    const double squares = square_of(n, sorted, &peaked) * of / (of - 1);
    row->z[TEST_MEAN] = test_mean(&m, of, mean - m.mean, &row->effect[TEST_MEAN]);
    if (fabs(mean) > clipped_at / 2)
        row->effect[TEST_MEAN] = (away - m.mean) / sqrt(m.variance); /* the actual distance */
    row->z[TEST_SPREAD] =
        test_square(squares / m.variance, m.kurtosis, peaked, of - 1, m.variance_error, &row->effect[TEST_SPREAD]);
    if (i < a->variables) test_scores(a, i, sorted, row);
    if (i % a->every == 0) test_quantiles(a, i, a->unit[i] * sqrt(m.variance), sorted, row);
}

typedef struct close_work {
    before_after *a;
    before_after_row *rows;
} close_work;

static void close_row(void *work, size_t i) {
    const close_work *w = work;
    test_row(w->a, i, w->a->sorted + (size_t)svmp_thread_number() * (WINDOW_STATES + 1) * w->a->n, &w->rows[i]);
}

void svmp_before_after_close(before_after *a, before_after_row *rows) {
    const int threads = svmp_threads_for(a->threads, 40.0 * (WINDOW_STATES + 1) * (double)a->rows * (double)a->n);
    svmp_parallel_for(threads, a->rows, 0, close_row, &(close_work){a, rows});
}

before_after_row svmp_before_after_density(const before_after *a, const double *before, double halves) {
    const size_t n = a->n;
    const double of = (double)n;
    moments m = {0};
    double third = 0, between = 0;
    for (size_t l = 0; l < n; l++)
        if (!isfinite(before[l])) return (before_after_row){.z[0] = -INFINITY, .effect[0] = -INFINITY}; /* density 0 */
    for (size_t k = 0; k < WINDOW_STATES * n; k++) m.mean += (a->density[k] - before[0]) / (WINDOW_STATES * of);
    for (size_t k = 0; k < WINDOW_STATES * n; k++) {
        const double away = a->density[k] - before[0] - m.mean;
        m.variance += away * away / (WINDOW_STATES * of);
        third += away * away * away / (WINDOW_STATES * of);
    }
    for (size_t l = 0; l < n; l++) {
        double own = 0;
        for (size_t k = 0; k < WINDOW_STATES; k++) own += (a->density[k * n + l] - before[0] - m.mean) / WINDOW_STATES;
        between += own * own;
    }
    m.skewness = third / (m.variance * sqrt(m.variance));
    m.mean_error = between / (of - 1) / of;
    before_after_row row = {.between_share = between / (of - 1) / m.variance};
    row.z[0] = test_mean(&m, of, svmp_mean_offset(n, before) - m.mean, &row.effect[0]);
    row.effect[0] *= sqrt(m.variance) / halves;
    return row;
}
