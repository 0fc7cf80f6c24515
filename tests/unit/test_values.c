/* Conversion between the reported values of a model and its variables; Gaussian fields from sparse matrices. */
#include "support.h"

#include <math.h>

static const char text[] = "model {\n  y ~ dnorm(mu, tau * p)\n  mu ~ dnorm(0, 1)\n  tau ~ dgamma(2, 3)\n"
                           "  p ~ dunif(2, 5)\n  z ~ dnorm(mu, 1)\n  sigma <- 1 / sqrt(tau)\n}\n";

/* mu is itself, tau = exp(u), p = 2 + 3/(1 + exp(-u)); z is a leaf, which no variable determines; monitored quantities
 * are not among the values. */
static void test_values_are_the_transforms(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    double x[3 * 2] = {0.5, -1, 0.25, 2, -0.75, 3}, values[4 * 2], back[3 * 2];
    char name[16];
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "y", 0, NULL, &(double){1}));
    assert_ok(svmp_model_read_text(context, NULL, text, data, &(svmp_reading){.monitors = "sigma"}, &model));
    assert_int_equal(svmp_model_values(model), 4);
    assert_string_equal(svmp_model_value_name(model, 0, name, sizeof name), "mu");
    assert_string_equal(svmp_model_value_name(model, 2, name, sizeof name), "p");
    assert_string_equal(svmp_model_value_name(model, 4, name, sizeof name), "");
    assert_ok(svmp_model_to_values(model, 2, x, values));
    for (size_t l = 0; l < 2; l++) {
        assert_near(values[l], x[l], 0);
        assert_near(values[2 + l], exp(x[2 + l]), 1e-14);
        assert_near(values[4 + l], 2 + 3 / (1 + exp(-x[4 + l])), 1e-14);
        assert_true(isnan(values[6 + l]));
    }
    assert_ok(svmp_model_from_values(model, 2, values, back));
    for (size_t k = 0; k < 6; k++) assert_near(back[k], x[k], 1e-13);
    assert_int_equal(svmp_model_to_values(model, 0, x, values), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_to_values(NULL, 2, x, values), SVMP_BAD_CALL);
    svmp_particles *particles = NULL;
    assert_ok(svmp_particles_create(context, 3, 2, values, &particles));
    assert_ok(svmp_particles_add_data(particles, model));
    assert_int_equal(svmp_particles_add_data(particles, model), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_add_data(NULL, model), SVMP_BAD_CALL);
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_data_free(data);
    svmp_context_free(context);
}

/* A = (2 -1; -1 2), b = (3, 0): the mean is A^-1 b = (2, 1), both variances are 2/3. */
static void test_a_field_is_its_matrix(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    const size_t rows[] = {0, 1, 1, 0}, columns[] = {0, 0, 1, 0};
    const double values[] = {1.5, -1, 2, 0.5}, b[] = {3, 0};
    const svmp_field field = {4, rows, columns, values, b};
    double mean[3], variance[3];
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "z", 1, NULL, NULL, NULL));
    for (size_t i = 0; i < 2; i++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, &(size_t){0}, &(double){4}, &(double){4}));
    assert_int_equal(svmp_model_add_field(model, 1, 1, &field), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_add_field(model, 2, 2, &field), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_add_field(model, 1, 2, &(svmp_field){.entries = 1}), SVMP_BAD_CALL);
    assert_ok(svmp_model_add_field(model, 1, 2, &field));
    assert_ok(svmp_model_finish(model));
    assert_int_equal(svmp_graph_factors(svmp_model_graph(model)), 4);
    assert_ok(svmp_model_exact_moments(model, mean, variance));
    assert_near(mean[0], 1, 1e-14);
    assert_near(mean[1], 2, 1e-14);
    assert_near(mean[2], 1, 1e-14);
    assert_near(variance[1], 2.0 / 3, 1e-14);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_the_transforms),
        cmocka_unit_test(test_a_field_is_its_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
