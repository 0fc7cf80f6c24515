/* Distributions of vectors and matrices, categories and counts; the table and its messages; draws. */
#include "distribution_cases.h"
#include "expr/expr_vectors.h"

/* ---- many dimensions ------------------------------------------------------------------------------------- */

typedef struct array_case {
    const char *name;
    size_t rows;
    double argument[2][9];
} array_case;

/* A program for the density of a vector or matrix. `map` maps the inputs to the value; arguments are literals if
 * `unknown` is false, else inputs after those of the value. Adds `map`'s log Jacobian. */
typedef expr (*value_map)(program_builder *b, expr *value);

static program *array_program(svmp_context *context, const array_case *which, value_map map, size_t inputs,
                              bool unknown) {
    const distribution *family = svmp_distribution_find(which->name);
    program_builder *b;
    assert_ok(svmp_builder_create(context, &b));
    expr value[9], items[2][9];
    expr_array arguments[2];
    size_t slots = inputs, columns = family->rank == RANK_MATRIX ? which->rows : 1;
    for (size_t k = 0; k < family->arguments; k++) {
        size_t rows = family->argument[k].rank == RANK_SCALAR ? 1 : which->rows;
        size_t width = family->argument[k].rank == RANK_MATRIX ? rows : 1;
        arguments[k] = (expr_array){rows, width, items[k]};
        for (size_t i = 0; i < rows * width; i++) items[k][i] = svmp_expr_literal(b, which->argument[k][i]);
        for (size_t j = 0; unknown && j < width; j++) /* symmetric matrices: the lower triangle */
            for (size_t i = width > 1 ? j : 0; i < rows; i++) {
                items[k][i + rows * j] = svmp_expr_input(b, (uint32_t)slots++);
                if (width > 1) items[k][j + rows * i] = items[k][i + rows * j];
            }
    }
    expr jacobian = map(b, value);
    expr_array whole = {which->rows, columns, value};
    char sentence[200];
    assert_true(svmp_distribution_shapes_agree(family, which->rows, columns, family->arguments, arguments, sentence,
                                               sizeof sentence));
    expr density = svmp_distribution_log_density(b, family, whole, arguments, NULL, false);
    program *compiled;
    assert_ok(svmp_program_finish(b, svmp_expr_add(b, density, jacobian), slots, 0, &compiled));
    svmp_builder_free(b);
    return compiled;
}

/* (x, y) as they are. */
static expr map_plane(program_builder *b, expr *value) {
    for (uint32_t k = 0; k < 2; k++) value[k] = svmp_expr_input(b, k);
    return svmp_expr_literal(b, 0);
}

/* The simplex of three by stick breaking: x = p, y = (1 - p) q, with p, q logistic. */
static expr map_simplex(program_builder *b, expr *value) {
    expr u = svmp_expr_input(b, 0), v = svmp_expr_input(b, 1);
    expr p = svmp_expr_ilogit(b, u), q = svmp_expr_ilogit(b, v), rest = svmp_expr_ilogit(b, svmp_expr_negate(b, u));
    expr last = svmp_expr_ilogit(b, svmp_expr_negate(b, v));
    value[0] = p;
    value[1] = svmp_expr_multiply(b, rest, q);
    value[2] = svmp_expr_multiply(b, rest, last);
    /* dp = p rest du, dy = rest q last dv */
    expr product =
        svmp_expr_multiply(b, svmp_expr_multiply(b, p, svmp_expr_square(b, rest)), svmp_expr_multiply(b, q, last));
    return svmp_expr_log(b, product);
}

/* A 2 by 2 matrix by its Cholesky factor (e^u, v; e^w): the Jacobian is 4 a^2 c times a c. */
static expr map_cholesky(program_builder *b, expr *value) {
    expr u = svmp_expr_input(b, 0), v = svmp_expr_input(b, 1), w = svmp_expr_input(b, 2);
    expr a = svmp_expr_exp(b, u), c = svmp_expr_exp(b, w);
    value[0] = svmp_expr_square(b, a);
    value[1] = value[2] = svmp_expr_multiply(b, a, v);
    value[3] = svmp_expr_add(b, svmp_expr_square(b, v), svmp_expr_square(b, c));
    expr threes = svmp_expr_multiply(b, u, svmp_expr_literal(b, 3)), twos = svmp_expr_add(b, w, w);
    return svmp_expr_add(b, svmp_expr_add(b, threes, twos), svmp_expr_literal(b, log(4)));
}

/* The trapezoidal rule over a box: exponentially accurate for smooth functions that vanish at its walls. */
static double box_integral(const program *compiled, size_t dimensions, double half_width, size_t points) {
    double step = 2 * half_width / (double)points, sum = 0;
    size_t total_points = 1;
    for (size_t d = 0; d < dimensions; d++) total_points *= points;
    double *x = malloc(dimensions * total_points * sizeof *x), *value = malloc(total_points * sizeof *value);
    for (size_t l = 0; l < total_points; l++)
        for (size_t d = 0, rest = l; d < dimensions; d++, rest /= points)
            x[d * total_points + l] = -half_width + ((double)(rest % points) + 0.5) * step;
    test_run(compiled, total_points, x, NULL, value, NULL);
    for (size_t l = 0; l < total_points; l++) sum += exp(value[l]);
    free(x);
    free(value);
    return sum * pow(step, (double)dimensions);
}

static const array_case normal_2 = {"dmnorm", 2, {{0.3, -0.2}, {2, 0.6, 0.6, 1}}};
static const array_case dirichlet_3 = {"ddirch", 3, {{1.5, 0.8, 2.2}}};
static const array_case wishart_2 = {"dwish", 2, {{2, 0.5, 0.5, 1.4}, {4.5}}};

static void test_many_dimensions(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program *plane = array_program(context, &normal_2, map_plane, 2, false);
    program *simplex = array_program(context, &dirichlet_3, map_simplex, 2, false);
    program *matrices = array_program(context, &wishart_2, map_cholesky, 3, false);
    assert_near(box_integral(plane, 2, 12, 200), 1, 1e-12);
    assert_near(box_integral(simplex, 2, 40, 800), 1, 1e-10);
    assert_near(box_integral(matrices, 3, 14, 160), 1, 1e-8);
    svmp_program_free(plane);
    svmp_program_free(simplex);
    svmp_program_free(matrices);

    plane = array_program(context, &normal_2, map_plane, 2, true);
    simplex = array_program(context, &dirichlet_3, map_simplex, 2, true);
    matrices = array_program(context, &wishart_2, map_cholesky, 3, true);
    double in_plane[] = {0.9, -1.3, 0.3, -0.2, 2, 0.6, 1}, in_simplex[] = {0.4, -0.7, 1.5, 0.8, 2.2};
    double in_matrices[] = {0.3, -0.4, 0.2, 2, 0.5, 1.4, 4.5};
    test_gradient(plane, in_plane, 1e-4, 1e-9, 0);
    test_gradient(simplex, in_simplex, 1e-4, 1e-9, 0);
    test_gradient(matrices, in_matrices, 1e-4, 1e-9, 0);
    svmp_program_free(plane);
    svmp_program_free(simplex);
    svmp_program_free(matrices);
    svmp_context_free(context);
}

/* dwish of one row is a gamma, dmnorm of one row dnorm, ddirch of two dbeta. */
static expr map_first(program_builder *b, expr *value) {
    value[0] = svmp_expr_input(b, 0);
    value[1] = svmp_expr_subtract(b, svmp_expr_literal(b, 1), value[0]);
    return svmp_expr_literal(b, 0);
}

static void test_special_cases(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const struct {
        array_case many;
        scalar_case one;
    } pairs[] = {{{"dwish", 1, {{1.6}, {5}}}, {"dgamma", {2.5, 0.8}, 0, 0}},
                 {{"dmnorm", 1, {{0.4}, {1.7}}}, {"dnorm", {0.4, 1.7}, 0, 0}},
                 {{"ddirch", 2, {{1.3, 2.4}}}, {"dbeta", {1.3, 2.4}, 0, 0}}};
    for (int k = 0; k < 3; k++) {
        program *many = array_program(context, &pairs[k].many, map_first, 1, false);
        program *one = scalar_program(context, &pairs[k].one, DENSITY, false, NULL, true);
        for (double x = 0.1; x < 0.95; x += 0.1) assert_near(test_value(many, &x), test_value(one, &x), 1e-13);
        svmp_program_free(many);
        svmp_program_free(one);
    }
    svmp_context_free(context);
}

/* ---- vectors of counts, categories, intervals -------------------------------------------------------------- */

static double log_probability(const char *name, size_t rows, const double *value, size_t first_rows,
                              const double *first, size_t second_rows, const double *second) {
    const distribution *family = svmp_distribution_find(name);
    svmp_context *context = test_context(1);
    program_builder *b;
    assert_ok(svmp_builder_create(context, &b));
    expr v[8], f[8], s[8];
    for (size_t k = 0; k < rows; k++) v[k] = svmp_expr_literal(b, value[k]);
    for (size_t k = 0; k < first_rows; k++) f[k] = svmp_expr_literal(b, first[k]);
    for (size_t k = 0; k < second_rows; k++) s[k] = svmp_expr_literal(b, second[k]);
    expr_array arguments[2] = {{first_rows, 1, f}, {second_rows, 1, s}};
    expr density = svmp_distribution_log_density(b, family, (expr_array){rows, 1, v}, arguments, NULL, false);
    double result = NAN;
    assert_true(svmp_expr_is_literal(b, density, &result));
    svmp_builder_free(b);
    svmp_context_free(context);
    return result;
}

static void test_counted(void **state) {
    (void)state;
    double weights[3] = {0.5, 1.5, 3}, sum = 0, n = 5, cuts[3] = {-1, 0.5, 2};
    for (double k = 1; k <= 3; k++) {
        assert_near(log_probability("dcat", 1, &k, 3, weights, 0, NULL), log(weights[(int)k - 1] / 5), 1e-15);
        sum += exp(log_probability("dcat", 1, &k, 3, weights, 0, NULL));
    }
    assert_near(sum, 1, 1e-15);
    sum = 0;
    for (double a = 0; a <= n; a++)
        for (double c = 0; a + c <= n; c++) {
            double x[3] = {a, c, n - a - c};
            sum += exp(log_probability("dmulti", 3, x, 3, weights, 1, &n));
        }
    assert_near(sum, 1, 1e-13);
    for (double t = -2; t < 4; t += 0.25)
        for (double x = 0; x <= 3; x++) {
            int below = (cuts[0] < t) + (cuts[1] < t) + (cuts[2] < t);
            double expected = x == below ? 0 : -INFINITY;
            assert_true(log_probability("dinterval", 1, &x, 1, &t, 3, cuts) == expected);
        }
}

/* ---- the table, and sentences -------------------------------------------------------------------------------- */

static void test_table(void **state) {
    (void)state;
    size_t count;
    const distribution *all = svmp_distribution_table(&count);
    assert_int_equal(count, 42);
    for (size_t k = 0; k < count; k++) {
        assert_ptr_equal(svmp_distribution_find(all[k].name), &all[k]);
        assert_true(all[k].log_density != NULL && (all[k].log_cdf == NULL) == (all[k].log_survival == NULL));
        for (size_t a = 0; a < all[k].arguments; a++) assert_true(strlen(all[k].argument[a].name) > 0);
    }
    assert_ptr_equal(svmp_distribution_find("dbinom"), svmp_distribution_find("dbin"));
    assert_null(svmp_distribution_find("dnrom"));
    assert_true(svmp_distribution_truncatable(svmp_distribution_find("dgamma")));
    assert_false(svmp_distribution_truncatable(svmp_distribution_find("dmnorm")));
}

#define ONE(x) ((number_array){1, 1, (double[]){x}})

static void test_sentences(void **state) {
    (void)state;
    char sentence[200];
    const distribution *gamma = svmp_distribution_find("dgamma"), *binomial = svmp_distribution_find("dbin");
    const distribution *normal = svmp_distribution_find("dmnorm"), *interval = svmp_distribution_find("dinterval");
    number_array arguments[2] = {ONE(0.5), ONE(4)};
    assert_true(svmp_distribution_contains(gamma, ONE(2), arguments, sentence, sizeof sentence));
    assert_false(svmp_distribution_contains(gamma, ONE(-2), arguments, sentence, sizeof sentence));
    assert_string_equal(sentence, "-2 is negative");
    assert_false(svmp_distribution_contains(binomial, ONE(1.5), arguments, sentence, sizeof sentence));
    assert_string_equal(sentence, "1.5 is not a whole number");
    assert_false(svmp_distribution_contains(binomial, ONE(5), arguments, sentence, sizeof sentence));
    assert_string_equal(sentence, "5 is not between 0 and 4");
    assert_false(svmp_distribution_accepts(gamma, 1, ONE(-1), sentence, sizeof sentence));
    assert_string_equal(sentence, "lambda = -1 is not positive");
    assert_false(svmp_distribution_accepts(gamma, 1, ONE(-1), NULL, 0));
    double indefinite[4] = {1, 2, 2, 1}, definite[4] = {2, 1, 1, 2}, skew[4] = {2, 1, 0, 2};
    assert_false(svmp_distribution_accepts(normal, 1, (number_array){2, 2, indefinite}, NULL, 0));
    assert_false(svmp_distribution_accepts(normal, 1, (number_array){2, 2, skew}, NULL, 0));
    assert_true(svmp_distribution_accepts(normal, 1, (number_array){2, 2, definite}, NULL, 0));
    assert_false(svmp_distribution_accepts(interval, 1, (number_array){2, 1, (double[]){2, 1}}, NULL, 0));
    expr_array shapes[2] = {{2, 1, NULL}, {3, 3, NULL}};
    assert_false(svmp_distribution_shapes_agree(normal, 2, 1, 2, shapes, sentence, sizeof sentence));
    assert_string_equal(sentence, "the argument Omega of dmnorm has 3 rows, but the value has 2");
    assert_false(svmp_distribution_shapes_agree(normal, 2, 1, 1, shapes, sentence, sizeof sentence));
    assert_string_equal(sentence, "dmnorm takes 2 arguments, not 1");
}

/* ---- draws ----------------------------------------------------------------------------------------------------- */

static random_source draw_source(uint64_t l) {
    return (random_source){.stream = {.seed = 11, .b = l, .purpose = RANDOM_TEST}};
}

/* F of a draw is uniform: its first two moments agree within 4.5 standard errors. Truncated draws lie within their
 * bounds. */
static void test_draws(void **state) {
    (void)state;
    enum { N = 4000 };
    svmp_context *context = test_context(1);
    static double x[N], log_f[N];
    for (int k = 0; k < CONTINUOUS; k++) {
        const scalar_case *which = &continuous[k];
        const distribution *family = svmp_distribution_find(which->name);
        number_array arguments[4];
        for (int a = 0; a < 4; a++) arguments[a] = (number_array){1, 1, &which->argument[a]};
        bool drawn;
        for (uint64_t l = 0; l < N; l++) {
            assert_ok(svmp_distribution_draw(context, family, draw_source(l), 1, 1, arguments, -INFINITY, INFINITY,
                                             &drawn, &x[l]));
            assert_true(drawn && svmp_distribution_contains(family, ONE(x[l]), arguments, NULL, 0));
        }
        program *cdf = scalar_program(context, which, CDF, false, NULL, true);
        test_run(cdf, N, x, NULL, log_f, NULL);
        svmp_program_free(cdf);
        double mean = 0, square = 0;
        for (int l = 0; l < N; l++) mean += exp(log_f[l]) / N, square += exp(2 * log_f[l]) / N;
        assert_true(fabs(mean - 1.0 / 2) < 4.5 * sqrt(1.0 / 12 / N));
        assert_true(fabs(square - 1.0 / 3) < 4.5 * sqrt(4.0 / 45 / N));
        assert_ok(svmp_distribution_draw(context, family, draw_source(0), 1, 1, arguments, which->low, which->high,
                                         &drawn, &x[0]));
        assert_true(drawn && x[0] >= which->low && x[0] <= which->high);
    }
    for (int k = 0; k < DISCRETE; k++) { /* the first probabilities, within 4.5 standard errors */
        const scalar_case *which = &discrete[k];
        const distribution *family = svmp_distribution_find(which->name);
        number_array arguments[4];
        for (int a = 0; a < 4; a++) arguments[a] = (number_array){1, 1, &which->argument[a]};
        if (family->draw == NULL) continue;
        double seen[8] = {0}, value;
        bool drawn;
        for (uint64_t l = 0; l < N; l++) {
            assert_ok(svmp_distribution_draw(context, family, draw_source(l), 1, 1, arguments, -INFINITY, INFINITY,
                                             &drawn, &value));
            if (value < 8) seen[(int)value] += 1.0 / N;
        }
        program *density = scalar_program(context, which, DENSITY, false, NULL, false);
        for (double j = 0; j < 8; j++) {
            double p = exp(test_value(density, &j));
            assert_true(fabs(seen[(int)j] - p) <= 4.5 * sqrt(p * (1 - p) / N) + 1e-9);
        }
        svmp_program_free(density);
    }
    bool drawn = true;
    double untouched = 3;
    assert_ok(svmp_distribution_draw(context, svmp_distribution_find("dflat"), draw_source(0), 1, 1, NULL, -INFINITY,
                                     INFINITY, &drawn, &untouched));
    assert_true(!drawn && untouched == 3);
    svmp_context_free(context);
}

/* Counts of millions are drawn in a few steps: mean and variance within 5 standard errors. Invalid arguments give no
 * draw. */
static void test_large_counts(void **state) {
    (void)state;
    enum { N = 2000 };
    const struct {
        const char *name;
        double argument[2], mean, variance;
    } cases[] = {{"dbin", {0.3, 1e9}, 3e8, 2.1e8},
                 {"dbin", {1 - 1e-7, 1e9}, 1e9 - 100, 100},
                 {"dpois", {1e7, 0}, 1e7, 1e7},
                 {"dnegbin", {0.25, 1e5}, 3e5, 1.2e6}};
    svmp_context *context = test_context(1);
    bool drawn;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const distribution *family = svmp_distribution_find(cases[k].name);
        number_array arguments[2] = {ONE(cases[k].argument[0]), ONE(cases[k].argument[1])};
        double sum = 0, squares = 0, x;
        for (uint64_t l = 0; l < N; l++) {
            assert_ok(svmp_distribution_draw(context, family, draw_source(l), 1, 1, arguments, -INFINITY, INFINITY,
                                             &drawn, &x));
            assert_true(drawn && x == floor(x));
            sum += (x - cases[k].mean) / N;
            squares += (x - cases[k].mean) * (x - cases[k].mean) / N;
        }
        assert_true(fabs(sum) < 5 * sqrt(cases[k].variance / N));
        assert_true(fabs(squares / cases[k].variance - 1) < 5 * sqrt(2.0 / N));
    }
    double x = 3;
    number_array infinite[2] = {ONE(INFINITY), ONE(1)};
    for (size_t k = 0; k < 2; k++) {
        const distribution *family = svmp_distribution_find(k ? "dpois" : "dgamma");
        assert_ok(
            svmp_distribution_draw(context, family, draw_source(0), 1, 1, infinite, -INFINITY, INFINITY, &drawn, &x));
        assert_true(!drawn && x == 3);
    }
    svmp_context_free(context);
}

/* Means and covariances of vectors and matrices, within 5 standard errors. */
static void test_array_draws(void **state) {
    (void)state;
    enum { N = 20000 };
    svmp_context *context = test_context(1);
    double sum[6] = {0}, matrix[4] = {0}, simplex[3] = {0}, x[4];
    bool drawn;
    number_array normal[2] = {{2, 1, normal_2.argument[0]}, {2, 2, normal_2.argument[1]}};
    number_array wishart[2] = {{2, 2, wishart_2.argument[0]}, {1, 1, wishart_2.argument[1]}};
    number_array dirichlet[1] = {{3, 1, dirichlet_3.argument[0]}};
    for (uint64_t l = 0; l < N; l++) {
        assert_ok(svmp_distribution_draw(context, svmp_distribution_find("dmnorm"), draw_source(l), 2, 1, normal, 0, 0,
                                         &drawn, x));
        double d0 = x[0] - 0.3, d1 = x[1] + 0.2, terms[5] = {d0, d1, d0 * d0, d0 * d1, d1 * d1};
        for (int k = 0; k < 5; k++) sum[k] += terms[k] / N;
        assert_ok(svmp_distribution_draw(context, svmp_distribution_find("dwish"), draw_source(l), 2, 2, wishart, 0, 0,
                                         &drawn, x));
        for (int k = 0; k < 4; k++) matrix[k] += x[k] / N;
        assert_ok(svmp_distribution_draw(context, svmp_distribution_find("ddirch"), draw_source(l), 3, 1, dirichlet, 0,
                                         0, &drawn, x));
        assert_near(x[0] + x[1] + x[2], 1, 1e-14);
        for (int k = 0; k < 3; k++) simplex[k] += x[k] / N;
    }
    double determinant = 2 * 1 - 0.36, covariance[3] = {1 / determinant, -0.6 / determinant, 2 / determinant};
    assert_true(fabs(sum[0]) < 5 * sqrt(covariance[0] / N) && fabs(sum[1]) < 5 * sqrt(covariance[2] / N));
    for (int k = 0; k < 3; k++) assert_true(fabs(sum[2 + k] - covariance[k]) < 5 * 2 * covariance[2] / sqrt(N));
    determinant = 2 * 1.4 - 0.25; /* the mean of dwish(R, k) is k R^-1 */
    double mean[4] = {1.4 / determinant, -0.5 / determinant, -0.5 / determinant, 2 / determinant};
    for (int k = 0; k < 4; k++) /* variances k (v_ii v_jj + v_ij^2) */
        assert_true(fabs(matrix[k] - 4.5 * mean[k]) < 5 * sqrt(4.5 * 2 * mean[3] * mean[3] / N));
    for (int k = 0; k < 3; k++) assert_true(fabs(simplex[k] - dirichlet_3.argument[0][k] / 4.5) < 5 * 0.5 / sqrt(N));
    svmp_context_free(context);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* dmnorm, dwish, inverse and order with the k-th allocation failing, for every k: an error, no leak. */
static void test_allocations(void **state) {
    (void)state;
    for (long k = 1;; k++) {
        failing_memory memory = {.left = k};
        svmp_context *context = test_failing_context(&memory);
        program_builder *b = NULL;
        program *compiled = NULL;
        svmp_status status = svmp_builder_create(context, &b);
        if (status == SVMP_OK) {
            expr a[4], inverse[4], order[4], mean[2] = {svmp_expr_input(b, 0), svmp_expr_input(b, 1)};
            expr degrees = svmp_expr_literal(b, 4);
            (void)map_cholesky(b, a);
            svmp_exprs_inverse(b, 2, a, inverse);
            svmp_exprs_order(b, 4, a, order);
            expr_array matrix = {2, 2, a}, normal[2] = {{2, 1, mean}, matrix};
            expr_array wishart[2] = {{2, 2, inverse}, {1, 1, &degrees}};
            const distribution *dmnorm = svmp_distribution_find("dmnorm"), *dwish = svmp_distribution_find("dwish");
            expr first = svmp_distribution_log_density(b, dmnorm, (expr_array){2, 1, order}, normal, NULL, false);
            expr second = svmp_distribution_log_density(b, dwish, matrix, wishart, NULL, false);
            status = svmp_program_finish(b, svmp_expr_add(b, first, second), 3, 0, &compiled);
        }
        svmp_program_free(compiled);
        svmp_builder_free(b);
        svmp_context_free(context);
        assert_int_equal(memory.live, 0);
        if (memory.left >= 0) {
            assert_ok(status);
            return;
        }
        assert_int_equal(status, SVMP_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_dimensions), cmocka_unit_test(test_special_cases),
        cmocka_unit_test(test_counted),         cmocka_unit_test(test_table),
        cmocka_unit_test(test_sentences),       cmocka_unit_test(test_draws),
        cmocka_unit_test(test_large_counts),    cmocka_unit_test(test_array_draws),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
