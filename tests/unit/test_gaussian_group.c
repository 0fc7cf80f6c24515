/* Gaussian statements of the model language: recognised, added to the quadratic, answered exactly. */
#include "files.h"

#include <math.h>

#include "expr/program.h"
#include "model/model.h"

static svmp_model *read_text(svmp_context *context, const char *text, const char *data) {
    svmp_model *model = NULL;
    write_text("model.bug", text);
    write_text("data.R", data);
    if (svmp_model_read(context, 2, (const char *const[]){"model.bug", "data.R"}, NULL, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

/* ---- degrees ----------------------------------------------------------------------------------------------------- */

static int degree(program_builder *b, expr value) {
    program *compiled = NULL;
    assert_ok(svmp_program_finish(b, value, 3, 1, &compiled));
    int found = svmp_program_degree(compiled);
    svmp_program_free(compiled);
    return found;
}

static void test_degrees(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program_builder *b = NULL;
    assert_ok(svmp_builder_create(context, &b));
    expr x = svmp_expr_input(b, 0), y = svmp_expr_input(b, 1), z = svmp_expr_input(b, 2), p = svmp_expr_parameter(b, 0);
    expr xy = svmp_expr_multiply(b, x, y);
    assert_int_equal(degree(b, p), 0);
    assert_int_equal(degree(b, svmp_expr_log(b, p)), 0);
    assert_int_equal(degree(b, svmp_expr_subtract(b, x, y)), 1);
    assert_int_equal(degree(b, svmp_expr_divide(b, x, svmp_expr_exp(b, p))), 1);
    assert_int_equal(degree(b, svmp_expr_negate(b, svmp_expr_square(b, svmp_expr_add(b, x, p)))), 2);
    assert_int_equal(degree(b, svmp_expr_multiply(b, p, xy)), 2);
    assert_int_equal(degree(b, svmp_expr_power(b, x, svmp_expr_literal(b, 2))), 2);
    expr many[] = {svmp_expr_multiply(b, xy, z),
                   svmp_expr_square(b, xy),
                   svmp_expr_log(b, x),
                   svmp_expr_exp(b, x),
                   svmp_expr_abs(b, x),
                   svmp_expr_divide(b, p, x),
                   svmp_expr_reciprocal(b, x),
                   svmp_expr_ifelse(b, svmp_expr_less(b, x, p), x, y),
                   svmp_expr_max(b, x, y),
                   svmp_expr_power(b, x, svmp_expr_literal(b, 3)),
                   svmp_expr_add(b, x, svmp_expr_sqrt(b, y))};
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) assert_int_equal(degree(b, many[k]), POLYNOMIAL_MANY);
    svmp_builder_free(b);
    svmp_context_free(context);
}

/* ---- exact answers ----------------------------------------------------------------------------------------------- */

/* y_i ~ N(a + c w_i, 1/4), a and c ~ N(1, 1/0.01): A = 4 sum (1, w)(1, w)' + 0.01 I, b = 4 sum y (1, w) + 0.01. */
static const char regression[] = "model {\n"
                                 "  for (i in 1:length(y)) {\n"
                                 "    mu[i] <- a + c * w[i]\n"
                                 "    y[i] ~ dnorm(mu[i], tau)\n"
                                 "  }\n"
                                 "  a ~ dnorm(1, 0.01)\n"
                                 "  c ~ dnorm(1, 0.01)\n"
                                 "  tau <- 1 / pow(0.5, 2)\n"
                                 "}\n";
static const double w[] = {0, 1, 2.5, 4, 7}, y[] = {1e6 + 0.3, 1e6 + 1.2, 1e6 + 2.9, 1e6 + 3.7, 1e6 + 7.1};

static void test_regression(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context, regression,
                                  "w <- c(0, 1, 2.5, 4, 7)\n"
                                  "y <- c(1000000.3, 1000001.2, 1000002.9, 1000003.7, 1000007.1)\n");
    double A[4] = {0.01, 0, 0, 0.01}, b[2] = {0.01, 0.01}, mean[2], variance[2];
    for (int i = 0; i < 5; i++) {
        A[0] += 4;
        A[1] += 4 * w[i];
        A[3] += 4 * w[i] * w[i];
        b[0] += 4 * y[i];
        b[1] += 4 * y[i] * w[i];
    }
    double determinant = A[0] * A[3] - A[1] * A[1];
    assert_true(svmp_model_is_gaussian(model));
    assert_int_equal(model->group_count, 0);
    assert_int_equal(svmp_graph_factors(svmp_model_graph(model)), 7); /* the graph has the edges of the statements */
    double dense[4], linear[2];
    test_dense(model, dense, linear);
    for (int k = 0; k < 4; k++) assert_near(dense[k], k == 2 ? A[1] : A[k], 1e-15);
    if (svmp_model_exact_moments(model, mean, variance) == SVMP_OK) {
        assert_near(mean[0], (A[3] * b[0] - A[1] * b[1]) / determinant, 1e-9);
        assert_near(mean[1], (A[0] * b[1] - A[1] * b[0]) / determinant, 1e-6); /* relative to numbers of size 1e6 */
        assert_near(variance[0], A[3] / determinant, 1e-12);
        assert_near(variance[1], A[0] / determinant, 1e-12);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The log density is that of the statements, with its constants: two normals and a bivariate one. */
static void test_values(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(
        context,
        "model {\n  m ~ dnorm(0, 4)\n  y ~ dnorm(m, 1)\n  v[1:2] ~ dmnorm(mu[], O[,])\n  factor(0 * v[1])\n}\n",
        "y <- 2\nmu <- c(1, -1)\nO <- structure(c(2, 0.5, 0.5, 1), .Dim = c(2L, 2L))\n");
    const double log_2_pi = 1.8378770664093454836;
    double x[3] = {0.3, -0.7, 2}, value, score[3], d0 = x[1] - 1, d1 = x[2] + 1;
    assert_int_equal(model->group_count, 0);
    assert_ok(svmp_model_evaluate(model, 1, x, &value, score));
    double expected = 0.5 * (log(4) - 4 * x[0] * x[0]) - 0.5 * (2 - x[0]) * (2 - x[0]) +
                      0.5 * (log(1.75) - 2 * d0 * d0 - d0 * d1 - d1 * d1) - 2 * log_2_pi;
    assert_near(value, expected, 1e-14);
    assert_near(score[0], -4 * x[0] + 2 - x[0], 1e-14);
    assert_near(score[1], -2 * d0 - 0.5 * d1, 1e-14);
    assert_near(score[2], -0.5 * d0 - d1, 1e-14);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- statements that stay programs ------------------------------------------------------------------------------- */

static void expect_program(const char *statement, const char *sentence) {
    char text[400];
    double mean[4];
    svmp_context *context = test_context(1);
    snprintf(text, sizeof text, "model {\n  a ~ dnorm(0, 1)\n  b ~ dnorm(a, 1)\n  c ~ dnorm(b, 1)\n  %s\n}\n",
             statement);
    svmp_model *model = read_text(context, text, "y <- 2\n");
    assert_false(svmp_model_is_gaussian(model));
    assert_int_equal(svmp_model_exact_moments(model, mean, NULL), SVMP_UNSUPPORTED);
    if (!strstr(svmp_context_error(context), sentence) && !strstr(svmp_context_error(context), "CHOLMOD"))
        fail_msg("%s: %s", statement, svmp_context_error(context));
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_what_is_not_gaussian(void **state) {
    (void)state;
    static const char line[] = "the factor on line 5 is not linear-quadratic";
    expect_program("factor(a * b * c)", line);
    expect_program("factor(-a^4)", line);
    expect_program("factor(-exp(a))", line);
    expect_program("factor(ifelse(a > 0, -a, a))", line);
    expect_program("factor(-abs(a - b))", line);
    expect_program("y ~ dnorm(a, exp(b))", line);
    expect_program("y ~ dnorm(a * b, 1)", line);
    expect_program("y ~ dnorm(a / b, 1)", line);
    expect_program("y ~ dt(a, 1, 4)", line);
    expect_program("y ~ dpois(exp(a))", line);
    expect_program("d ~ dnorm(a, 1) T(0,)", line);
    expect_program("d ~ dlnorm(a, 1)", "d is bounded"); /* its logarithm is Gaussian, but the variable is not */
}

/* In a model that is not Gaussian, Gaussian statements join the quadratic; the square of a sum of many variables stays
 * a program, since its matrix is full. */
static void test_what_pays(void **state) {
    (void)state;
    char data[400] = "y <- c(0";
    for (int i = 1; i < 100; i++) snprintf(data + strlen(data), sizeof data - strlen(data), ", %d", i % 3);
    strcat(data, ")\n");
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context,
                                  "model {\n"
                                  "  for (i in 1:100) { x[i] ~ dnorm(0, 1)  y[i] ~ dpois(exp(x[i])) }\n"
                                  "  for (i in 1:99) { factor(-0.5 * (x[i] - x[i+1])^2) }\n"
                                  "  factor(-0.001 * sum(x)^2)\n"
                                  "}\n",
                                  data);
    assert_int_equal(model->group_count, 2);
    assert_int_equal(model->quadratic_factors, 199);
    assert_int_equal(model->quadratic.start[100], 100 + 2 * 99);
    assert_int_equal(svmp_graph_factors(svmp_model_graph(model)), 300);
    svmp_model_free(model);
    model = read_text(context, "model {\n  for (i in 1:100) { x[i] ~ dnorm(0, 1) }\n  factor(-0.001 * sum(x)^2)\n}\n",
                      "N <- 1\n");
    assert_true(
        svmp_model_is_gaussian(model)); /* all statements are Gaussian: an exact answer is worth a full matrix */
    assert_int_equal(model->quadratic.start[100], 100 * 100);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A statement whose collected coefficients overflow stays a program. */
static void test_not_finite(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model =
        read_text(context, "model {\n  a ~ dnorm(0, 1)\n  factor(-s[1] * a^2)\n}\n", "s <- c(1e250, 1)\n");
    assert_true(svmp_model_is_gaussian(model));
    svmp_model_free(model);
    model =
        read_text(context, "model {\n  a ~ dnorm(0, 1)\n  factor(-s[1] * a * (1e250 * a))\n}\n", "s <- c(1e250, 1)\n");
    assert_false(svmp_model_is_gaussian(model));
    assert_int_equal(model->group_count, 1);
    assert_int_equal(model->quadratic_factors, 1);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    write_text("model.bug", regression);
    write_text("data.R", "w <- c(0, 1, 2.5, 4, 7)\ny <- c(1, 2, 3, 4, NA)\n");
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *context = scarce_context(&memory);
        svmp_model *model = NULL;
        memory.left = allowed;
        status = svmp_model_read(context, 2, (const char *const[]){"model.bug", "data.R"}, NULL, &model);
        if (status != SVMP_OK) assert_non_null(strstr(svmp_context_error(context), "Out of memory"));
        svmp_model_free(model);
        svmp_context_free(context);
        assert_true(allowed < 5000);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degrees),         cmocka_unit_test(test_regression),
        cmocka_unit_test(test_values),          cmocka_unit_test(test_what_is_not_gaussian),
        cmocka_unit_test(test_what_pays),       cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
