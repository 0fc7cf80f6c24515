/* The linear kernel by moments, without an n*n matrix:
 *
 *     phi_i[m] = mean(s_i) + ( sum_j z_j[m] mean(z_j s_i) + z_i[m] ) / v
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/thread.h"
#include "base/vector.h"

void svmp_cpu_centre(backend *b) {
    const cpu *own = b->own;
    const size_t n = b->n, variables = b->model->graph->variables;
    const int threads = svmp_threads_for(b->threads, 4 * (double)variables * (double)n);
#pragma omp parallel for num_threads(threads)
    for (size_t i = 0; i < variables; i++) {
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

void svmp_cpu_linear(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, int threads) {
    const cpu *own = b->own;
    const size_t count = svmp_unit_rows(b->model->graph, unit, b->n, own->centred, room->rows),
                 members = svmp_cpu_members(b, unit, room);
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
