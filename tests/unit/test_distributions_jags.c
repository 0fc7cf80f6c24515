/* Distributions of JAGS' modules with vectors among their arguments: values by R, sums and derivatives, draws. */
#include <math.h>

#include "distribution_cases.h"

typedef struct vector_case {
    const char *name;
    size_t rows;        /* of the value */
    size_t shape[3][2]; /* of the arguments: rows, columns; 0: no argument */
    double argument[3][4];
    double x[2];
    double value; /* the log density there, by R */
} vector_case;

/* dnorm() of R's parts added up; plogis(c - mu) and pnorm(c - mu) subtracted; and for vectors the formulas with R's
 * matrices: lgamma((k + p)/2) - lgamma(k/2) + log(det(Omega))/2 - p/2 log(k pi) - (k + p)/2 log(1 + d' Omega d / k). */
static const vector_case cases[] = {
    {"dnormmix", 1, {{2, 1}, {2, 1}, {2, 1}}, {{-1, 2}, {1, 4}, {1, 3}}, {0.3}, -3.107994847831},
    {"dordered.logit", 1, {{1, 1}, {2, 1}}, {{0.4}, {-0.5, 1.2}}, {1}, -1.24115387473209},
    {"dordered.logit", 1, {{1, 1}, {2, 1}}, {{0.4}, {-0.5, 1.2}}, {2}, -0.91398343634731},
    {"dordered.logit", 1, {{1, 1}, {2, 1}}, {{0.4}, {-0.5, 1.2}}, {3}, -1.17110066594778},
    {"dordered.probit", 1, {{1, 1}, {2, 1}}, {{0.4}, {-0.5, 1.2}}, {1}, -1.69249280656134},
    {"dordered.probit", 1, {{1, 1}, {2, 1}}, {{0.4}, {-0.5, 1.2}}, {2}, -0.50404122978418},
    {"dordered.probit", 1, {{1, 1}, {2, 1}}, {{-3}, {-0.5, 1.2}}, {2}, -5.0837997798428},
    {"dmnorm.vcov", 2, {{2, 1}, {2, 2}}, {{0.5, -1}, {2, 0.6, 0.6, 1}}, {1, 0.4}, -3.1004690897664},
    {"dmt", 2, {{2, 1}, {2, 2}, {1, 1}}, {{0.5, -1}, {2, 0.6, 0.6, 1}, {3.5}}, {1, 0.4}, -3.4169679656297},
    {"dscaled.wishart", 1, {{1, 1}, {1, 1}}, {{1.5}, {3}}, {0.7}, -1.2552915188128}, /* 1/sqrt(x) is half-t */
};

/* Inputs: the value, then all arguments that are `unknown`. */
static program *program_of(svmp_context *context, const vector_case *which, bool unknown, double *x, size_t *inputs) {
    const distribution *family = svmp_distribution_find(which->name);
    program_builder *b;
    program *compiled = NULL;
    expr value[2], items[3][4];
    expr_array arguments[3];
    char sentence[200];
    assert_non_null(family);
    assert_ok(svmp_builder_create(context, &b));
    *inputs = 0;
    for (size_t k = 0; k < which->rows; k++) {
        x[*inputs] = which->x[k];
        value[k] = svmp_expr_input(b, (uint32_t)(*inputs)++);
    }
    for (size_t k = 0; k < family->arguments; k++) {
        const size_t rows = which->shape[k][0], columns = which->shape[k][1];
        for (size_t i = 0; i < rows * columns; i++) {
            const bool repeated = columns > 1 && i == 2; /* a symmetric matrix of two rows */
            if (unknown && !repeated) x[*inputs] = which->argument[k][i];
            items[k][i] = repeated  ? items[k][1]
                          : unknown ? svmp_expr_input(b, (uint32_t)(*inputs)++)
                                    : svmp_expr_literal(b, which->argument[k][i]);
        }
        arguments[k] = (expr_array){rows, columns, items[k]};
    }
    assert_true(svmp_distribution_shapes_agree(family, which->rows, 1, family->arguments, arguments, sentence,
                                               sizeof sentence));
    expr density = svmp_distribution_log_density(b, family, (expr_array){which->rows, 1, value}, arguments, NULL, true);
    assert_ok(svmp_program_finish(b, density, *inputs, 0, &compiled));
    svmp_builder_free(b);
    return compiled;
}

static void test_values_and_derivatives(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double x[16], value;
        size_t inputs;
        program *compiled = program_of(context, &cases[k], true, x, &inputs);
        const bool discrete_value = svmp_distribution_find(cases[k].name)->discrete;
        test_run(compiled, 1, x, NULL, &value, NULL);
        assert_near(value, cases[k].value, 1e-11);
        test_gradient(compiled, x, 1e-4, 1e-8, discrete_value ? 1 : 0);
        svmp_program_free(compiled);
    }
    svmp_context_free(context);
}

/* The log density of a noncentral distribution at x, with its gradient tested. */
static double noncentral(svmp_context *context, const scalar_case *which, double x) {
    double point[4] = {x, which->argument[0], which->argument[1], which->argument[2]}, value;
    program *compiled = scalar_program(context, which, DENSITY, true, NULL, true);
    test_run(compiled, 1, point, NULL, &value, NULL);
    test_gradient(compiled, point, 1e-4, 2e-8, 0);
    svmp_program_free(compiled);
    return value;
}

static double normal_density(double x) { return exp(-0.5 * x * x) / sqrt(2 * acos(-1)); }

/* With 1 and 3 degrees of freedom: the radius r of Z + d in 1 and 3 dimensions has density phi(r - d) + phi(r + d) and
 * r/d (phi(r - d) - phi(r + d)). And d/d delta of the density is half its difference to the density with k + 2 degrees.
 * */
static void test_noncentral_chi_square(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (double x = 0.2; x < 150; x *= 1.8)
        for (double delta = 0.3; delta < 90; delta *= 2.3) {
            const double r = sqrt(x), d = sqrt(delta), near = normal_density(r - d), far = normal_density(r + d);
            const double one = noncentral(context, &(scalar_case){"dnchisqr", {1, delta}, 0, 0}, x);
            const double three = noncentral(context, &(scalar_case){"dnchisqr", {3, delta}, 0, 0}, x);
            assert_near(one, log((near + far) / (2 * r)), 1e-11);
            assert_near(three, log(-near * expm1(-2 * r * d) / (2 * d)), 1e-11);
            const double point[3] = {x, 1, delta};
            double value, gradient[3];
            program *compiled =
                scalar_program(context, &(scalar_case){"dnchisqr", {1, delta}, 0, 0}, DENSITY, true, NULL, true);
            test_run(compiled, 1, point, NULL, &value, gradient);
            assert_near(gradient[2], 0.5 * expm1(three - one), 1e-10);
            svmp_program_free(compiled);
        }
    svmp_context_free(context);
}

/* It is Student's t for noncentrality 0; symmetric under a change of both signs; and the mixture over c = chi^2/k of
 * normal densities with mean mu/sqrt(c) and precision tau c, by the trapezoidal rule in log c. */
static void test_noncentral_t(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const double tau = 1.7;
    for (double k = 0.6; k < 40; k *= 2.4)
        for (double x = -9; x < 10; x += 2.75) {
            const double central = noncentral(context, &(scalar_case){"dt", {0, tau, k}, 0, 0}, x);
            assert_near(noncentral(context, &(scalar_case){"dnt", {0, tau, k}, 0, 0}, x), central, 1e-11);
            for (double mu = -4; mu < 5; mu += 2.5) {
                const double here = noncentral(context, &(scalar_case){"dnt", {mu, tau, k}, 0, 0}, x);
                assert_near(noncentral(context, &(scalar_case){"dnt", {-mu, tau, k}, 0, 0}, -x), here, 1e-12);
                double sum = 0;
                const double step = 0.01;
                for (double u = -80; u < 8; u += step) { /* c = e^u: gamma(k/2, k/2) */
                    const double c = exp(u), z = sqrt(tau) * (sqrt(c) * x - mu);
                    sum += step * exp(0.5 * k * (u - c) + 0.5 * k * log(0.5 * k) - lgamma(0.5 * k)) * sqrt(tau * c) *
                           normal_density(z);
                }
                assert_near(here, log(sum), 1e-9);
            }
        }
    svmp_context_free(context);
}

/* Draws have the moments k + delta and 2 (k + 2 delta), and mu sqrt(k/2) gamma((k-1)/2)/gamma(k/2) and
 * (mu^2 + 1/tau) k/(k-2). */
static void test_noncentral_draws(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    const double k = 9, mu = 1.3, tau = 2, delta = 2.5;
    const struct {
        const char *name;
        double argument[3], mean, second;
    } families[] = {{"dnchisqr", {k, delta}, k + delta, 2 * (k + 2 * delta) + (k + delta) * (k + delta)},
                    {"dnt",
                     {mu, tau, k},
                     mu * sqrt(0.5 * k) * tgamma(0.5 * (k - 1)) / tgamma(0.5 * k),
                     (mu * mu + 1 / tau) * k / (k - 2)}};
    svmp_context *context = test_context(1);
    for (size_t f = 0; f < 2; f++) {
        number_array arguments[3];
        double mean = 0, second = 0, fourth = 0, value;
        for (size_t j = 0; j < 3; j++) arguments[j] = (number_array){1, 1, &families[f].argument[j]};
        for (uint64_t l = 0; l < DRAWS; l++) {
            bool drawn = false;
            const random_source source = {.stream = {.seed = l, .purpose = RANDOM_TEST}};
            assert_ok(svmp_distribution_draw(context, svmp_distribution_find(families[f].name), source, 1, 1, arguments,
                                             -INFINITY, INFINITY, &drawn, &value));
            assert_true(drawn);
            mean += value / DRAWS;
            second += value * value / DRAWS;
            fourth += pow(value, 4) / DRAWS;
        }
        assert_true(fabs(mean - families[f].mean) < 4 * sqrt((second - mean * mean) / DRAWS));
        assert_true(fabs(second - families[f].second) < 4 * sqrt((fourth - second * second) / DRAWS));
    }
    svmp_context_free(context);
}

/* Means of draws against exact moments: of each coordinate, and of its square if continuous. */
static void test_draws(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    static const struct {
        size_t which; /* of the cases */
        double mean, second;
    } moments[] = {
        {0, (-1 + 3 * 2.0) / 4, (2 + 3 * 4.25) / 4},
        {1, 0, 0}, /* by their probabilities */
        {4, 0, 0},
        {7, 0.5, 2 + 0.25},
        {8, 0.5, 0.25 + 3.5 / 1.5 * 1 / (2 - 0.36)}, /* k/(k - 2) Omega^-1 */
    };
    svmp_context *context = test_context(1);
    for (size_t m = 0; m < sizeof moments / sizeof *moments; m++) {
        const vector_case *which = &cases[moments[m].which];
        const distribution *family = svmp_distribution_find(which->name);
        number_array arguments[3];
        double sum[3] = {0}, square[3] = {0};
        for (size_t k = 0; k < family->arguments; k++)
            arguments[k] = (number_array){which->shape[k][0], which->shape[k][1], which->argument[k]};
        for (uint64_t l = 0; l < DRAWS; l++) {
            double value[2];
            bool drawn = false;
            const random_source source = {.stream = {.seed = l, .purpose = RANDOM_TEST}};
            assert_ok(svmp_distribution_draw(context, family, source, which->rows, 1, arguments, -INFINITY, INFINITY,
                                             &drawn, value));
            assert_true(drawn);
            for (size_t j = 0; j < 3; j++) {
                const double f = family->discrete ? value[0] == (double)j + 1 : pow(value[0], (double)j + 1);
                sum[j] += f / DRAWS;
                square[j] += f * f / DRAWS;
            }
        }
        for (size_t j = 0; j < (family->discrete ? 3 : 2); j++) {
            double expected = j == 0 ? moments[m].mean : moments[m].second;
            for (size_t k = 0; family->discrete && k < 3; k++) {
                double x[16], value;
                size_t inputs;
                vector_case at = *which;
                at.x[0] = (double)j + 1;
                program *compiled = program_of(context, &at, false, x, &inputs);
                test_run(compiled, 1, x, NULL, &value, NULL);
                expected = exp(value);
                svmp_program_free(compiled);
            }
            assert_true(fabs(sum[j] - expected) < 5 * sqrt((square[j] - sum[j] * sum[j]) / DRAWS));
        }
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noncentral_chi_square),
        cmocka_unit_test(test_noncentral_t),
        cmocka_unit_test(test_noncentral_draws),
        cmocka_unit_test(test_values_and_derivatives),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
