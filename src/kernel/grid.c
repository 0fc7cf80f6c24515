#include "kernel/grid.h"

#include <string.h>

#include "base/team.h"

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

static double middle_of(double a, double b, double c) {
    const double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* How far particles first ... last - 1 reach. Places are measured from the middle one of three particles: a single one
 * that is far away does not count. */
static void find_reach(size_t n, size_t count, const double *const *rows, enum grid_use use, size_t first, size_t last,
                       double *reach) {
    for (size_t l = first; l < last; l++) reach[l] = 0;
    for (size_t j = 0; j < count; j++) {
        const double *x = rows[j], from = use == GRID_SQUARES ? middle_of(x[0], x[n / 2], x[n - 1]) : 0;
#pragma omp simd
        for (size_t l = first; l < last; l++) {
            const double away = fabs(x[l] - from);
            reach[l] = away > reach[l] ? away : reach[l];
        }
    }
}

/* A reach below 2^e makes a grid of 2^(2e + 3), and of more for many variables. */
static double grid_of(double reach, int more) {
    const double least = 0x1p-480, most = 0x1p480; /* whose squares neither vanish nor overflow */
    int exponent;
    frexp(reach > least ? reach : least, &exponent);
    return reach < most ? ldexp(1, 2 * exponent + 3 + more) : INFINITY;
}

void svmp_grid_find(const common_grid *grid, size_t count, const double *const *rows, enum grid_use use, int threads) {
    enum { BLOCK = 64 }; /* particles that a thread looks at, in all variables */
    const size_t n = grid->n;
    int log2_variables = 0;
    for (size_t d = 1; d < grid->variables; d *= 2) log2_variables++;
    const int more = log2_variables > 11 ? log2_variables - 11 : 0;
#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t last = first + BLOCK < n ? first + BLOCK : n;
        find_reach(n, count, rows, use, first, last, grid->of);
        for (size_t l = first; l < last; l++) grid->of[l] = grid_of(grid->of[l], more);
    }
    if (grid->team) grid->team->max(grid->team, n, grid->of);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Unsigned, for what comes of particles that have run away is no number of steps, and is not looked at. */
void svmp_grid_squares(const common_grid *grid, size_t count, const double *const *rows, size_t l, int64_t *steps) {
    uint64_t *sum = (uint64_t *)steps;
    const size_t behind = grid->n - l - 1;
    const double own = grid->of[l], *other = grid->of + l + 1;
    memset(sum, 0, behind * sizeof *sum);
    for (size_t j = 0; j < count; j++) {
        const double here = rows[j][l], *x = rows[j] + l + 1;
#pragma omp simd
        for (size_t m = 0; m < behind; m++) {
            const double base = larger(own, other[m]), u = here - x[m];
            sum[m] += bits_of(u * u + base) - bits_of(base);
        }
    }
}

void svmp_grid_products(const common_grid *grid, size_t count, const double *const *rows, size_t l, int64_t *steps) {
    uint64_t *sum = (uint64_t *)steps;
    const double own = grid->of[l], *other = grid->of;
    memset(sum, 0, grid->n * sizeof *sum);
    for (size_t j = 0; j < count; j++) {
        const double *z = rows[j], here = z[l];
#pragma omp simd
        for (size_t m = 0; m < grid->n; m++) {
            const double base = 1.5 * larger(own, other[m]);
            sum[m] += bits_of(here * z[m] + base) - bits_of(base);
        }
    }
}

double svmp_grid_multiply(const common_grid *grid, size_t count, const double *const *rows, int threads,
                          double *products) {
    const size_t n = grid->n;
    double diagonal = 0;
    svmp_grid_find(grid, count, rows, GRID_PRODUCTS, threads);
#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t l = 0; l < n; l++) svmp_grid_products(grid, count, rows, l, grid->steps + l * n);
    if (grid->team) grid->team->sum_whole(grid->team, n * n, grid->steps);
    for (size_t l = 0; l < n; l++) {
        for (size_t m = 0; m < n; m++) products[l * n + m] = svmp_grid_value(grid, l, m, grid->steps[l * n + m]);
        diagonal += products[l * n + l];
    }
    return diagonal / (double)n;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Where one process has a number, the others have a zero: the sum of their bits is that number. */
void svmp_grid_gather(const common_grid *grid, const svmp_graph *graph, const double *own, double *all) {
    const size_t n = grid->n;
    memset(all, 0, graph->whole_variables * n * sizeof *all);
    for (size_t i = 0; i < graph->own_variables; i++)
        memcpy(all + svmp_graph_whole_variable(graph, i) * n, own + i * n, n * sizeof *all);
    grid->team->sum_whole(grid->team, graph->whole_variables * n, (int64_t *)(void *)all);
}
