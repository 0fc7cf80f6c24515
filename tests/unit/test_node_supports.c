/* Nodes with a support: their values and inverse, log |dx/du| against a determinant by differences, gradients, and what
 * is refused. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "support.h"

enum { MOST = 9 };

/* sum of (k + 1) x_k - x_k^2/2 */
static int slanted(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const size_t values = *(const size_t *)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = 0;
        for (size_t k = 0; k < values; k++) {
            value[l] += (double)(k + 1) * x[k][l] - 0.5 * x[k][l] * x[k][l];
            gradient[k][l] = (double)(k + 1) - x[k][l];
        }
    }
    return 0;
}

static const struct kind {
    svmp_support support;
    size_t values, variables;
    double lower[MOST], upper[MOST];
} kinds[] = {
    {SVMP_SUPPORT_BOUNDED, 4, 4, {0, -INFINITY, -1, -INFINITY}, {INFINITY, 2, 3, INFINITY}},
    {SVMP_SUPPORT_ORDERED, 4, 4, {0}, {0}},
    {SVMP_SUPPORT_SIMPLEX, 4, 3, {0}, {0}},
    {SVMP_SUPPORT_CORRELATION, 9, 3, {0}, {0}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static svmp_status build(svmp_context *context, const struct kind *kind, svmp_model **model) {
    svmp_status status = svmp_model_create(context, model);
    if (status == SVMP_OK) status = svmp_model_add_node(*model, "a", 1, NULL, NULL, NULL);
    if (status == SVMP_OK)
        status =
            svmp_model_add_supported_node(*model, "x", kind->support, kind->values, kind->lower, kind->upper, NULL);
    if (status == SVMP_OK) status = svmp_model_add_gaussian(*model, 1, (size_t[]){0}, (double[]){1}, NULL);
    if (status == SVMP_OK)
        status = svmp_model_add_callback(*model, 1, (size_t[]){1}, slanted, (void *)(uintptr_t)&kind->values);
    return status == SVMP_OK ? svmp_model_finish(*model) : status;
}

/* The values that determine the others: all but the last of a simplex, those below the diagonal of a matrix. */
static size_t free_value(const struct kind *kind, size_t k) {
    return kind->support == SVMP_SUPPORT_CORRELATION ? (const size_t[]){3, 6, 7}[k] : k;
}

/* log |determinant|, by elimination with pivots. */
static double log_determinant(size_t d, double a[MOST][MOST]) {
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < d; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        for (size_t j = 0; j < d; j++) {
            const double held = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = held;
        }
        sum += log(fabs(a[k][k]));
        for (size_t i = k + 1; i < d; i++)
            for (size_t j = d; j-- > k;) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    return sum;
}

static void values_at(const svmp_model *model, const double *u, double *values) {
    assert_ok(svmp_model_to_values(model, 1, u, values));
}

static void test_densities(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (size_t c = 0; c < KINDS; c++) {
        const struct kind *kind = &kinds[c];
        const size_t d = kind->variables;
        svmp_model *model = NULL;
        svmp_gradient_check worst;
        double u[MOST + 1], x[MOST + 1], back[MOST + 1], slope[MOST][MOST], density, expected = 0;
        assert_ok(build(context, kind, &model));
        assert_int_equal(svmp_graph_variables(svmp_model_graph(model)), d + 1);
        assert_int_equal(svmp_model_values(model), kind->values + 1);
        for (size_t k = 0; k <= d; k++) u[k] = test_random(c, k);
        values_at(model, u, x);
        assert_ok(svmp_model_from_values(model, 1, x, back));
        for (size_t k = 0; k <= d; k++) assert_near(back[k], u[k], 1e-12);
        for (size_t j = 0; j < d; j++) {
            const double step = 1e-6;
            double high[MOST + 1], low[MOST + 1], moved[MOST + 1];
            memcpy(moved, u, sizeof u);
            moved[j + 1] = u[j + 1] + step;
            values_at(model, moved, high);
            moved[j + 1] = u[j + 1] - step;
            values_at(model, moved, low);
            for (size_t k = 0; k < d; k++) {
                const size_t i = 1 + free_value(kind, k);
                slope[j][k] = (high[i] - low[i]) / (2 * step);
            }
        }
        for (size_t k = 0; k < kind->values; k++) expected += (double)(k + 1) * x[k + 1] - 0.5 * x[k + 1] * x[k + 1];
        expected += log_determinant(d, slope) - 0.5 * x[0] * x[0];
        assert_ok(svmp_model_evaluate(model, 1, u, &density, NULL));
        assert_near(density, expected, 1e-8);
        assert_ok(svmp_model_check_gradient(model, 1, u, &worst));
        assert_true(worst.error < 1e-6);
        x[1] = kind->support == SVMP_SUPPORT_ORDERED ? x[2] : -5;
        assert_int_equal(svmp_model_from_values(model, 1, x, back), SVMP_BAD_INPUT);
        assert_string_equal(svmp_context_error(context), "A value of x is outside its support (particle 1).");
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

static void test_what_is_refused(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_int_equal(svmp_model_add_supported_node(model, "p", SVMP_SUPPORT_SIMPLEX, 1, NULL, NULL, NULL),
                     SVMP_BAD_CALL);
    assert_int_equal(svmp_model_add_supported_node(model, "R", SVMP_SUPPORT_CORRELATION, 8, NULL, NULL, NULL),
                     SVMP_BAD_CALL);
    assert_int_equal(
        svmp_model_add_supported_node(model, "x", SVMP_SUPPORT_BOUNDED, 1, (double[]){1}, (double[]){1}, NULL),
        SVMP_BAD_CALL);
    assert_int_equal(svmp_model_add_supported_node(model, "x", (svmp_support)9, 1, NULL, NULL, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_add_supported_node(model, "x", SVMP_SUPPORT_ORDERED, 0, NULL, NULL, NULL),
                     SVMP_BAD_CALL);
    assert_ok(svmp_model_add_supported_node(model, "x", SVMP_SUPPORT_ORDERED, 2, NULL, NULL, NULL));
    assert_int_equal(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){1, 0, 0, 1}, NULL), SVMP_UNSUPPORTED);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {LONG_MAX};
        svmp_context *context = scarce_context(&memory);
        svmp_model *model = NULL;
        double values[MOST + 1], u[MOST + 1] = {0};
        memory.left = allowed;
        status = build(context, &kinds[3], &model);
        if (status == SVMP_OK) status = svmp_model_to_values(model, 1, u, values);
        if (status == SVMP_OK) status = svmp_model_from_values(model, 1, values, u);
        svmp_model_free(model);
        svmp_context_free(context);
        assert_true(allowed < 500);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_densities),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
