/* NUTS as a method: moments of posteriors, adaptation, and warnings about divergences. (test_tree.c has its moves.)
 */
#include <math.h>
#include <string.h>

#include "method/moves/adaptation.h"
#include "support.h"
#include "targets.h"

static run_options nuts_options(size_t chains, size_t warmup, size_t draws, uint64_t seed) {
    run_options options = graphical_options();
    options.method = "nuts";
    options.chains = chains;
    options.warmup = warmup;
    options.draws = draws;
    options.seed = seed;
    return options;
}

/* Mean and variance of a variable, each within 4.5 of its own standard errors. With 40 batches an error is known to
 * 11 %. */
static void assert_moments(svmp_particles *particles, size_t variable, double mean, double variance) {
    const estimate first = target_mean(particles, variable, target_value, mean);
    const estimate second = target_mean(particles, variable, target_square, mean);
    if (fabs(first.mean) > 4.5 * first.error || fabs(second.mean - variance) > 4.5 * second.error)
        fail_msg("variable %zu: mean off by %g +- %g, variance %g +- %g, not %g", variable, first.mean, first.error,
                 second.mean, second.error, variance);
    assert_true(second.error < 0.25 * variance); /* the test has enough draws to fail */
}

/* ---- moments ----------------------------------------------------------------------------------------------------- */

static void test_moments_of_a_correlated_gaussian(void **state) {
    (void)state;
    enum { D = 10 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 0.5, 1, 43);
    double S[D * D], b[D];
    test_dense(model, S, b);
    test_invert(D, S);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        run_options options = nuts_options(4, 300, 1000, seed);
        svmp_particles *particles = target_infer(model, &options);
        for (size_t i = 0; i < D; i++) {
            double mean = 0;
            for (size_t j = 0; j < D; j++) mean += S[i * D + j] * b[j];
            assert_moments(particles, i, mean, S[i * D + i]);
        }
        svmp_sampling sampling;
        assert_ok(svmp_particles_sampling(particles, &sampling));
        assert_int_equal(sampling.divergent, 0);
        assert_true(sampling.ebfmi > 0.7);
        svmp_particles_free(particles);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_moments_of_a_student(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = target_student(context, 3);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_options options = nuts_options(4, 500, 3000, seed);
        svmp_particles *particles = target_infer(model, &options);
        for (size_t i = 0; i < 3; i++) assert_moments(particles, i, 0, 5.0 / 3);
        svmp_particles_free(particles);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_moments_of_a_logistic_regression(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = target_logistic(context);
    double mean[2], variance[2];
    target_logistic_moments(mean, variance);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_options options = nuts_options(4, 300, 1500, seed);
        svmp_particles *particles = target_infer(model, &options);
        for (size_t i = 0; i < 2; i++) assert_moments(particles, i, mean[i], variance[i]);
        svmp_particles_free(particles);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Non-centred, v and exp(v/2) x_1 are right: the median of the latter is 0 and E[v^2] = 9. Centred, the neck is too
 * narrow for any single step size, which divergences show. */
static void test_the_funnel(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = target_funnel(context, 0), *centred = target_funnel(context, 1);
    svmp_sampling sampling;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_options options = nuts_options(4, 300, 1000, seed);
        svmp_particles *particles = target_infer(model, &options);
        assert_moments(particles, 0, 0, 9);
        for (size_t i = 1; i < 10; i++) assert_moments(particles, i, 0, 1);
        assert_ok(svmp_particles_sampling(particles, &sampling));
        assert_int_equal(sampling.divergent, 0);
        svmp_particles_free(particles);
        particles = target_infer(centred, &options);
        assert_ok(svmp_particles_sampling(particles, &sampling));
        assert_true(sampling.divergent > 0);
        svmp_particles_free(particles);
    }
    svmp_model_free(model);
    svmp_model_free(centred);
    svmp_context_free(context);
}

/* ---- adaptation -------------------------------------------------------------------------------------------------- */

/* 1,000 iterations: windows that end after 100, 150, 250, 450 and 950, as Stan's; short warm-ups scale down. */
static void test_windows(void **state) {
    (void)state;
    const struct {
        size_t warmup, count, ends[6];
    } expected[] = {{1000, 5, {99, 149, 249, 449, 949}},
                    {150, 1, {99}},
                    {200, 2, {99, 149}},
                    {100, 1, {89}},
                    {20, 1, {17}},
                    {19, 0, {0}},
                    {0, 0, {0}}};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        windows w = svmp_windows_of(expected[k].warmup);
        size_t found = 0;
        for (size_t t = 0; t < expected[k].warmup; t++)
            if (svmp_windows_close(&w, t)) {
                assert_true(found < expected[k].count);
                assert_int_equal(t, expected[k].ends[found++]);
            }
        assert_int_equal(found, expected[k].count);
    }
}

static void test_running_variance(void **state) {
    (void)state;
    double mean[1] = {0}, squares[1] = {0}, variance[1];
    running_variance v = {.variables = 1, .mean = mean, .squares = squares};
    for (int k = 0; k < 5; k++) svmp_running_variance_add(&v, (double[]){1e6 + k});
    svmp_running_variance_end(&v, 1e-3, variance);
    assert_near(variance[0], (5 * 2.5 + 5e-3) / 10, 1e-12); /* the variance of 0 ... 4 is 2.5 */
    assert_int_equal(v.count, 0);
}

/* Scales that differ by a factor of a thousand: the metric adapts to them, and trajectories stay short. */
static void test_the_metric_learns_scales(void **state) {
    (void)state;
    enum { D = 8 };
    svmp_context *context = test_context(2);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < D; v++) {
        const double sd = pow(10, 3.0 * (double)v / (D - 1));
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1 / (sd * sd)}, NULL));
    }
    assert_ok(svmp_model_finish(model));
    run_options options = nuts_options(2, 1000, 2000, 3);
    svmp_particles *particles = target_infer(model, &options);
    svmp_sampling sampling;
    assert_ok(svmp_particles_sampling(particles, &sampling));
    assert_true(sampling.leapfrogs < 10);
    for (size_t v = 0; v < D; v++) assert_moments(particles, v, 0, pow(10, 6.0 * (double)v / (D - 1)));
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- bits, starts, ends ------------------------------------------------------------------------------------------ */

static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { COUNT = 3 * 40 };
    double values[10 * COUNT], energy[COUNT];
    for (int threads = 1; threads <= 3; threads++) {
        svmp_context *context = test_context(threads);
        svmp_model *model = target_funnel(context, 1);
        run_options options = nuts_options(3, 60, 40, 9);
        svmp_particles *particles = target_infer(model, &options);
        assert_int_equal(svmp_particles_count(particles), COUNT);
        assert_int_equal(svmp_particles_chains(particles), 3);
        const double *now = svmp_particles_statistic(particles, "energy__");
        if (threads == 1) {
            memcpy(values, svmp_particles_values(particles), sizeof values);
            memcpy(energy, now, sizeof energy);
        }
        assert_memory_equal(values, svmp_particles_values(particles), sizeof values);
        assert_memory_equal(energy, now, sizeof energy);
        svmp_particles_free(particles);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

static int stop_at(const svmp_progress *progress, void *user_data) {
    assert_true(progress->rate > 0 && progress->iterations == 60);
    return progress->iteration == *(const size_t *)user_data;
}

/* A run stopped in its warm-up has the chains' states, one stopped later the draws so far; both continue with the same
 * bits. A chain's k-th draw does not depend on the numbers of chains and draws. */
static void test_a_stopped_run_goes_on_to_the_same_bits(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, 3, 7);
    run_options options = nuts_options(2, 40, 20, 4), fewer = nuts_options(1, 40, 5, 4);
    svmp_particles *whole = target_infer(model, &options), *part = target_infer(model, &fewer), *now = NULL;
    const double *x = svmp_particles_values(whole);
    for (size_t i = 0; i < 9; i++) assert_memory_equal(x + i * 40, svmp_particles_values(part) + i * 5, 5 * sizeof *x);
    svmp_run *run = NULL;
    svmp_outcome outcome;
    assert_ok(svmp_run_make(model, &options, &run));
    const size_t stops[] = {23, 47, 60};
    const size_t counts[] = {1, 7, 20};
    for (size_t k = 0; k < 3; k++) {
        size_t when = stops[k];
        assert_ok(svmp_run_set_monitor(run, stop_at, &when));
        assert_ok(svmp_run_go(run, &outcome));
        assert_int_equal(outcome, k < 2 ? SVMP_STOPPED : SVMP_COMPLETED);
        assert_int_equal(svmp_run_iteration(run), stops[k]);
        assert_ok(svmp_run_particles(run, &now));
        assert_int_equal(svmp_particles_count(now), 2 * counts[k]);
        assert_int_equal(svmp_particles_chains(now), 2);
        for (size_t i = 0; k > 0 && i < 9; i++)
            for (size_t c = 0; c < 2; c++)
                assert_memory_equal(x + i * 40 + c * 20, svmp_particles_values(now) + i * 2 * counts[k] + c * counts[k],
                                    counts[k] * sizeof *x);
        svmp_particles_free(now);
    }
    svmp_run_free(run);

    /* warm-up states are the draws of a run that keeps them */
    size_t when = 23;
    run_options shorter = nuts_options(2, 40, 20, 4);
    svmp_particles *again = NULL;
    for (int k = 0; k < 2; k++) {
        assert_ok(svmp_run_make(model, &shorter, &run));
        assert_ok(svmp_run_set_monitor(run, stop_at, &when));
        assert_ok(svmp_run_go(run, &outcome));
        assert_ok(svmp_run_particles(run, k == 0 ? &now : &again));
        svmp_run_free(run);
    }
    assert_memory_equal(svmp_particles_values(now), svmp_particles_values(again), 18 * sizeof *x);
    svmp_particles_free(now);
    svmp_particles_free(again);
    svmp_particles_free(whole);
    svmp_particles_free(part);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Finite only right of 1 (log(x - 1) - x): starts left of it are drawn again. */
static int half_line(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    for (size_t l = 0; l < n; l++) {
        value[l] = x[0][l] > 1 ? log(x[0][l] - 1) - x[0][l] : -INFINITY;
        gradient[0][l] = 1 / (x[0][l] - 1) - 1;
        if (user_data && x[0][l] > *(double *)user_data) return 1;
    }
    return 0;
}

static int flat(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)x, (void)user_data;
    for (size_t l = 0; l < n; l++) value[l] = gradient[0][l] = 0;
    return 0;
}

static svmp_model *one_callback(svmp_context *context, svmp_factor_function function, void *user_data) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "x", 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_callback(model, 1, (size_t[]){0}, function, user_data));
    assert_ok(svmp_model_finish(model));
    return model;
}

static void test_starts(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = one_callback(context, half_line, NULL);
    run_options options = nuts_options(4, 300, 2000, 1);
    svmp_particles *particles = target_infer(model, &options), *start = NULL;
    for (size_t l = 0; l < 8000; l++) assert_true(svmp_particles_values(particles)[l] > 1);
    assert_moments(particles, 0, 3, 2); /* x - 1 ~ Gamma(2, 1) */

    svmp_run *run = NULL;
    svmp_outcome outcome;
    options.init = "uniform:-3,-2";
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
    assert_non_null(strstr(svmp_context_error(context), "Chain 1 cannot start: the log density is"));
    assert_non_null(strstr(svmp_context_error(context), "the last of 100 random starts"));
    svmp_run_free(run);

    /* A start of eight particles for four chains: each takes the last of its two. One that is not finite gives a
     * warning. */
    assert_ok(svmp_particles_create(context, 1, 8, (double[]){0, 2, 0, 3, 0, 4, 0, 5}, &start));
    assert_ok(svmp_particles_set_name(start, 0, "x"));
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_start_from(run, start));
    svmp_particles_free(particles);
    assert_ok(svmp_run_particles(run, &particles));
    assert_int_equal(svmp_particles_count(particles), 4);
    assert_memory_equal(svmp_particles_values(particles), ((double[]){2, 3, 4, 5}), 4 * sizeof(double));
    assert_ok(svmp_run_go(run, &outcome));
    svmp_run_free(run);
    svmp_particles_values(start)[3] = -7;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_start_from(run, start));
    assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
    assert_non_null(strstr(svmp_context_error(context), "Chain 2 cannot start: the log density is"));
    assert_non_null(strstr(svmp_context_error(context), "at its start"));
    svmp_particles_free(start);
    svmp_run_free(run);
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_particles_create(context, 1, 3, NULL, &start));
    assert_ok(svmp_particles_set_name(start, 0, "x"));
    assert_ok(svmp_run_start_from(run, start)); /* the fourth chain starts near the first */
    svmp_run_free(run);
    svmp_particles_free(start);
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_refusals(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_outcome outcome;
    svmp_run *run = NULL;
    const char *methods[] = {"nuts", "mala"};
    for (size_t m = 0; m < 2; m++) {
        run_options options = nuts_options(2, 10, 10, 1);
        svmp_model *model = NULL;
        options.method = methods[m];
        assert_ok(svmp_model_create(context, &model));
        assert_ok(svmp_model_add_node(model, "free", 2, NULL, NULL, NULL));
        assert_ok(svmp_model_add_node(model, "boxed", 2, NULL, (double[]){INFINITY, 1}, NULL));
        assert_ok(svmp_model_finish(model));
        assert_int_equal(svmp_run_make(model, &options, &run), SVMP_UNSUPPORTED);
        assert_non_null(strstr(svmp_context_error(context), "the node boxed has one"));
        svmp_model_free(model);
    }
    run_options options = nuts_options(2, 10, 10, 1);
    svmp_model *model = one_callback(context, flat, NULL);
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
    assert_non_null(strstr(svmp_context_error(context), "the posterior may be improper"));
    svmp_run_free(run);
    options.step = "fixed:1";
    assert_int_equal(svmp_run_make(model, &options, &run), SVMP_BAD_CALL);
    options.step = NULL;
    options.draws = 1000000000;
    options.chains = 1000000;
    assert_int_equal(svmp_run_make(model, &options, &run), SVMP_NO_MEMORY);
    svmp_model_free(model);

    double limit = 4; /* the function fails beyond it, which a chain reaches */
    model = one_callback(context, half_line, &limit);
    options = nuts_options(2, 100, 1000, 1);
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(svmp_run_go(run, &outcome), SVMP_CALLBACK_FAILED);
    assert_int_equal(outcome, SVMP_UNFINISHED);
    assert_true(svmp_run_iteration(run) > 0);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Without warm-up the initial step and the unit metric are kept. A warm-up of one iteration adapts the step at once. */
static void test_short_warmups(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 3, 7);
    const size_t warmups[] = {0, 1, 19, 20, 21};
    for (size_t k = 0; k < 5; k++) {
        run_options options = nuts_options(2, warmups[k], 1, 3);
        svmp_particles *particles = target_infer(model, &options);
        assert_int_equal(svmp_particles_count(particles), 2);
        const double step = svmp_particles_statistic(particles, "stepsize__")[1];
        assert_true(step > 1e-3 && step < 1e3);
        svmp_particles_free(particles);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* log x - x, undefined for negative x. */
static int gamma_density(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = x[0][l] > 0 ? log(x[0][l]) - x[0][l] : -INFINITY;
        gradient[0][l] = x[0][l] > 0 ? 1 / x[0][l] - 1 : NAN;
    }
    return 0;
}

static void count_domains(svmp_log_level level, const char *message, void *user_data) {
    *(size_t *)user_data += level == SVMP_LOG_WARNING && strstr(message, "the density is undefined") != NULL;
}

/* The warning that trajectories leave the domain is given once, however often the particles are read. */
static void test_a_domain_is_reported_once(void **state) {
    (void)state;
    size_t warnings = 0;
    const run_options options = nuts_options(2, 100, 200, 1);
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    size_t node;
    const double start[] = {1, 2};
    svmp_particles *first = NULL;
    assert_ok(svmp_context_create(NULL, &context));
    assert_ok(svmp_context_set_log(context, count_domains, &warnings));
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, &node));
    assert_ok(svmp_model_add_callback(model, 1, &node, gamma_density, NULL));
    assert_ok(svmp_model_finish(model));
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_particles_create(context, 1, 2, start, &first));
    assert_ok(svmp_run_start_from(run, first));
    assert_ok(svmp_run_go(run, &outcome));
    for (int times = 0; times < 3; times++) {
        svmp_particles *particles = NULL;
        assert_ok(svmp_run_particles(run, &particles));
        svmp_particles_free(particles);
        assert_int_equal(warnings, 1);
    }
    svmp_particles_free(first);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- from the Gaussian on the graph ------------------------------------------------------------------------------ */

static svmp_particles *infer_text(svmp_context *context, const char *text, const run_options *options) {
    svmp_model *model = NULL;
    const svmp_reading centred = {.coordinates = "centred"};
    assert_ok(svmp_model_read_text(context, "m.bug", text, NULL, &centred, &model));
    svmp_particles *particles = target_infer(model, options);
    svmp_model_free(model);
    return particles;
}

/* A straight line with priors that are much wider than the posterior, far from 0, and almost collinear: trajectories
 * are short. With flat priors a + 25.5 b and b have the means of least squares. */
static void test_a_line_with_wide_priors(void **state) {
    (void)state;
    static const char text[] = "data { for (i in 1:50) { y[i] <- 300 + 2 * i + pow(-1, i) } }\n"
                               "model { for (i in 1:50) { y[i] ~ dnorm(a + b * i, pow(s, -2)) }\n"
                               "a ~ dunif(-1000, 1000)\n b ~ dunif(-1000, 1000)\n s ~ dunif(0, 1000) }";
    svmp_context *context = test_context(2);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_options options = nuts_options(4, 300, 1000, seed);
        svmp_particles *particles = infer_text(context, text, &options);
        svmp_sampling sampling;
        assert_ok(svmp_particles_sampling(particles, &sampling));
        assert_int_equal(sampling.divergent, 0);
        assert_true(sampling.leapfrogs < 15);
        svmp_particles_free(particles);
    }
    svmp_context_free(context);
}

/* The funnel of a hierarchy without data: trajectories alone leave the sd of v at a half and diverge; with marginal
 * moves v, which is normal with variance 9, is right. */
static void test_a_funnel(void **state) {
    (void)state;
    static const char text[] = "model { v ~ dnorm(0, 1 / 9)\n for (i in 1:8) { x[i] ~ dnorm(0, exp(-v)) } }";
    svmp_context *context = test_context(2);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_options options = nuts_options(4, 1000, 4000, seed);
        svmp_particles *particles = infer_text(context, text, &options);
        svmp_sampling sampling;
        assert_ok(svmp_particles_sampling(particles, &sampling));
        assert_int_equal(sampling.divergent, 0);
        assert_moments(particles, 0, 0, 9);
        svmp_particles_free(particles);
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_of_a_correlated_gaussian),
        cmocka_unit_test(test_moments_of_a_student),
        cmocka_unit_test(test_moments_of_a_logistic_regression),
        cmocka_unit_test(test_the_funnel),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_running_variance),
        cmocka_unit_test(test_a_line_with_wide_priors),
        cmocka_unit_test(test_a_funnel),
        cmocka_unit_test(test_the_metric_learns_scales),
        cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_a_stopped_run_goes_on_to_the_same_bits),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_short_warmups),
        cmocka_unit_test(test_a_domain_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
