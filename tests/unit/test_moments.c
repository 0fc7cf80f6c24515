/* Moments and comparisons of particles, against their definitions. */
#include "support.h"

#include <math.h>
#include <string.h>

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
                        "of the reference are not in the particles (mu).");
    svmp_particles_free(reference);
    reference = particles_of(6, 1, NULL);
    assert_ok(svmp_particles_set_name(p, 0, "x.2"));
    assert_ok(svmp_particles_set_name(reference, 0, "x.2"));
    assert_int_equal(svmp_particles_compare(p, reference, &c), SVMP_BAD_CALL);
    assert_string_equal(svmp_context_error(context), "Two variables are called 'x.2'.");
    svmp_particles_free(p);
    svmp_particles_free(reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_of_four),
        cmocka_unit_test(test_moments_of_one),
        cmocka_unit_test(test_mean_square_errors_match_by_name),
        cmocka_unit_test(test_different_variables_are_named),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    svmp_context_free(context);
    return failed;
}
