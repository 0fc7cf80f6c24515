/* Moments and comparisons of particles, against their definitions. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static svmp_context *context;

static svmp_particles *particles_of(size_t variables, size_t count, const double *values) {
    svmp_particles *p = NULL;
    assert_ok(svmp_particles_create(context, variables, count, values, &p));
    return p;
}

/* quantile(c(4, 1, 3, 2), c(.05, .5, .95)) in R: 1.15 2.50 3.85 */
static void test_moments_of_four(void **state) {
    (void)state;
    svmp_particles *p = particles_of(2, 4, (double[]){0, 0, 0, 0, 4, 1, 3, 2});
    svmp_moments m;
    assert_ok(svmp_particles_moments(p, 1, &m));
    assert_near(m.mean, 2.5, 1e-15);
    assert_near(m.sd, sqrt(5.0 / 3), 1e-15);
    assert_near(m.q05, 1.15, 1e-15);
    assert_near(m.q50, 2.5, 1e-15);
    assert_near(m.q95, 3.85, 1e-15);
    assert_true(svmp_particles_values(p)[4] == 4); /* the particles stay in their order */
    assert_int_equal(svmp_particles_moments(p, 2, &m), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_moments(p, 0, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_moments(NULL, 0, &m), SVMP_BAD_CALL);
    svmp_particles_free(p);
}

/* By their definitions, from two observations and three particles: exp(log_lik) is 1, 2, 3 and 1, 1, 1. */
static void test_criteria(void **state) {
    (void)state;
    const double l[] = {0, log(2), log(3)}, m = log(6) / 3;
    const double v = (m * m + (l[1] - m) * (l[1] - m) + (l[2] - m) * (l[2] - m)) / 2;
    double values[12] = {0, log(2), log(3), 0, 0, 0, 1, 3, 8, 0, -2 * log(2), -2 * log(3)};
    svmp_particles *p = particles_of(4, 3, values);
    svmp_criteria c;
    assert_ok(svmp_particles_criteria(p, &c)); /* x.1, x.2, ...: nothing that has a likelihood */
    assert_int_equal(c.observations, 0);
    assert_true(isnan(c.waic) && isnan(c.waic_error) && isnan(c.dic) && isnan(c.dic_error) && isnan(c.deviance));
    assert_ok(svmp_particles_set_name(p, 0, "log_lik.1"));
    assert_ok(svmp_particles_set_name(p, 1, "log_lik.2"));
    assert_ok(svmp_particles_set_name(p, 3, "deviance"));
    assert_ok(svmp_particles_criteria(p, &c));
    const double first = -2 * (log(2) - v);
    assert_int_equal(c.observations, 2);
    assert_near(c.waic, first, 1e-14);
    assert_near(c.waic_parameters, v, 1e-15);
    assert_near(c.waic_error, fabs(first), 1e-14); /* of {first, 0}: sqrt(2 var) */
    assert_near(c.deviance, -2 * m, 1e-15);
    assert_near(c.dic_parameters, 2 * v, 1e-15);
    assert_near(c.dic, -2 * m + 2 * v, 1e-14);
    double mean = 0, squares = 0, terms[3]; /* the error of a mean of three */
    for (int k = 0; k < 3; k++) terms[k] = -2 * l[k] + 2 * (l[k] - m) * (l[k] - m), mean += terms[k] / 3;
    for (int k = 0; k < 3; k++) squares += (terms[k] - mean) * (terms[k] - mean);
    assert_near(c.dic_error, sqrt(squares / 2 / 3), 1e-14);
    assert_int_equal(svmp_particles_criteria(NULL, &c), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_criteria(p, NULL), SVMP_BAD_CALL);
    svmp_particles_free(p);
    p = particles_of(1, 1, (double[]){7});
    assert_ok(svmp_particles_set_name(p, 0, "deviance"));
    assert_ok(svmp_particles_criteria(p, &c));
    assert_true(isnan(c.dic) && isnan(c.deviance)); /* of one particle */
    svmp_particles_free(p);
}

static void test_moments_of_one(void **state) {
    (void)state;
    svmp_particles *p = particles_of(1, 1, (double[]){7});
    svmp_moments m;
    assert_ok(svmp_particles_moments(p, 0, &m));
    assert_true(m.mean == 7 && m.sd == 0 && m.q05 == 7 && m.q50 == 7 && m.q95 == 7);
    svmp_particles_free(p);
}

/* x: means 2, 0; mean squares 5, 1. Reference, its columns in the other order: means 1, 1; mean squares 1, 2. */
static void test_mean_square_errors_match_by_name(void **state) {
    (void)state;
    svmp_particles *p = particles_of(2, 2, (double[]){1, 3, -1, 1});
    svmp_particles *reference = particles_of(2, 4, (double[]){0, 1, 1, 2, 1, 1, 1, 1});
    assert_ok(svmp_particles_set_name(reference, 0, "x.2"));
    assert_ok(svmp_particles_set_name(reference, 1, "x.1"));
    svmp_comparison c;
    assert_ok(svmp_particles_compare(p, reference, &c));
    assert_near(c.mse_mean, (1 + 1) / 2.0, 1e-15);
    assert_near(c.mse_square, (16 + 0.25) / 2, 1e-15);
    assert_int_equal(svmp_particles_compare(p, NULL, &c), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_compare(p, reference, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_compare(NULL, reference, &c), SVMP_BAD_CALL);
    svmp_particles_free(p);
    svmp_particles_free(reference);
}

static void test_different_variables_are_named(void **state) {
    (void)state;
    svmp_particles *p = particles_of(6, 1, NULL), *reference = particles_of(1, 1, NULL);
    svmp_comparison c;
    assert_ok(svmp_particles_set_name(reference, 0, "mu"));
    assert_int_equal(svmp_particles_compare(p, reference, &c), SVMP_BAD_INPUT);
    assert_string_equal(svmp_context_error(context),
                        "The variables differ: 6 of the particles are not in the reference (x.1, x.2, x.3, ...), and 1 "
                        "of the reference is not in the particles (mu).");
    svmp_particles_free(reference);
    reference = particles_of(6, 1, NULL);
    assert_ok(svmp_particles_set_name(p, 0, "x.2"));
    assert_ok(svmp_particles_set_name(reference, 0, "x.2"));
    assert_int_equal(svmp_particles_compare(p, reference, &c), SVMP_BAD_CALL);
    assert_string_equal(svmp_context_error(context), "Two variables have the name 'x.2'.");
    svmp_particles_free(p);
    svmp_particles_free(reference);
}

/* Samples of the same distribution: over seeds, the squares of both z have mean 1, and few samples exceed the joint
 * limit. A sample with twice the spread and one with another mean exceed it with the expected signs. */
static void test_differences(void **state) {
    (void)state;
    enum { VARIABLES = 400, N = 30, M = 200 };
    double *x = malloc(VARIABLES * N * sizeof *x), *y = malloc(VARIABLES * M * sizeof *y);
    svmp_random_normals((random_stream){.seed = 1, .purpose = RANDOM_TEST}, VARIABLES * N, x);
    svmp_random_normals((random_stream){.seed = 2, .purpose = RANDOM_TEST}, VARIABLES * M, y);
    for (size_t l = 0; l < N; l++) x[l] = 3 * x[l] + 10; /* sd_ratio 3, and E[x] 10 */
    svmp_particles *p = particles_of(VARIABLES, N, x), *reference = particles_of(VARIABLES, M, y);
    svmp_difference *rows = calloc(VARIABLES, sizeof *rows);
    assert_ok(svmp_particles_differences(p, reference, rows));
    const double limit = svmp_difference_limit(2 * VARIABLES);
    assert_near(limit, 4.368680, 1e-6); /* the normal quantile at 1 - 0.005/800 */
    assert_true(rows[0].z_mean > limit && rows[0].z_sd > limit);
    assert_near(rows[0].sd_ratio, 3, 0.2);
    double mean_squares = 0, sd_squares = 0;
    for (size_t i = 1; i < VARIABLES; i++) {
        assert_true(fabs(rows[i].z_mean) < limit && fabs(rows[i].z_sd) < limit);
        mean_squares += rows[i].z_mean * rows[i].z_mean / (VARIABLES - 1);
        sd_squares += rows[i].z_sd * rows[i].z_sd / (VARIABLES - 1);
    }
    assert_true(fabs(mean_squares - 1) < 4 * sqrt(2.0 / VARIABLES));
    assert_true(fabs(sd_squares - 1) <
                4 * sqrt(2.0 / VARIABLES) + 0.1); /* the error of log sd is an expansion in 1/n */
    svmp_particles_free(p);
    svmp_particles_free(reference);
    free(rows);
    free(x);
    free(y);
}

/* t = (0 - 2)/sqrt(1 + 1) with 2 degrees of freedom: P(t < -sqrt(2)) = (1 - sqrt(1/2))/2 = P(z < -1.0518). */
static void test_differences_of_few(void **state) {
    (void)state;
    svmp_particles *p = particles_of(2, 2, (double[]){-1, 1, 5, 5});
    svmp_particles *reference = particles_of(2, 2, (double[]){1, 3, 5, 5});
    svmp_particles *one = particles_of(2, 1, NULL);
    svmp_difference rows[2];
    assert_ok(svmp_particles_differences(p, reference, rows));
    assert_near(rows[0].z_mean, -1.0518, 2e-3);
    assert_true(rows[0].z_sd == 0 && rows[0].mean == 0 && rows[0].reference_square == 5);
    assert_true(rows[1].z_mean == 0 && rows[1].z_sd == 0 &&
                isnan(rows[1].sd_ratio)); /* all values equal, on both sides */
    assert_ok(svmp_particles_differences(p, one, rows));
    assert_true(isnan(rows[0].z_mean) && isnan(rows[0].z_sd));
    svmp_particles *zero = particles_of(2, 2, NULL), *huge = particles_of(2, 2, (double[]){-1e200, 1e200, 1, 2});
    assert_ok(svmp_particles_differences(zero, huge, rows));
    assert_true(rows[0].square == 0 && rows[0].reference_square == INFINITY && rows[1].reference_square == 2.5);
    svmp_particles_free(zero);
    svmp_particles_free(huge);
    assert_int_equal(svmp_particles_differences(p, NULL, rows), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_differences(p, one, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_differences(NULL, one, rows), SVMP_BAD_CALL);
    svmp_particles_free(p);
    svmp_particles_free(reference);
    svmp_particles_free(one);
}

/* Chains that repeat each draw four times have a quarter of the effective size: their z is about half that of
 * independent draws.
 */
static void test_differences_of_chains(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 400, N = CHAINS * DRAWS };
    double x[N], y[N];
    svmp_random_normals((random_stream){.seed = 3, .purpose = RANDOM_TEST}, N, x);
    svmp_random_normals((random_stream){.seed = 4, .purpose = RANDOM_TEST}, N, y);
    for (size_t k = 0; k < N; k++) x[k] = x[k / 4 * 4] + 0.1;
    svmp_particles *p = particles_of(1, N, x), *reference = particles_of(1, N, y);
    svmp_difference apart, chained;
    assert_ok(svmp_particles_differences(p, reference, &apart));
    assert_ok(svmp_particles_set_chains(p, CHAINS));
    assert_ok(svmp_particles_differences(p, reference, &chained));
    assert_near(chained.z_mean / apart.z_mean, sqrt(2.0 / (1 + 4)), 0.1); /* errors 1 + 1, and 4 + 1, in 1/N */
    assert_near(chained.z_sd / apart.z_sd, sqrt(2.0 / (1 + 4)), 0.1);
    svmp_particles_free(p);
    svmp_particles_free(reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_of_four),
        cmocka_unit_test(test_criteria),
        cmocka_unit_test(test_moments_of_one),
        cmocka_unit_test(test_mean_square_errors_match_by_name),
        cmocka_unit_test(test_different_variables_are_named),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_differences_of_few),
        cmocka_unit_test(test_differences_of_chains),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    svmp_context_free(context);
    return failed;
}
