/* The linear kernel by moments, without an n*n matrix:
 *
 *     phi_i[m] = mean(s_i) + ( sum_j z_j[m] mean(z_j s_i) + z_i[m] ) / v
 *
 * On all variables of several processes with one, which they add up: P[l][m] = sum_j z_j[l] z_j[m],
 *
 *     phi_i[m] = mean(s_i) + ( mean_l(P[l][m] s_i[l]) + z_i[m] ) / v
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

static void add_products(backend *b, const stein_unit *unit, size_t count, const stein_room *room, int threads) {
    const size_t n = b->n;
    double *products = ((const cpu *)b->own)->products;
#pragma omp parallel for num_threads(threads)
    for (size_t l = 0; l < n; l++) {
        double *row = products + l * n;
        memset(row, 0, n * sizeof *row);
        for (size_t j = 0; j < count; j++) {
            const double *z = room->rows[j];
#pragma omp simd
            for (size_t m = 0; m < n; m++) row[m] += z[l] * z[m];
        }
    }
    products[n * n] = summed_variance(b, unit);
    b->kind->sum(b, n * n + 1, products);
}

static void add_common_velocity(backend *b, double weight, size_t i, double *sum) {
    const cpu *own = b->own;
    const size_t n = b->n;
    const double *z = own->centred + i * n, *score = b->score + i * n, v = own->products[n * n];
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

static void add_common_velocities(backend *b, const kernel_term *term, size_t members, const stein_room *room,
                                  int threads) {
#pragma omp parallel for num_threads(threads)
    for (size_t k = 0; k < members; k++)
        add_common_velocity(b, term->weight, room->members[k], ((const cpu *)b->own)->rooms[svmp_thread_number()].sum);
}

void svmp_cpu_linear(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, int threads) {
    const cpu *own = b->own;
    const size_t count = svmp_unit_rows(b->model->graph, unit, b->n, own->centred, room->rows),
                 members = svmp_cpu_members(b, unit, room);
    if (term->domain == DOMAIN_ALL && b->kind->sum) {
        add_products(b, unit, count, room, threads);
        add_common_velocities(b, term, members, room, threads);
        return;
    }
    const double v = summed_variance(b, unit);
    /* A parallel region of one thread is not free: alone, a plain loop. */
    if (threads == 1) {
        for (size_t k = 0; k < members; k++) add_velocity(b, count, room, v, term->weight, room->members[k], room->sum);
        return;
    }
#pragma omp parallel for num_threads(threads)
    for (size_t k = 0; k < members; k++)
        add_velocity(b, count, room, v, term->weight, room->members[k], own->rooms[svmp_thread_number()].sum);
}
