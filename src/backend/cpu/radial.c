/* Kernels that are functions of the distance: distances, bandwidth, kernel matrix, velocities. */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/thread.h"

/* distance[m] = sum_j (x_j[l] - x_j[m])^2, the sum in the order of the domain. */
static void distance_row(size_t n, size_t count, const double *const *rows, size_t l, double *distance) {
    memset(distance, 0, n * sizeof *distance);
    for (size_t j = 0; j < count; j++) {
        const double *x = rows[j], here = x[l];
#pragma omp simd
        for (size_t m = 0; m < n; m++) {
            double u = here - x[m];
            distance[m] += u * u;
        }
    }
}

static double choose_bandwidth(const bandwidth *rule, size_t n, const double *distance, double *pairs) {
    size_t count = 0;
    if (rule->rule == BANDWIDTH_FIXED) return rule->fixed;
    for (size_t l = 0; l + 1 < n; l++) {
        memcpy(pairs + count, distance + l * n + l + 1, (n - l - 1) * sizeof *pairs);
        count += n - l - 1;
    }
    return svmp_bandwidth_choose(rule, n, pairs);
}

/* The limit h -> 0: particles see only those that coincide with them. */
static void narrow_row(size_t n, double *k) {
    for (size_t m = 0; m < n; m++) k[m] = k[m] == 0;
}

/* phi[m] += weight/n ( sum_l k[l][m] w[l] + ratio x[m] sum_l k[l][m] ),  w[l] = s[l] - ratio x[l];
 * or, with a matrix r, sum_l ( k[l][m] s[l] - r[l][m] x[l] ) + x[m] sum_l r[l][m]. */
static void add_velocity(size_t n, const double *k, const double *repulsion, double ratio, const double *column_sum,
                         double scale, const double *x, const double *score, double *sum, double *phi) {
    memset(sum, 0, n * sizeof *sum);
    for (size_t l = 0; l < n; l++) {
        const double *kl = k + l * n;
        if (repulsion) {
            const double s = score[l], xl = x[l], *rl = repulsion + l * n;
#pragma omp simd
            for (size_t m = 0; m < n; m++) sum[m] += kl[m] * s - rl[m] * xl;
        } else {
            const double w = score[l] - ratio * x[l];
#pragma omp simd
            for (size_t m = 0; m < n; m++) sum[m] += kl[m] * w;
        }
    }
#pragma omp simd
    for (size_t m = 0; m < n; m++) phi[m] += scale * (sum[m] + x[m] * column_sum[m]);
}

void svmp_cpu_radial(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, int threads) {
    const size_t n = b->n, count = svmp_unit_rows(b->model->graph, unit, n, b->x, room->rows);
    const size_t *first = b->model->graph->first;
    const kernel_shape *shape = term->shape;

#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t l = 0; l < n; l++) distance_row(n, count, room->rows, l, room->k + l * n);

    const double h = choose_bandwidth(&term->bandwidth, n, room->k, room->pairs);
    const double ratio = h > 0 && shape->ratio ? shape->ratio(h) : 0;
    const int by_number = h > 0 && shape->repulsion;

#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t l = 0; l < n; l++) {
        double *k = room->k + l * n;
        if (h == 0)
            narrow_row(n, k);
        else
            shape->value(n, k, h, k);
        if (by_number) shape->repulsion(n, k, h, room->repulsion + l * n);
    }

    const double *repelling = by_number ? room->repulsion : room->k; /* times `factor` is the repulsion */
    const double factor = by_number ? 1 : ratio;
    memset(room->column_sum, 0, n * sizeof *room->column_sum);
    for (size_t l = 0; l < n; l++)
        for (size_t m = 0; m < n; m++) room->column_sum[m] += factor * repelling[l * n + m];

#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t v = 0; v < unit->member_count; v++)
        for (size_t i = first[unit->members[v]]; i < first[unit->members[v] + 1]; i++)
            add_velocity(n, room->k, by_number ? room->repulsion : NULL, ratio, room->column_sum,
                         term->weight / (double)n, b->x + i * n, b->score + i * n,
                         room->row[threads > 1 ? svmp_thread_number() : 0], b->phi + i * n);
}
