#include "sample/mmd.h"

#include <math.h>

#include "base/threads.h"
#include "maths/order_statistics.h"

enum { BANDWIDTH_POINTS = 1000 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t tiles_of(size_t points) { return (points + TILE - 1) / TILE; }

/* The sum of k(x_a, y_b) over the points of tile `I` of x and tile `J` of y. */
static double tile_sum(size_t variables, sample x, size_t I, sample y, size_t J, double bandwidth, distance_tile *t) {
    if (I >= tiles_of(x.n) || J >= tiles_of(y.n)) return 0;
    const size_t rows = smaller(TILE, x.n - I * TILE), count = smaller(TILE, y.n - J * TILE);
    double sums[TILE] = {0}, sum = 0; /* column by column: independent sums, in a fixed order */
    svmp_distances(variables, x, I, y, J, t);
    for (size_t a = 0; a < rows; a++)
        for (size_t b = 0; b < count; b++) sums[b] += exp(-t->d[a][b] / bandwidth);
    for (size_t b = 0; b < count; b++) sum += sums[b];
    return sum;
}

/* The workspace of a comparison: a tile for each thread, and a number for each tile of the larger sample. */
typedef struct mmd_workspace {
    int threads;
    distance_tile *tile;
    double *row_sums;
} mmd_workspace;

/* mean k(X,Y) = (sum over I of T(x,I,y,I) + sum over I < J of T(x,I,y,J) + T(y,I,x,J)) / nm, T the tile sum. The terms
 * are paired so that equal samples give equal bits, whether x and y are one array (T once) or two. */
typedef struct pair_work {
    size_t variables;
    sample x, y;
    double bandwidth;
    const mmd_workspace *workspace;
} pair_work;

static void sum_tiles(void *work, size_t I) {
    const pair_work *w = work;
    const size_t tiles = tiles_of(larger(w->x.n, w->y.n));
    const int same = w->x.x == w->y.x;
    distance_tile *t = &w->workspace->tile[svmp_thread_number()];
    double sum = tile_sum(w->variables, w->x, I, w->y, I, w->bandwidth, t);
    for (size_t J = I + 1; J < tiles; J++) {
        const double one = tile_sum(w->variables, w->x, I, w->y, J, w->bandwidth, t);
        const double other = same ? one : tile_sum(w->variables, w->y, I, w->x, J, w->bandwidth, t);
        sum += one + other;
    }
    w->workspace->row_sums[I] = sum;
}

static double mean_kernel(size_t variables, sample x, sample y, double bandwidth, const mmd_workspace *workspace) {
    const size_t tiles = tiles_of(larger(x.n, y.n));
    svmp_parallel_for(workspace->threads, tiles, 1, sum_tiles, &(pair_work){variables, x, y, bandwidth, workspace});
    double total = 0;
    for (size_t I = 0; I < tiles; I++) total += workspace->row_sums[I];
    return total / (double)x.n / (double)y.n;
}

/* Copies the distances of the pairs a < b within a tile to row a of the triangle. */
static void keep_pairs(const distance_tile *t, size_t n, size_t I, size_t J, double *all) {
    const size_t end = smaller(n, (J + 1) * TILE);
    for (size_t a = I * TILE; a < smaller(n, (I + 1) * TILE); a++) {
        double *row = all + a * (2 * n - a - 1) / 2; /* (a,a+1), (a,a+2), ... */
        for (size_t b = larger(a + 1, J * TILE); b < end; b++) row[b - a - 1] = sqrt(t->d[a % TILE][b % TILE]);
    }
}

typedef struct distance_work {
    size_t variables, n;
    sample y;
    const mmd_workspace *workspace;
    double *all;
} distance_work;

static void find_distances(void *work, size_t I) {
    const distance_work *w = work;
    distance_tile *t = &w->workspace->tile[svmp_thread_number()];
    for (size_t J = I; J < tiles_of(w->n); J++) {
        svmp_distances(w->variables, w->y, I, w->y, J, t);
        keep_pairs(t, w->n, I, J, w->all);
    }
}

static svmp_status median_distance(svmp_context *context, size_t variables, sample y, const mmd_workspace *workspace,
                                   double *median) {
    const size_t n = smaller(y.n, BANDWIDTH_POINTS), pairs = n * (n - 1) / 2;
    double *all;
    if (pairs == 0) return *median = 0, SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, all, pairs));
    svmp_parallel_for(workspace->threads, tiles_of(n), 1, find_distances,
                      &(distance_work){variables, n, y, workspace, all});
    *median = svmp_select(all, pairs, pairs / 2);
    if (pairs % 2 == 0) *median = (svmp_select(all, pairs, pairs / 2 - 1) + *median) / 2;
    svmp_release(context, all);
    return SVMP_OK;
}

svmp_status svmp_mmd(svmp_context *context, size_t variables, sample x, sample y, double *mmd) {
    const double pairs = (double)(x.n + y.n) * (double)(x.n + y.n);
    mmd_workspace workspace = {.threads = svmp_threads_for(svmp_context_threads(context), pairs * (double)variables)};
    svmp_status status;
    double median = 0;
    *mmd = NAN;
    SVMP_CHECK(SVMP_NEW(context, workspace.tile, (size_t)workspace.threads));
    SVMP_CHECK(SVMP_NEW(context, workspace.row_sums, tiles_of(larger(x.n, y.n))));
    SVMP_CHECK(median_distance(context, variables, y, &workspace, &median));
    const double bandwidth = median * median;
    if (bandwidth > 0 && isfinite(bandwidth)) {
        const double xx = mean_kernel(variables, x, x, bandwidth, &workspace);
        const double yy = mean_kernel(variables, y, y, bandwidth, &workspace);
        const double square = xx + yy - 2 * mean_kernel(variables, x, y, bandwidth, &workspace);
        *mmd = square > 0 ? sqrt(square) : 0; /* rounding may make it negative */
    }
done:
    svmp_release_all(context, workspace.tile, workspace.row_sums);
    return status;
}
