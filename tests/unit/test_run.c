/* Whole runs: what they converge to, how they stop and continue, what they refuse. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static svmp_particles *infer(const svmp_model *model, const run_options *options) {
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *particles = NULL;
    assert_ok(svmp_run_make(model, options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_particles(run, &particles));
    svmp_run_free(run);
    return particles;
}

/* ---- convergence ------------------------------------------------------------------------------------------------- */

/* Stein's identity for linear functions is exact at the fixed point of a linear kernel: mean and covariance of the
 * particles (dividing by n) are the model's. */
static void test_linear_kernel_reproduces_mean_and_covariance(void **state) {
    (void)state;
    enum { D = 6, N = 15 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 1, 1, 41);
    double S[D * D], b[D];
    test_dense(model, S, b);
    test_invert(D, S);
    run_options options = graphical_options();
    options.kernel = "linear@all";
    options.particles = N;
    options.iterations = 6000;
    options.step = "adam:0.05..0.0001";
    svmp_particles *particles = infer(model, &options);
    const double *x = svmp_particles_values(particles);
    double mean[D] = {0};
    for (size_t i = 0; i < D; i++) {
        double expected = 0;
        for (size_t j = 0; j < D; j++) expected += S[i * D + j] * b[j];
        for (size_t l = 0; l < N; l++) mean[i] += x[i * N + l] / N;
        assert_near(mean[i], expected, 1e-3);
    }
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double covariance = 0;
            for (size_t l = 0; l < N; l++) covariance += (x[i * N + l] - mean[i]) * (x[j * N + l] - mean[j]) / N;
            assert_near(covariance, S[i * D + j], 1e-3);
        }
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* On the 10 by 10 grid graphical SVGD estimates the means better than as many exact draws: its root mean square error
 * over nodes is below a third of their standard error, sd / sqrt(n). Its variances are on average 0.7 ... 1.05 times
 * the exact ones, while those of vanilla SVGD are far smaller, as the paper claims. */
static void test_grid_converges_to_the_exact_moments(void **state) {
    (void)state;
    enum { D = 100, N = 50 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, 10, 13);
    double mean[D], variance[D], ratio[2] = {0};
    if (svmp_model_exact_moments(model, mean, variance) == SVMP_UNSUPPORTED) skip();
    const char *methods[] = {"graphical", "vanilla"};
    for (size_t m = 0; m < 2; m++) {
        run_options options = graphical_options();
        options.method = methods[m];
        options.particles = N;
        options.iterations = 1500;
        options.step = "adam:0.3..0.01";
        svmp_particles *particles = infer(model, &options);
        double error = 0;
        for (size_t i = 0; i < D; i++) {
            svmp_moments moments;
            assert_ok(svmp_particles_moments(particles, i, &moments));
            error += pow(moments.mean - mean[i], 2) / (variance[i] / N) / D;
            ratio[m] += moments.sd * moments.sd / variance[i] / D;
        }
        assert_true(sqrt(error) < 1.0 / 3);
        svmp_particles_free(particles);
    }
    assert_true(ratio[0] > 0.7 && ratio[0] < 1.05);
    assert_true(ratio[1] < 0.5);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Langevin dynamics with a small step: moments of the last states of independent chains, within 4.5 standard errors
 * plus the O(epsilon) bias of the unadjusted chain, at most epsilon times the precision's largest eigenvalue. */
static void test_langevin_has_the_models_moments(void **state) {
    (void)state;
    enum { D = 4, N = 4000 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 1, 1, 43);
    double S[D * D], b[D], largest = 0;
    test_dense(model, S, b);
    for (size_t i = 0; i < D; i++) largest = fmax(largest, 2 * S[i * D + i]); /* Gershgorin, diagonally dominant */
    test_invert(D, S);
    const double rate = 0.01;
    run_options options = graphical_options();
    options.method = "langevin";
    options.step = "fixed:0.01";
    options.particles = N;
    options.iterations = 2000;
    svmp_particles *particles = infer(model, &options);
    for (size_t i = 0; i < D; i++) {
        double expected = 0, variance = S[i * D + i];
        for (size_t j = 0; j < D; j++) expected += S[i * D + j] * b[j];
        svmp_moments moments;
        assert_ok(svmp_particles_moments(particles, i, &moments));
        assert_true(fabs(moments.mean - expected) < 4.5 * sqrt(variance / N));
        assert_true(fabs(moments.sd * moments.sd / variance - 1) < 4.5 * sqrt(2.0 / N) + rate * largest);
    }
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_boxes_bound_the_particles(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    const char *methods[] = {"graphical", "langevin", "dpmp", "tpmp"};
    for (size_t m = 0; m < 4; m++) {
        svmp_model *model = NULL;
        assert_ok(svmp_model_create(context, &model));
        assert_ok(svmp_model_add_node(model, NULL, 2, (double[]){-0.5, -INFINITY}, (double[]){0.25, 0}, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){1, 0.2, 0.2, 1}, (double[]){3, 3}));
        assert_ok(svmp_model_finish(model));
        run_options options = graphical_options();
        options.method = methods[m];
        options.particles = 20;
        options.iterations = 200;
        svmp_particles *particles = infer(model, &options);
        const double *x = svmp_particles_values(particles);
        int at_the_edge = 0;
        for (size_t l = 0; l < 20; l++) {
            assert_true(x[l] >= -0.5 && x[l] <= 0.25 && x[20 + l] <= 0);
            at_the_edge += x[l] == 0.25;
        }
        assert_true(at_the_edge > 0); /* the target lies there: projection was needed */
        svmp_particles_free(particles);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* One particle on exp(-x^2/2) from x = 2: the first displacements by each rule's own formula, score s = -x. */
static void test_step_rules(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){1}, NULL));
    assert_ok(svmp_model_finish(model));
    const char *steps[] = {"fixed:0.1", "adagrad:0.1", "rmsprop:0.1", "adam:0.1", "fixed:.1..0.025", "decay:0.3,2,0.5"};
    svmp_particles *start = NULL;
    assert_ok(svmp_particles_create(context, 1, 1, (double[]){2}, &start));
    for (size_t k = 0; k < 6; k++) {
        double x = 2, G = 0, M = 0, V = 0;
        for (int t = 0; t < 3; t++) {
            const double s = -x, delta = 1e-8;
            G = k == 1 ? G + s * s : 0.9 * G + 0.1 * s * s;
            M = 0.9 * M + 0.1 * s;
            V = 0.999 * V + 0.001 * s * s;
            const double moves[] = {0.1 * s,
                                    0.1 * s / (delta + sqrt(G)),
                                    0.1 * s / (delta + sqrt(G)),
                                    0.1 * M / (1 - pow(0.9, t + 1)) / (delta + sqrt(V / (1 - pow(0.999, t + 1)))),
                                    0.1 * pow(0.25, t / 2.0) * s,
                                    0.3 / sqrt(2.0 + t) * s};
            x += moves[k];
        }
        run_options options = graphical_options();
        options.step = steps[k];
        options.particles = 1;
        options.iterations = 3;
        svmp_run *run = NULL;
        svmp_outcome outcome;
        svmp_particles *end = NULL;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_start_from(run, start));
        assert_ok(svmp_run_go(run, &outcome));
        assert_ok(svmp_run_particles(run, &end));
        assert_near(svmp_particles_values(end)[0], x, 1e-14);
        svmp_particles_free(end);
        svmp_run_free(run);
    }
    svmp_particles_free(start);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- descriptions of methods ------------------------------------------------------------------------------------- */

/* For every method in the help of the options: what its particles and `largest` mean, as in its runs. */
static void test_methods_describe_themselves(void **state) {
    (void)state;
    static const svmp_method methods[] = {
        {"graphical", "|phi|", SVMP_YIELD_PARTICLES, 1, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"vanilla", "|phi|", SVMP_YIELD_PARTICLES, 1, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"independent", "|phi|", SVMP_YIELD_PARTICLES, 1, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"random", "|phi|", SVMP_YIELD_PARTICLES, 1, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"combined", "|phi|", SVMP_YIELD_PARTICLES, 1, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"langevin", "|score|", SVMP_YIELD_PARTICLES, 1, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"mala", "|score|", SVMP_YIELD_PARTICLES, 0, 0, 0, "centred", 0, 0, 1.0 / 3, 1, {0}},
        {"nuts", NULL, SVMP_YIELD_CHAINS, 0, 0, 1000, "auto", 1, 0, 1.0 / 3, 1, {0}},
        {"exact", NULL, SVMP_YIELD_DRAWS, 0, 0, 0, "centred", 0, 0, 1.0 / 3, 1, {0}},
        {"dpmp", "change of a message", SVMP_YIELD_MODES, 0, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"tpmp", "change of a message", SVMP_YIELD_MODES, 0, 0, 0, "centred", 0, 0, 1.0 / 3, 0, {0}},
        {"local", NULL, SVMP_YIELD_CHAINS, 1, 1, 64, "auto", 0, 0, 1.0 / 3, 0, {0}},
        {"transport", "error", SVMP_YIELD_PARTICLES, 0, 0, 4000, "auto", 1, 18, 1.0 / 6, 1, {0}},
    };
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 3, 7);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        svmp_method found;
        svmp_run *run = NULL;
        svmp_discrepancy total;
        run_options options = graphical_options();
        options.method = methods[k].name;
        assert_ok(svmp_method_describe(context, methods[k].name, &found));
        assert_string_equal(found.name, methods[k].name);
        assert_int_equal(found.yield, methods[k].yield);
        assert_int_equal(found.parts, methods[k].parts);
        assert_int_equal(found.sweeps, methods[k].sweeps);
        assert_int_equal(found.draws, methods[k].draws);
        assert_int_equal(found.fits, methods[k].fits);
        assert_int_equal(found.arrays, methods[k].arrays);
        assert_near(found.examination, methods[k].examination, 0);
        assert_string_equal(found.coordinates, methods[k].coordinates); /* the paper's methods: the model as written */
        assert_true((found.largest == NULL) == (methods[k].largest == NULL));
        if (found.largest) assert_string_equal(found.largest, methods[k].largest);
        if (svmp_run_make(model, &options, &run) == SVMP_UNSUPPORTED) continue; /* a build without CHOLMOD */
        assert_int_equal(svmp_run_discrepancy(run, &total, NULL) == SVMP_OK, found.yield == SVMP_YIELD_PARTICLES);
        svmp_run_free(run);
    }
    svmp_method none;
    assert_int_equal(svmp_method_describe(context, "magic", &none), SVMP_BAD_CALL);
    assert_non_null(
        strstr(svmp_context_error(context), "Unknown method 'magic'; available: auto, transport, graphical, "));
    assert_int_equal(svmp_method_describe(context, NULL, &none), SVMP_BAD_CALL);
    assert_int_equal(svmp_method_describe(context, "nuts", NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_method_describe(NULL, "nuts", &none), SVMP_BAD_CALL);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- stopping and continuing ------------------------------------------------------------------------------------- */

static int stop_at(const svmp_progress *progress, void *user_data) {
    assert_true(progress->largest > 0 && progress->rate > 0 && progress->iterations == 60);
    return progress->iteration == *(const size_t *)user_data;
}

static void test_a_stopped_run_goes_on_to_the_same_bits(void **state) {
    (void)state;
    const char *methods[] = {"graphical", "random", "langevin", "mala"};
    for (size_t m = 0; m < 4; m++) {
        svmp_context *context = test_context(2);
        svmp_model *model = test_grid(context, 4, 7);
        run_options options = graphical_options();
        options.method = methods[m];
        options.particles = 10;
        options.iterations = 60;
        svmp_particles *whole = infer(model, &options), *pieces = NULL;
        svmp_run *run = NULL;
        svmp_outcome outcome;
        size_t when = 23;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_set_monitor(run, stop_at, &when));
        assert_ok(svmp_run_go(run, &outcome));
        assert_int_equal(outcome, SVMP_STOPPED);
        assert_int_equal(svmp_run_iteration(run), 23);
        assert_ok(svmp_run_go(run, &outcome));
        assert_int_equal(outcome, SVMP_COMPLETED);
        assert_ok(svmp_run_particles(run, &pieces));
        assert_memory_equal(svmp_particles_values(whole), svmp_particles_values(pieces), 160 * sizeof(double));
        svmp_particles_free(whole);
        svmp_particles_free(pieces);
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* Large enough for the score, the velocities and the step all to be worth eight threads (svmp_threads_for). */
static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { SIDE = 25, N = 100 };
    const char *methods[] = {"graphical", "vanilla", "independent", "random", "combined", "langevin", "mala", "exact"};
    const int threads[] = {1, 2, 3, 8};
    double *first = malloc(SIDE * SIDE * N * sizeof *first);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t t = 0; t < 4; t++) {
            svmp_context *context = test_context(threads[t]);
            svmp_model *model = test_grid(context, SIDE, 7);
            run_options options = graphical_options();
            options.method = methods[m];
            options.particles = N;
            options.iterations = 3;
            if (strcmp(methods[m], "exact") == 0 && svmp_model_exact_moments(model, NULL, NULL) == SVMP_UNSUPPORTED) {
                print_message("no 'exact' in this build\n");
            } else {
                svmp_particles *particles = infer(model, &options);
                if (t == 0) memcpy(first, svmp_particles_values(particles), SIDE * SIDE * N * sizeof *first);
                assert_memory_equal(first, svmp_particles_values(particles), SIDE * SIDE * N * sizeof *first);
                svmp_particles_free(particles);
            }
            svmp_model_free(model);
            svmp_context_free(context);
        }
    free(first);
}

static void test_tolerance_ends_a_run(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 3, 1, 1, 3);
    run_options options = graphical_options();
    options.particles = 1;
    options.step = "fixed:0.2";
    options.tolerance = 1e-6;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, SVMP_CONVERGED);
    assert_true(svmp_run_iteration(run) < 1000);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_diverging_particles(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 3, 1, 1, 3);
    const char *methods[] = {"graphical", "vanilla", "langevin"};
    for (size_t m = 0; m < 3; m++) {
        run_options options = graphical_options();
        options.method = methods[m];
        options.particles = 5;
        options.step = "fixed:1e6";
        svmp_run *run = NULL;
        svmp_outcome outcome;
        svmp_particles *particles = NULL;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
        assert_int_equal(outcome, SVMP_DIVERGED);
        assert_ok(svmp_run_particles(run, &particles));
        for (size_t k = 0; k < 15; k++) assert_true(isfinite(svmp_particles_values(particles)[k]));
        svmp_particles_free(particles);
        svmp_run_free(run);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

static void test_starts(void **state) {
    (void)state;
    enum { N = 3000 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 3);
    run_options options = graphical_options();
    options.particles = N;
    options.iterations = 0;
    svmp_moments moments;
    options.init = "normal:2.5";
    svmp_particles *particles = infer(model, &options);
    assert_ok(svmp_particles_moments(particles, 1, &moments));
    assert_true(fabs(moments.mean) < 4.5 * 2.5 / sqrt(N) && fabs(moments.sd / 2.5 - 1) < 4.5 / sqrt(2.0 * N));
    svmp_particles_free(particles);
    options.init = "uniform:-1,3";
    particles = infer(model, &options);
    assert_ok(svmp_particles_moments(particles, 0, &moments));
    assert_true(fabs(moments.mean - 1) < 4.5 * sqrt(16.0 / 12 / N));
    assert_true(moments.q05 > -1 && fabs(moments.q95 - 2.8) < 0.1);
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A start may have any number of rows: with more rows than particles, the last of each of n equal parts is used; with
 * fewer, rows are used in turn, and additional particles are spread around them. */
static void test_a_start_has_any_number_of_rows(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "a", 1, NULL, NULL, NULL));
    assert_ok(svmp_model_finish(model));
    run_options options = graphical_options();
    options.particles = 4;
    svmp_run *run = NULL;
    svmp_particles *start = NULL, *now = NULL;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_particles_create(context, 1, 8, (double[]){1, 2, 3, 4, 5, 6, 7, 8}, &start));
    assert_ok(svmp_particles_set_name(start, 0, "a"));
    assert_ok(svmp_run_start_from(run, start));
    assert_ok(svmp_run_particles(run, &now));
    assert_memory_equal(svmp_particles_values(now), ((double[]){2, 4, 6, 8}), 4 * sizeof(double));
    svmp_particles_free(start);
    svmp_particles_free(now);
    assert_ok(svmp_particles_create(context, 1, 3, (double[]){10, 20, 30}, &start));
    assert_ok(svmp_particles_set_name(start, 0, "a"));
    assert_ok(svmp_run_start_from(run, start));
    assert_ok(svmp_run_particles(run, &now));
    const double *values = svmp_particles_values(now);
    assert_memory_equal(values, ((double[]){10, 20, 30}), 3 * sizeof(double));
    assert_true(values[3] != 10 && fabs(values[3] - 10) < 6 * 0.1);
    svmp_particles_free(start);
    svmp_particles_free(now);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_a_start_is_matched_by_name(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "a", 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_node(model, "b", 1, NULL, (double[]){5}, NULL));
    assert_ok(svmp_model_finish(model));
    run_options options = graphical_options();
    options.particles = 2;
    svmp_run *run = NULL;
    svmp_particles *start = NULL, *now = NULL;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_particles_create(context, 2, 2, (double[]){1, 7, 3, 4}, &start));
    assert_int_equal(svmp_run_start_from(run, start), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "2 of the particles are not in the model (x.1, x.2)"));
    assert_ok(svmp_particles_set_name(start, 0, "b"));
    assert_ok(svmp_particles_set_name(start, 1, "a"));
    assert_ok(svmp_run_start_from(run, start));
    assert_ok(svmp_run_particles(run, &now));
    const double expected[] = {3, 4, 1, 5}; /* a, then b, projected onto its box */
    assert_memory_equal(svmp_particles_values(now), expected, sizeof expected);
    svmp_particles_values(start)[3] = NAN;
    assert_int_equal(svmp_run_start_from(run, start), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "nan for a in particle 2"));
    svmp_particles_free(start);
    svmp_particles_free(now);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Without a number of iterations the method chooses it; a given number is used, including 0. */
static void test_iterations_of_the_methods(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 3);
    const struct {
        const char *method;
        size_t set, iterations;
    } cases[] = {{"graphical", SVMP_METHODS_OWN, 1000},
                 {"langevin", SVMP_METHODS_OWN, 1000},
                 {"dpmp", SVMP_METHODS_OWN, 100},
                 {"tpmp", SVMP_METHODS_OWN, 100},
                 {"graphical", 0, 0},
                 {"tpmp", 1000, 1000}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_options options = graphical_options();
        svmp_run *run = NULL;
        options.method = cases[k].method;
        if (cases[k].set != SVMP_METHODS_OWN) options.iterations = cases[k].set;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_int_equal(svmp_run_iterations(run), cases[k].iterations);
        svmp_run_free(run);
    }
    assert_int_equal(svmp_run_iterations(NULL), 0);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_refused_options(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 3);
    const struct {
        const char *name, *value, *name2, *value2, *sentence;
    } bad[] = {
        {"method", "gibbs", "seed", "1", "Unknown method 'gibbs'; available: auto, transport, graphical"},
        {"backend", "gpu", "seed", "1", "Unknown backend 'gpu'; did you mean 'cuda'? Available: "},
        {"bandwidth", "mean", "seed", "1", "Invalid bandwidth 'mean'"},
        {"bandwidth", "-1", "seed", "1", "Invalid bandwidth '-1'"},
        {"step", "newton:1", "seed", "1", "Invalid step 'newton:1'"},
        {"step", "adam", "seed", "1", "Invalid step 'adam'"},
        {"step", "adam:0", "seed", "1", "Invalid step 'adam:0'"},
        {"step", "adam:1..", "seed", "1", "Invalid step 'adam:1..'"},
        {"step", "decay:1,2", "seed", "1", "Invalid step 'decay:1,2'"},
        {"init", "normal:x", "seed", "1", "Invalid start 'normal:x'"},
        {"init", "uniform:2,1", "seed", "1", "Invalid start 'uniform:2,1'"},
        {"init", "here", "seed", "1", "Invalid start 'here'"},
        {"init", "uniform:-1e308,1e308", "seed", "1", "Invalid start 'uniform:-1e308,1e308'"},
        {"method", "langevin", "step", "adam:0.1", "cannot use the step rule 'adam'"},
        {"method", "langevin", "kernel", "rbf@all", "The method 'langevin' does not take a kernel"},
        {"method", "langevin", "tolerance", "1", "The method 'langevin' does not take a tolerance"},
        {"method", "mala", "step", "adagrad:0.1", "The method 'mala' cannot use the step rule 'adagrad'"},
        {"method", "nuts", "step", "fixed:1", "The method 'nuts' does not take a step"},
        {"method", "nuts", "kernel", "rbf@all", "The method 'nuts' does not take a kernel"},
        {"method", "exact", "step", "fixed:1", "The method 'exact' does not take a step"},
        {"method", "dpmp", "step", "fixed:1", "The method 'dpmp' does not take a step"},
        {"method", "tpmp", "kernel", "rbf@all", "The method 'tpmp' does not take a kernel"},
    };
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        run_options options = graphical_options();
        svmp_run *run = NULL;
        assert_ok(svmp_run_options_set(context, &options, bad[b].name, bad[b].value));
        assert_ok(svmp_run_options_set(context, &options, bad[b].name2, bad[b].value2));
        assert_int_equal(svmp_run_make(model, &options, &run), SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), bad[b].sentence));
        assert_null(run);
    }
    run_options beyond = graphical_options();
    svmp_run *never = NULL;
    beyond.init = "normal:1e308";
    assert_int_equal(svmp_run_make(model, &beyond, &never), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "The start is not finite: x.1 is"));
    const char *good[] = {"adam:1..0.05", "adam:1...5", "fixed:2.", "adagrad:1e-1..1e-3"};
    for (size_t g = 0; g < sizeof good / sizeof *good; g++) {
        run_options fine = graphical_options();
        svmp_run *made = NULL;
        fine.step = good[g];
        assert_ok(svmp_run_make(model, &fine, &made));
        svmp_run_free(made);
    }
    run_options options = graphical_options();
    svmp_run *run = NULL;
    options.particles = 0; /* set directly, without the table's checks */
    assert_int_equal(svmp_run_make(model, &options, &run), SVMP_BAD_CALL);
    svmp_model *shared = test_random_gaussian(context, 9, 1, 1, 3);
    const size_t many[] = {3000000, 1000000000}; /* one n*n matrix for nine variables exceeds any machine's memory */
    for (size_t k = 0; k < 2; k++) {
        options.particles = many[k];
        assert_int_equal(svmp_run_make(shared, &options, &run), SVMP_NO_MEMORY);
        assert_non_null(strstr(svmp_context_error(context), "GB, but this machine has"));
    }
    svmp_model_free(shared);
    assert_int_equal(svmp_run_create(NULL, NULL, &run), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_create(model, NULL, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_go(NULL, NULL), SVMP_BAD_CALL);
    assert_null(run);
    svmp_run_free(NULL);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_kernel_reproduces_mean_and_covariance),
        cmocka_unit_test(test_grid_converges_to_the_exact_moments),
        cmocka_unit_test(test_langevin_has_the_models_moments),
        cmocka_unit_test(test_boxes_bound_the_particles),
        cmocka_unit_test(test_step_rules),
        cmocka_unit_test(test_methods_describe_themselves),
        cmocka_unit_test(test_a_stopped_run_goes_on_to_the_same_bits),
        cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_tolerance_ends_a_run),
        cmocka_unit_test(test_diverging_particles),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_a_start_is_matched_by_name),
        cmocka_unit_test(test_a_start_has_any_number_of_rows),
        cmocka_unit_test(test_iterations_of_the_methods),
        cmocka_unit_test(test_refused_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
