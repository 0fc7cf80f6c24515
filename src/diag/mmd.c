#include "diag/mmd.h"

#include <math.h>

#include "base/select.h"

enum {
    BANDWIDTH_POINTS = 1000,
    TILE = 128, /* points; a tile of distances stays in the first cache, a tile of 100 variables in the second */
    ROWS = 4,   /* points of one side that share each load of the other */
};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Squared distances from ROWS points of x, from `a` on, to `count` points of y, from `b` on. Where x has fewer points
 * left, the last one stands in. */
static void distances(size_t variables, sample x, size_t a, sample y, size_t b, size_t count, double d[ROWS][TILE]) {
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < count; k++) d[r][k] = 0;
    for (size_t i = 0; i < variables; i++) {
        const double *xi = x.x + x.place[i] * x.n, *yi = y.x + y.place[i] * y.n + b;
        double here[ROWS];
        for (size_t r = 0; r < ROWS; r++) here[r] = xi[smaller(a + r, x.n - 1)];
        for (size_t k = 0; k < count; k++)
            for (size_t r = 0; r < ROWS; r++) d[r][k] += (here[r] - yi[k]) * (here[r] - yi[k]);
    }
}

/* The sum of k(x_a, y_b) over the points of tile `I` of x and tile `J` of y. */
static double tile_sum(size_t variables, sample x, size_t I, sample y, size_t J, double bandwidth) {
    size_t a_end = smaller((I + 1) * TILE, x.n), b = J * TILE;
    if (I * TILE >= x.n || b >= y.n) return 0;
    size_t count = smaller(TILE, y.n - b);
    double d[ROWS][TILE], sums[TILE] = {0}, sum = 0; /* column by column: independent sums, in a fixed order */
    for (size_t a = I * TILE; a < a_end; a += ROWS) {
        distances(variables, x, a, y, b, count, d);
        for (size_t r = 0; r < ROWS && a + r < a_end; r++)
            for (size_t k = 0; k < count; k++) sums[k] += exp(-d[r][k] / bandwidth);
    }
    for (size_t k = 0; k < count; k++) sum += sums[k];
    return sum;
}

/* mean k(X,Y) = (sum over I of T(x,I,y,I) + sum over I < J of T(x,I,y,J) + T(y,I,x,J)) / nm, T the tile sum. The terms
 * are paired so that equal samples give equal bits, whether x and y are one array (T once) or two. `row_sums` has room
 * for a number per tile of the larger sample. */
static double mean_kernel(size_t variables, sample x, sample y, double bandwidth, int threads, double *row_sums) {
    size_t tiles = ((x.n > y.n ? x.n : y.n) + TILE - 1) / TILE;
    int same = x.x == y.x;
    (void)threads; /* for builds without OpenMP */
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t I = 0; I < tiles; I++) {
        double sum = tile_sum(variables, x, I, y, I, bandwidth);
        for (size_t J = I + 1; J < tiles; J++) {
            double one = tile_sum(variables, x, I, y, J, bandwidth);
            double other = same ? one : tile_sum(variables, y, I, x, J, bandwidth);
            sum += one + other;
        }
        row_sums[I] = sum;
    }
    double total = 0;
    for (size_t I = 0; I < tiles; I++) total += row_sums[I];
    return total / (double)x.n / (double)y.n;
}

static svmp_status median_distance(svmp_context *context, size_t variables, sample y, double *median) {
    size_t n = smaller(y.n, BANDWIDTH_POINTS), pairs = n * (n - 1) / 2, filled = 0;
    double *all, d[ROWS][TILE];
    if (pairs == 0) return *median = 0, SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, all, pairs));
    for (size_t a = 0; a < n; a += ROWS)
        for (size_t b = 0; b < n; b += TILE) {
            size_t count = smaller(TILE, n - b);
            distances(variables, y, a, y, b, count, d);
            for (size_t r = 0; r < ROWS && a + r < n; r++)
                for (size_t k = 0; k < count; k++)
                    if (b + k > a + r) all[filled++] = sqrt(d[r][k]);
        }
    *median = svmp_select(all, pairs, pairs / 2);
    if (pairs % 2 == 0) *median = (svmp_select(all, pairs, pairs / 2 - 1) + *median) / 2;
    svmp_release(context, all);
    return SVMP_OK;
}

svmp_status svmp_mmd(svmp_context *context, size_t variables, sample x, sample y, double *mmd) {
    double median, *row_sums;
    SVMP_TRY(median_distance(context, variables, y, &median));
    if (!(median > 0)) return *mmd = NAN, SVMP_OK;
    double bandwidth = median * median;
    int threads = svmp_context_threads(context);
    SVMP_TRY(SVMP_NEW(context, row_sums, (x.n > y.n ? x.n : y.n) / TILE + 1));
    double xx = mean_kernel(variables, x, x, bandwidth, threads, row_sums);
    double yy = mean_kernel(variables, y, y, bandwidth, threads, row_sums);
    double xy = mean_kernel(variables, x, y, bandwidth, threads, row_sums);
    svmp_release(context, row_sums);
    double square = xx + yy - 2 * xy;
    *mmd = square > 0 ? sqrt(square) : 0; /* rounding may take it below */
    return SVMP_OK;
}
