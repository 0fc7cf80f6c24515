/* Vectorised functions (maths/fast_*.h): their errors in units in the last place, against long double, and their
 * limiting cases, against libm. */
#include "support.h"

#include <float.h>
#include <stdbool.h>

#include "maths/special.h"

typedef long double longer;

static const longer pi_l = 3.14159265358979323846264338327950288L;

/* ---- references -------------------------------------------------------------------------------------------------- */

static longer digamma_truth(longer x) {
    longer shift = 0;
    for (; x < 40; x++) shift += 1 / x;
    const longer y = 1 / (x * x);
    return logl(x) - 1 / (2 * x) - shift -
           y * (1 / 12.L - y * (1 / 120.L - y * (1 / 252.L - y * (1 / 240.L - y * (1 / 132.L - y * 691 / 32760.L)))));
}

static longer trigamma_truth(longer x);

/* Near the root of digamma, where the sum above cancels: the integral of trigamma from the root, by Simpson's rule. */
static longer beside_root_truth(longer x) {
    const longer root = 1.461632144968362341263L, first = 0x1.762d86356be3fp+0, second = 9.549995429965697715183e-17L;
    return ((x - first) - second) * (trigamma_truth(root) + 4 * trigamma_truth((x + root) / 2) + trigamma_truth(x)) / 6;
}

static longer trigamma_truth(longer x) {
    longer shift = 0;
    for (; x < 40; x++) shift += 1 / (x * x);
    const longer y = 1 / (x * x);
    return shift + 1 / x + y / 2 +
           y / x * (1 / 6.L - y * (1 / 30.L - y * (1 / 42.L - y * (1 / 30.L - y * (5 / 66.L - y * 691 / 2730.L)))));
}

/* density(t)/Phi(-t) - t = 1/(t + 2/(t + 3/(t + ...))) */
static longer excess_truth(longer t) {
    longer fraction = t;
    for (int k = 600; k > 1; k--) fraction = t + (longer)k / fraction;
    return 1 / fraction;
}

static longer density_truth(longer x) { return expl(-x * x / 2) / sqrtl(2 * pi_l); }
static longer cdf_truth(longer x) { return erfcl(-x / sqrtl(2)) / 2; }
static longer hazard_truth(longer x) { return x < -6 ? -x + excess_truth(-x) : density_truth(x) / cdf_truth(x); }

static longer slope_truth(longer x) { return -hazard_truth(x) * (x < -6 ? excess_truth(-x) : hazard_truth(x) + x); }

static longer log_cdf_truth(longer x) {
    if (x < -6) return -x * x / 2 - logl(sqrtl(2 * pi_l)) - logl(hazard_truth(x));
    return x < 0 ? logl(cdf_truth(x)) : log1pl(-cdf_truth(-x));
}

/* One Newton step from a value that is correct up to rounding. */
static longer quantile_truth(longer p) {
    const longer x = svmp_normal_quantile((double)p);
    return p < 0.5L ? x - (cdf_truth(x) - p) / density_truth(x) : x + (cdf_truth(-x) - (1 - p)) / density_truth(x);
}

static longer logistic_tail_truth(longer a) { return expl(-fabsl(a)); }
static longer log_ilogit_truth(longer a) { return (a < 0 ? a : 0) - log1pl(expl(-fabsl(a))); }
static longer log1m_exp_truth(longer x) { return x < 0.7L ? logl(-expm1l(-x)) : log1pl(-expl(-x)); }
static longer logit_truth(longer p) { return p > 0.25L ? log1pl((2 * p - 1) / (1 - p)) : logl(p) - log1pl(-p); }

/* ---- units in the last place ------------------------------------------------------------------- */

/* The error of a value in units in the last place of the reference. */
static double units_off(double value, longer truth) {
    const double near = (double)truth;
    const double unit = fabs(near) < DBL_MIN ? 0x1p-1074 : ldexp(1, ilogb(near) - DBL_MANT_DIG + 1);
    return (double)(fabsl(value - truth) / unit);
}

/* The functions are static inline; these wrappers have addresses. */
#define HERE(name)                                                                                                     \
    static double name##_here(double x) { return svmp_##name(x); }
HERE(exp)
HERE(expm1)
HERE(sinh)
HERE(cosh)
HERE(tanh)
HERE(ln)
HERE(log1p)
HERE(log_ilogit)
HERE(logistic_tail)
HERE(log1m_exp)
HERE(logit)
HERE(asinh)
HERE(acosh)
HERE(atanh)
HERE(sin)
HERE(cos)
HERE(tan)
HERE(asin)
HERE(acos)
HERE(atan)
HERE(normal_density)
HERE(normal_cdf)
HERE(log_normal_cdf)
HERE(normal_hazard)
HERE(normal_hazard_slope)
HERE(normal_quantile)

/* Arguments evenly spaced between low and high, or, if `wide`, evenly in their logarithms. The bounds are the largest
 * errors found with ten times as many arguments and 113 bits, plus a quarter. */
static const struct {
    const char *name;
    double (*function)(double);
    longer (*truth)(longer);
    double low, high;
    bool wide;
    double units;
} cases[] = {
    {"exp", exp_here, expl, -708, 709.7, false, 0.9},
    {"exp, near", exp_here, expl, -1, 1, false, 0.8},
    {"expm1", expm1_here, expm1l, -40, 709, false, 1.4},
    {"expm1, near", expm1_here, expm1l, -1, 1, false, 1.3},
    {"expm1, tiny", expm1_here, expm1l, 1e-300, 1, true, 1.3},
    {"sinh", sinh_here, sinhl, -710, 710, false, 1.5},
    {"sinh, near", sinh_here, sinhl, -2, 2, false, 2.3},
    {"cosh", cosh_here, coshl, -710, 710, false, 1.4},
    {"cosh, near", cosh_here, coshl, -2, 2, false, 1.3},
    {"tanh", tanh_here, tanhl, -20, 20, false, 3.1},
    {"tanh, near", tanh_here, tanhl, -1, 1, false, 2.9},
    {"log", ln_here, logl, 4e-324, 1e308, true, 0.8},
    {"log, near", ln_here, logl, 0.7, 1.5, false, 1},
    {"log, nearer", ln_here, logl, 0.999999, 1.000001, false, 0.7},
    {"log1p", log1p_here, log1pl, -0.999999, 3, false, 1},
    {"log1p, wide", log1p_here, log1pl, 1e-300, 1e300, true, 0.8},
    {"log_ilogit", log_ilogit_here, log_ilogit_truth, -40, 700, false, 1.4},
    {"log_ilogit, near", log_ilogit_here, log_ilogit_truth, -5, 5, false, 1.8},
    {"logistic_tail", logistic_tail_here, logistic_tail_truth, -708, 708, false, 0.9},
    {"log1m_exp", log1m_exp_here, log1m_exp_truth, 1e-300, 700, true, 1.6},
    {"log1m_exp, near", log1m_exp_here, log1m_exp_truth, 0, 5, false, 2.1},
    {"logit", logit_here, logit_truth, 0, 1, false, 2.6},
    {"logit, tiny", logit_here, logit_truth, 1e-300, 0.5, true, 2.4},
    {"arcsinh", asinh_here, asinhl, 1e-300, 1e300, true, 1.8},
    {"arcsinh, near", asinh_here, asinhl, -3, 3, false, 1.9},
    {"arccosh", acosh_here, acoshl, 1, 3, false, 2.3},
    {"arccosh, wide", acosh_here, acoshl, 1, 1e300, true, 2.3},
    {"arctanh", atanh_here, atanhl, -1, 1, false, 1.8},
    {"arctanh, tiny", atanh_here, atanhl, 1e-300, 1, true, 1.6},
    {"sin", sin_here, sinl, -1e5, 1e5, false, 1.1},
    {"sin, near", sin_here, sinl, -4, 4, false, 1.1},
    {"sin, far", sin_here, sinl, 1e4, 1e300, true, 1.1},
    {"cos", cos_here, cosl, -1e5, 1e5, false, 1.1},
    {"cos, near", cos_here, cosl, -4, 4, false, 1.1},
    {"tan", tan_here, tanl, -1e5, 1e5, false, 2.5},
    {"tan, near", tan_here, tanl, -4, 4, false, 2.5},
    {"arctan", atan_here, atanl, -4, 4, false, 1},
    {"arctan, wide", atan_here, atanl, 1e-300, 1e300, true, 0.9},
    {"arcsin", asin_here, asinl, -1, 1, false, 1},
    {"arccos", acos_here, acosl, -1, 1, false, 1.1},
    {"arccos, near 1", acos_here, acosl, 0.999, 1, false, 0.8},
    {"log gamma", svmp_log_gamma, lgammal, 1e-300, 1e300, true, 9},
    {"log gamma, near", svmp_log_gamma, lgammal, 0, 4, false, 11},
    {"log gamma, from 3", svmp_log_gamma, lgammal, 3, 1000, false, 8},
    {"log gamma, near its zero", svmp_log_gamma, lgammal, 1.999, 2.001, false, 3},
    {"gamma", svmp_gamma, tgammal, 0, 171, false, 4},
    {"gamma, near", svmp_gamma, tgammal, 0, 4, false, 3},
    {"digamma", svmp_digamma, digamma_truth, 1e-300, 1e300, true, 4},
    {"digamma, near", svmp_digamma, digamma_truth, 0, 1.4, false, 5},
    {"digamma, from 3/2", svmp_digamma, digamma_truth, 1.5, 40, false, 5},
    {"digamma, near its zero", svmp_digamma, beside_root_truth, 1.4616, 1.4617, false, 4},
    {"trigamma", svmp_trigamma, trigamma_truth, 1e-150, 1e300, true, 5},
    {"trigamma, near", svmp_trigamma, trigamma_truth, 0, 4, false, 6},
    {"density", normal_density_here, density_truth, -37, 37, false, 2.5},
    {"Phi", normal_cdf_here, cdf_truth, -37, 9, false, 5},
    {"Phi, near", normal_cdf_here, cdf_truth, -1, 1, false, 5.5},
    {"log Phi", log_normal_cdf_here, log_cdf_truth, -100, 37, false, 6},
    {"log Phi, near", log_normal_cdf_here, log_cdf_truth, -2, 2, false, 7},
    {"hazard", normal_hazard_here, hazard_truth, -100, 37, false, 5},
    {"hazard, near", normal_hazard_here, hazard_truth, -2, 2, false, 6.5},
    {"slope of the hazard", normal_hazard_slope_here, slope_truth, -100, 37, false, 9},
    {"slope of the hazard, near", normal_hazard_slope_here, slope_truth, -2, 2, false, 10},
    {"quantile", normal_quantile_here, quantile_truth, 0, 1, false, 14},
    {"quantile, tiny", normal_quantile_here, quantile_truth, 1e-300, 0.5, true, 14},
};

static double argument(size_t which, size_t l) {
    const double u = 0.5 + 0.5 * test_random(which, l), low = cases[which].low, high = cases[which].high;
    return cases[which].wide ? exp(log(low) + u * (log(high) - log(low))) : low + u * (high - low);
}

static void test_units(void **state) {
    (void)state;
    if (LDBL_MANT_DIG < 64) skip();
    int wrong = 0;
    for (size_t which = 0; which < sizeof cases / sizeof *cases; which++) {
        double worst = 0, at = 0;
        for (size_t l = 0; l < 10000; l++) {
            const double x = argument(which, l), value = cases[which].function(x);
            const double off = units_off(value, cases[which].truth(x));
            if (!(off <= worst)) worst = off, at = x;
        }
        if (worst <= cases[which].units) continue;
        print_error("%s(%.17g) is off by %.2f units in the last place, more than %g\n", cases[which].name, at, worst,
                    cases[which].units);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void test_power_units(void **state) {
    (void)state;
    if (LDBL_MANT_DIG < 64) skip();
    for (size_t l = 0; l < 50000; l++) {
        const double u = test_random(1, l), v = test_random(2, l);
        const double a = l % 2 ? exp(700 * u) : 1 + 0.5 * u, b = l % 2 ? 700 * v / fmax(fabs(700 * u), 1e-3) : 1000 * v;
        const longer truth = powl(a, b);
        if (truth > DBL_MIN && truth < DBL_MAX) assert_true(units_off(svmp_pow(a, b), truth) < 0.8);
    }
}

/* ---- limiting cases ---------------------------------------------------------------------------------------------- */

static const double edges[] = {0,      -0.0,       1,           -1,          2,           -2,         3,     -3,
                               0.5,    -0.5,       2.5,         -2.5,        1e-310,      -1e-310,    1e300, -1e300,
                               0x1p52, 0x1p52 + 1, -0x1p52 - 1, 0x1p53,      INFINITY,    -INFINITY,  NAN,   0x1p-1074,
                               1e18,   -1e18,      1e5,         1 - 0x1p-53, 1 + 0x1p-52, 0x1p-53 - 1};
enum { EDGES = sizeof edges / sizeof *edges };

static bool agree(double found, double truth) {
    return isnan(truth) ? isnan(found) : found == truth || fabs(found - truth) <= 1e-15 * fabs(truth);
}

static void test_at_edges(void **state) {
    (void)state;
#define AT_EDGES(found, truth)                                                                                         \
    for (size_t k = 0; k < EDGES; k++)                                                                                 \
        if (!agree(found(edges[k]), truth(edges[k])))                                                                  \
            fail_msg(#found "(%g) is %.17g, not %.17g", edges[k], found(edges[k]), truth(edges[k]));
    AT_EDGES(svmp_exp, exp)
    AT_EDGES(svmp_expm1, expm1)
    AT_EDGES(svmp_sinh, sinh)
    AT_EDGES(svmp_cosh, cosh)
    AT_EDGES(svmp_tanh, tanh)
    AT_EDGES(svmp_ln, log)
    AT_EDGES(svmp_log1p, log1p)
    AT_EDGES(svmp_asinh, asinh)
    AT_EDGES(svmp_acosh, acosh)
    AT_EDGES(svmp_atanh, atanh)
    AT_EDGES(svmp_sin, sin)
    AT_EDGES(svmp_cos, cos)
    AT_EDGES(svmp_tan, tan)
    AT_EDGES(svmp_asin, asin)
    AT_EDGES(svmp_acos, acos)
    AT_EDGES(svmp_atan, atan)
    AT_EDGES(svmp_floor, floor)
    AT_EDGES(svmp_trunc, trunc)
    AT_EDGES(svmp_log_gamma, lgamma)
    AT_EDGES(svmp_gamma, tgamma)
    for (size_t k = 0; k < EDGES; k++)
        for (size_t j = 0; j < EDGES; j++) {
            const double found = svmp_pow(edges[k], edges[j]), truth = pow(edges[k], edges[j]);
            if (!agree(found, truth) || (!isnan(truth) && signbit(found) != signbit(truth)))
                fail_msg("svmp_pow(%g, %g) is %.17g, not %.17g", edges[k], edges[j], found, truth);
        }
}

/* Gradual underflow. */
static void test_underflow(void **state) {
    (void)state;
    for (size_t l = 0; l < 10000; l++) {
        const double a = -727 + 19 * test_random(0, l);
        assert_true(fabs(svmp_exp(a) - exp(a)) <= fmax(0x1p-1074, DBL_EPSILON * exp(a)));
        assert_true(fabs(svmp_normal_cdf(-38 + test_random(1, l)) - erfc((38 - test_random(1, l)) / sqrt(2)) / 2) <
                    1e-13 * DBL_MIN / DBL_EPSILON);
    }
    assert_true(svmp_exp(-745.13) > 0 && svmp_exp(-745.14) == 0 && svmp_exp(709.79) == INFINITY);
    assert_true(svmp_log_ilogit(-800) == -800 && svmp_log_ilogit(740) < 0 && svmp_log_ilogit(800) == 0);
}

static void test_special_edges(void **state) {
    (void)state;
    assert_true(svmp_log_ilogit(-INFINITY) == -INFINITY && svmp_log_ilogit(INFINITY) == 0);
    assert_true(svmp_logit(0) == -INFINITY && svmp_logit(1) == INFINITY && svmp_logit(0.5) == 0);
    assert_true(isnan(svmp_logit(-0.1)) && isnan(svmp_logit(1.1)));
    assert_true(svmp_log1m_exp(0) == -INFINITY && svmp_log1m_exp(INFINITY) == 0 && isnan(svmp_log1m_exp(-1)));
    assert_true(svmp_normal_density(INFINITY) == 0 && svmp_normal_density(-1e10) == 0);
    assert_true(svmp_normal_cdf(-INFINITY) == 0 && svmp_normal_cdf(INFINITY) == 1);
    assert_true(svmp_log_normal_cdf(-INFINITY) == -INFINITY && svmp_log_normal_cdf(INFINITY) == 0);
    assert_true(svmp_normal_hazard(-INFINITY) == INFINITY && svmp_normal_hazard(INFINITY) == 0);
    assert_true(svmp_normal_quantile(0.5) == 0);
    assert_true(svmp_digamma(INFINITY) == INFINITY && svmp_trigamma(INFINITY) == 0);
    assert_true(svmp_digamma(1e-310) == -INFINITY && svmp_trigamma(1e-310) == INFINITY);
    assert_true(svmp_xlogy(0, 0) == 0 && svmp_xlog1my(0, 1) == 0 && svmp_xlogy(1, 0) == -INFINITY);
    double (*const functions[])(double) = {
        log_ilogit_here,      logit_here,          log1m_exp_here,     normal_density_here,
        normal_cdf_here,      log_normal_cdf_here, normal_hazard_here, normal_hazard_slope_here,
        normal_quantile_here, svmp_log_gamma,      svmp_gamma,         svmp_digamma,
        svmp_trigamma};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) assert_true(isnan(functions[k](NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),     cmocka_unit_test(test_power_units),   cmocka_unit_test(test_at_edges),
        cmocka_unit_test(test_underflow), cmocka_unit_test(test_special_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
