/* Every distribution of one number: it integrates or sums to 1, its derivatives agree with differences, the derivative
 * of its distribution function is its density, and truncation divides by the right mass. */
#include "distribution_cases.h"

/* ---- quadrature ---------------------------------------------------------------------------------------- */

/* The integral of exp(f) over (low, high) by the double exponential rule: x(t) with dx/dt falling faster than any
 * exponential, and the trapezium rule in t. */
enum { NODES = 1601 };

static double integrate(const program *compiled, double low, double high) {
    static double x[NODES], weight[NODES], value[NODES];
    const double span = 6.5, step = 2 * span / (NODES - 1), half_pi = 1.5707963267948966192;
    for (int k = 0; k < NODES; k++) {
        double t = -span + k * step, s = half_pi * sinh(t), ds = half_pi * cosh(t);
        if (isinf(low) || isinf(high)) { /* a half-line */
            x[k] = isinf(high) ? low + exp(s) : high - exp(s);
            weight[k] = exp(s) * ds;
        } else {
            double up = 1 / (1 + exp(-2 * s)), down = 1 / (1 + exp(2 * s));
            x[k] = up < 0.5 ? low + (high - low) * up : high - (high - low) * down;
            weight[k] = (high - low) * up * down * 2 * ds;
        }
        if (x[k] <= low || x[k] >= high || !isfinite(weight[k]) || !isfinite(x[k])) x[k] = NAN;
    }
    test_run(compiled, NODES, x, NULL, value, NULL);
    double sum = 0;
    for (int k = 0; k < NODES; k++)
        if (!isnan(x[k]) && isfinite(value[k]) && exp(value[k]) > 0) sum += exp(value[k]) * weight[k];
    return sum * step;
}

/* The same in two parts if the centre of a symmetric density, perhaps a kink, lies in between. */
static double total(const program *compiled, const scalar_case *which, double low, double high) {
    bool symmetric = svmp_distribution_find(which->name)->support == SUPPORT_REAL;
    double middle = which->argument[0];
    if (!symmetric || middle <= low || middle >= high) return integrate(compiled, low, high);
    return integrate(compiled, low, middle) + integrate(compiled, middle, high);
}

static void ends(const scalar_case *which, double *low, double *high) {
    *low = 0;
    *high = INFINITY;
    switch (svmp_distribution_find(which->name)->support) {
    case SUPPORT_REAL: *low = -INFINITY; break;
    case SUPPORT_UNIT: *high = 1; break;
    case SUPPORT_INTERVAL: *low = which->argument[0], *high = which->argument[1]; break;
    case SUPPORT_ABOVE: *low = which->argument[1]; break;
    default: break;
    }
}

static void test_integrals(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int k = 0; k < CONTINUOUS; k++) {
        const scalar_case *which = &continuous[k];
        double low, high, cuts[3][2] = {{which->low, NAN}, {NAN, which->high}, {which->low, which->high}};
        ends(which, &low, &high);
        program *whole = scalar_program(context, which, DENSITY, false, NULL, true);
        assert_near(total(whole, which, low, high), 1, 1e-10);
        svmp_program_free(whole);
        for (int cut = 0; cut < 3; cut++) {
            program *part = scalar_program(context, which, DENSITY, false, cuts[cut], true);
            assert_near(total(part, which, cut == 1 ? low : which->low, cut == 0 ? high : which->high), 1, 1e-10);
            svmp_program_free(part);
        }
    }
    svmp_context_free(context);
}

static void test_sums(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int k = 0; k < DISCRETE; k++) {
        const scalar_case *which = &discrete[k];
        const distribution *family = svmp_distribution_find(which->name);
        double cuts[4][2] = {{NAN, NAN}, {which->low, NAN}, {NAN, which->high}, {which->low, which->high}};
        for (int cut = 0; cut < (svmp_distribution_truncatable(family) ? 4 : 1); cut++) {
            program *compiled = scalar_program(context, which, DENSITY, false, cuts[cut], false);
            double sum = 0, value;
            for (double x = -3; x < 200; x++) {
                test_run(compiled, 1, &x, NULL, &value, NULL);
                assert_false(isnan(value));
                sum += exp(value);
            }
            assert_near(sum, 1, 1e-12);
            svmp_program_free(compiled);
        }
    }
    svmp_context_free(context);
}

/* ---- derivatives ---------------------------------------------------------------------------------------- */

static void check_gradients(const program *compiled, const scalar_case *which, unsigned skipped, bool whole) {
    for (int k = 0; k <= 10; k++) {
        double x[5], at = which->low + (which->high - which->low) * k / 10;
        x[0] = whole ? round(at) : at + (which->high - which->low) * 0.0137;
        for (int a = 0; a < 4; a++) x[a + 1] = which->argument[a];
        test_gradient(compiled, x, 1e-4, 1e-7, skipped);
    }
}

/* With respect to the value and every argument; also truncated on either side and both. */
static void test_derivatives(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int k = 0; k < CONTINUOUS; k++) {
        const scalar_case *which = &continuous[k];
        double width = which->high - which->low;
        double cuts[4][2] = {{NAN, NAN},
                             {which->low - 0.01 * width, NAN},
                             {NAN, which->high + 0.05 * width},
                             {which->low - 0.01 * width, which->high + 0.05 * width}};
        for (int cut = 0; cut < 4; cut++)
            for (int inside = 0; inside < 2; inside++) {
                program *compiled = scalar_program(context, which, DENSITY, true, cuts[cut], inside);
                check_gradients(compiled, which, 0, false);
                svmp_program_free(compiled);
            }
    }
    for (int k = 0; k < DISCRETE; k++) {
        const scalar_case *which = &discrete[k];
        bool truncatable = svmp_distribution_truncatable(svmp_distribution_find(which->name));
        bool edge = which->argument[0] == 0;
        unsigned counts = strcmp(which->name, "dhyper") == 0     ? 15
                          : strcmp(which->name, "dbin") == 0     ? 5
                          : strcmp(which->name, "dbetabin") == 0 ? 9
                                                                 : 1;
        double cuts[2][2] = {{NAN, NAN}, {which->low, which->high}};
        for (int cut = 0; cut < (truncatable ? 2 : 1) && !edge; cut++) {
            program *compiled = scalar_program(context, which, DENSITY, true, cuts[cut], true);
            check_gradients(compiled, which, counts, true);
            svmp_program_free(compiled);
        }
    }
    svmp_context_free(context);
}

/* Near the edges of the support: the derivative relative to its own size, with a step relative to the distance. */
static void test_edges(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int k = 0; k < CONTINUOUS; k++) {
        const scalar_case *which = &continuous[k];
        double low, high;
        ends(which, &low, &high);
        program *compiled = scalar_program(context, which, DENSITY, false, NULL, false);
        for (double distance = 1e-2; distance > 1e-7; distance /= 10) {
            double edge[2] = {low, high};
            for (int side = 0; side < 2; side++) {
                double x = edge[side] + (side ? -distance : distance), value, gradient;
                if (isinf(edge[side])) x = (side ? 1 : -1) / distance; /* at a point far in the tail */
                double step = isinf(edge[side]) ? 1e-3 * fabs(x) : 1e-2 * distance;
                test_run(compiled, 1, &x, NULL, &value, &gradient);
                double expected = test_difference(compiled, &x, 0, step);
                double tolerance = 1e-6 + 4e-16 * (1 + fabs(value)) / step / (1 + fabs(expected));
                tolerance += 1e-15 * (fabs(edge[side]) > 0 && isfinite(edge[side])) / distance * 100;
                assert_near(gradient / (1 + fabs(expected)), expected / (1 + fabs(expected)), tolerance);
            }
        }
        double outside[2] = {low - 0.5, high + 0.5}, value, gradient;
        for (int side = 0; side < 2; side++) {
            if (isinf(outside[side])) continue;
            test_run(compiled, 1, &outside[side], NULL, &value, &gradient);
            assert_true(value == -INFINITY && gradient == 0);
        }
        svmp_program_free(compiled);
    }
    svmp_context_free(context);
}

/* d log F / dx = density / F, and similarly for the survival function; F + S = 1. */
static void test_distribution_functions(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int k = 0; k < CONTINUOUS; k++) {
        const scalar_case *which = &continuous[k];
        program *density = scalar_program(context, which, DENSITY, false, NULL, true);
        program *cdf = scalar_program(context, which, CDF, false, NULL, true);
        program *survival = scalar_program(context, which, SURVIVAL, false, NULL, true);
        for (int j = 0; j <= 20; j++) {
            double x = which->low + (which->high - which->low) * (j + 0.37) / 21, f, log_f, log_s, slope_f, slope_s;
            test_run(density, 1, &x, NULL, &f, NULL);
            test_run(cdf, 1, &x, NULL, &log_f, &slope_f);
            test_run(survival, 1, &x, NULL, &log_s, &slope_s);
            assert_near(exp(log_f) + exp(log_s), 1, 1e-13);
            assert_near(slope_f, exp(f - log_f), 1e-11);
            assert_near(slope_s, -exp(f - log_s), 1e-11);
        }
        program *unknown = scalar_program(context, which, CDF, true, NULL, true);
        check_gradients(unknown, which, 0, false);
        svmp_program_free(unknown);
        svmp_program_free(density);
        svmp_program_free(cdf);
        svmp_program_free(survival);
    }
    svmp_context_free(context);
}

/* An argument that depends on unknowns and leaves its domain makes both density and derivative NaN, even if the formula
 * has a value there: the gamma function is defined for negative arguments, and log p is positive for p above 1.
 */
static void check_domains(svmp_context *context, const scalar_case *which, double x) {
    const distribution *family = svmp_distribution_find(which->name);
    program *compiled = scalar_program(context, which, DENSITY, true, NULL, true);
    for (size_t k = 0; k < family->arguments; k++) {
        double outside[2] = {-0.6, family->argument[k].domain == DOMAIN_PROBABILITY ? 1.25 : -1.7}, value, slope[5];
        if (family->argument[k].domain == DOMAIN_REAL || which->argument[0] == 0) continue;
        for (int side = 0; side < 2; side++) {
            double at[5] = {x};
            for (size_t a = 0; a < family->arguments; a++) at[a + 1] = which->argument[a];
            test_run(compiled, 1, at, NULL, &value, slope);
            assert_true(isfinite(value) && isfinite(slope[k + 1]));
            at[k + 1] = outside[side];
            test_run(compiled, 1, at, NULL, &value, slope);
            if (!isnan(value) || !isnan(slope[k + 1]))
                fail_msg("%s: argument %zu = %g gives %g, derivative %g", which->name, k + 1, at[k + 1], value,
                         slope[k + 1]);
        }
    }
    svmp_program_free(compiled);
}

static void test_domains(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int k = 0; k < CONTINUOUS; k++) check_domains(context, &continuous[k], continuous[k].low + 0.1);
    for (int k = 0; k < DISCRETE; k++)
        for (double x = discrete[k].low; x <= discrete[k].high; x++) check_domains(context, &discrete[k], x);
    /* dunif: the ends in the wrong order */
    program *compiled = scalar_program(context, &(scalar_case){"dunif", {0, 1}, 0, 0}, DENSITY, true, NULL, true);
    double at[3] = {0.5, 2, 1}, value, slope[3];
    test_run(compiled, 1, at, NULL, &value, slope);
    assert_true(isnan(value) && isnan(slope[1]) && isnan(slope[2]));
    svmp_program_free(compiled);
    svmp_context_free(context);
}

/* log density of x = e^u as a program of u and all arguments. */
static program *log_scale_program(svmp_context *context, const char *name) {
    const distribution *family = svmp_distribution_find(name);
    program_builder *b;
    program *compiled;
    expr items[4], x;
    expr_array arguments[4];
    assert_non_null(family);
    assert_ok(svmp_builder_create(context, &b));
    x = svmp_expr_exp(b, svmp_expr_input(b, 0));
    for (size_t k = 0; k < family->arguments; k++) {
        items[k] = svmp_expr_input(b, (uint32_t)k + 1);
        arguments[k] = (expr_array){1, 1, &items[k]};
    }
    expr density = svmp_distribution_log_density(b, family, (expr_array){1, 1, &x}, arguments, NULL, true);
    assert_ok(svmp_program_finish(b, density, 1 + family->arguments, 0, &compiled));
    svmp_builder_free(b);
    return compiled;
}

/* Gamma distributions of an unknown shape r, from e^-700 far into the right tail: the value is that of a known shape,
 * within the rounding of its terms, and (r - 1) - lambda x and the differences in r are the derivatives. */
static void test_gamma_in_both_tails(void **state) {
    (void)state;
    static const double shapes[] = {0.01, 0.05, 0.7, 1, 3.3, 29.9, 30.1, 45, 1e4};
    static const double logs[] = {-700, -69, -46, -30, -14, -3, -0.7, -0.01, 0, 0.02, 0.4, 0.42, 1.5, 4};
    svmp_context *context = test_context(1);
    program *direct = scalar_program(context, &(scalar_case){"dgamma", {0}, 0, 0}, DENSITY, true, NULL, true);
    program *gamma = log_scale_program(context, "dgamma"), *chi = log_scale_program(context, "dchisqr");
    program *noncentral = log_scale_program(context, "dnchisqr");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof logs / sizeof *logs; j++) {
            const double r = shapes[i], lambda = 2.5, u = logs[j] + log(r / lambda), x = exp(u);
            const double expected = r * log(lambda) - lgamma(r) + (r - 1) * u - lambda * x;
            const double size = 1 + fabs(lgamma(r)) + fabs((r + 1) * u) + lambda * x + r;
            double at[3] = {u, r, lambda}, plain[3] = {x, r, lambda}, value, slope[3];
            test_run(gamma, 1, at, NULL, &value, slope);
            assert_near(value, expected, 1e-14 * size);
            assert_near(slope[0], r - 1 - lambda * x, 1e-14 * size);
            for (size_t k = 0; k < 3; k++) {
                const double step = 1e-3 * (k == 0 ? 1 : at[k]);
                assert_near(slope[k], test_difference(gamma, at, k, step), 1e-12 * size / step);
            }
            test_run(direct, 1, plain, NULL, &value, slope);
            assert_near(value, expected, 1e-14 * size);
            assert_near(slope[0] * x, r - 1 - lambda * x, 1e-14 * size);
            /* dchisqr(2 r) of x is dgamma(r, 1/2), and so is the noncentral chi-squared with noncentrality 0 */
            double half[3] = {u, 2 * r, 0}, same;
            test_run(chi, 1, half, NULL, &value, slope);
            assert_near(value, -r * log(2) - lgamma(r) + (r - 1) * u - x / 2, 1e-14 * size);
            assert_near(slope[0], r - 1 - x / 2, 1e-14 * size);
            half[2] = 1e-300;
            test_run(noncentral, 1, half, NULL, &same, slope);
            assert_near(same, value, 1e-14 * size);
            assert_near(slope[0], r - 1 - x / 2, 1e-14 * size);
        }
    svmp_program_free(direct);
    svmp_program_free(gamma);
    svmp_program_free(chi);
    svmp_program_free(noncentral);
    svmp_context_free(context);
}

/* A gamma of a large unknown shape stays accurate, though its terms are of size r log r: with lambda = r and x = 1 + e
 * the log density is log(r / 2 pi)/2 + r (log(1 + e) - e) - log x - 1/(12 r). */
static void test_gamma_of_large_shape(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program *compiled = scalar_program(context, &(scalar_case){"dgamma", {0}, 0, 0}, DENSITY, true, NULL, true);
    for (double r = 1e6; r < 1e15; r *= 100)
        for (int t = -3; t <= 3; t++) {
            const double e = 1 + t / sqrt(r) - 1, x = 1 + e;
            double at[3] = {x, r, r}, value, slope[3];
            test_run(compiled, 1, at, NULL, &value, slope);
            const double expected = 0.5 * log(r / (2 * acos(-1))) + r * (log1p(e) - e) - log1p(e) - 1 / (12 * r);
            assert_near(value, expected, 1e-15 * (100 + sqrt(r)));
            assert_near(slope[0] / sqrt(r), (-e * r - 1) / x / sqrt(r), 1e-15 * sqrt(r) + 1e-12);
        }
    svmp_program_free(compiled);
    svmp_context_free(context);
}

/* Far in a tail the mass between two bounds stays accurate: for the normal beyond 45 it is below 1e-400. */
static void test_far_truncation(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    scalar_case which = {"dnorm", {0, 1}, 0, 0};
    double bounds[2] = {45, 45.1}, mirrored[2] = {-45.1, -45}, x = 45.05, y = -45.05, value[2], slope;
    program *right = scalar_program(context, &which, DENSITY, false, bounds, true);
    program *left = scalar_program(context, &which, DENSITY, false, mirrored, true);
    test_run(right, 1, &x, NULL, &value[0], &slope);
    test_run(left, 1, &y, NULL, &value[1], NULL);
    assert_near(value[0], value[1], 1e-12);
    assert_near(slope, -45.05, 1e-13);
    assert_near(integrate(right, 45, 45.1), 1, 1e-9);
    svmp_program_free(right);
    svmp_program_free(left);
    /* the half-t, its scale and degrees of freedom unknown: the bound at the centre has derivative 0 */
    scalar_case half_t = {"dt", {0, 1.5, 3}, 0, 0};
    double zero[2] = {0, NAN};
    program *compiled = scalar_program(context, &half_t, DENSITY, true, zero, true);
    double at[4] = {0.8, 0.01, 1.5, 3};
    test_gradient(compiled, at, 1e-5, 1e-6, 0);
    svmp_program_free(compiled);
    svmp_context_free(context);
}

/* The point where F (or S) is about 1e-6, by bisection of the support. */
static double far_out(const program *tail, double inside, double outside) {
    for (int k = 0; k < 200; k++) {
        const double middle = isinf(outside) ? inside + copysign(1 + fabs(inside), outside) : (inside + outside) / 2;
        const double value = test_value(tail, &middle);
        *(value > log(1e-6) ? &inside : &outside) = middle;
    }
    return inside;
}

/* Draws beyond a point that is exceeded once in a million: the remaining tail probability is uniform. */
static void test_truncated_draws(void **state) {
    (void)state;
    enum { N = 400 };
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < 2 * CONTINUOUS; k++) {
        const scalar_case *which = &continuous[k / 2];
        const distribution *family = svmp_distribution_find(which->name);
        number_array arguments[4];
        for (size_t j = 0; j < 4; j++) arguments[j] = (number_array){1, 1, &which->argument[j]};
        const bool right = k % 2;
        double low, high, sum = 0;
        ends(which, &low, &high);
        program *tail = scalar_program(context, which, right ? SURVIVAL : CDF, false, NULL, true);
        const double bound = far_out(tail, (which->low + which->high) / 2, right ? high : low);
        const double mass = test_value(tail, &bound);
        for (size_t l = 0; l < N; l++) {
            const random_source source = {.stream = {.purpose = RANDOM_TEST, .a = k, .b = l}};
            bool drawn = false;
            double x = 0;
            assert_ok(svmp_distribution_draw_truncated(context, family, source, arguments, right ? bound : -INFINITY,
                                                       right ? INFINITY : bound, &drawn, &x));
            assert_true(drawn && (right ? x >= bound : x <= bound));
            sum += exp(test_value(tail, &x) - mass) / N;
        }
        if (!(fabs(sum - 0.5) <= 4.5 * sqrt(1. / 12 / N))) fail_msg("%s: the mean is %g, not 1/2", which->name, sum);
        svmp_program_free(tail);
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integrals),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_distribution_functions),
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_gamma_in_both_tails),
        cmocka_unit_test(test_gamma_of_large_shape),
        cmocka_unit_test(test_far_truncation),
        cmocka_unit_test(test_truncated_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
