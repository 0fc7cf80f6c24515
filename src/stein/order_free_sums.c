#include "stein/order_free_sums.h"

#include <string.h>

#include "base/hash.h"
#include "base/peers.h"
#include "base/threads.h"

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

static double middle_of(double a, double b, double c) {
    const double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* The reach of particles first ... last - 1: distances from the median of three particles, so that a single distant one
 * does not matter. */
static void find_reach(size_t n, size_t count, const double *const *rows, enum grid_use use, size_t first, size_t last,
                       double *reach) {
    for (size_t l = first; l < last; l++) reach[l] = 0;
    for (size_t j = 0; j < count; j++) {
        const double *x = rows[j], from = use == GRID_SQUARES ? middle_of(x[0], x[n / 2], x[n - 1]) : 0;
#pragma omp simd
        for (size_t l = first; l < last; l++) {
            const double away = fabs(x[l] - from);
            reach[l] = away > reach[l] || isnan(away) ? away : reach[l]; /* once NaN, it stays NaN */
        }
    }
}

/* The exponent of the power of two that is d or next above it. */
static int log2_of(size_t d) {
    int digits = 0;
    while (digits < 63 && (size_t)1 << digits < d) digits++;
    return digits;
}

/* A reach below 2^e makes a grid of 2^(2e + 3), and of more for many variables. */
static double grid_of(double reach, size_t variables) {
    const int digits = log2_of(variables), more = digits > 11 ? digits - 11 : 0;
    const double least = 0x1p-480, most = 0x1p480; /* their squares neither underflow nor overflow */
    int exponent;
    frexp(reach > least ? reach : least, &exponent);
    return reach < most ? ldexp(1, 2 * exponent + 3 + more) : INFINITY;
}

enum { BLOCK = 64 }; /* particles that a thread processes, in all variables */

typedef struct grid_work {
    const common_grid *grid;
    size_t count;
    const double *const *rows;
    enum grid_use use;
} grid_work;

static void find_block(void *work, size_t block) {
    const grid_work *w = work;
    const common_grid *grid = w->grid;
    const size_t first = block * BLOCK, last = first + BLOCK < grid->n ? first + BLOCK : grid->n;
    find_reach(grid->n, w->count, w->rows, w->use, first, last, grid->of);
    for (size_t l = first; l < last; l++) grid->of[l] = grid_of(grid->of[l], grid->variables);
}

void svmp_grid_find(const common_grid *grid, size_t count, const double *const *rows, enum grid_use use, int threads) {
    grid_work work = {grid, count, rows, use};
    svmp_parallel_for(threads, (grid->n + BLOCK - 1) / BLOCK, 0, find_block, &work);
    grid->peers->max(grid->peers, grid->n, grid->of);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static double larger(double a, double b) { return a > b ? a : b; }

/* Unsigned, because the result for diverged particles is not a number of steps and may wrap around. */
static void forget_infinite(size_t count, double own, const double *other, uint64_t *sum) {
    for (size_t m = 0; m < count; m++)
        if (!(larger(own, other[m]) < INFINITY)) sum[m] = 0;
}

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
            sum[m] += svmp_double_bits(u * u + base) - svmp_double_bits(base);
        }
    }
    forget_infinite(behind, own, other, sum);
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
            sum[m] += svmp_double_bits(here * z[m] + base) - svmp_double_bits(base);
        }
    }
    forget_infinite(grid->n, own, other, sum);
}

static void multiply_row(void *work, size_t l) {
    const grid_work *w = work;
    svmp_grid_products(w->grid, w->count, w->rows, l, w->grid->steps + l * w->grid->n);
}

double svmp_grid_multiply(const common_grid *grid, size_t count, const double *const *rows, int threads,
                          double *products) {
    const size_t n = grid->n;
    double diagonal = 0;
    svmp_grid_find(grid, count, rows, GRID_PRODUCTS, threads);
    svmp_parallel_for(threads, n, 0, multiply_row, &(grid_work){grid, count, rows, GRID_PRODUCTS});
    grid->peers->sum(grid->peers, n * n, grid->steps);
    for (size_t l = 0; l < n; l++) {
        for (size_t m = 0; m < n; m++) products[l * n + m] = svmp_grid_value(grid, l, m, grid->steps[l * n + m]);
        diagonal += products[l * n + l];
    }
    return diagonal / (double)n;
}

/* ---- pairs that are near ----------------------------------------------------------------------------------------- */

double svmp_grid_few(const common_grid *grid) { return ldexp(1, log2_of(grid->variables) + 30); }

static double largest_difference(const grid_recount *again, const grid_pair *pair) {
    double largest = 0;
    for (size_t j = 0; j < again->count; j++) {
        const double u = fabs(again->rows[j][pair->l] - again->rows[j][pair->m]);
        largest = u > largest ? u : largest;
    }
    return largest;
}

static int64_t steps_between(const grid_recount *again, const grid_pair *pair) {
    uint64_t sum = 0;
    for (size_t j = 0; j < again->count; j++) {
        const double u = again->rows[j][pair->l] - again->rows[j][pair->m];
        sum += svmp_double_bits(u * u + pair->base) - svmp_double_bits(pair->base);
    }
    return (int64_t)sum;
}

typedef struct recount_work {
    const grid_recount *again;
    double largest[GRID_NEAR];
    int64_t steps[GRID_NEAR];
} recount_work;

static void measure_pair(void *work, size_t p) {
    recount_work *w = work;
    w->largest[p] = largest_difference(w->again, &w->again->grid->near[p]);
}

static void recount_pair(void *work, size_t p) {
    recount_work *w = work;
    grid_pair *pair = &w->again->grid->near[p];
    pair->base = grid_of(w->largest[p], w->again->grid->variables);
    w->steps[p] = steps_between(w->again, pair);
}

void svmp_grid_recount(grid_recount *again) {
    const common_grid *grid = again->grid;
    const svmp_peers *peers = grid->peers;
    recount_work work = {.again = again};
    svmp_parallel_for(again->threads, again->noted, 0, measure_pair, &work);
    if (again->noted > 0) peers->max(peers, again->noted, work.largest);
    svmp_parallel_for(again->threads, again->noted, 0, recount_pair, &work);
    if (again->noted > 0) peers->sum(peers, again->noted, work.steps);
    for (size_t p = 0; p < again->noted; p++)
        *grid->near[p].distance = (double)work.steps[p] * (grid->near[p].base * 0x1p-52);
    again->noted = 0;
}

void svmp_grid_note(grid_recount *again, size_t l, size_t m, double *distance) {
    again->grid->near[again->noted++] = (grid_pair){l, m, distance, 0};
    if (again->noted == GRID_NEAR) svmp_grid_recount(again);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Each number exists in one process and is 0 in the others: the integer sum of their bits is that number. */
void svmp_grid_gather(const common_grid *grid, const svmp_graph *graph, const double *own, double *all) {
    const size_t n = grid->n;
    memset(all, 0, graph->whole_variables * n * sizeof *all);
    for (size_t i = 0; i < graph->moved_variables; i++)
        memcpy(all + svmp_variable_key(graph, i) * n, own + i * n, n * sizeof *all);
    grid->peers->sum(grid->peers, graph->whole_variables * n, (int64_t *)(void *)all);
}
