/* Linear terms, computed from moments; a term on all variables, if there are n or more, from products of particles
 * (stein/order_free_sums.h). */
#include <math.h>

#include "base/peers.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "stein/discrepancy_terms.h"

void svmp_ksd_centre(const stein_sample *sample, size_t i, double *z) {
    const size_t n = sample->n;
    const double *x = sample->x + i * n, mean = svmp_sum(n, x) / (double)n;
    for (size_t l = 0; l < n; l++) z[l] = x[l] - mean;
}

ksd_variable svmp_ksd_variable(const ksd *of, const kernel_term *term, size_t i) {
    const size_t at = i * of->sample->n;
    const double *score = of->sample->score + at, sd = of->sd ? of->sd[i] : 0;
    if (term->metric == METRIC_SD) return (ksd_variable){of->scaled + at, of->scaled_score + at, 1, sd > 0};
    const double *x = term->shape->value ? of->sample->x : of->centred;
    return (ksd_variable){x + at, score, sd > 0 ? sd * sd : 1, 1};
}

/* The sums over all pairs, n^2 ( mean(s)^2 + ( sum_j mean(s z_j)^2 + 2 mean(s z_i) + 1 ) / v ), and over the diagonal,
 * sum_l ( s^2 + ( s^2 sum_j z_j^2 + 2 s z_i + 1 ) / v ), from along = sum_j (sum_l s z_j)^2 and squares = sum_lj (s
 * z_j)^2. The spread is bounded by that of a single eigenvalue. */
static svmp_stein_sums sums_from(size_t n, double along, double squares, double v, const ksd_variable *i) {
    const double sum = svmp_sum(n, i->score);
    svmp_stein_sums sums = {.pairs = sum * sum, .diagonal = svmp_dot(n, i->score, i->score)};
    if (v > 0) {
        const double own = svmp_dot(n, i->score, i->x), repelled = (double)n * i->repels;
        sums.pairs += (along + (double)n * (2 * own + repelled)) / v;
        sums.diagonal += (squares + 2 * own + repelled) / v;
    }
    sums.spread = fmax(svmp_stein_trace(n, sums), 0);
    return sums;
}

static svmp_stein_sums sums_by_moments(size_t n, size_t count, const double *const *z, double v,
                                       const ksd_variable *i) {
    const double *s = i->score;
    double along = 0, squares = 0;
    for (size_t j = 0; v > 0 && j < count; j++) {
        double lane[8] = {0};
        const double slope = svmp_dot(n, s, z[j]);
        for (size_t l = 0; l < n; l++) lane[l % 8] += (s[l] * z[j][l]) * (s[l] * z[j][l]);
        along += slope * slope;
        squares += svmp_add_lanes(lane);
    }
    return sums_from(n, along, squares, v, i);
}

static svmp_stein_sums sums_by_products(size_t n, const double *products, double v, const ksd_variable *i) {
    const double *s = i->score;
    double along = 0, squares = 0;
    for (size_t l = 0; v > 0 && l < n; l++) {
        along += s[l] * svmp_dot(n, products + l * n, s);
        squares += s[l] * s[l] * products[l * n + l];
    }
    return sums_from(n, along, squares, v, i);
}

int svmp_ksd_gathers(const ksd *of, const kernel_term *term) {
    return of->sample->graph->peers->count > 1 && term->shape->value == NULL && term->domain == DOMAIN_ALL &&
           !svmp_ksd_multiplies(of, term);
}

/* The rows of a linear term's domain, in the order of the whole graph. */
static size_t linear_rows(const ksd *of, const kernel_term *term, const stein_unit *unit, const double **rows) {
    const svmp_graph *graph = of->sample->graph;
    const size_t n = of->sample->n;
    const double *centred = term->metric == METRIC_SD ? of->scaled : of->centred;
    if (!svmp_ksd_gathers(of, term)) return svmp_unit_rows(graph, unit, n, centred, of->sample->messages, rows);
    svmp_grid_gather(&of->grid, graph, centred, of->gathered);
    for (size_t j = 0; j < graph->whole_variables; j++) rows[j] = of->gathered + j * n;
    return graph->whole_variables;
}

typedef struct member_work {
    const ksd *of;
    const kernel_term *term;
    const stein_unit *unit;
    const ksd_workspace *workspace;
    size_t count; /* rows of the domain */
    int common;   /* whether it is computed from products over all variables */
    double v;
} member_work;

static void add_member(void *work, size_t k) {
    const member_work *w = work;
    const size_t n = w->of->sample->n, *first = w->of->sample->graph->first + w->unit->members[k];
    for (size_t i = first[0]; i < first[1]; i++) {
        const ksd_variable here = svmp_ksd_variable(w->of, w->term, i);
        svmp_ksd_add(&w->of->measured[i].sums, w->term->weight * here.in_units,
                     w->common ? sums_by_products(n, w->of->products, w->v, &here)
                               : sums_by_moments(n, w->count, w->workspace->rows, w->v, &here));
    }
}

void svmp_ksd_linear(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_workspace *workspace,
                     int threads) {
    const size_t n = of->sample->n, count = linear_rows(of, term, unit, workspace->rows);
    const int common = svmp_ksd_multiplies(of, term);
    double v = common ? svmp_grid_multiply(&of->grid, count, workspace->rows, threads, of->products) : 0;
    for (size_t j = 0; !common && j < count; j++) v += svmp_dot(n, workspace->rows[j], workspace->rows[j]) / (double)n;
    if (term->metric == METRIC_SD) v = 1;
    member_work work = {of, term, unit, workspace, count, common, v};
    svmp_parallel_for(threads, unit->member_count, 0, add_member, &work);
}
