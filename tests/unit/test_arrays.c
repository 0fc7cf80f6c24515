/* Vectors and matrices of expressions: the identities of linear algebra, and their derivatives. */
#include "programs.h"

#include "expr/expr_vectors.h"

/* A program from an expression of the inputs. */
static program *finish(program_builder *b, expr value, size_t slots) {
    program *compiled;
    assert_ok(svmp_program_finish(b, value, slots, 0, &compiled));
    return compiled;
}

static program_builder *start(svmp_context **context) {
    program_builder *b;
    *context = test_context(1);
    assert_ok(svmp_builder_create(*context, &b));
    return b;
}

static void stop(svmp_context *context, program_builder *b) {
    svmp_builder_free(b);
    svmp_context_free(context);
}

static void inputs(program_builder *b, size_t count, expr *items) {
    for (size_t k = 0; k < count; k++) items[k] = svmp_expr_input(b, (uint32_t)k);
}

/* Values of many expressions at x. */
static void evaluate_all(program_builder *b, size_t count, const expr *items, size_t slots, const double *x,
                         double *values) {
    program *compiled;
    assert_ok(svmp_program_finish_values(b, count, items, slots, 0, &compiled));
    test_run(compiled, 1, x, NULL, values, NULL);
    svmp_program_free(compiled);
}

static void test_vectors(void **state) {
    (void)state;
    svmp_context *context;
    program_builder *b = start(&context);
    enum { COUNT = 7 };
    double x[COUNT] = {3, -1, 4, 1.5, -5, 9, 2.6}, values[1 + 3 * COUNT];
    expr items[COUNT], outputs[1 + 3 * COUNT];
    inputs(b, COUNT, items);
    outputs[0] = svmp_exprs_sum(b, COUNT, items);
    svmp_exprs_sort(b, COUNT, items, outputs + 1);
    svmp_exprs_rank(b, COUNT, items, outputs + 1 + COUNT);
    svmp_exprs_order(b, COUNT, items, outputs + 1 + 2 * COUNT);
    evaluate_all(b, 1 + 3 * COUNT, outputs, COUNT, x, values);
    double sum = 0;
    for (int k = 0; k < COUNT; k++) sum += x[k];
    assert_near(values[0], sum, 1e-14);
    for (int k = 0; k < COUNT; k++) {
        double sorted = values[1 + k];
        if (k > 0) assert_true(values[1 + k - 1] <= sorted);
        int item = (int)values[1 + 2 * COUNT + k] - 1; /* order */
        assert_true(x[item] == sorted);
        assert_true(values[1 + COUNT + item] == k + 1); /* rank */
    }
    program *compiled = finish(b, outputs[1 + 2], COUNT); /* the third smallest is item 4 */
    double value, gradient[COUNT];
    test_run(compiled, 1, x, NULL, &value, gradient);
    for (int k = 0; k < COUNT; k++) assert_true(gradient[k] == (k == 3));
    svmp_program_free(compiled);
    stop(context, b);
}

/* Sorts all vectors of zeros and ones of every small length. */
static void test_sorting(void **state) {
    (void)state;
    svmp_context *context;
    program_builder *b = start(&context);
    for (size_t count = 1; count <= 9; count++) {
        svmp_builder_reset(b);
        expr items[9], sorted[9];
        inputs(b, count, items);
        svmp_exprs_sort(b, count, items, sorted);
        program *compiled;
        assert_ok(svmp_program_finish_values(b, count, sorted, count, 0, &compiled));
        enum { N = 512 };
        double x[9 * N], values[9 * N]; /* by the 0-1 principle this suffices */
        for (size_t l = 0; l < N; l++)
            for (size_t k = 0; k < count; k++) x[k * N + l] = (double)(l >> k & 1);
        test_run(compiled, N, x, NULL, values, NULL);
        for (size_t l = 0; l < N; l++)
            for (size_t k = 1; k < count; k++) assert_true(values[(k - 1) * N + l] <= values[k * N + l]);
        svmp_program_free(compiled);
    }
    stop(context, b);
}

static void test_interpolation(void **state) {
    (void)state;
    svmp_context *context;
    program_builder *b = start(&context);
    double x[4] = {0, 1, 3, 4}, y[4] = {2, 5, -1, 0};
    expr ex[4], ey[4];
    for (int k = 0; k < 4; k++) ex[k] = svmp_expr_literal(b, x[k]), ey[k] = svmp_expr_literal(b, y[k]);
    program *compiled = finish(b, svmp_exprs_interpolate(b, 4, ex, ey, svmp_expr_input(b, 0)), 1);
    double at[7] = {-1, 0, 0.5, 1, 2, 3.25, 9}, value[7], gradient[7];
    double expected[7] = {2, 2, 3.5, 5, 2, -0.75, 0}, slope[7] = {0, 3, 3, -3, -3, 1, 0};
    test_run(compiled, 7, at, NULL, value, gradient);
    for (int k = 0; k < 7; k++) {
        assert_near(value[k], expected[k], 1e-15);
        assert_near(gradient[k], slope[k], 1e-15);
    }
    svmp_program_free(compiled);
    stop(context, b);
}

/* A symmetric positive definite matrix of inputs: the lower triangle, column by column. */
enum { P = 3, TRIANGLE = P * (P + 1) / 2 };
static const double triangle[TRIANGLE] = {4, 1, -0.5, 3, 0.7, 2};

static void symmetric(program_builder *b, expr *a) {
    uint32_t slot = 0;
    for (size_t j = 0; j < P; j++)
        for (size_t i = j; i < P; i++) a[i + P * j] = a[j + P * i] = svmp_expr_input(b, slot++);
}

static void test_matrices(void **state) {
    (void)state;
    svmp_context *context;
    program_builder *b = start(&context);
    expr a[P * P], outputs[P * P + 2], right[P];
    symmetric(b, a);
    for (int k = 0; k < P; k++) right[k] = svmp_expr_literal(b, k + 1.5);
    svmp_exprs_inverse(b, P, a, outputs);
    outputs[P * P] = svmp_exprs_logdet(b, P, a);
    outputs[P * P + 1] = svmp_exprs_quadratic(b, P, a, right);
    double inverse[P * P + 2];
    evaluate_all(b, P * P + 2, outputs, TRIANGLE, triangle, inverse);
    double dense[P][P], quadratic = 0;
    for (int j = 0, k = 0; j < P; j++)
        for (int i = j; i < P; i++) dense[i][j] = dense[j][i] = triangle[k++];
    for (int j = 0; j < P; j++)
        for (int i = 0; i < P; i++) {
            double product = 0;
            for (int k = 0; k < P; k++) product += dense[i][k] * inverse[k + P * j];
            assert_near(product, i == j, 1e-14);
            quadratic += (i + 1.5) * dense[i][j] * (j + 1.5);
        }
    double determinant = 0;
    for (int k = 0; k < 3; k++)
        determinant += dense[0][k] *
                       (dense[1][(k + 1) % 3] * dense[2][(k + 2) % 3] - dense[1][(k + 2) % 3] * dense[2][(k + 1) % 3]);
    assert_near(inverse[P * P], log(determinant), 1e-14);
    assert_near(inverse[P * P + 1], quadratic, 1e-14);

    /* d logdet a = tr(a^-1 da): the inverse on the diagonal, twice the inverse off it */
    double value, gradient[TRIANGLE];
    program *compiled = finish(b, outputs[P * P], TRIANGLE);
    test_run(compiled, 1, triangle, NULL, &value, gradient);
    for (int j = 0, k = 0; j < P; j++)
        for (int i = j; i < P; i++) assert_near(gradient[k++], (i == j ? 1 : 2) * inverse[i + P * j], 1e-14);
    svmp_program_free(compiled);
    for (int k = 0; k < P; k++) { /* and of the inverse, along its diagonal and beside it */
        compiled = finish(b, outputs[k + P * (k / 2)], TRIANGLE);
        test_gradient(compiled, triangle, 1e-4, 1e-9, 0);
        svmp_program_free(compiled);
    }
    stop(context, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
