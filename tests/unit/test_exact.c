/* Exact Gaussian inference against dense linear algebra. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

enum { MOST = 60 };

static void test_moments_against_dense_inverse(void **state) {
    (void)state;
    const double densities[] = {0, 0.1, 0.5, 1};
    static double A[MOST * MOST], b[MOST], mean[MOST], variance[MOST];
    svmp_context *context = test_context(2);
    for (size_t k = 0; k < 8; k++) {
        svmp_model *model = test_random_gaussian(context, 5 + 5 * k, densities[k % 4], 0, k);
        const size_t d = svmp_graph_variables(svmp_model_graph(model));
        test_dense(model, A, b);
        test_invert(d, A);
        assert_ok(svmp_model_exact_moments(model, mean, variance));
        for (size_t i = 0; i < d; i++) {
            double expected = 0;
            for (size_t j = 0; j < d; j++) expected += A[i * d + j] * b[j];
            assert_near(mean[i], expected, 1e-12);
            assert_near(variance[i], A[i * d + i], 1e-12);
        }
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* All 100 means within 4.5 standard errors, all covariances within 5. */
static void test_draws_have_the_models_moments(void **state) {
    (void)state;
    enum { NODES = 8, N = 40000 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, NODES, 0.4, 1, 77);
    double A[NODES * NODES], b[NODES], mean[NODES];
    test_dense(model, A, b);
    test_invert(NODES, A);
    assert_ok(svmp_model_exact_moments(model, mean, NULL));
    run_options options = graphical_options();
    options.method = "exact";
    options.particles = N;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *draws = NULL;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, SVMP_COMPLETED);
    assert_int_equal(svmp_run_iteration(run), 1);
    assert_ok(svmp_run_particles(run, &draws));
    const double *x = svmp_particles_values(draws);
    for (size_t i = 0; i < NODES; i++)
        for (size_t j = 0; j <= i; j++) {
            double average = 0, covariance = 0, ii = A[i * NODES + i], jj = A[j * NODES + j], ij = A[i * NODES + j];
            for (size_t l = 0; l < N; l++) {
                average += x[i * N + l] / N;
                covariance += (x[i * N + l] - mean[i]) * (x[j * N + l] - mean[j]) / N;
            }
            assert_true(fabs(average - mean[i]) < 4.5 * sqrt(ii / N));
            assert_true(fabs(covariance - ij) < 5 * sqrt((ii * jj + ij * ij) / N));
        }
    svmp_particles_free(draws);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static svmp_model *two_nodes(svmp_context *context, double coupling, const double *lower) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "a", 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_node(model, "b", 1, lower, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){0, 1}, (double[]){1, coupling, coupling, 1}, NULL));
    return model;
}

static int flat(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)x, (void)user_data;
    for (size_t l = 0; l < n; l++) value[l] = gradient[0][l] = 0;
    return 0;
}

static void expect_refusal(svmp_model *model, svmp_status expected, const char *sentence) {
    double mean[2];
    svmp_context *context = model->context;
    assert_ok(svmp_model_finish(model));
    assert_int_equal(svmp_model_exact_moments(model, mean, NULL), expected);
    assert_non_null(strstr(svmp_context_error(context), sentence));
    svmp_model_free(model);
}

static void test_refusals(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    expect_refusal(two_nodes(context, 2, NULL), SVMP_NOT_POSITIVE_DEFINITE, "the pivot of ");
    expect_refusal(two_nodes(context, 1, NULL), SVMP_NOT_POSITIVE_DEFINITE, "the pivot of ");
    expect_refusal(two_nodes(context, 0.5, (double[]){0}), SVMP_UNSUPPORTED, "b has a box");
    svmp_model *model = two_nodes(context, 0.5, NULL);
    assert_ok(svmp_model_add_callback(model, 1, (size_t[]){0}, flat, NULL));
    expect_refusal(model, SVMP_UNSUPPORTED, "factor 1 is not linear-quadratic");
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_against_dense_inverse),
        cmocka_unit_test(test_draws_have_the_models_moments),
        cmocka_unit_test(test_refusals),
    };
    svmp_context *context = test_context(1);
    svmp_model *model = two_nodes(context, 0, NULL);
    double mean[2];
    const int built = svmp_model_finish(model) == SVMP_OK && svmp_model_exact_moments(model, mean, NULL) == SVMP_OK;
    svmp_model_free(model);
    if (!built) print_message("skipped: %s\n", svmp_context_error(context));
    svmp_context_free(context);
    return built ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
