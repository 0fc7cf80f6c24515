/* Order-free sums over variables (stein/order_free_sums.h), in plain loops and with every instruction set. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/lanes.h"
#include "base/exact_sum.h"
#include "base/peers.h"
#include "stein/order_free_sums.h"

enum { N = 11, PAIRS = N * (N - 1) / 2, D = 5000 };

static double x[D][N];
static const double *rows[D];

/* Variables with scales from 1e-6 to 1e6, in random order, centred up to 1e3 scales away from 0. */
static void scatter(void) {
    for (size_t j = 0; j < D; j++) {
        const double scale = pow(10, 6 * test_random(1, j)), centre = 1e3 * scale * test_random(2, j);
        for (size_t l = 0; l < N; l++) x[j][l] = centre + scale * test_random(3, j * N + l);
        rows[j] = x[j];
    }
}

static void shuffle(size_t count, uint64_t stream) {
    for (size_t j = count - 1; j > 0; j--) {
        const size_t k = (size_t)((test_random(stream, j) + 1) / 2 * (double)(j + 1));
        const double *there = rows[k];
        rows[k] = rows[j];
        rows[j] = there;
    }
}

typedef struct sums {
    double grid[N + PADDING];
    int64_t squares[PAIRS], products[N * N];
} sums;

static common_grid grid_in(sums *s, size_t variables) {
    return (common_grid){.n = N, .variables = variables, .peers = &svmp_alone, .of = s->grid};
}

/* The grid of variables first ... last - 1 of `variables`. */
static void find(size_t first, size_t last, enum grid_use use, size_t variables, int threads, sums *s) {
    const common_grid grid = grid_in(s, variables);
    svmp_grid_find(&grid, last - first, rows + first, use, threads);
}

static double value(sums *s, size_t l, size_t m, int64_t steps) {
    const common_grid grid = grid_in(s, 0);
    return svmp_grid_value(&grid, l, m, steps);
}

/* The steps of variables first ... last - 1; products use their own grid, which squares do not exceed. */
static void count(size_t first, size_t last, enum grid_use use, sums *s) {
    const common_grid grid = grid_in(s, 0);
    for (size_t l = 0, p = 0; l < N; p += N - 1 - l++)
        svmp_grid_squares(&grid, last - first, rows + first, l, s->squares + p);
    for (size_t l = 0; use == GRID_PRODUCTS && l < N; l++)
        svmp_grid_products(&grid, last - first, rows + first, l, s->products + l * N);
}

/* Split anywhere and in any order: the grid is the larger one, the steps are the sum. */
static void test_sums_do_not_depend_on_order(void **state) {
    (void)state;
    static sums whole, left, right;
    scatter();
    for (enum grid_use use = GRID_SQUARES; use <= GRID_PRODUCTS; use++)
        for (uint64_t round = 0; round < 6; round++) {
            const size_t cut = (size_t)(D * (double)round / 5);
            const int threads = round % 2 ? 2 : 1;
            shuffle(D, 10 + round);
            find(0, D, use, D, 1, &whole);
            count(0, D, use, &whole);
            shuffle(D, 20 + round);
            find(0, cut, use, D, threads, &left);
            find(cut, D, use, D, threads, &right);
            for (size_t l = 0; l < N; l++) assert_true(fmax(left.grid[l], right.grid[l]) == whole.grid[l]);
            memcpy(left.grid, whole.grid, sizeof whole.grid);
            memcpy(right.grid, whole.grid, sizeof whole.grid);
            count(0, cut, use, &left);
            count(cut, D, use, &right);
            for (size_t p = 0; p < PAIRS; p++)
                assert_true(left.squares[p] + right.squares[p] == whole.squares[p] && whole.squares[p] > 0);
            for (size_t p = 0; p < (size_t)N * N; p++)
                assert_true(left.products[p] + right.products[p] == whole.products[p]);
        }
}

/* A sum has an error of at most half a step per variable. All particles of one variable are far away, and one particle
 * of another: only pairs with that particle lose digits. */
static void test_error(void **state) {
    (void)state;
    static sums s;
    for (size_t d = 1; d <= D; d = d < 3000 ? 7 * d : d + D) {
        scatter();
        for (size_t l = 0; l < N; l++) x[0][l] += 1e9;
        x[d / 2][N - 1] += 1e14;
        find(0, d, GRID_SQUARES, d, 1, &s);
        count(0, d, GRID_SQUARES, &s);
        for (size_t l = 0, p = 0; l < N; l++)
            for (size_t m = l + 1; m < N; m++, p++) {
                exact_sum sum = {0};
                for (size_t j = 0; j < d; j++) svmp_exact_add(&sum, (x[j][l] - x[j][m]) * (x[j][l] - x[j][m]));
                const double exact = svmp_exact_value(&sum), step = fmax(s.grid[l], s.grid[m]) * 0x1p-52;
                const double found = value(&s, l, m, s.squares[p]);
                assert_true(fabs(found - exact) <= (double)d * step);
                assert_near(found / exact, 1, m == N - 1 ? 1e-4 : 1e-11);
            }
    }
}

/* Sums of the largest possible number of the largest terms do not overflow. */
static void test_the_largest_sum(void **state) {
    (void)state;
    static sums s;
    for (size_t j = 0; j < D; j++)
        for (size_t l = 0; l < N; l++) x[j][l] = l == N - 1 ? 0 : l % 2 ? -1.9999999 : 1.9999999, rows[j] = x[j];
    const size_t counts[] = {1, 2047, 2048, 2049, 4096, D};
    for (size_t c = 0; c < 6; c++) {
        find(0, counts[c], GRID_PRODUCTS, counts[c], 1, &s);
        count(0, counts[c], GRID_PRODUCTS, &s);
        const double square = 4 * 1.9999999 * 1.9999999 * (double)counts[c];
        assert_near(value(&s, 0, 1, s.squares[0]) / square, 1, 1e-15);
        assert_near(value(&s, 0, 1, s.products[1]) / -square, 0.25, 1e-15);
        assert_near(value(&s, 0, 0, s.products[0]) / square, 0.25, 1e-15);
        assert_true(s.products[N - 1] == 0);
    }
}

/* Particles that coincide, that are extremely close, and whose squared distances overflow. */
static void test_extremes(void **state) {
    (void)state;
    static sums s;
    const double sizes[] = {0, 0x1p-1074, 1e-140, 1e140, 1e200, 1.7e308};
    for (size_t k = 0; k < 6; k++) {
        for (size_t l = 0; l < N; l++) x[0][l] = l == 1 ? sizes[k] : l == 2 ? -sizes[k] : 0;
        rows[0] = x[0];
        find(0, 1, GRID_SQUARES, 1, 1, &s);
        count(0, 1, GRID_SQUARES, &s);
        const double one = value(&s, 0, 1, s.squares[0]), u = sizes[k];
        assert_true(u > 1e150 ? one == INFINITY : fabs(one - u * u) <= 0x1p-48 * u * u);
        assert_true(value(&s, 0, 3, s.squares[2]) == 0);
    }
}

/* Two clusters, 1e12 times their width apart in one variable: pairs within a cluster are summed again at full
 * precision, in any order. */
static void test_near_pairs(void **state) {
    (void)state;
    static sums s;
    static grid_pair near[GRID_NEAR];
    enum { FEW = 300 };
    double first[PAIRS];
    for (uint64_t order = 0; order < 3; order++) {
        double found[PAIRS];
        for (size_t j = 0; j < FEW; j++) {
            for (size_t l = 0; l < N; l++) x[j][l] = test_random(7, j * N + l) + (j == 5 && l % 3 == 0 ? 1e12 : 0);
            rows[j] = x[j];
        }
        if (order > 0) shuffle(FEW, 40 + order);
        common_grid grid = grid_in(&s, FEW);
        grid.near = near;
        find(0, FEW, GRID_SQUARES, FEW, 1, &s);
        count(0, FEW, GRID_SQUARES, &s);
        grid_recount again = {&grid, FEW, rows, 1 + (int)order % 2, 0};
        size_t noted = 0;
        for (size_t l = 0, p = 0; l < N; l++)
            for (size_t m = l + 1; m < N; m++, p++) {
                found[p] = value(&s, l, m, s.squares[p]);
                if (!(found[p] < svmp_grid_few(&grid) * svmp_grid_step(&grid, l, m))) continue;
                svmp_grid_note(&again, l, m, &found[p]);
                noted++;
            }
        assert_int_equal(again.noted, noted);
        assert_int_equal(noted, 4 * 3 / 2); /* pairs of the far cluster; the others have a sufficiently fine grid */
        svmp_grid_recount(&again);
        for (size_t l = 0, p = 0; l < N; l++)
            for (size_t m = l + 1; m < N; m++, p++) {
                exact_sum sum = {0};
                for (size_t j = 0; j < FEW; j++) svmp_exact_add(&sum, (x[j][l] - x[j][m]) * (x[j][l] - x[j][m]));
                assert_near(found[p] / svmp_exact_value(&sum), 1, 1e-12);
            }
        if (order == 0) memcpy(first, found, sizeof first);
        assert_memory_equal(first, found, sizeof first);
    }
}

/* A position of NaN makes the distances of its particle infinite, and no others. */
static void test_nan(void **state) {
    (void)state;
    static sums s;
    for (size_t j = 0; j < 3; j++) {
        for (size_t l = 0; l < N; l++) x[j][l] = j == 0 && l == 4 ? NAN : test_random(8, j * N + l);
        rows[j] = x[j];
    }
    find(0, 3, GRID_SQUARES, 3, 1, &s);
    for (size_t l = 0; l < N; l++) assert_true((s.grid[l] == INFINITY) == (l == 4));
    count(0, 3, GRID_SQUARES, &s);
    assert_true(value(&s, 0, 4, s.squares[3]) == INFINITY && s.squares[3] == 0);
}

/* Tiles of every instruction set equal those of the plain loops, up to one step per variable where a square is rounded
 * twice; tiles of two halves of the variables add up to the same in either order. */
static void test_lanes(void **state) {
    (void)state;
    enum { COUNT = 70, STRIDE = N + PADDING + LINE, MOST = (N / TILE_ROWS + 1) * TILE_ROWS * (N + WIDEST_LANES) };
    static double packed[COUNT * STRIDE], k[MOST];
    static int64_t steps[MOST], other[MOST];
    static sums s;
    const char *const sets[] = {"baseline", "avx2", "avx512"};
    scatter();
    x[3][4] = 1e170; /* this particle has diverged */
    for (size_t j = 0; j < COUNT; j++)
        for (size_t l = 0; l < STRIDE; l++) packed[j * STRIDE + l] = l < N ? x[j][l] : INFINITY;
    find(0, COUNT, GRID_SQUARES, COUNT, 1, &s);
    for (size_t l = N; l < N + PADDING; l++) s.grid[l] = INFINITY;
    count(0, COUNT, GRID_SQUARES, &s);
    for (size_t set = 0; set < 3; set++) {
        const lane_ops *ops = svmp_lanes_named(sets[set]);
        if (ops == NULL) continue;
        for (size_t first = 0; first + 1 < N; first += TILE_ROWS) {
            const tile t = {first, (N - 1 - first + ops->width - 1) / ops->width, 0};
            const packed_rows all = {packed, COUNT, STRIDE}, half = {packed, 33, STRIDE},
                              rest = {packed + 33 * STRIDE, COUNT - 33, STRIDE};
            const size_t bytes = t.vectors * TILE_ROWS * ops->width * sizeof *steps;
            ops->steps(&all, &t, s.grid, 0, steps);
            ops->steps(&half, &t, s.grid, 0, other);
            ops->steps(&rest, &t, s.grid, 1, other);
            assert_memory_equal(steps, other, bytes);
            ops->steps(&rest, &t, s.grid, 0, other);
            ops->steps(&half, &t, s.grid, 1, other);
            assert_memory_equal(steps, other, bytes);
            memcpy(k, steps, bytes);
            memcpy(k, steps, bytes);
            assert_true(ops->from_steps(&t, s.grid, 0x1p62, k));
            memcpy(k, steps, bytes);
            assert_false(ops->from_steps(&t, s.grid, 1, k));
            for (size_t v = 0; v < t.vectors; v++)
                for (size_t r = 0; r < TILE_ROWS; r++)
                    for (size_t lane = 0; lane < ops->width; lane++) {
                        const size_t l = first + r, m = first + 1 + v * ops->width + lane;
                        const size_t at = (v * TILE_ROWS + r) * ops->width + lane;
                        if (m <= l || m >= N || m == 4 || l == 4) {
                            assert_true(k[at] == INFINITY);
                            continue;
                        }
                        const int64_t plain = s.squares[l * (2 * (size_t)N - l - 1) / 2 + m - l - 1];
                        assert_true(llabs(steps[at] - plain) <= (strcmp(ops->name, "baseline") == 0 ? 0 : COUNT));
                        assert_true(k[at] == value(&s, l, m, steps[at]));
                    }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_do_not_depend_on_order),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_the_largest_sum),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_near_pairs),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
