/* The linear kernel by moments, without an n*n matrix:
 *
 *     phi_i[m] = mean(s_i) + ( sum_j z_j[m] mean(z_j s_i) + z_i[m] ) / v
 *     phi_i[m] = mean(s_i) + sum_j z_j[m] mean(z_j s_i) + z_i[m] / sd_i         in the metric sd
 *
 * On all variables, if there are n or more, products are cheaper; their sums do not depend on the order
 * (stein/order_free_sums.h):
 *
 *     P[l][m]  = sum_j z_j[l] z_j[m],   v = mean_l P[l][l]
 *     phi_i[m] = mean(s_i) + ( mean_l(P[l][m] s_i[l]) + z_i[m] ) / v
 *
 * For fewer variables, every process has all z_j. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "base/row_sums.h"
#include "base/threads.h"

typedef struct centre_work {
    const backend *b;
    size_t first; /* variable */
} centre_work;

static void centre_variable(void *work, size_t k) {
    const centre_work *w = work;
    const backend *b = w->b;
    const cpu *own = b->local_state;
    const size_t n = b->n, i = w->first + k;
    const double *x = b->x + i * n, mean = svmp_sum(n, x) / (double)n;
    double *z = own->centred + i * n;
    for (size_t l = 0; l < n; l++) z[l] = x[l] - mean;
    own->variance[i] = svmp_dot(n, z, z) / (double)n;
}

void svmp_cpu_centre(backend *b) {
    const variable_span fresh = svmp_host_fresh(b);
    const size_t count = fresh.last - fresh.first;
    const int threads = svmp_threads_for(b->threads, 4 * (double)count * (double)b->n);
    svmp_parallel_for(threads, count, 0, centre_variable, &(centre_work){b, fresh.first});
}

/* 1 for each message, 0 if it is the same in all particles. */
static double message_variance(const backend *b, size_t node) {
    const svmp_graph *graph = b->model->graph;
    double sum = 0;
    for (size_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        const double *t = b->messages->rows + i * b->n;
        sum += svmp_dot(b->n, t, t) / (double)b->n;
    }
    return sum;
}

static double summed_variance(const backend *b, const stein_unit *unit) {
    const size_t *first = b->model->graph->first;
    const double *variance = ((const cpu *)b->local_state)->variance;
    double sum = 0;
    for (size_t v = 0; v < unit->domain_count; v++)
        for (size_t j = first[unit->domain[v]]; j < first[unit->domain[v] + 1]; j++) sum += variance[j];
    if (unit->message) sum += message_variance(b, unit->members[0]);
    return sum;
}

/* The centred particles of a linear term. */
static const double *coordinates(const backend *b, const kernel_term *term) {
    return term->metric == METRIC_SD ? b->z : ((const cpu *)b->local_state)->centred;
}

/* The centred particles of all variables of all processes, in workspace->rows; returns the summed variance. */
static double gather(const backend *b, const kernel_term *term, const stein_workspace *workspace) {
    const svmp_graph *graph = b->model->graph;
    const cpu *own = b->local_state;
    double sum = 0;
    svmp_grid_gather(&own->grid, graph, coordinates(b, term), own->gathered);
    for (size_t j = 0; j < graph->whole_variables; j++) {
        const double *z = workspace->rows[j] = own->gathered + j * b->n;
        sum += svmp_dot(b->n, z, z) / (double)b->n;
    }
    return sum;
}

/* sum = (sum + z_i)/v, or in the metric sd, sum + z_i/sd_i. */
static void add_repulsion(const backend *b, const kernel_term *term, double v, size_t i, double *sum) {
    const double *z_i = coordinates(b, term) + i * b->n;
    if (term->metric == METRIC_SD) {
        const double by = svmp_cpu_slope(b, term, i);
#pragma omp simd
        for (size_t m = 0; m < b->n; m++) sum[m] += z_i[m] * by;
    } else {
#pragma omp simd
        for (size_t m = 0; m < b->n; m++) sum[m] = (sum[m] + z_i[m]) / v;
    }
}

static void add_velocity(backend *b, const kernel_term *term, size_t count, const stein_workspace *workspace, double v,
                         size_t i, double *sum) {
    const size_t n = b->n;
    const double *score = b->score + i * n, *const *z = workspace->rows, weight = term->weight;
    double *phi = b->phi + i * n;
    const double mean = svmp_sum(n, score) / (double)n;
    memset(sum, 0, n * sizeof *sum);
    if (v > 0) { /* v = 0: all particles are equal, k = 1 and there is no repulsion */
        for (size_t j = 0; j < count; j++) {
            const double slope = svmp_dot(n, z[j], score) / (double)n;
#pragma omp simd
            for (size_t m = 0; m < n; m++) sum[m] += slope * z[j][m];
        }
        add_repulsion(b, term, v, i, sum);
    }
#pragma omp simd
    for (size_t m = 0; m < n; m++) phi[m] += weight * (mean + sum[m]);
}

/* ---- by products ------------------------------------------------------------------------------------------------- */

static void add_common_velocity(backend *b, const kernel_term *term, double v, size_t i, double *sum) {
    const cpu *own = b->local_state;
    const size_t n = b->n;
    const double *score = b->score + i * n;
    double *phi = b->phi + i * n;
    memset(sum, 0, n * sizeof *sum);
    for (size_t l = 0; v > 0 && l < n; l++) {
        const double *row = own->products + l * n, s = score[l] / (double)n;
#pragma omp simd
        for (size_t m = 0; m < n; m++) sum[m] += s * row[m];
    }
    if (v > 0) add_repulsion(b, term, v, i, sum);
    const double mean = svmp_sum(n, score) / (double)n;
    for (size_t m = 0; m < n; m++) phi[m] += term->weight * (mean + sum[m]);
}

/* ---- the term ---------------------------------------------------------------------------------------------------- */

typedef struct linear_work {
    backend *b;
    const kernel_term *term;
    const stein_workspace *workspace;
    size_t count; /* rows of the domain */
    double v;
    int multiplies;
} linear_work;

static void move_member(void *work, size_t k) {
    const linear_work *w = work;
    const cpu *own = w->b->local_state;
    const size_t i = w->workspace->members[k];
    double *sum = own->workspaces[svmp_thread_number()].sum;
    if (w->multiplies)
        add_common_velocity(w->b, w->term, w->v, i, sum);
    else
        add_velocity(w->b, w->term, w->count, w->workspace, w->v, i, sum);
}

void svmp_cpu_linear(backend *b, const kernel_term *term, const stein_unit *unit, stein_workspace *workspace,
                     int threads) {
    const cpu *own = b->local_state;
    const int multiplies = svmp_term_multiplies(term, b->n, b->model->graph->whole_variables),
              gathers = svmp_cpu_among_processes(b, term) && !multiplies;
    const size_t members = svmp_cpu_members(b, unit, workspace),
                 rows = svmp_unit_rows(b->model->graph, unit, b->n, coordinates(b, term), svmp_cpu_messages(b),
                                       workspace->rows),
                 count = gathers ? b->model->graph->whole_variables : rows;
    const double summed = multiplies ? svmp_grid_multiply(&own->grid, rows, workspace->rows, threads, own->products)
                          : gathers  ? gather(b, term, workspace)
                          : term->metric == METRIC_SD ? 1
                                                      : summed_variance(b, unit);
    const double v = term->metric == METRIC_SD ? 1 : summed;
    if (threads == 1 && !multiplies) /* within a loop over units: this is the thread's own workspace */
        for (size_t k = 0; k < members; k++)
            add_velocity(b, term, count, workspace, v, workspace->members[k], workspace->sum);
    else
        svmp_parallel_for(threads, members, 0, move_member, &(linear_work){b, term, workspace, count, v, multiplies});
}
