/* L-BFGS, the mode of a model and particles around it. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maths/lbfgs.h"
#include "prepare/mode_start.h"
#include "targets.h"

/* ---- L-BFGS ------------------------------------------------------------------------------------------------------ */

/* -Rosenbrock: its maximum 0 is at (1, 1), at the end of a bent ridge. */
static svmp_status ridge(void *calls, const double *x, double *value, double *gradient) {
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    ++*(int *)calls;
    *value = -a * a - 100 * b * b;
    gradient[0] = 2 * a + 400 * x[0] * b;
    gradient[1] = -200 * b;
    return SVMP_OK;
}

static void test_ridge(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    int calls = 0;
    double x[2] = {-1.2, 1};
    lbfgs_result end;
    const lbfgs_problem problem = {2, NULL, NULL, ridge, &calls};
    assert_ok(svmp_lbfgs_maximise(context, &problem, x, &end));
    assert_int_equal(end.outcome, LBFGS_CONVERGED);
    assert_near(x[0], 1, 1e-8);
    assert_near(x[1], 1, 1e-8);
    assert_true(calls < 100);
    svmp_context_free(context);
}

/* In the box x <= 0.5 the ridge is highest at (0.5, 0.25); in x <= 0.5, y <= 0 where 2 a + 400 x b = 0 with b = -x^2.
 */
static void test_box(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    int calls = 0;
    lbfgs_result end;
    double x[2] = {-1.2, 1}, lower[2] = {-INFINITY, -INFINITY}, upper[2] = {0.5, INFINITY};
    const lbfgs_problem problem = {2, lower, upper, ridge, &calls};
    assert_ok(svmp_lbfgs_maximise(context, &problem, x, &end));
    assert_int_equal(end.outcome, LBFGS_CONVERGED);
    assert_true(x[0] == 0.5);
    assert_near(x[1], 0.25, 1e-5);
    upper[1] = 0;
    x[0] = x[1] = -1;
    assert_ok(svmp_lbfgs_maximise(context, &problem, x, &end));
    assert_int_equal(end.outcome, LBFGS_CONVERGED);
    assert_true(x[1] == 0);
    assert_near(2 * (1 - x[0]) - 400 * x[0] * x[0] * x[0], 0, 1e-3);
    svmp_context_free(context);
}

/* log x - x, undefined below 0: the search has to backtrack and finds 1. A constant slope: the search diverges. */
static svmp_status half_line(void *unused, const double *x, double *value, double *gradient) {
    (void)unused;
    *value = x[0] > 0 ? log(x[0]) - x[0] : NAN;
    *gradient = 1 / x[0] - 1;
    return SVMP_OK;
}

static svmp_status slope(void *unused, const double *x, double *value, double *gradient) {
    (void)unused;
    *value = x[0];
    *gradient = 1;
    return SVMP_OK;
}

static svmp_status broken(void *unused, const double *x, double *value, double *gradient) {
    (void)unused, (void)x;
    *value = *gradient = 0;
    return SVMP_CALLBACK_FAILED;
}

static void test_ends(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    lbfgs_result end;
    double x = 1e-3;
    assert_ok(svmp_lbfgs_maximise(context, &(lbfgs_problem){1, NULL, NULL, half_line, NULL}, &x, &end));
    assert_int_equal(end.outcome, LBFGS_CONVERGED);
    assert_near(x, 1, 1e-7);
    x = -1;
    assert_ok(svmp_lbfgs_maximise(context, &(lbfgs_problem){1, NULL, NULL, half_line, NULL}, &x, &end));
    assert_int_equal(end.outcome, LBFGS_FAILED);
    x = 0;
    assert_ok(svmp_lbfgs_maximise(context, &(lbfgs_problem){1, NULL, NULL, slope, NULL}, &x, &end));
    assert_int_equal(end.outcome, LBFGS_DIVERGED);
    assert_int_equal(svmp_lbfgs_maximise(context, &(lbfgs_problem){1, NULL, NULL, broken, NULL}, &x, &end),
                     SVMP_CALLBACK_FAILED);
    svmp_context_free(context);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* A Gaussian's mode is its mean, A mode = b, and its width given the others 1/sqrt(A_ii). */
static void test_gaussian(void **state) {
    (void)state;
    enum { MOST = 60 };
    static double A[MOST * MOST], b[MOST], mode[MOST], sd[MOST];
    svmp_context *context = test_context(2);
    for (size_t k = 0; k < 6; k++) {
        svmp_model *model = test_random_gaussian(context, 5 + 5 * k, 0.2, 0, k);
        const size_t d = svmp_graph_variables(svmp_model_graph(model));
        assert_ok(svmp_mode_find(model, 1, mode));
        assert_ok(svmp_mode_spread(model, mode, sd));
        test_dense(model, A, b);
        for (size_t i = 0; i < d; i++) assert_near(sd[i], 1 / sqrt(A[i * d + i]), 1e-6);
        test_invert(d, A);
        for (size_t i = 0; i < d; i++) {
            double mean = 0;
            for (size_t j = 0; j < d; j++) mean += A[i * d + j] * b[j];
            assert_near(mode[i], mean, 1e-6);
        }
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

static void test_logistic(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = target_logistic(context);
    double mode[2], score[2];
    assert_ok(svmp_mode_find(model, 1, mode));
    assert_ok(svmp_model_evaluate(model, 1, mode, NULL, score));
    assert_true(fabs(score[0]) < 1e-6 && fabs(score[1]) < 1e-6);
    svmp_model_free(model);
    svmp_context_free(context);
}

static svmp_particles *start(const svmp_model *model, const char *method, size_t n) {
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    options.init = "map";
    options.method = method;
    options.particles = options.chains = n;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_particles(run, &particles));
    svmp_run_free(run);
    return particles;
}

/* The particles of a start have the mode as their mean and the widths as standard deviations, within 5 standard errors;
 * and the same bits for any number of threads. */
static void test_particles(void **state) {
    (void)state;
    enum { NODES = 20, N = 10000 };
    svmp_context *one = test_context(1), *three = test_context(3);
    svmp_model *model = test_random_gaussian(one, NODES, 0.2, 1, 3);
    svmp_model *same = test_random_gaussian(three, NODES, 0.2, 1, 3);
    svmp_particles *particles = start(model, "graphical", N), *others = start(same, "graphical", N);
    double mode[NODES], sd[NODES];
    assert_ok(svmp_mode_find(model, 1, mode));
    assert_ok(svmp_mode_spread(model, mode, sd));
    for (size_t i = 0; i < NODES; i++) {
        svmp_moments moments;
        assert_ok(svmp_particles_moments(particles, i, &moments));
        assert_true(fabs(moments.mean - mode[i]) < 5 * sd[i] / sqrt(N));
        assert_true(fabs(moments.sd - sd[i]) < 5 * sd[i] / sqrt(2.0 * N));
    }
    assert_memory_equal(svmp_particles_values(particles), svmp_particles_values(others), NODES * N * sizeof(double));
    svmp_particles_free(particles);
    svmp_particles_free(others);
    svmp_model_free(model);
    svmp_model_free(same);
    svmp_context_free(one);
    svmp_context_free(three);
}

static void test_every_method(void **state) {
    (void)state;
    static const char *const methods[] = {"vanilla", "langevin", "mala", "nuts", "dpmp"};
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 5, 0.5, 1, 3);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run_options options = graphical_options();
        svmp_run *run = NULL;
        svmp_outcome outcome;
        options.init = "map";
        options.method = methods[k];
        options.particles = 10;
        options.iterations = options.warmup = options.draws = 5;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_go(run, &outcome));
        svmp_run_free(run);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* exp(x): unbounded. 1/(1 + exp(-x)): a supremum that is never reached. */
static int rising(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    for (size_t l = 0; l < n; l++) {
        double t = x[0][l], e = exp(-fabs(t));
        value[l] = user_data ? t : (t < 0 ? t : 0) - log1p(e);
        gradient[0][l] = user_data ? 1 : t < 0 ? 1 / (1 + e) : e / (1 + e);
    }
    return 0;
}

/* Log densities without a maximum where their slope vanishes or the search stops; and ones with a maximum that is a
 * kink or narrow. `user_data` chooses one. */
typedef enum shape { LOGARITHM, POLE, WEAK_POLE, TIP, NARROW_TIP, NARROW } shape;

static int shaped(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    for (size_t l = 0; l < n; l++) {
        const double t = x[0][l], size = fabs(t), sign = t < 0 ? -1 : 1;
        switch (*(const shape *)user_data) {
        case LOGARITHM: value[l] = log1p(size), gradient[0][l] = sign / (1 + size); break;
        case POLE: value[l] = -log(size), gradient[0][l] = -1 / t; break;
        case WEAK_POLE: value[l] = -0.1 * log(size) - t * t, gradient[0][l] = -0.1 / t - 2 * t; break;
        case TIP: value[l] = -size, gradient[0][l] = -sign; break;
        case NARROW_TIP: value[l] = -1e7 * size, gradient[0][l] = -1e7 * sign; break;
        case NARROW: value[l] = -1e14 * (t - 3) * (t - 3), gradient[0][l] = -2e14 * (t - 3); break;
        }
    }
    return 0;
}

static void expect(svmp_factor_function function, void *user_data, const double *upper, svmp_status expected) {
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    double x[10];
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "up", 1, NULL, upper, NULL));
    assert_ok(svmp_model_add_callback(model, 1, (size_t[]){0}, function, user_data));
    assert_ok(svmp_model_finish(model));
    assert_int_equal(svmp_mode_draw(model, 1, 10, x), expected);
    if (expected != SVMP_OK) {
        assert_non_null(strstr(svmp_context_error(context), "needs a density with a maximum"));
        assert_non_null(strstr(svmp_context_error(context), " up, which is at "));
    }
    for (size_t l = 0; expected == SVMP_OK && upper && l < 10; l++) assert_true(x[l] <= *upper);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_refusals(void **state) {
    (void)state;
    int linear = 1;
    expect(rising, &linear, NULL, SVMP_UNSUPPORTED);
    expect(rising, NULL, NULL, SVMP_UNSUPPORTED);
    expect(rising, &linear, (double[]){3}, SVMP_OK); /* a side of the box stops it */
    for (shape s = LOGARITHM; s <= NARROW; s++) expect(shaped, &s, NULL, s < TIP ? SVMP_UNSUPPORTED : SVMP_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ridge),        cmocka_unit_test(test_box),      cmocka_unit_test(test_ends),
        cmocka_unit_test(test_gaussian),     cmocka_unit_test(test_logistic), cmocka_unit_test(test_particles),
        cmocka_unit_test(test_every_method), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
