/* Every operation: its derivative against differences, its limiting cases; identities of the special functions. */
#include "programs.h"

#include "expr/operation_loops.h"
#include "maths/special.h"

typedef struct op_range {
    expr_op op;
    double low[3], high[3];
    unsigned fixed; /* operands that differences cannot vary */
} op_range;

/* Test ranges of operations; -2 ... 2 for others. */
static const op_range ranges[] = {
    {OP_divide, {-2, 0.4}, {2, 3}, 0},
    {OP_reciprocal, {0.3}, {3}, 0},
    {OP_power, {0.2, -2}, {3, 2}, 0},
    {OP_sqrt, {0.1}, {4}, 0},
    {OP_log, {0.1}, {4}, 0},
    {OP_log1p, {-0.8}, {3}, 0},
    {OP_require, {0.1}, {3}, 0},
    {OP_log1m_exp, {0.1}, {5}, 0},
    {OP_xlogy, {-2, 0.1}, {2, 3}, 0},
    {OP_xlog1my, {-2, 0.05}, {2, 0.9}, 0},
    {OP_tan, {-1.2}, {1.2}, 0},
    {OP_arcsin, {-0.9}, {0.9}, 0},
    {OP_arccos, {-0.9}, {0.9}, 0},
    {OP_arccosh, {1.1}, {4}, 0},
    {OP_arctanh, {-0.9}, {0.9}, 0},
    {OP_logit, {0.05}, {0.95}, 0},
    {OP_cloglog, {0.05}, {0.95}, 0},
    {OP_probit, {0.05}, {0.95}, 0},
    {OP_phi, {-4}, {4}, 0},
    {OP_log_phi, {-12}, {4}, 0},
    {OP_log_ilogit, {-8}, {8}, 0},
    {OP_loggam, {0.2}, {6}, 0},
    {OP_gamma, {0.2}, {4}, 0},
    {OP_logfact, {-0.5}, {8}, 0},
    {OP_log_gamma_p, {0.3, 0.2}, {6, 12}, 0},
    {OP_log_gamma_q, {0.3, 0.2}, {6, 12}, 0},
    {OP_log_beta_i, {0.05, 0.4, 0.4}, {0.95, 5, 5}, 0},
    {OP_gamma_quantile, {0.05, 0.3}, {0.95, 6}, 0},
    {OP_beta_quantile, {0.05, 0.4, 0.4}, {0.95, 5, 5}, 0},
    {OP_t_quantile, {0.05, 0.8}, {0.95, 12}, 0},
    {OP_log_0f1, {0.3, 0.1}, {6, 20}, 0},
    {OP_log_0f1_shape, {0.3, 0.1}, {6, 20}, 0},
    {OP_log_normal_power, {0.3, -6}, {8, 6}, 0},
    {OP_log_normal_power_shape, {0.3, -6}, {8, 6}, 0},
    {OP_scaled_exp, {-2, -2}, {2, 2}, 2},
    {OP_half_over, {0.3}, {3}, 0},
    {OP_log_slope, {0.3}, {3}, 0},
    {OP_masked_divide, {-2, 0.4}, {2, 3}, 0},
    {OP_normal_hazard, {-12}, {4}, 0},
    {OP_digamma, {0.4}, {6}, 0},
    {OP_log_gamma_p_shape, {0.5, 0.2}, {6, 12}, 0},
    {OP_log_gamma_q_shape, {0.5, 0.2}, {6, 12}, 0},
    {OP_log_beta_i_first, {0.05, 0.4, 0.4}, {0.95, 5, 5}, 0},
    {OP_log_beta_i_second, {0.05, 0.4, 0.4}, {0.95, 5, 5}, 0},
    {OP_hypergeometric_mean, {7 * 0x1p26 + 9, 6, -2}, {7 * 0x1p26 + 9, 6, 2}, 3},
    {OP_log_hypergeometric_sum, {7 * 0x1p26 + 9, 6, -2}, {7 * 0x1p26 + 9, 6, 2}, 3},
};

/* Operations that only occur in second derivatives have no derivative. */
static bool only_derivative(expr_op op) {
    switch (op) {
    case OP_logistic_tail:
    case OP_normal_hazard_slope:
    case OP_trigamma:
    case OP_log_0f1_bend:
    case OP_log_normal_power_bend:
    case OP_log_gamma_p_bend:
    case OP_log_gamma_q_bend:
    case OP_log_beta_i_bend:
    case OP_log_beta_i_cross:
    case OP_log_beta_i_bend_second:
    case OP_hypergeometric_variance: return true;
    default: return false;
    }
}

/* Piecewise constant, or a scale that cancels: the derivative is 0 everywhere. */
static bool piecewise_constant(expr_op op) {
    return op == OP_peak || svmp_op_is_truth(op) || op == OP_sign || op == OP_integer_divide || op == OP_round ||
           op == OP_trunc;
}

static op_range range_of(expr_op op) {
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (ranges[k].op == op) return ranges[k];
    return (op_range){op, {-2, -2, -2}, {2, 2, 2}, 0};
}

/* Whether the second operand is exp(-|a|), whose share of the derivative is in that by the first. */
static bool takes_tail(expr_op op) {
    return op == OP_log_ilogit_by_tail || op == OP_ilogit_by_tail || op == OP_ilogit_beyond;
}

static program *program_of(svmp_context *context, expr_op op) {
    program_builder *builder;
    program *compiled = NULL;
    assert_ok(svmp_builder_create(context, &builder));
    expr operand[3];
    for (int k = 0; k < 3; k++) operand[k] = svmp_expr_input(builder, (uint32_t)k);
    if (takes_tail(op)) operand[1] = svmp_expr_logistic_tail(builder, operand[0]);
    expr value = svmp_expr_apply(builder, op, operand[0], operand[1], operand[2]);
    svmp_status status = svmp_program_finish(builder, value, 3, 0, &compiled);
    assert_int_equal(status, only_derivative(op) ? SVMP_UNSUPPORTED : SVMP_OK);
    svmp_builder_free(builder);
    return compiled;
}

static void test_derivatives(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int op = OP_parameter + 1; op < OP_COUNT; op++) {
        program *compiled = program_of(context, (expr_op)op);
        if (compiled == NULL) continue;
        op_range range = range_of((expr_op)op);
        for (uint64_t round = 0; round < 40; round++) {
            double x[3];
            svmp_random_uniforms((random_stream){.seed = round, .a = (uint64_t)op, .purpose = RANDOM_TEST}, 3, x);
            for (int k = 0; k < 3; k++) x[k] = range.low[k] + (range.high[k] - range.low[k]) * x[k];
            double value, gradient[3];
            test_run(compiled, 1, x, NULL, &value, gradient);
            if (!piecewise_constant((expr_op)op))
                test_gradient(compiled, x, 1e-4, 2e-8, range.fixed);
            else
                assert_true(gradient[0] == 0 && gradient[1] == 0);
        }
        svmp_program_free(compiled);
    }
    svmp_context_free(context);
}

/* Operations that occur in log densities; the others occur in derivatives only. */
static bool only_in_derivatives(expr_op op) {
    switch (op) {
    case OP_log_ilogit_by_tail:
    case OP_ilogit_by_tail:
    case OP_ilogit_beyond:
    case OP_half_over:
    case OP_log_slope:
    case OP_masked_multiply:
    case OP_masked_divide:
    case OP_normal_hazard:
    case OP_digamma:
    case OP_log_0f1_shape:
    case OP_log_normal_power_shape:
    case OP_log_gamma_p_shape:
    case OP_log_gamma_q_shape:
    case OP_log_beta_i_first:
    case OP_log_beta_i_second:
    case OP_hypergeometric_mean: return true;
    default: return only_derivative(op);
    }
}

/* Uses of an operation in a value: itself, its square, or a branch of a choice that is taken or not. */
static expr use(program_builder *b, int way, expr r, expr x) {
    expr zero = svmp_expr_literal(b, 0);
    switch (way) {
    case 0: return r;
    case 1: return svmp_expr_multiply(b, svmp_expr_square(b, r), svmp_expr_sin(b, x));
    case 2: return svmp_expr_multiply(b, svmp_expr_ifelse(b, svmp_expr_less(b, x, zero), svmp_expr_square(b, x), r), r);
    default: return svmp_expr_max(b, svmp_expr_multiply(b, r, x), svmp_expr_multiply(b, r, svmp_expr_literal(b, 0.5)));
    }
}

static void test_second_derivatives(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program_builder *b;
    assert_ok(svmp_builder_create(context, &b));
    for (int op = OP_parameter + 1; op < OP_COUNT; op++) {
        const op_range range = range_of((expr_op)op);
        if (only_in_derivatives((expr_op)op) || piecewise_constant((expr_op)op)) continue;
        for (int way = 0; way < 4; way++) {
            program *compiled = NULL;
            expr operand[3], r;
            svmp_builder_reset(b);
            for (int k = 0; k < 3; k++) operand[k] = svmp_expr_input(b, (uint32_t)k);
            r = svmp_expr_apply(b, (expr_op)op, operand[0], operand[1], operand[2]);
            const int free = range.fixed == 3 ? 2 : 0;
            assert_ok(svmp_program_finish(b, use(b, way, r, operand[free]), 3, 0, &compiled));
            for (uint64_t round = 0; round < 20; round++) {
                double x[3];
                svmp_random_uniforms((random_stream){.seed = round, .a = (uint64_t)op, .purpose = RANDOM_TEST}, 3, x);
                for (int k = 0; k < 3; k++) x[k] = range.low[k] + (range.high[k] - range.low[k]) * x[k];
                /* not near a discontinuity of the choices, or of min, max, abs and ifelse */
                if (fabs(x[0]) < 0.01 || fabs(x[0] - x[1]) < 0.01 || fabs(x[free]) < 0.01 || fabs(x[free] - 0.5) < 0.01)
                    continue;
                test_second_differences(compiled, x, 1e-4, 1e-7, range.fixed);
            }
            svmp_program_free(compiled);
        }
    }
    svmp_builder_free(b);
    svmp_context_free(context);
}

/* An infinite branch that is not taken affects neither value nor derivatives: f = x^2 for x <= 0, else log(x) + x^2.
 * And a score that is 0 keeps its derivative: f = y (x - 1)^2 at x = 1. */
static void test_masked_second_derivatives(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program_builder *b;
    program *compiled = NULL;
    assert_ok(svmp_builder_create(context, &b));
    expr x = svmp_expr_input(b, 0), y = svmp_expr_input(b, 1), zero = svmp_expr_literal(b, 0);
    expr log_x = svmp_expr_ifelse(b, svmp_expr_greater(b, x, zero), svmp_expr_log(b, x), zero);
    expr off = svmp_expr_square(b, svmp_expr_subtract(b, x, svmp_expr_literal(b, 1)));
    expr picked = svmp_expr_ifelse(b, svmp_expr_greater(b, y, zero), svmp_expr_multiply(b, y, off), off);
    assert_ok(svmp_program_finish(b, svmp_expr_add(b, svmp_expr_add(b, svmp_expr_square(b, x), log_x), picked), 2, 0,
                                  &compiled));
    double second[4];
    test_second(compiled, (double[]){0, 3}, NULL, second);
    assert_true(second[0] == 2 + 6 && second[1] == -2 && second[3] == 0);
    test_second(compiled, (double[]){1, 3}, NULL, second);
    assert_true(second[0] == 2 - 1 + 6 && second[1] == 0);
    test_second(compiled, (double[]){2, -3}, NULL, second);
    assert_true(second[0] == 2 - 0.25 + 2 && second[1] == 0 && second[3] == 0);
    svmp_program_free(compiled);
    svmp_builder_free(b);
    svmp_context_free(context);
}

/* The derivative of a unary operation at a point. */
static double slope(expr_op op, double at) {
    svmp_context *context = test_context(1);
    program *compiled = program_of(context, op);
    double x[3] = {at, 1, 1}, value, gradient[3];
    test_run(compiled, 1, x, NULL, &value, gradient);
    svmp_program_free(compiled);
    svmp_context_free(context);
    return gradient[0];
}

/* The conventions of operations.def at points without a derivative. */
/* log of the sum of e^a, e^b, e^c and e^-inf: its value for any position of the largest, its derivatives, which are
 * shares that add up to 1, and the effect of -inf. */
static void test_log_sum_exp(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program_builder *b;
    program *compiled;
    expr terms[4];
    assert_ok(svmp_builder_create(context, &b));
    assert_true(svmp_expr_is_literal(b, svmp_expr_log_sum_exp(b, 0, NULL), NULL));
    for (uint32_t k = 0; k < 3; k++) terms[k] = svmp_expr_input(b, k);
    terms[3] = svmp_expr_literal(b, -INFINITY);
    assert_int_equal(svmp_expr_log_sum_exp(b, 1, terms).index, terms[0].index);
    assert_ok(svmp_program_finish(b, svmp_expr_log_sum_exp(b, 4, terms), 3, 0, &compiled));
    const double points[][3] = {{0.3, -1, 2}, {-900, -901, -903}, {800, 0, 799}, {-1, 4, -800}};
    for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
        const double *x = points[p];
        const double m = fmax(fmax(x[0], x[1]), x[2]), sum = exp(x[0] - m) + exp(x[1] - m) + exp(x[2] - m);
        double value, gradient[3];
        test_run(compiled, 1, x, NULL, &value, gradient);
        assert_near(value, m + log(sum), 4e-16 * fabs(value));
        for (int k = 0; k < 3; k++) assert_near(gradient[k], exp(x[k] - m) / sum, 4e-16);
        if (p == 0) test_second_differences(compiled, x, 1e-4, 1e-7, 0);
    }
    double value, gradient[3];
    test_run(compiled, 1, (const double[]){-INFINITY, 1, -INFINITY}, NULL, &value, gradient);
    assert_true(value == 1 && gradient[0] == 0 && gradient[1] == 1 && gradient[2] == 0);
    test_run(compiled, 1, (const double[]){-INFINITY, -INFINITY, -INFINITY}, NULL, &value, gradient);
    assert_true(value == -INFINITY);
    test_run(compiled, 1, (const double[]){0, NAN, 0}, NULL, &value, gradient);
    assert_true(isnan(value));
    svmp_program_free(compiled);
    svmp_builder_free(b);
    svmp_context_free(context);
}

static void test_edges(void **state) {
    (void)state;
    assert_true(slope(OP_abs, 0) == 1);
    assert_true(slope(OP_sqrt, 0) == 0);
    assert_true(slope(OP_step, 0) == 0);
    assert_true(slope(OP_round, 0.5) == 0);
    /* an undefined value has no derivative */
    static const struct {
        expr_op op;
        double at;
    } outside[] = {{OP_log, -1},     {OP_log1p, -2},   {OP_sqrt, -1},     {OP_logit, -0.5}, {OP_logit, 1.5},
                   {OP_cloglog, -1}, {OP_cloglog, 2},  {OP_arcsin, 1.5},  {OP_arccosh, -2}, {OP_arctanh, 2},
                   {OP_probit, 2},   {OP_require, -1}, {OP_arccosh, 0.5}, {OP_arccos, -2}};
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++)
        assert_true(isnan(slope(outside[k].op, outside[k].at)));
    assert_true(slope(OP_min, 1) == 1); /* min(1, 1): the first operand's */
    assert_true(slope(OP_max, 1) == 1);
    assert_near(slope(OP_log_phi, -40), 40.0249688472, 1e-10); /* t + 1/(t + 2/(t + ...)), t = 40 */
    assert_near(slope(OP_log_phi, 10), svmp_normal_density(10), 1e-14);
    assert_true(slope(OP_log_ilogit, -800) == 1);
    assert_true(slope(OP_log_ilogit, 800) == 0);
    assert_near(slope(OP_ilogit, 40) / exp(-40), 1, 1e-12);
    assert_near(slope(OP_exp, -700) / exp(-700), 1, 1e-12);
}

/* Halves round up, as in JAGS; numbers just below a half round down. */
static void test_round(void **state) {
    (void)state;
    const double pairs[][2] = {{2.5, 3},   {-2.5, -2}, {0.5, 1}, {-0.5, 0}, {0.49999999999999994, 0},
                               {-3.7, -4}, {4.2, 4}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        double rounded;
        svmp_kernels_plain.op(OP_round, 0)(1, &rounded, &pairs[k][0], &pairs[k][0], &pairs[k][0]);
        assert_true(rounded == pairs[k][1]);
    }
}

static void test_gamma_functions(void **state) {
    (void)state;
    const double euler = 0.57721566490153286061, pi = acos(-1);
    assert_near(svmp_digamma(1), -euler, 1e-15);
    assert_near(svmp_digamma(0.5), -euler - 2 * log(2), 1e-15);
    assert_true(isnan(svmp_digamma(0)) && isnan(svmp_digamma(-3)));
    assert_near(svmp_trigamma(1), pi * pi / 6, 1e-15);
    assert_near(svmp_trigamma(0.5), pi * pi / 2, 1e-15);
    assert_true(isnan(svmp_trigamma(0)) && isnan(svmp_trigamma(-3)));
    for (double x = -4.75; x < 60; x += 0.5) {
        assert_near(svmp_digamma(x + 1), svmp_digamma(x) + 1 / x, 1e-13);
        assert_near(svmp_trigamma(x + 1), svmp_trigamma(x) - 1 / (x * x), 1e-13);
        if (x <= 0) continue;
        assert_near(svmp_log_gamma_p(1, x), log(-expm1(-x)), 1e-13);
        assert_near(svmp_log_gamma_q(1, x), -x, 1e-13);
        assert_near(svmp_log_gamma_p(0.5, x), log1p(-erfc(sqrt(x))), 1e-13);
        for (double a = 0.3; a < 40; a *= 1.7) {
            double p = exp(svmp_log_gamma_p(a, x)), q = exp(svmp_log_gamma_q(a, x));
            assert_near(p + q, 1, 1e-13);
            double term = exp(a * log(x) - x - svmp_log_gamma(a + 1)); /* P(a + 1, x) = P(a, x) - term */
            assert_near(exp(svmp_log_gamma_p(a + 1, x)), p - term, 1e-13);
            assert_near(p * svmp_log_gamma_p_shape(a, x), -q * svmp_log_gamma_q_shape(a, x), 1e-12);
        }
    }
    assert_true(svmp_log_gamma_p(2, 0) == -INFINITY && svmp_log_gamma_q(2, 0) == 0);
    assert_true(svmp_log_gamma_p(2, INFINITY) == 0 && svmp_log_gamma_q(2, INFINITY) == -INFINITY);
    /* the log is finite far in the tail: Q(1, x) = e^-x */
    assert_near(svmp_log_gamma_q(1, 2000), -2000, 1e-14);
}

/* Quantiles invert the distribution functions; some are known in closed form. */
static void test_quantiles(void **state) {
    (void)state;
    static const double probabilities[] = {1e-12, 1e-6, 0.01, 0.2, 0.5, 0.77, 0.999, 1 - 1e-6, 1 - 1e-12};
    for (size_t k = 0; k < sizeof probabilities / sizeof *probabilities; k++) {
        const double p = probabilities[k], pi = acos(-1);
        assert_near(svmp_gamma_quantile(p, 1) / -log1p(-p), 1, 1e-13);
        const double tail = p < 0.5 ? p : 1 - p, side = p < 0.5 ? -1 : 1;
        if (p != 0.5) assert_near(side * svmp_t_quantile(p, 1) * tan(pi * tail), 1, 1e-13);
        if (p != 0.5) assert_near(svmp_t_quantile(p, 2) * sqrt(2 * tail * (1 - tail)) / (2 * p - 1), 1, 1e-13);
        for (double a = 0.05; a < 3000; a *= 2.3) {
            const double x = svmp_gamma_quantile(p, a), slack = 1e-16 * (10 + a) * log(2 + a);
            /* relative to the smaller tail, if x does not underflow */
            if (x > 1e-290)
                assert_near(p < 0.5 ? svmp_log_gamma_p(a, x) : svmp_log_gamma_q(a, x), p < 0.5 ? log(p) : log1p(-p),
                            1e-11 + slack * 1e3);
            if (pow(p, 1 / a) > 1e-290) assert_near(svmp_beta_quantile(p, a, 1) / pow(p, 1 / a), 1, 1e-11);
            for (double b = 0.3; b < 300; b *= 4.1) {
                const double y = svmp_beta_quantile(p, a, b);
                if (y > 1e-290 && y < 0.99) assert_near(svmp_log_beta_i(y, a, b), log(p), 1e-10 + (a + b) * 1e-13);
            }
        }
    }
    assert_true(svmp_gamma_quantile(0, 2) == 0 && svmp_gamma_quantile(1, 2) == INFINITY);
    assert_true(svmp_beta_quantile(0, 2, 3) == 0 && svmp_beta_quantile(1, 2, 3) == 1);
    assert_true(svmp_t_quantile(0, 2) == -INFINITY && svmp_t_quantile(1, 2) == INFINITY &&
                svmp_t_quantile(0.5, 3) == 0);
    assert_true(isnan(svmp_gamma_quantile(-0.1, 2)) && isnan(svmp_gamma_quantile(0.1, 0)));
    assert_true(isnan(svmp_beta_quantile(1.1, 2, 2)) && isnan(svmp_beta_quantile(0.1, 1, -1)));
    assert_true(isnan(svmp_t_quantile(NAN, 2)) && isnan(svmp_t_quantile(0.1, -2)));
}

static void test_beta_function(void **state) {
    (void)state;
    for (double x = 0.03; x < 1; x += 0.04)
        for (double a = 0.2; a < 30; a *= 1.9) {
            assert_near(svmp_log_beta_i(x, a, 1), a * log(x), 1e-12);
            assert_near(exp(svmp_log_beta_i(x, 1, a)), -expm1(a * log1p(-x)), 1e-12);
            for (double b = 0.3; b < 30; b *= 2.1)
                assert_near(exp(svmp_log_beta_i(x, a, b)) + exp(svmp_log_beta_i(1 - x, b, a)), 1, 1e-12);
        }
    assert_near(svmp_log_beta_i(0.5, 3, 3), log(0.5), 1e-14);
    assert_true(svmp_log_beta_i(0, 2, 3) == -INFINITY && svmp_log_beta_i(1, 2, 3) == 0);
}

static void test_normal_functions(void **state) {
    (void)state;
    for (double x = -37; x < 8; x += 0.25) {
        double p = svmp_normal_cdf(x);
        if (x > -30) assert_near(svmp_log_normal_cdf(x), x < 0 ? log(p) : log1p(-svmp_normal_cdf(-x)), 1e-13);
        if (x < 5) assert_near(svmp_normal_quantile(p), x, 1e-9 + 1e-16 / svmp_normal_density(x));
    }
    assert_true(svmp_normal_quantile(0) == -INFINITY && svmp_normal_quantile(1) == INFINITY);
    assert_true(isnan(svmp_normal_quantile(-0.1)) && isnan(svmp_normal_quantile(1.1)));
    assert_near(svmp_normal_cdf(svmp_normal_quantile(1e-300)) / 1e-300, 1, 1e-11);
    for (double x = -4; x < 8; x += 0.25)
        assert_near(svmp_normal_hazard_slope(x), -svmp_normal_hazard(x) * (x + svmp_normal_hazard(x)), 1e-13);
    assert_near(svmp_normal_hazard_slope(-1e9), -1, 1e-15);
    assert_near(svmp_normal_hazard_slope(-5.0000001), svmp_normal_hazard_slope(-4.9999999), 1e-8);
    /* both sides of the switch to the continued fraction */
    assert_near(svmp_log_normal_cdf(-5.0000001), svmp_log_normal_cdf(-4.9999999) - 2e-7 * svmp_normal_hazard(-5),
                1e-12);
}

/* Every vectorised loop gives the bits of the plain one, for any count and any mix of scalars: each lane is computed
 * like a loop of one lane. */
static bool same_number(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static void same_numbers(const double *found, const double *expected, size_t count) {
    for (size_t l = 0; l < count; l++) assert_true(same_number(found[l], expected[l]));
}

/* Operands between 0 and 1, of both signs, of all magnitudes, and NaN; a single lane gives the same as any other. */
static void fill_operand(int kind, uint64_t k, size_t count, double *operand) {
    static const double edges[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-1074, 1e300, -1e300, 2e5, 3, 0.5, -7};
    svmp_random_uniforms((random_stream){.a = k, .purpose = RANDOM_TEST}, count, operand);
    if (kind == 1)
        for (size_t l = 0; l < count; l++) operand[l] = 8 * operand[l] - 4;
    if (kind == 2)
        for (size_t l = 0; l < count; l++)
            operand[l] = l % 3 ? exp(1400 * operand[l] - 700) : edges[(l + 5 * k) % (sizeof edges / sizeof *edges)];
}

/* Functions that iterate are left out: they may take minutes for extreme arguments. */
static bool has_an_end(int op) { return op < OP_log_gamma_p || op > OP_hypergeometric_variance; }

static void same_bits(expr_kernel plain, expr_kernel other, unsigned scalars, int kind) {
    enum { LANES = 37 };
    double operand[3][LANES], expected[LANES], result[LANES];
    for (uint64_t k = 0; k < 3; k++) fill_operand(kind, k, LANES, operand[k]);
    assert_true((plain == NULL) == (other == NULL));
    if (plain == NULL) return;
    plain(LANES, expected, operand[0], operand[1], operand[2]);
    for (size_t count = 1; count <= LANES; count++) {
        other(count, result, operand[0], operand[1], operand[2]);
        same_numbers(result, expected, count);
    }
    for (size_t l = 0; l < LANES; l++) {
        double one;
        plain(1, &one, scalars & 1 ? operand[0] : &operand[0][l], scalars & 2 ? operand[1] : &operand[1][l],
              scalars & 4 ? operand[2] : &operand[2][l]);
        same_numbers(&one, &expected[l], 1);
    }
    other(LANES, operand[0], operand[0], operand[1], operand[2]); /* in place */
    if (!(scalars & 1)) same_numbers(operand[0], expected, LANES);
}

static void same_bits_of(const kernel_set *other) {
    const kernel_set *plain = &svmp_kernels_plain;
    for (int kind = 0; kind < 3; kind++)
        for (unsigned scalars = 0; scalars < 8; scalars++) {
            for (int op = OP_parameter + 1; op < OP_COUNT; op++)
                if (kind == 0 || has_an_end(op))
                    same_bits(plain->op((expr_op)op, scalars), other->op((expr_op)op, scalars), scalars, kind);
            for (int pair = 0; pair < PAIR_COUNT; pair++)
                same_bits(plain->pair((pair_op)pair, scalars), other->pair((pair_op)pair, scalars), scalars, kind);
            same_bits(plain->copy(scalars & 1), other->copy(scalars & 1), scalars & 1, kind);
        }
}

/* All instruction sets of this machine. */
static void test_same_bits(void **state) {
    (void)state;
    same_bits_of(&svmp_kernels_plain);
#ifdef SVMP_KERNELS_X86
    if (svmp_kernels() != &svmp_kernels_plain) same_bits_of(&svmp_kernels_avx2);
#endif
    same_bits_of(svmp_kernels());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_log_sum_exp),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_gamma_functions),
        cmocka_unit_test(test_beta_function),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_normal_functions),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_second_derivatives),
        cmocka_unit_test(test_masked_second_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
