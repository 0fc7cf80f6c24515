/* Matches particles to the covariance of chains. */
#include <math.h>
#include <string.h>

#include "method/transport/covariance.h"
#include "support.h"

/* The particles of one process. */
static const peer_columns *alone(size_t n) {
    static peer_columns all;
    all = svmp_shared_alone(n);
    return &all;
}

enum { D = 4, N = 40, T = 7 };

/* Correlated numbers, different for every stream. */
static void fill(uint64_t stream, double *x) {
    for (size_t l = 0; l < N; l++)
        for (size_t i = 0; i < D; i++)
            x[i * N + l] = 1e3 * (double)i + (1 + (double)i) * (test_random(stream, l * (D + 1) + i) +
                                                                (double)i * test_random(stream, l * (D + 1) + D));
}

static double mean_of(size_t count, const double *x) {
    double sum = 0;
    for (size_t l = 0; l < count; l++) sum += x[l];
    return sum / (double)count;
}

static double covariance_of(size_t count, const double *x, const double *y) {
    const double a = mean_of(count, x), b = mean_of(count, y);
    double sum = 0;
    for (size_t l = 0; l < count; l++) sum += (x[l] - a) * (y[l] - b);
    return sum / (double)(count - 1);
}

/* The correlations become those of all T * N values since the blocks were cleared, means and sds the given ones. */
static void test_match(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    covariance *c = NULL;
    static double x[D * N], all[D][T * N];
    average to[D];
    assert_ok(svmp_covariance_create(context, D, alone(N), 2, &c));
    assert_non_null(c);
    for (size_t clear = 0; clear < 2; clear++) {
        for (size_t t = 0; t < T; t++) {
            fill(100 * clear + t + 1, x);
            svmp_covariance_add(c, x);
            if (t == 1 || t == 3) svmp_covariance_close(c);
            for (size_t i = 0; i < D; i++) memcpy(all[i] + t * N, x + i * N, N * sizeof *x);
        }
        if (!clear) svmp_covariance_clear(c);
    }
    svmp_covariance_estimate(c);
    for (size_t i = 0; i < D; i++)
        to[i] = (average){.mean = 5 - 3 * (double)i, .sd = 0.1 + (double)i, .mean_error = 0.01, .sd_error = 0.001};
    fill(999, x);
    svmp_covariance_match(c, to, N, x);
    for (size_t i = 0; i < D; i++) {
        assert_float_equal(mean_of(N, x + i * N), to[i].mean, 1e-12 * (10 + to[i].sd));
        for (size_t j = 0; j <= i; j++) {
            const double wanted =
                covariance_of((size_t)T * N, all[i], all[j]) /
                sqrt(covariance_of((size_t)T * N, all[i], all[i]) * covariance_of((size_t)T * N, all[j], all[j]));
            assert_float_equal(covariance_of(N, x + i * N, x + j * N) / (to[i].sd * to[j].sd), wanted, 1e-10);
        }
    }
    svmp_covariance_free(c);
    svmp_context_free(context);
}

/* Nothing changes if an sd is poorly estimated, or before the first estimate. */
static void test_unknown(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    covariance *c = NULL;
    static double x[D * N], before[D * N];
    average to[D];
    for (size_t i = 0; i < D; i++) to[i] = (average){.mean = 1, .sd = 1, .sd_error = 0.01};
    assert_ok(svmp_covariance_create(context, D, alone(N), 2, &c));
    fill(3, x);
    memcpy(before, x, sizeof x);
    svmp_covariance_match(c, to, N, x);
    assert_memory_equal(x, before, sizeof x);
    svmp_covariance_add(c, x);
    svmp_covariance_estimate(c);
    to[2].sd_error = 0.2;
    svmp_covariance_match(c, to, N, x);
    assert_memory_equal(x, before, sizeof x);
    svmp_covariance_free(c);
    svmp_context_free(context);
}

/* With as many variables as particles the covariance is useless. */
static void test_many(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    covariance *c = NULL;
    assert_ok(svmp_covariance_create(context, 21, alone(100), 1, &c));
    assert_null(c);
    assert_ok(svmp_covariance_create(context, 1, alone(100), 1, &c));
    assert_null(c);
    svmp_covariance_add(c, NULL);
    svmp_covariance_estimate(c);
    svmp_covariance_close(c);
    svmp_covariance_clear(c);
    svmp_covariance_match(c, NULL, 0, NULL);
    svmp_covariance_free(c);
    assert_ok(svmp_covariance_create(context, 20, alone(100), 1, &c));
    assert_non_null(c);
    svmp_covariance_free(c);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_match), cmocka_unit_test(test_unknown),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
