/* The hot loops: the exponential's error, and medians that are exactly those of a sort. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_median.h"

/* A tile with at least `count` numbers: a multiple of WIDEST_LANES * TILE_ROWS. */
static tile tile_of(const lane_ops *ops, size_t numbers) { return (tile){.vectors = numbers / TILE_ROWS / ops->width}; }

enum { WHOLE_TILE = WIDEST_LANES * TILE_ROWS };

static const char *const sets[] = {"baseline", "avx2", "avx512"};

/* Against long double; the bound is that of lanes.h. The result is 0 below exp(-708), as in lanes without a pair. */
static void test_error_of_the_exponential(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    const double widths[] = {1, 1e-3, 7.77, 3e5};
    double *k = malloc(N * sizeof *k), *distance = malloc(N * sizeof *distance);
    for (size_t s = 0; s < 3; s++) {
        const lane_ops *ops = svmp_lanes_named(sets[s]);
        if (ops == NULL) continue;
        const tile t = tile_of(ops, N), small = tile_of(ops, WHOLE_TILE);
        double worst = 0;
        for (size_t w = 0; w < 4; w++) {
            for (size_t p = 0; p < N; p++) distance[p] = 707.9 * widths[w] * pow((double)p / N, 3);
            memcpy(k, distance, N * sizeof *k);
            ops->rbf(&t, widths[w], k);
            for (size_t p = 0; p < N; p++) {
                const long double y = (long double)distance[p] / widths[w], exact = expl(-y);
                const double error = (double)fabsl((k[p] - exact) / exact);
                if (y < 30) worst = fmax(worst, error);
                assert_true(error < 2e-15 + 3e-16 * (double)y);
            }
        }
        print_message("%s: largest relative error where D/h < 30: %.2e\n", ops->name, worst);
        assert_true(k[0] == 1);
        const double edges[WHOLE_TILE] = {INFINITY, 1e300, 709};
        memcpy(k, edges, sizeof edges);
        ops->rbf(&small, 1, k);
        assert_true(k[0] == 0 && k[1] == 0 && k[2] == 0 && k[3] == 1);
    }
    free(k);
    free(distance);
}

typedef struct numbers {
    const lane_ops *ops;
    size_t count, padded;
    double *value;
    int passes;
} numbers;

static void count_numbers(void *user_data, tally *t) {
    numbers *all = user_data;
    all->passes++;
    const tile whole = tile_of(all->ops, all->padded);
    all->ops->count(&whole, all->value, t);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Smooth, many ties, two clusters, a huge range, all equal, mostly zero, half infinite, sorted: with no previous
 * median, a good one and a bad one. */
static void fill(int kind, size_t count, uint64_t stream, double *value) {
    for (size_t p = 0; p < count; p++) {
        double u = (test_random(stream, p) + 1) / 2;
        const double kinds[] = {u,
                                floor(7 * u),
                                p % 2 ? 1e-3 * u : 1e3 + u,
                                exp(600 * (u - 0.5)),
                                3.5,
                                0,
                                u < 0.9 ? 0 : u,
                                p % 2 ? INFINITY : u,
                                exp(20 * (double)p / (double)count)};
        value[p] = kinds[kind];
    }
}

static void test_median_is_that_of_a_sort(void **state) {
    (void)state;
    const size_t counts[] = {1, 2, 3, 10, 2047, 2048, 2049, 5000, 40001};
    double *value = malloc(40032 * sizeof *value), *sorted = malloc(40032 * sizeof *sorted), list[2048 + WIDEST_LANES];
    for (size_t s = 0; s < 3; s++)
        for (int kind = 0; kind < 9; kind++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                const size_t count = counts[c];
                numbers all = {svmp_lanes_named(sets[s]), count, (count + WHOLE_TILE - 1) / WHOLE_TILE * WHOLE_TILE,
                               value, 0};
                if (all.ops == NULL) continue;
                middle memory = {0};
                for (uint64_t again = 0; again < 4; again++) {
                    if (again == 2) memory = (middle){1e-5, 1e-7, 1e-9};
                    fill(kind, count, 10 * c + again, value);
                    for (size_t p = count; p < all.padded; p++) value[p] = INFINITY;
                    memcpy(sorted, value, count * sizeof *sorted);
                    qsort(sorted, count, sizeof *sorted, ascending);
                    double lower, upper;
                    svmp_median_find(count_numbers, &all, (count - 1) / 2, count / 2, list, 2048, &memory, &lower,
                                     &upper);
                    assert_true(lower == sorted[(count - 1) / 2] && upper == sorted[count / 2]);
                    assert_true(all.passes <= (kind == 7 ? 80 : 25)); /* one of the two middle values is infinite */
                    all.passes = 0;
                }
            }
    free(value);
    free(sorted);
}

/* NaN ends the search with an error. */
static void test_a_median_of_no_numbers(void **state) {
    (void)state;
    enum { N = 4096 };
    double *value = malloc(N * sizeof *value), list[2048 + WIDEST_LANES], lower, upper;
    for (int finite = 0; finite < 2; finite++) {
        for (size_t p = 0; p < N; p++) value[p] = finite && p % 3 ? 1 : NAN;
        numbers all = {svmp_lanes_best(), N, N, value, 0};
        middle memory = {0};
        svmp_median_find(count_numbers, &all, 4000, 4001, list, 2048, &memory, &lower, &upper);
        assert_true(isnan(lower) && isnan(upper));
    }
    free(value);
}

/* Numbers that change little between searches need one counting pass. */
static void test_a_warm_start_takes_one_pass(void **state) {
    (void)state;
    enum { N = 19904 };
    double *value = malloc(N * sizeof *value), list[2048 + WIDEST_LANES], lower, upper;
    numbers all = {svmp_lanes_best(), N, N, value, 0};
    middle memory = {0};
    for (int t = 0; t < 50; t++) {
        for (size_t p = 0; p < N; p++) value[p] = (1 + 0.001 * t) * (2 + test_random(3, p));
        if (t == 5) all.passes = 0;
        svmp_median_find(count_numbers, &all, N / 2 - 1, N / 2, list, 2048, &memory, &lower, &upper);
    }
    print_message("%d passes in 45 searches\n", all.passes);
    assert_true(all.passes <= 50);
    free(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_of_the_exponential),
        cmocka_unit_test(test_median_is_that_of_a_sort),
        cmocka_unit_test(test_a_median_of_no_numbers),
        cmocka_unit_test(test_a_warm_start_takes_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
