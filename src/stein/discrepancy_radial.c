/* Terms that are functions of the distance: three triangles of pairs, and from them the sums of every member. */
#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "stein/discrepancy_terms.h"

/* Row l of the triangle of squared distances. */
static void distance_row(size_t n, size_t count, const double *const *rows, size_t l, double *distance) {
    const size_t length = n - l - 1;
    memset(distance, 0, length * sizeof *distance);
    for (size_t j = 0; j < count; j++) {
        const double *x = rows[j] + l + 1, here = rows[j][l];
#pragma omp simd
        for (size_t m = 0; m < length; m++) distance[m] += (here - x[m]) * (here - x[m]);
    }
}

static size_t row_start(size_t n, size_t l) { return l * (2 * n - l - 1) / 2; }

static void shape_values(const kernel_shape *shape, size_t count, double h, double *k, double *r, double *c) {
    shape->value(count, k, h, k);
    shape->curvature(count, k, h, c);
    if (shape->repulsion) {
        shape->repulsion(count, k, h, r);
        return;
    }
    const double ratio = shape->ratio(h);
    for (size_t p = 0; p < count; p++) r[p] = ratio * k[p];
}

typedef struct triangle_work {
    const ksd *of;
    size_t count;
    const ksd_workspace *workspace;
} triangle_work;

static void common_row(void *work, size_t l) {
    const triangle_work *w = work;
    const common_grid *grid = &w->of->grid;
    svmp_grid_squares(grid, w->count, w->workspace->rows, l, grid->steps + row_start(grid->n, l));
}

static void own_row(void *work, size_t l) {
    const triangle_work *w = work;
    const size_t n = w->of->sample->n;
    distance_row(n, w->count, w->workspace->rows, l, w->workspace->k + row_start(n, l));
}

/* The triangle of squared distances on all variables. */
static void common_distances(const ksd *of, size_t count, const ksd_workspace *workspace, int threads) {
    const size_t n = of->sample->n;
    svmp_grid_find(&of->grid, count, workspace->rows, GRID_SQUARES, threads);
    svmp_parallel_for(threads, n, 1, common_row, &(triangle_work){of, count, workspace});
    of->grid.peers->sum(of->grid.peers, n * (n - 1) / 2, of->grid.steps);
    grid_recount again = {&of->grid, count, workspace->rows, threads, 0};
    const double few = svmp_grid_few(&of->grid);
    for (size_t l = 0, p = 0; l < n; l++)
        for (size_t m = l + 1; m < n; m++, p++) {
            workspace->k[p] = svmp_grid_value(&of->grid, l, m, of->grid.steps[p]);
            if (workspace->k[p] < few * svmp_grid_step(&of->grid, l, m)) svmp_grid_note(&again, l, m, &workspace->k[p]);
        }
    svmp_grid_recount(&again);
}

static void note_bandwidth(const ksd *of, const stein_unit *unit, double h) {
    const size_t *first = of->sample->graph->first;
    for (size_t v = 0; v < unit->member_count; v++)
        for (size_t i = first[unit->members[v]]; i < first[unit->members[v] + 1]; i++)
            if (isnan(of->measured[i].bandwidth)) of->measured[i].bandwidth = h;
}

/* The triangles of a unit. */
static void fill_triangles(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_workspace *workspace,
                           int threads) {
    const size_t n = of->sample->n, pairs = n * (n - 1) / 2;
    const double *x = term->metric == METRIC_SD ? of->scaled : of->sample->x;
    const size_t count = svmp_unit_rows(of->sample->graph, unit, n, x, of->sample->messages, workspace->rows);
    if (term->domain == DOMAIN_ALL)
        common_distances(of, count, workspace, threads);
    else
        svmp_parallel_for(threads, n, 1, own_row, &(triangle_work){of, count, workspace});
    memcpy(workspace->r, workspace->k, pairs * sizeof *workspace->r); /* choosing the bandwidth reorders them */
    const double h = svmp_bandwidth_choose(&term->bandwidth, n, workspace->r);
    note_bandwidth(of, unit, h);
    workspace->k0 = 1;
    workspace->r0 = 0;
    if (h > 0) {
        double zero = 0, unused;
        shape_values(term->shape, pairs, h, workspace->k, workspace->r, workspace->c);
        shape_values(term->shape, 1, h, &zero, &workspace->r0, &unused);
        return;
    }
    memset(workspace->r, 0, pairs * sizeof *workspace->r);
    memset(workspace->c, 0, pairs * sizeof *workspace->c);
    for (size_t p = 0; p < pairs; p++) workspace->k[p] = workspace->k[p] == 0;
}

/* kappa between particle l and those after it. */
static void stein_row(size_t n, const ksd_workspace *workspace, size_t l, const ksd_variable *i, double *kappa) {
    const size_t at = row_start(n, l);
    const double *x = i->x, *s = i->score, one = i->repels;
    const double *k = workspace->k + at, *r = workspace->r + at, *c = workspace->c + at, *y = x + l + 1, *t = s + l + 1;
#pragma omp simd
    for (size_t m = 0; m < n - l - 1; m++) {
        const double u = x[l] - y[m];
        kappa[m] = k[m] * (s[l] * t[m]) + r[m] * (one + u * (s[l] - t[m])) - c[m] * (u * u);
    }
}

/* The centred kappa is kappa_lm - a_l - a_m + a, with a_l the mean of a row and a that of all:
 *
 *     sum_lm centred^2 = sum_lm kappa^2 - 2n sum_l a_l^2 + n^2 a^2,    without the diagonal. */
static svmp_stein_sums sums_of(size_t n, const ksd_workspace *workspace, const ksd_variable *i, double *row,
                               double *sum) {
    const double count = (double)n, *s = i->score, r0 = i->repels * workspace->r0;
    svmp_stein_sums sums = {0};
    double squares = 0;
    for (size_t l = 0; l < n; l++) sum[l] = workspace->k0 * s[l] * s[l] + r0;
    sums.diagonal = svmp_sum(n, sum);
    for (size_t l = 0; l < n; l++) {
        const double own = workspace->k0 * s[l] * s[l] + r0;
        squares += own * own;
    }
    for (size_t l = 0; l + 1 < n; l++) {
        const size_t behind = n - l - 1;
        stein_row(n, workspace, l, i, row);
        sum[l] += svmp_sum(behind, row);
        squares += 2 * svmp_dot(behind, row, row);
#pragma omp simd
        for (size_t m = 0; m < behind; m++) sum[l + 1 + m] += row[m];
    }
    sums.pairs = svmp_sum(n, sum);
    const double mean = sums.pairs / (count * count);
    squares += sums.pairs * mean - 2 * svmp_dot(n, sum, sum) / count;
    for (size_t l = 0; l < n; l++) {
        const double own = workspace->k0 * s[l] * s[l] + r0 - 2 * sum[l] / count + mean;
        squares -= own * own;
    }
    sums.spread = n > 1 && squares > 0 ? sqrt(squares / (count * (count - 1))) : 0;
    return sums;
}

typedef struct member_work {
    const ksd *of;
    const kernel_term *term;
    const stein_unit *unit;
    const ksd_workspace *workspace;
} member_work;

static void add_member(void *work, size_t v) {
    const member_work *w = work;
    const stein_sample *sample = w->of->sample;
    const size_t *first = sample->graph->first + w->unit->members[v];
    const int t = svmp_thread_number();
    for (size_t i = first[0]; i < first[1]; i++) {
        const ksd_variable here = svmp_ksd_variable(w->of, w->term, i);
        const svmp_stein_sums sums =
            sums_of(sample->n, w->workspace, &here, w->workspace->row[t], w->workspace->sum[t]);
        svmp_ksd_add(&w->of->measured[i].sums, w->term->weight * here.in_units, sums);
    }
}

void svmp_ksd_radial(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_workspace *workspace,
                     int threads) {
    fill_triangles(of, term, unit, workspace, threads);
    svmp_parallel_for(threads, unit->member_count, 0, add_member, &(member_work){of, term, unit, workspace});
}
