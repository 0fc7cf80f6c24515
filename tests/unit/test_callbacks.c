/* Factors given as functions: values that every method refuses, and checks of their gradients. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "support.h"

/* ---- a value that is not a number -------------------------------------------------------------------------------- */

/* -(x0 - x1)^2/2, but NaN in the last particle after `sound` calls. */
typedef struct fickle {
    long sound; /* remaining calls with finite values */
} fickle;

static int becomes_nan(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    fickle *f = user_data;
    for (size_t l = 0; l < n; l++) {
        const double u = x[0][l] - x[1][l];
        value[l] = -0.5 * u * u;
        gradient[0][l] = -u;
        gradient[1][l] = u;
    }
    if (f->sound-- <= 0) value[n - 1] = NAN; /* the gradients are fine */
    return 0;
}

static svmp_model *pair_with(svmp_context *context, svmp_factor_function function, void *user_data) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 2; v++) {
        assert_ok(svmp_model_add_node(model, v ? "b" : "a", 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1}, NULL));
    }
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, function, user_data));
    assert_ok(svmp_model_finish(model));
    return model;
}

static const char sentence[] = "The callback of factor 2 (a, b) returned NaN at a finite point. It must return "
                               "-INFINITY where the density is zero.";

/* Early or late, on every backend: the run fails and the error names the factor. */
static void test_every_method_refuses_nan(void **state) {
    (void)state;
    const char *const backends[] = {"cpu", "ref"}, *method;
    for (size_t m = 0; (method = svmp_option_choice("method", m)) != NULL; m++)
        for (size_t k = 0; k < 2; k++)
            for (long sound = 0; sound <= 20; sound += 10) {
                svmp_context *context = test_context(1);
                fickle f = {LONG_MAX};
                svmp_model *model = pair_with(context, becomes_nan, &f);
                svmp_options *options = NULL;
                svmp_run *run = NULL;
                svmp_outcome outcome;
                assert_ok(svmp_options_create(context, &options));
                assert_ok(svmp_options_set(options, "method", method));
                assert_ok(svmp_options_set(options, "backend", backends[k]));
                assert_ok(svmp_options_set(options, "particles", "6"));
                assert_ok(svmp_options_set(options, "chains", "2"));
                assert_ok(svmp_options_set(options, "warmup", "30"));
                assert_ok(svmp_options_set(options, "draws", "30"));
                const svmp_status made = svmp_run_create(model, options, &run);
                f.sound = sound;
                if (made == SVMP_UNSUPPORTED) { /* exact refuses the model: it is not Gaussian as written */
                    assert_string_equal(method, "exact");
                } else {
                    assert_ok(made);
                    assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
                    assert_int_equal(outcome, SVMP_DIVERGED);
                    if (strcmp(svmp_context_error(context), sentence) != 0)
                        fail_msg("%s on %s: %s", method, backends[k], svmp_context_error(context));
                }
                svmp_run_free(run);
                svmp_options_free(options);
                svmp_model_free(model);
                svmp_context_free(context);
            }
}

static int has_nan_slope(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = -0.5 * (x[0][l] - x[1][l]) * (x[0][l] - x[1][l]);
        gradient[0][l] = x[1][l] - x[0][l];
        gradient[1][l] = NAN;
    }
    return 0;
}

/* The value is finite, but its derivative is not: every method that reads it fails. */
static void test_every_method_refuses_nan_scores(void **state) {
    (void)state;
    const char *method;
    for (size_t m = 0; (method = svmp_option_choice("method", m)) != NULL; m++) {
        svmp_context *context = test_context(1);
        svmp_model *model = pair_with(context, has_nan_slope, NULL);
        svmp_options *options = NULL;
        svmp_run *run = NULL;
        svmp_outcome outcome;
        assert_ok(svmp_options_create(context, &options));
        assert_ok(svmp_options_set(options, "method", method));
        assert_ok(svmp_options_set(options, "particles", "6"));
        assert_ok(svmp_options_set(options, "warmup", "30"));
        assert_ok(svmp_options_set(options, "draws", "30"));
        if (svmp_run_create(model, options, &run) == SVMP_OK && svmp_run_go(run, &outcome) == SVMP_OK &&
            strstr(method, "pmp") == NULL) /* these read no score */
            fail_msg("%s", method);
        svmp_run_free(run);
        svmp_options_free(options);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* An evaluation fails, too, and so do starts that evaluate the density. */
static void test_evaluations_and_starts_refuse_nan(void **state) {
    (void)state;
    const char *const starts[] = {"map", "gaussian"};
    svmp_context *context = test_context(2);
    fickle f = {0};
    svmp_model *model = pair_with(context, becomes_nan, &f);
    const double x[] = {1, 2};
    double log_density, score[2];
    assert_int_equal(svmp_model_evaluate(model, 1, x, &log_density, NULL), SVMP_NOT_FINITE);
    assert_string_equal(svmp_context_error(context), sentence);
    assert_int_equal(svmp_model_evaluate(model, 1, x, NULL, score), SVMP_NOT_FINITE);
    for (size_t s = 0; s < 2; s++)
        for (long sound = 0; sound < 4; sound++) {
            run_options options = graphical_options();
            svmp_run *run = NULL;
            options.init = starts[s];
            f.sound = sound;
            assert_int_equal(svmp_run_make(model, &options, &run), SVMP_NOT_FINITE);
            assert_string_equal(svmp_context_error(context), sentence);
            assert_null(run);
        }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* -INFINITY is zero density, which samplers avoid. A NaN from infinite variables is not the factor's fault.
 */
static int half_line(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double u = x[0][l] - x[1][l]; /* inf - inf */
        value[l] = u < 0 ? -INFINITY : -u;
        gradient[0][l] = u < 0 ? 0 : -1;
        gradient[1][l] = -gradient[0][l];
    }
    return 0;
}

static void test_zero_density_and_infinite_variables(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = pair_with(context, half_line, NULL);
    const double beyond[] = {INFINITY, INFINITY}, below[] = {0, 1};
    double log_density;
    assert_ok(svmp_model_evaluate(model, 1, below, &log_density, NULL));
    assert_true(log_density == -INFINITY);
    assert_ok(svmp_model_evaluate(model, 1, beyond, &log_density, NULL));
    assert_true(isnan(log_density) || log_density == -INFINITY);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Smooth, strongly nonlinear, on different scales, with a bounded domain. The derivative by slot `wrong` is off by a
 * factor.
 */
typedef struct spoilt {
    size_t wrong; /* SIZE_MAX: none */
    double by;
} spoilt;

static int three(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const spoilt *s = user_data;
    for (size_t l = 0; l < n; l++) {
        const double a = x[0][l], b = x[1][l], c = x[2][l];
        value[l] = c <= 0 ? -INFINITY : sin(a * b) + exp(0.5 * a) - 1e3 * b * b + 2 * log(c);
        gradient[0][l] = b * cos(a * b) + 0.5 * exp(0.5 * a);
        gradient[1][l] = a * cos(a * b) - 2e3 * b;
        gradient[2][l] = c <= 0 ? 0 : 2 / c;
        if (s->wrong < 3) gradient[s->wrong][l] *= s->by;
    }
    return 0;
}

static svmp_model *triples(svmp_context *context, size_t count, const spoilt *s) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 3 * count; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    for (size_t k = 0; k < count; k++)
        assert_ok(svmp_model_add_callback(model, 3, (size_t[]){3 * k, 3 * k + 1, 3 * k + 2}, three, (void *)&s[k]));
    assert_ok(svmp_model_finish(model));
    return model;
}

/* A correct gradient agrees to many digits, also within 0.001 of the edge of its domain. */
static void test_right_gradients(void **state) {
    (void)state;
    enum { COUNT = 4, N = 3 };
    spoilt s[COUNT];
    double x[3 * COUNT * N];
    svmp_context *context = test_context(2);
    for (size_t k = 0; k < COUNT; k++) s[k] = (spoilt){SIZE_MAX, 1};
    for (size_t k = 0; k < 3 * COUNT * N; k++) {
        x[k] = 3 * test_random(1, k);
        if (k / N % 3 == 2) x[k] = k % N == 0 ? 0.001 : fabs(x[k]) + 0.01;
    }
    svmp_model *model = triples(context, COUNT, s);
    svmp_gradient_check worst;
    assert_ok(svmp_model_check_gradient(model, N, x, &worst));
    assert_true(worst.error < 1e-9);
    assert_true(worst.factor < COUNT && worst.variable < 3 * COUNT && worst.point < N);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* One derivative of twelve is off by a thousandth: the check finds it and its error. */
static void test_a_wrong_gradient_is_found(void **state) {
    (void)state;
    enum { COUNT = 4 };
    double x[3 * COUNT];
    for (size_t k = 0; k < 3 * COUNT; k++) x[k] = 1 + 0.1 * (double)k;
    for (int threads = 1; threads <= 2; threads++)
        for (size_t wrong = 0; wrong < 3 * COUNT; wrong++) {
            spoilt s[COUNT];
            for (size_t k = 0; k < COUNT; k++) s[k] = (spoilt){k == wrong / 3 ? wrong % 3 : SIZE_MAX, 1.001};
            svmp_context *context = test_context(threads);
            svmp_model *model = triples(context, COUNT, s);
            svmp_gradient_check worst;
            assert_ok(svmp_model_check_gradient(model, 1, x, &worst));
            assert_int_equal(worst.factor, wrong / 3);
            assert_int_equal(worst.variable, wrong);
            assert_int_equal(worst.point, 0);
            assert_near(worst.error, 0.001 / 1.001, 1e-6);
            assert_near(worst.analytic / worst.numeric, 1.001, 1e-7);
            svmp_model_free(model);
            svmp_context_free(context);
        }
}

/* A gradient that is NaN, one with a wrong sign, a missing one, and a wrong one of a large value. */
static int odd(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const double factor = *(const double *)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = -1e8 - 0.5 * x[0][l] * x[0][l];
        gradient[0][l] = -factor * x[0][l];
    }
    return 0;
}

static void test_odd_gradients(void **state) {
    (void)state;
    const struct { double factor, error; } cases[] = {{1, 0}, {NAN, INFINITY}, {-1, 2}, {0, 1}, {1.01, 0.01 / 1.01}};
    const double x = 1.5, tolerance = 5e-6; /* the value is accurate to 1e-8, so the derivative to 4e-8/0.1; the
                                               tolerance is 4 times that */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        svmp_context *context = test_context(1);
        double factor = cases[k].factor;
        svmp_model *model = NULL;
        svmp_gradient_check worst;
        assert_ok(svmp_model_create(context, &model));
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_callback(model, 1, (size_t[]){0}, odd, &factor));
        assert_ok(svmp_model_finish(model));
        assert_ok(svmp_model_check_gradient(model, 1, &x, &worst));
        if (isinf(cases[k].error))
            assert_true(isinf(worst.error) && isnan(worst.analytic));
        else
            assert_true(fabs(worst.error - cases[k].error) <= tolerance);
        assert_near(worst.numeric, -1.5, tolerance);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* Statements of the language are factors, too; a Gaussian model has no functions to check. */
static void test_texts_and_gaussians(void **state) {
    (void)state;
    static const char text[] = "model {\n for (i in 1:3) { y[i] ~ dpois(exp(a + b * x[i])) }\n a ~ dt(0, 1, 4)\n"
                               " b ~ dlogis(0, 1)\n s ~ dgamma(2, 3)\n z ~ dweib(s, 1)\n y[4] ~ dpois(z)\n}";
    const double y[] = {1, 0, 7, 2}, x[] = {-1, 0, 2}, at[] = {0.3, -0.2, 0.5, 0.1};
    const size_t length = 3, counts = 4;
    svmp_context *context = test_context(2);
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    svmp_gradient_check worst;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "y", 1, &counts, y));
    assert_ok(svmp_data_add(data, "x", 1, &length, x));
    assert_ok(svmp_model_read_text(context, NULL, text, data, NULL, &model));
    assert_int_equal(svmp_graph_variables(svmp_model_graph(model)), 4);
    assert_ok(svmp_model_check_gradient(model, 1, at, &worst));
    assert_true(worst.error < 1e-9 && worst.factor < SIZE_MAX);
    svmp_model_free(model);
    svmp_data_free(data);
    model = test_random_gaussian(context, 4, 0.5, 1, 1);
    assert_ok(svmp_model_check_gradient(model, 1, at, &worst));
    assert_true(worst.error == 0 && worst.factor == SIZE_MAX && worst.variable == SIZE_MAX);
    svmp_model_free(model);
    svmp_context_free(context);
}

static int always_fails(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)n, (void)x, (void)value, (void)gradient, (void)user_data;
    return 2; /* any value but 0 */
}

static void test_checks_that_cannot_be_made(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    fickle f = {0};
    const double x[] = {0, 1};
    svmp_gradient_check worst = {.error = 7};
    svmp_model *model = pair_with(context, becomes_nan, &f);
    assert_int_equal(svmp_model_check_gradient(model, 1, x, &worst), SVMP_NOT_FINITE);
    assert_string_equal(svmp_context_error(context), sentence);
    assert_int_equal(svmp_model_check_gradient(model, 0, x, &worst), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_check_gradient(model, 1, NULL, &worst), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_check_gradient(model, 1, x, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_check_gradient(NULL, 1, x, &worst), SVMP_BAD_CALL);
    svmp_model_free(model);
    model = pair_with(context, always_fails, NULL);
    assert_int_equal(svmp_model_check_gradient(model, 1, x, &worst), SVMP_CALLBACK_FAILED);
    assert_string_equal(svmp_context_error(context), "The callback of factor 2 (a, b) failed.");
    svmp_model_free(model);
    model = pair_with(context, half_line, NULL);
    assert_int_equal(svmp_model_check_gradient(model, 1, x, &worst), SVMP_NOT_FINITE);
    assert_string_equal(svmp_context_error(context),
                        "The log value of factor 2 (a, b) is not finite here, so its gradient cannot be checked.");
    assert_true(worst.error == 7);
    svmp_model_free(model);
    model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_int_equal(svmp_model_check_gradient(model, 1, x, &worst), SVMP_BAD_CALL); /* not finished */
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    const spoilt s = {SIZE_MAX, 1};
    const double x[] = {1, 2, 3};
    svmp_status status = SVMP_NO_MEMORY;
    scarce_memory memory = {LONG_MAX};
    svmp_context *context = scarce_context(&memory);
    svmp_model *model = triples(context, 1, &s);
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        svmp_gradient_check worst;
        memory.left = allowed;
        status = svmp_model_check_gradient(model, 1, x, &worst);
        assert_true(allowed < 100);
    }
    assert_ok(status);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method_refuses_nan),
        cmocka_unit_test(test_every_method_refuses_nan_scores),
        cmocka_unit_test(test_evaluations_and_starts_refuse_nan),
        cmocka_unit_test(test_zero_density_and_infinite_variables),
        cmocka_unit_test(test_right_gradients),
        cmocka_unit_test(test_a_wrong_gradient_is_found),
        cmocka_unit_test(test_odd_gradients),
        cmocka_unit_test(test_texts_and_gaussians),
        cmocka_unit_test(test_checks_that_cannot_be_made),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
