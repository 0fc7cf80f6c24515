/* The linear kernel by moments, without an n*n matrix:
 *
 *     phi_i[m] = mean(s_i) + ( sum_j z_j[m] mean(z_j s_i) + z_i[m] ) / v
 *
 * On all variables, if they are n or more, that is cheaper with one, whose sums have no order (kernel/grid.h):
 *
 *     P[l][m]  = sum_j z_j[l] z_j[m],   v = mean_l P[l][l]
 *     phi_i[m] = mean(s_i) + ( mean_l(P[l][m] s_i[l]) + z_i[m] ) / v
 *
 * Of fewer variables, every process has all z_j.
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/thread.h"
#include "base/vector.h"

void svmp_cpu_centre(backend *b) {
    const cpu *own = b->own;
    const svmp_graph *graph = b->model->graph;
    const size_t n = b->n, from = b->span.first == 0 ? 0 : graph->own_variables;
    const size_t to = b->span.last == graph->own ? graph->variables : graph->own_variables;
    const int threads = svmp_threads_for(b->threads, 4 * (double)(to - from) * (double)n);
#pragma omp parallel for num_threads(threads)
    for (size_t i = from; i < to; i++) {
        const double *x = b->x + i * n, mean = svmp_sum(n, x) / (double)n;
        double *z = own->centred + i * n;
        for (size_t l = 0; l < n; l++) z[l] = x[l] - mean;
        own->variance[i] = svmp_dot(n, z, z) / (double)n;
    }
}

static double summed_variance(const backend *b, const stein_unit *unit) {
    const size_t *first = b->model->graph->first;
    const double *variance = ((const cpu *)b->own)->variance;
    double sum = 0;
    for (size_t v = 0; v < unit->domain_count; v++)
        for (size_t j = first[unit->domain[v]]; j < first[unit->domain[v] + 1]; j++) sum += variance[j];
    return sum;
}

/* The centred particles of all variables of all processes, in room->rows; returns the summed variance. */
static double gather(const backend *b, const stein_room *room) {
    const svmp_graph *graph = b->model->graph;
    const cpu *own = b->own;
    double sum = 0;
    svmp_grid_gather(&own->grid, graph, own->centred, own->gathered);
    for (size_t j = 0; j < graph->whole_variables; j++) {
        const double *z = room->rows[j] = own->gathered + j * b->n;
        sum += svmp_dot(b->n, z, z) / (double)b->n;
    }
    return sum;
}

static void add_velocity(backend *b, size_t count, const stein_room *room, double v, double weight, size_t i,
                         double *sum) {
    const size_t n = b->n;
    const double *z_i = ((const cpu *)b->own)->centred + i * n, *score = b->score + i * n, *const *z = room->rows;
    double *phi = b->phi + i * n;
    const double mean = svmp_sum(n, score) / (double)n;
    memset(sum, 0, n * sizeof *sum);
    if (v > 0) { /* v = 0: all particles are one, k = 1 and nothing repels */
        for (size_t j = 0; j < count; j++) {
            const double slope = svmp_dot(n, z[j], score) / (double)n;
#pragma omp simd
            for (size_t m = 0; m < n; m++) sum[m] += slope * z[j][m];
        }
#pragma omp simd
        for (size_t m = 0; m < n; m++) sum[m] = (sum[m] + z_i[m]) / v;
    }
#pragma omp simd
    for (size_t m = 0; m < n; m++) phi[m] += weight * (mean + sum[m]);
}

/* ---- by products ------------------------------------------------------------------------------------------------- */

static void add_common_velocity(backend *b, double v, double weight, size_t i, double *sum) {
    const cpu *own = b->own;
    const size_t n = b->n;
    const double *z = own->centred + i * n, *score = b->score + i * n;
    double *phi = b->phi + i * n;
    memset(sum, 0, n * sizeof *sum);
    for (size_t l = 0; v > 0 && l < n; l++) {
        const double *row = own->products + l * n, s = score[l] / (double)n;
#pragma omp simd
        for (size_t m = 0; m < n; m++) sum[m] += s * row[m];
    }
    const double mean = svmp_sum(n, score) / (double)n;
    for (size_t m = 0; m < n; m++) phi[m] += weight * (mean + (v > 0 ? (sum[m] + z[m]) / v : 0));
}

/* ---- the term ---------------------------------------------------------------------------------------------------- */

void svmp_cpu_linear(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, int threads) {
    const cpu *own = b->own;
    const int multiplies = svmp_term_multiplies(term, b->n, b->model->graph->whole_variables),
              gathers = svmp_cpu_among_processes(b, term) && !multiplies;
    const size_t members = svmp_cpu_members(b, unit, room),
                 rows = svmp_unit_rows(b->model->graph, unit, b->n, own->centred, room->rows),
                 count = gathers ? b->model->graph->whole_variables : rows;
    const double v = multiplies ? svmp_grid_multiply(&own->grid, rows, room->rows, threads, own->products)
                     : gathers  ? gather(b, room)
                                : summed_variance(b, unit);
    /* A parallel region of one thread is not free: alone, a plain loop. */
    if (threads == 1 && !multiplies) {
        for (size_t k = 0; k < members; k++) add_velocity(b, count, room, v, term->weight, room->members[k], room->sum);
        return;
    }
#pragma omp parallel for num_threads(threads)
    for (size_t k = 0; k < members; k++) {
        double *sum = own->rooms[svmp_thread_number()].sum;
        if (multiplies)
            add_common_velocity(b, v, term->weight, room->members[k], sum);
        else
            add_velocity(b, count, room, v, term->weight, room->members[k], sum);
    }
}
