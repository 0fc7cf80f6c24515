/* The MMD against direct summation of its definition. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { VARIABLES = 3 };

static svmp_particles *wide_sample(svmp_context *context, size_t variables, size_t count, uint64_t seed, double shift) {
    svmp_particles *p = NULL;
    assert_ok(svmp_particles_create(context, variables, count, NULL, &p));
    for (size_t i = 0; i < variables; i++) {
        double *x = svmp_particles_values(p) + i * count;
        svmp_random_normals((random_stream){.seed = seed, .purpose = RANDOM_TEST, .a = i}, count, x);
        for (size_t l = 0; l < count; l++) x[l] += shift;
    }
    return p;
}

static svmp_particles *normal_sample(svmp_context *context, size_t count, uint64_t seed, double shift) {
    return wide_sample(context, VARIABLES, count, seed, shift);
}

static double square_distance(svmp_particles *x, size_t a, svmp_particles *y, size_t b) {
    double sum = 0;
    for (size_t i = 0; i < svmp_particles_variables(x); i++) {
        double u = svmp_particles_values(x)[i * svmp_particles_count(x) + a] -
                   svmp_particles_values(y)[i * svmp_particles_count(y) + b];
        sum += u * u;
    }
    return sum;
}

static double mean_kernel(svmp_particles *x, svmp_particles *y, double h) {
    size_t n = svmp_particles_count(x), m = svmp_particles_count(y);
    double sum = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < m; b++) sum += exp(-square_distance(x, a, y, b) / h) / (double)(n * m);
    return sum;
}

static int order(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* med^2 over pairs of different points, all of the first `limit`. */
static double bandwidth(svmp_particles *y, size_t limit) {
    size_t n = svmp_particles_count(y) < limit ? svmp_particles_count(y) : limit, pairs = 0;
    double *all = malloc(n * n * sizeof *all);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++) all[pairs++] = sqrt(square_distance(y, a, y, b));
    qsort(all, pairs, sizeof *all, order);
    double median = (all[(pairs - 1) / 2] + all[pairs / 2]) / 2;
    free(all);
    return median * median;
}

static double compared(svmp_particles *x, svmp_particles *y) {
    svmp_comparison c;
    assert_ok(svmp_particles_compare(x, y, &c));
    return c.mmd;
}

/* Counts around the limits of tile and bandwidth, either side smaller or larger; numbers of variables around the block
 * size. */
static void test_definition(void **state) {
    (void)state;
    static const size_t sizes[][3] = {{1, 2, 3},   {5, 3, 3},   {63, 65, 3},   {64, 128, 1}, {127, 129, 63},
                                      {70, 3, 64}, {9, 66, 65}, {10, 70, 200}, {300, 64, 3}, {130, 1003, 3}};
    svmp_context *context = test_context(2);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        svmp_particles *x = wide_sample(context, sizes[k][2], sizes[k][0], 1, 0.3);
        svmp_particles *y = wide_sample(context, sizes[k][2], sizes[k][1], 2, 0);
        double h = bandwidth(y, 1000);
        double square = mean_kernel(x, x, h) + mean_kernel(y, y, h) - 2 * mean_kernel(x, y, h);
        assert_near(pow(compared(x, y), 2), square, 1e-13);
        svmp_particles_free(x);
        svmp_particles_free(y);
    }
    svmp_context_free(context);
}

static void test_equal_samples_are_at_zero(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_particles *x = normal_sample(context, 777, 3, 0), *y = normal_sample(context, 777, 3, 0);
    assert_true(compared(x, x) == 0);
    assert_true(compared(x, y) == 0);
    svmp_particles_values(y)[5] += 1e-3;
    assert_true(compared(x, y) > 0);
    svmp_particles_free(x);
    svmp_particles_free(y);
    svmp_context_free(context);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    double seen[3];
    for (int threads = 1; threads <= 3; threads++) {
        svmp_context *context = test_context(threads);
        svmp_particles *x = normal_sample(context, 401, 1, 0.1), *y = normal_sample(context, 1500, 2, 0);
        seen[threads - 1] = compared(x, y);
        svmp_particles_free(x);
        svmp_particles_free(y);
        svmp_context_free(context);
    }
    assert_memory_equal(&seen[0], &seen[1], sizeof *seen);
    assert_memory_equal(&seen[0], &seen[2], sizeof *seen);
}

/* One point or equal points have no median distance, and the squared distance of very distant points overflows: then
 * there is no bandwidth and no MMD. */
static void test_no_bandwidth_no_mmd(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_particles *x = normal_sample(context, 4, 1, 0), *one = normal_sample(context, 1, 2, 0), *equal = NULL;
    assert_ok(svmp_particles_create(context, VARIABLES, 4, NULL, &equal));
    assert_true(isnan(compared(x, one)));
    assert_true(isnan(compared(x, equal)));
    assert_true(compared(one, x) > 0);
    svmp_particles_values(one)[0] = 1e200; /* a large distance is not 0 */
    assert_true(compared(one, x) > 0.5);
    for (size_t k = 0; k < 4 * VARIABLES; k++) svmp_particles_values(x)[k] *= 1e200;
    assert_true(isnan(compared(one, x))); /* med^2 overflows */
    svmp_particles_free(x);
    svmp_particles_free(one);
    svmp_particles_free(equal);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_equal_samples_are_at_zero),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_no_bandwidth_no_mmd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
