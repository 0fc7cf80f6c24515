#include "verify/pair_correlations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "maths/special.h"
#include "verify/verdict_constants.h"

enum { ROOM = 1 << 23 }; /* the most numbers for the scores of all variables */

/* A score by the rank among m draws has an error of u (1 - u)/(m phi^2), some 4/m on average, which takes as much from
 * the correlation of particles that are nearly one variable, and nothing from that of the draws themselves. Fisher's z
 * of this part of a correlation changes by at most 4/(2 * 13) = 0.15 for it, which does not matter. */
static double known_part(size_t draws) { return 1 - 13 / (double)draws; }

struct pairs {
    const svmp_model *model;
    size_t variables, n, near, count;
    int threads;
    pair_row *rows;
    double *before; /* variables * n: normal scores of the particles */
    double *after;  /* variables * draws: those of the window */
    double *sorted; /* threads * draws */
    double *sum;    /* draws: the influence of each on all neighbours together */
    size_t draws;
    double known;
};

/* ---- which pairs ------------------------------------------------------------------------------------------------- */

/* Every kth pair of neighbours is kept; `is_near` marks all pairs of neighbouring nodes; NULL if unused. */
typedef struct listing {
    size_t seen, every;
    unsigned char *is_near;
} listing;

static void add_pair(pairs *p, listing *l, size_t i, size_t j) {
    if (l->seen++ % l->every == 0 && p->rows) p->rows[p->near++] = (pair_row){.first = i, .second = j, .near = 1};
}

static void add_nodes(pairs *p, listing *l, size_t v, size_t w) {
    const size_t *first = p->model->graph->first;
    if (l->is_near) l->is_near[v * p->model->graph->nodes + w] = 1;
    for (size_t i = first[v]; i < first[v + 1]; i++)
        for (size_t j = v == w ? i + 1 : first[w]; j < first[w + 1]; j++) add_pair(p, l, i, j);
}

/* A closed neighbourhood contains its node. */
static void add_neighbours(pairs *p, listing *l) {
    const svmp_graph *graph = p->model->graph;
    const index_lists *lists = &graph->neighbourhoods;
    for (size_t v = 0; v < graph->nodes; v++) {
        const size_t k = graph->neighbourhood_of[v];
        for (size_t e = lists->start[k]; e < lists->start[k + 1]; e++)
            if (lists->item[e] >= v) add_nodes(p, l, v, lists->item[e]);
    }
}

static void add_others(pairs *p, const unsigned char *is_near) {
    const svmp_graph *graph = p->model->graph;
    for (size_t v = 0; v < graph->nodes; v++)
        for (size_t w = v + 1; w < graph->nodes; w++)
            for (size_t i = graph->first[v]; i < graph->first[v + 1] && !is_near[v * graph->nodes + w]; i++)
                for (size_t j = graph->first[w]; j < graph->first[w + 1]; j++)
                    p->rows[p->count++] = (pair_row){.first = i, .second = j};
}

static svmp_status choose_pairs(pairs *p) {
    svmp_context *context = p->model->context;
    const size_t nodes = p->model->graph->nodes, all = p->variables * (p->variables - 1) / 2;
    listing counted = {.every = 1}, listed = {.every = 1};
    add_neighbours(p, &counted);
    listed.every = counted.seen / MOST_PAIRS + 1;
    const size_t most = counted.seen / listed.every + 1;
    if (all <= MOST_PAIRS) SVMP_TRY(SVMP_NEW(context, listed.is_near, nodes * nodes));
    const svmp_status made = SVMP_NEW(context, p->rows, all <= MOST_PAIRS ? all : most);
    if (made == SVMP_OK) add_neighbours(p, &listed);
    p->count = p->near;
    if (made == SVMP_OK && listed.is_near) add_others(p, listed.is_near);
    svmp_release(context, listed.is_near);
    return made;
}

static svmp_status make_arrays(pairs *p) {
    svmp_context *context = p->model->context;
    SVMP_TRY(choose_pairs(p));
    SVMP_TRY(SVMP_NEW(context, p->before, p->variables * p->n));
    SVMP_TRY(SVMP_NEW(context, p->after, p->variables * p->draws));
    SVMP_TRY(SVMP_NEW(context, p->sum, p->draws));
    return SVMP_NEW(context, p->sorted, (size_t)p->threads * p->draws);
}

svmp_status svmp_pairs_create(const svmp_model *model, size_t n, int threads, pairs **made) {
    const size_t variables = model->graph->variables, draws = svmp_before_after_snapshot_count(n);
    pairs *p = NULL;
    *made = NULL;
    if (variables < 2 || draws < 26 || (double)variables * (double)(n + draws) > ROOM) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(model->context, p, 1));
    *p = (pairs){
        .model = model, .variables = variables, .n = n, .threads = threads, .draws = draws, .known = known_part(draws)};
    const svmp_status status = make_arrays(p);
    if (status == SVMP_OK)
        *made = p;
    else
        svmp_pairs_free(p);
    return status;
}

void svmp_pairs_free(pairs *p) {
    if (p == NULL) return;
    svmp_context *context = p->model->context;
    svmp_release(context, p->rows);
    svmp_release(context, p->before);
    svmp_release(context, p->after);
    svmp_release(context, p->sorted);
    svmp_release(context, p->sum);
    svmp_release(context, p);
}

size_t svmp_pairs_near(const pairs *p) { return p ? p->near : 0; }
size_t svmp_pairs_count(const pairs *p) { return p ? p->count : 0; }

/* ---- correlations ------------------------------------------------------------------------------------------------ */

/* Standardises normal scores, whose mean and variance are only nearly 0 and 1. All 0 if they do not vary. */
static void standardise(size_t n, double *values) {
    double mean = 0, square = 0;
    for (size_t l = 0; l < n; l++) mean += values[l] / (double)n;
    for (size_t l = 0; l < n; l++) square += (values[l] - mean) * (values[l] - mean) / (double)n;
    for (size_t l = 0; l < n; l++) values[l] = square > 1e-12 ? (values[l] - mean) / sqrt(square) : 0;
}

static void find_scores(pairs *p, const before_after *a, size_t i) {
    const size_t n = p->n, draws = p->draws;
    const double *start = svmp_before_after_start(a, i), *shots = svmp_before_after_snapshots(a, i);
    double *before = p->before + i * n, *after = p->after + i * draws;
    double *sorted = p->sorted + (size_t)svmp_thread_number() * draws;
    if (shots == NULL) { /* without ranks there is no correlation */
        memset(before, 0, n * sizeof *before);
        memset(after, 0, draws * sizeof *after);
        return;
    }
    svmp_before_after_sort(shots, draws, sorted);
    for (size_t l = 0; l < n; l++)
        before[l] = svmp_normal_quantile((svmp_before_after_rank(sorted, draws, start[l]) + 0.5) / ((double)draws + 1));
    for (size_t l = 0; l < draws; l++)
        after[l] = svmp_normal_quantile((svmp_before_after_rank(sorted, draws, shots[l]) + 0.5) / ((double)draws + 1));
    standardise(n, before);
    standardise(draws, after);
}

static double correlation(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += x[l] * y[l];
    return sum / (double)n;
}

/* What a mean of n draws and one of the window differ by: its variance and, of that, the window's part, from the
 * influences of all draws of the window. n - 3: as for Fisher's z. Few draws may show too small a variance by chance:
 * it is at least `least`, that of a normal distribution. */
typedef struct errors {
    double variance, window;
} errors;

static errors errors_of(size_t n, size_t draws, const double *influence, double least) {
    const double of = (double)n;
    double square = 0, between = 0;
    for (size_t l = 0; l < n; l++) {
        double own = 0;
        for (size_t k = l; k < draws; k += n) {
            own += influence[k] * of / (double)draws;
            square += influence[k] * influence[k] / (double)draws;
        }
        between += own * own / (of - 1) / of;
    }
    return (errors){fmax(square, least) / (of - 3) + between, between};
}

/* Ranks cannot distinguish correlations within 1/m of 1. */
static double at_most(double r, size_t draws) {
    const double most = 1 - 1 / (double)draws;
    return fmax(-most, fmin(most, r));
}

/* The influence of a draw on the correlation r is xy - r (x^2 + y^2)/2; of a bivariate normal distribution its variance
 * is (1 - r^2)^2. On Fisher's z, atanh r, it is 1/(1 - r^2) times that: the variance of z of n draws is then 1/(n - 3),
 * nearly, and of other distributions as many times larger as that of the influence is. */
static void find_influence(const pairs *p, const pair_row *row, double *influence) {
    const double *x = p->after + row->first * p->draws, *y = p->after + row->second * p->draws;
    const double r = at_most(row->after, p->draws);
    const double by = 1 / (1 - r * r);
    for (size_t k = 0; k < p->draws; k++) influence[k] = by * (x[k] * y[k] - r * (x[k] * x[k] + y[k] * y[k]) / 2);
}

static void test_pair(const pairs *p, pair_row *row) {
    const size_t n = p->n, draws = p->draws, i = row->first, j = row->second;
    double *influence = p->sorted + (size_t)svmp_thread_number() * draws;
    row->after = correlation(draws, p->after + i * draws, p->after + j * draws);
    row->before = correlation(n, p->before + i * n, p->before + j * n);
    find_influence(p, row, influence);
    const errors e = errors_of(n, draws, influence, 1);
    row->effect = atanh(p->known * row->before) - atanh(p->known * row->after);
    row->change = atanh(at_most(row->before, draws)) - atanh(at_most(row->after, draws));
    row->z = row->change / sqrt(e.variance);
    row->variance = e.variance;
    row->window = e.window;
}

/* Fisher's z of one half of the window's chains: those of even number, or of odd. Each half is standardised by itself;
 * otherwise one half would carry information about the other. */
static double half_z(const pairs *p, const pair_row *row, size_t odd) {
    const double *x = p->after + row->first * p->draws, *y = p->after + row->second * p->draws;
    double xx = 0, xy = 0, yy = 0;
    for (size_t l = odd; l < p->n; l += 2)
        for (size_t k = l; k < p->draws; k += p->n) xx += x[k] * x[k], xy += x[k] * y[k], yy += y[k] * y[k];
    return xx > 0 && yy > 0 ? atanh(at_most(xy / sqrt(xx * yy), p->draws)) : 0;
}

/* Detects many small correlations that are all lost: the sum over pairs of w (z before - z afterwards)/variance, with w
 * = z afterwards. Because some of many pairs are large by chance, one half of the chains selects pairs, more than three
 * errors from 0 and not large_correlation, and determines w; the other half, whose variance is n/odd times that of the
 * window, is compared with the particles. */
static pair_sum test_together(const pairs *p) {
    const size_t draws = p->draws, odd = p->n / 2;
    const double chooses = (double)p->n / (double)(p->n - odd), compared = (double)p->n / (double)odd;
    double *influence = p->sorted, change = 0, scale = 0, least = 0;
    memset(p->sum, 0, draws * sizeof *p->sum);
    for (size_t k = 0; k < p->near; k++) {
        const pair_row *row = &p->rows[k];
        const double w = half_z(p, row, 0), variance = row->variance + (compared - 1) * row->window;
        if (!(w * w > 9 * chooses * row->window && fabs(w) < atanh(large_correlation))) continue;
        const double other = half_z(p, row, 1);
        change += w * (atanh(at_most(row->before, draws)) - other) / variance;
        scale += w * other / variance;
        least += w * w / (variance * variance);
        find_influence(p, row, influence);
        for (size_t l = 0; l < draws; l++) p->sum[l] += w / variance * influence[l];
    }
    const errors e = errors_of(p->n, draws, p->sum, least);
    const double error = sqrt(e.variance + (compared - 1) * e.window);
    return scale > 0 ? (pair_sum){change / scale, change / error} : (pair_sum){0};
}

typedef struct close_work {
    pairs *p;
    const before_after *a;
} close_work;

static void close_variable(void *work, size_t i) {
    const close_work *w = work;
    find_scores(w->p, w->a, i);
}

static void close_pair(void *work, size_t k) {
    const close_work *w = work;
    test_pair(w->p, &w->p->rows[k]);
}

const pair_row *svmp_pairs_close(pairs *p, const before_after *a, pair_sum *together) {
    const double scores = 100 * (double)p->variables * (double)p->draws,
                 tests = 10 * (double)p->count * (double)p->draws;
    close_work work = {p, a};
    svmp_parallel_for(svmp_threads_for(p->threads, scores), p->variables, 0, close_variable, &work);
    svmp_parallel_for(svmp_threads_for(p->threads, tests), p->count, 0, close_pair, &work);
    *together = test_together(p);
    return p->rows;
}
