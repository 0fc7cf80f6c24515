/* Curvature, sparse factors and the Gaussian on the graph. */
#include "files.h"

#include <math.h>

#include "base/eigen.h"
#include "model/curvature.h"
#include "model/factorisation.h"
#include "start/gaussian.h"
#include "targets.h"

static svmp_model *read_text(svmp_context *context, const char *text, const char *data) {
    svmp_model *model = NULL;
    write_text("model.bug", text);
    write_text("data.R", data);
    if (svmp_model_read(context, 2, (const char *const[]){"model.bug", "data.R"}, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

/* ---- eigenvalues and factors ------------------------------------------------------------------------------------- */

static void test_eigen(void **state) {
    (void)state;
    for (size_t n = 1; n <= 40; n = n < 6 ? n + 1 : 2 * n) {
        double a[40 * 40], v[40 * 40], value[40], room[40];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                a[i * n + j] = a[j * n + i] = v[i * n + j] = v[j * n + i] = test_random(n, i * n + j);
        assert_true(svmp_eigen_symmetric(n, v, value, room));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double entry = 0, product = 0;
                for (size_t k = 0; k < n; k++) {
                    entry += value[k] * v[k * n + i] * v[k * n + j];
                    product += v[i * n + k] * v[j * n + k];
                }
                assert_near(entry, a[i * n + j], 1e-13);
                assert_near(product, i == j, 1e-13);
            }
    }
    double none[4] = {1, NAN, NAN, 1}, value[2], room[2];
    assert_false(svmp_eigen_symmetric(2, none, value, room));
}

/* Of a random sparse matrix: log det, A^-1, its entries on the pattern, and L'^-1 from the dense inverse. */
static void test_factorisation(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 30, 0.1, 0, 5);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double *dense = calloc(d * d, sizeof *dense), *linear = calloc(d, sizeof *linear);
    double *unit = calloc(d * d, sizeof *unit), *spread = calloc(d * d, sizeof *spread);
    curvature *c = NULL;
    factorisation *f = NULL;
    size_t bad;
    test_dense(model, dense, linear);
    assert_ok(svmp_curvature_create(model, 1, 2, &c));
    const sparsity *pattern = svmp_curvature_pattern(c);
    double *H = calloc(pattern->entries, sizeof *H), *inverse = calloc(pattern->entries, sizeof *inverse);
    assert_ok(svmp_curvature_evaluate(c, linear, NULL, H));
    for (size_t j = 0; j < d; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            assert_true(H[e] == dense[pattern->row[e] * d + j]); /* the quadratic's curvature is its matrix */
    assert_ok(svmp_factorisation_create(context, pattern, &f));
    H[pattern->start[3]] = -1;
    assert_ok(svmp_factorise(f, H, &bad));
    assert_true(bad != SIZE_MAX);
    H[pattern->start[3]] = dense[3 * d + 3];
    assert_ok(svmp_factorise(f, H, &bad)); /* and again after a failure */
    assert_true(bad == SIZE_MAX);
    test_invert(d, dense);
    for (size_t i = 0; i < d; i++) unit[i * d + i] = spread[i * d + i] = 1;
    assert_ok(svmp_factorisation_solve(f, 2, d, unit));
    assert_ok(svmp_factorisation_spread(f, 2, d, spread));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0; /* P'L'^-1 (P'L'^-1)' = A^-1 */
            for (size_t k = 0; k < d; k++) sum += spread[i * d + k] * spread[j * d + k];
            assert_near(unit[i * d + j], dense[i * d + j], 1e-12);
            assert_near(sum, dense[i * d + j], 1e-12);
        }
    assert_ok(svmp_factorisation_inverse(f, inverse));
    for (size_t j = 0; j < d; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            assert_near(inverse[e], dense[pattern->row[e] * d + j], 1e-12);
    svmp_factorisation_free(f);
    svmp_curvature_free(c);
    svmp_model_free(model);
    svmp_context_free(context);
    free(dense), free(linear), free(unit), free(spread), free(H), free(inverse);
}

/* ---- Gaussians are exact ----------------------------------------------------------------------------------------- */

static void expect_exact(svmp_context *context, svmp_model *model, double tolerance) {
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double *A = calloc(d * d, sizeof *A), *b = calloc(d, sizeof *b), *variance = calloc(d, sizeof *variance);
    gaussian *q = NULL;
    test_dense(model, A, b);
    test_invert(d, A);
    if (svmp_gaussian_create(model, 3, &q) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    assert_ok(svmp_gaussian_variance(q, variance));
    for (size_t i = 0; i < d; i++) {
        double mean = 0;
        for (size_t j = 0; j < d; j++) mean += A[i * d + j] * b[j];
        assert_near((svmp_gaussian_mean(q)[i] - mean) / sqrt(A[i * d + i]), 0, tolerance);
        assert_near(variance[i] / A[i * d + i], 1, tolerance);
    }
    svmp_gaussian_free(q);
    free(A), free(b), free(variance);
}

static void test_exact_matrices(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *models[] = {test_random_gaussian(context, 30, 0.1, 0, 5), test_grid(context, 7, 2),
                            test_random_gaussian(context, 1, 0, 1, 9)};
    for (size_t k = 0; k < 3; k++) {
        expect_exact(context, models[k], 1e-10);
        svmp_model_free(models[k]);
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigen),
        cmocka_unit_test(test_factorisation),
        cmocka_unit_test(test_exact_matrices),
    };
    (void)read_text;
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
