/* Linear terms, by moments; on all variables, if they are n or more, by products of particles (kernel/grid.h). */
#include <math.h>

#include "base/team.h"
#include "base/vector.h"
#include "diag/ksd_terms.h"

void svmp_ksd_centre(const stein_sample *sample, size_t i, double *z) {
    const size_t n = sample->n;
    const double *x = sample->x + i * n, mean = svmp_sum(n, x) / (double)n;
    for (size_t l = 0; l < n; l++) z[l] = x[l] - mean;
}

double svmp_ksd_trace(size_t n, double pairs, double diagonal) {
    return n > 1 ? (diagonal - pairs / (double)n) / (double)(n - 1) : 0;
}

/* The sums over all pairs,  n^2 ( mean(s)^2 + ( sum_j mean(s z_j)^2 + 2 mean(s z_i) + 1 ) / v ),  and over the
 * diagonal, sum_l ( s^2 + ( s^2 sum_j z_j^2 + 2 s z_i + 1 ) / v ), from  along = sum_j (sum_l s z_j)^2  and  squares =
 * sum_lj (s z_j)^2. The spread is taken at its worst, as of a single eigenvalue. */
static stein_sums sums_from(size_t n, double along, double squares, double v, const double *z_i, const double *s) {
    const double sum = svmp_sum(n, s);
    stein_sums sums = {.pairs = sum * sum, .diagonal = svmp_dot(n, s, s)};
    if (v > 0) {
        const double own = svmp_dot(n, s, z_i);
        sums.pairs += (along + (double)n * (2 * own + (double)n)) / v;
        sums.diagonal += (squares + 2 * own + (double)n) / v;
    }
    sums.spread = fmax(svmp_ksd_trace(n, sums.pairs, sums.diagonal), 0);
    return sums;
}

static stein_sums sums_by_moments(size_t n, size_t count, const double *const *z, double v, const double *z_i,
                                  const double *s) {
    double along = 0, squares = 0;
    for (size_t j = 0; v > 0 && j < count; j++) {
        double lane[8] = {0};
        const double slope = svmp_dot(n, s, z[j]);
        for (size_t l = 0; l < n; l++) lane[l % 8] += (s[l] * z[j][l]) * (s[l] * z[j][l]);
        along += slope * slope;
        squares += svmp_add_lanes(lane);
    }
    return sums_from(n, along, squares, v, z_i, s);
}

static stein_sums sums_by_products(size_t n, const double *products, double v, const double *z_i, const double *s) {
    double along = 0, squares = 0;
    for (size_t l = 0; v > 0 && l < n; l++) {
        along += s[l] * svmp_dot(n, products + l * n, s);
        squares += s[l] * s[l] * products[l * n + l];
    }
    return sums_from(n, along, squares, v, z_i, s);
}

int svmp_ksd_gathers(const ksd *of, const kernel_term *term) {
    return of->team && term->shape->value == NULL && term->domain == DOMAIN_ALL && !svmp_ksd_multiplies(of, term);
}

/* The rows of a linear term's domain, in the order of the whole graph. */
static size_t linear_rows(const ksd *of, const kernel_term *term, const stein_unit *unit, const double **rows) {
    const svmp_graph *graph = of->sample->graph;
    const size_t n = of->sample->n;
    if (!svmp_ksd_gathers(of, term)) return svmp_unit_rows(graph, unit, n, of->centred, rows);
    svmp_grid_gather(&of->grid, graph, of->centred, of->gathered);
    for (size_t j = 0; j < graph->whole_variables; j++) rows[j] = of->gathered + j * n;
    return graph->whole_variables;
}

void svmp_ksd_linear(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_room *room, int threads) {
    const stein_sample *sample = of->sample;
    const size_t n = sample->n, *first = sample->graph->first, count = linear_rows(of, term, unit, room->rows);
    const int common = svmp_ksd_multiplies(of, term);
    double v = common ? svmp_grid_multiply(&of->grid, count, room->rows, threads, of->products) : 0;
    for (size_t j = 0; !common && j < count; j++) v += svmp_dot(n, room->rows[j], room->rows[j]) / (double)n;
#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t w = 0; w < unit->member_count; w++)
        for (size_t i = first[unit->members[w]]; i < first[unit->members[w] + 1]; i++)
            svmp_ksd_add(&of->sums[i], term->weight,
                         common ? sums_by_products(n, of->products, v, of->centred + i * n, sample->score + i * n)
                                : sums_by_moments(n, count, room->rows, v, of->centred + i * n, sample->score + i * n));
}
