/* Local moves: they leave Gaussian and other posteriors invariant, do not depend on units, threads or other nodes, and
 * refuse models without a finite density. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "files.h"
#include "method/method.h"
#include "method/moves/sweep.h"
#include "sample/particles.h"
#include "targets.h"

/* ---- one sweep, from the posterior ------------------------------------------------------------------------------- */

/* Mean and variance of n numbers, with their standard errors. */
typedef struct moments {
    double mean, variance, mean_error, variance_error;
} moments;

static moments moments_of(size_t n, const double *x) {
    moments m = {0};
    double fourth = 0;
    for (size_t l = 0; l < n; l++) m.mean += x[l] / (double)n;
    for (size_t l = 0; l < n; l++) m.variance += pow(x[l] - m.mean, 2) / (double)n;
    for (size_t l = 0; l < n; l++) fourth += pow(x[l] - m.mean, 4) / (double)n;
    m.mean_error = sqrt(m.variance / (double)n);
    m.variance_error = sqrt((fourth - m.variance * m.variance) / (double)n);
    return m;
}

/* Independent draws from the posterior stay independent draws after sweeps with any step sizes, so their moments stay.
 * None of a few hundred moments is 5 standard errors away. Every fourth move is a Cauchy proposal, from the Gaussian of
 * `like`, another model on the same graph; NULL: none is. */
static double *check_stays_with(const svmp_model *like, const svmp_model *model, size_t n, const double *start,
                                const double *mean, const double *variance, double adapted) {
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    backend *b = NULL;
    sweeper *s = NULL;
    double *x = NULL, moved = 0;
    assert_ok(svmp_backend_create(&svmp_backend_cpu, model, n, 11, NULL, NULL, &b));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    memcpy(x, start, variables * n * sizeof *x);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    assert_ok(svmp_sweeper_create(b, &s));
    if (like) {
        gaussian *q = NULL;
        assert_ok(svmp_gaussian_create(like, 1, &q));
        assert_ok(svmp_sweeper_add_cauchy(s, q));
        svmp_gaussian_free(q);
    }
    assert_ok(svmp_sweeper_measure_curvature(s, b, 0));
    for (size_t t = 0; t < 30; t++) assert_ok(svmp_sweep(s, b, t, adapted / sqrt(1 + (double)t)));
    memcpy(x, start, variables * n * sizeof *x); /* adapted steps depend on the particles: start again */
    for (size_t t = 30; t < 36; t++) assert_ok(svmp_sweep(s, b, t, 0));
    for (size_t k = 0; k < variables * n; k++) moved += x[k] != start[k];
    assert_true(moved > 0.5 * (double)(variables * n));
    for (size_t i = 0; i < variables; i++) {
        const moments m = moments_of(n, x + i * n);
        if (!(fabs(m.mean - mean[i]) <= 5 * m.mean_error)) fail_msg("mean %zu: %g, not %g", i, m.mean, mean[i]);
        if (!(fabs(m.variance - variance[i]) <= 5 * m.variance_error))
            fail_msg("variance %zu: %g, not %g", i, m.variance, variance[i]);
    }
    double *after = calloc(variables * n, sizeof *after);
    memcpy(after, x, variables * n * sizeof *x);
    svmp_sweeper_free(s);
    svmp_backend_free(b);
    return after;
}

static double *check_stays(const svmp_model *model, size_t n, const double *start, const double *mean,
                           const double *variance, double adapted) {
    return check_stays_with(NULL, model, n, start, mean, variance, adapted);
}

/* (x - m)'A(x - m) of a Gaussian with d variables has the mean d and the variance 2d: the sharpest of all moments. */
static void check_energy(const svmp_model *model, size_t n, const double *mean, double *x) {
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double *a = calloc(d * d, sizeof *a), *b = calloc(d, sizeof *b), sum = 0;
    test_dense(model, a, b);
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                sum += (x[i * n + l] - mean[i]) * a[i * d + j] * (x[j * n + l] - mean[j]) / (double)(n * d);
    const double error = sqrt(2 / (double)(n * d));
    if (!(fabs(sum - 1) <= 4 * error)) fail_msg("the energy is %g times what it should be, +- %g", sum, error);
    free(a), free(b), free(x);
}

/* x = mean + L'^-1 z of a Gaussian model; its exact moments. */
static double *draw_gaussian(const svmp_model *model, size_t n, double *mean, double *variance) {
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double *a = calloc(d * d, sizeof *a), *b = calloc(d, sizeof *b), *l = calloc(d * d, sizeof *l);
    double *x = calloc(d * n, sizeof *x);
    test_dense(model, a, b);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * d + j];
            for (size_t k = 0; k < j; k++) sum -= l[i * d + k] * l[j * d + k];
            l[i * d + j] = i == j ? sqrt(sum) : sum / l[j * d + j];
        }
    test_invert(d, a);
    for (size_t i = 0; i < d; i++) {
        mean[i] = 0;
        variance[i] = a[i * d + i];
        for (size_t j = 0; j < d; j++) mean[i] += a[i * d + j] * b[j];
    }
    for (size_t i = d; i-- > 0;) {
        svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST, .b = i}, n, x + i * n);
        for (size_t k = i + 1; k < d; k++)
            for (size_t p = 0; p < n; p++) x[i * n + p] -= l[k * d + i] * x[k * n + p];
        for (size_t p = 0; p < n; p++) x[i * n + p] /= l[i * d + i];
    }
    for (size_t i = 0; i < d; i++)
        for (size_t p = 0; p < n; p++) x[i * n + p] += mean[i];
    free(a), free(b), free(l);
    return x;
}

static void test_gaussians(void **state) {
    (void)state;
    enum { N = 20000 };
    svmp_context *context = test_context(2);
    for (uint64_t stream = 0; stream < 2; stream++) { /* nodes with one and two variables, sparse and complete graphs */
        svmp_model *model = test_random_gaussian(context, 8, stream ? 1 : 0.3, 0, stream);
        double mean[16], variance[16];
        double *x = draw_gaussian(model, N, mean, variance);
        check_energy(model, N, mean, check_stays(model, N, x, mean, variance, 2));
        check_energy(model, N, mean, check_stays(model, N, x, mean, variance, 0));
        check_energy(model, N, mean, check_stays_with(model, model, N, x, mean, variance, 2));
        free(x);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* Student's t with 5 degrees of freedom, as normals over the square root of chi-squares; variance 5/3. */
static void test_heavy_tails(void **state) {
    (void)state;
    enum { N = 20000, D = 3 };
    svmp_context *context = test_context(2);
    svmp_model *model = target_student(context, D);
    double *x = calloc(D * N, sizeof *x), *chi = calloc(D * N, sizeof *chi), *z = calloc(D * N, sizeof *z);
    for (size_t k = 0; k < 5; k++) {
        svmp_random_normals((random_stream){.seed = 9, .purpose = RANDOM_TEST, .b = k}, D * N, z);
        for (size_t e = 0; e < D * N; e++) chi[e] += z[e] * z[e] / 5;
    }
    svmp_random_normals((random_stream){.seed = 9, .purpose = RANDOM_TEST, .b = 5}, D * N, x);
    for (size_t e = 0; e < D * N; e++) x[e] /= sqrt(chi[e]);
    free(check_stays(model, N, x, (double[]){0, 0, 0}, (double[]){5.0 / 3, 5.0 / 3, 5.0 / 3}, 2));
    free(x), free(chi), free(z);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Two variables of one node, and one that follows one of them. The proposals come from a Gaussian with another mean,
 * other scales and other correlations, which must not show. */
static void test_proposals_of_another_gaussian(void **state) {
    (void)state;
    enum { N = 20000, D = 3 };
    svmp_context *context = test_context(2);
    static const char text[] = "model { x[1:2] ~ dmnorm(m[], A[,])\n z ~ dnorm(x[1], 1) }\n"
                               "data { m[1] <- 1\n m[2] <- %g\n A[1,1] <- %g\n A[1,2] <- %g\n A[2,1] <- %g\n"
                               " A[2,2] <- 2 }";
    char its[300], other[300];
    svmp_model *model = NULL, *like = NULL;
    double mean[D], variance[D];
    snprintf(its, sizeof its, text, 2.0, 2.0, 1.0, 1.0);
    snprintf(other, sizeof other, text, 4.0, 8.0, -1.0, -1.0);
    assert_ok(svmp_model_read_text(context, NULL, its, NULL, NULL, &model));
    assert_ok(svmp_model_read_text(context, NULL, other, NULL, NULL, &like));
    double *x = draw_gaussian(model, N, mean, variance);
    check_energy(model, N, mean, check_stays_with(like, model, N, x, mean, variance, 2));
    free(x);
    svmp_model_free(like);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* exp(-(x - 10)^2/2)/4 + 3 exp(-x^2/2)/4 is a density that steps do not cross, and Cauchy proposals from N(0, 1) do:
 * from x = 0, all of 2,000 particles have the mean 10/4 and the sd of the mixture after a hundred sweeps. */
static void test_proposals_cross_gaps(void **state) {
    (void)state;
    enum { N = 2000, SWEEPS = 400 };
    svmp_context *context = test_context(2);
    svmp_model *model = NULL, *like = NULL;
    backend *b = NULL;
    sweeper *s = NULL;
    gaussian *q = NULL;
    double *x;
    const double variance = 1 + 100 * 0.25 * 0.75;
    assert_ok(svmp_model_read_text(context, NULL,
                                   "model { x ~ dflat()\n factor(log(0.75 * exp(-x^2 / 2) + 0.25 * exp(-(x - 10)^2 / "
                                   "2))) }",
                                   NULL, NULL, &model));
    assert_ok(svmp_model_read_text(context, NULL, "model { x ~ dnorm(0, 1) }", NULL, NULL, &like));
    assert_ok(svmp_gaussian_create(like, 1, &q));
    for (int crossing = 0; crossing < 2; crossing++) {
        assert_ok(svmp_backend_create(&svmp_backend_cpu, model, N, 1, NULL, NULL, &b));
        assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        svmp_random_normals((random_stream){.seed = 1, .a = 0, .b = 0, .purpose = RANDOM_TEST}, N, x);
        assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
        assert_ok(svmp_sweeper_create(b, &s));
        if (crossing) assert_ok(svmp_sweeper_add_cauchy(s, q));
        assert_ok(svmp_sweeper_measure_curvature(s, b, 0));
        for (size_t t = 0; t < SWEEPS; t++) assert_ok(svmp_sweep(s, b, t, t < 40 ? 1 : 0));
        const moments m = moments_of(N, x);
        if (crossing) assert_true(fabs(m.mean - 2.5) < 5 * sqrt(variance / N));
        if (crossing) assert_true(fabs(m.variance - variance) < 5 * m.variance_error);
        if (!crossing) assert_true(fabs(m.mean) < 0.2);
        svmp_sweeper_free(s);
        svmp_backend_free(b);
    }
    svmp_gaussian_free(q);
    svmp_model_free(like);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- whole runs -------------------------------------------------------------------------------------------------- */

static run_options small(size_t particles, size_t sweeps) {
    run_options options = graphical_options();
    options.method = "local";
    options.particles = particles;
    options.iterations = sweeps;
    return options;
}

/* From its default start to the posterior: the error of a mean comes from the means of the chains. */
static void test_runs_reach_the_posterior(void **state) {
    (void)state;
    enum { N = 200 };
    svmp_context *context = test_context(2);
    double mean[2], variance[2];
    target_logistic_moments(mean, variance);
    svmp_model *model = target_logistic(context);
    const run_options options = small(N, 600);
    svmp_particles *p = target_infer(model, &options);
    assert_int_equal(svmp_particles_chains(p), N);
    const size_t each = svmp_particles_count(p) / N;
    assert_int_equal(each, 300 / 8); /* the least power of two that leaves at most 64 of 300 */
    for (size_t i = 0; i < 2; i++)
        for (int power = 1; power <= 2; power++) {
            double of_chain[N];
            for (size_t c = 0; c < N; c++) {
                of_chain[c] = 0;
                for (size_t k = 0; k < each; k++) {
                    const double x = svmp_particles_values(p)[(i * N + c) * each + k] - mean[i];
                    of_chain[c] += (power == 1 ? x : x * x) / (double)each;
                }
            }
            const moments m = moments_of(N, of_chain);
            const double wanted = power == 1 ? 0 : variance[i];
            if (!(fabs(m.mean - wanted) <= 4.5 * m.mean_error))
                fail_msg("power %d of variable %zu: %g, not %g (+- %g)", power, i, m.mean, wanted, m.mean_error);
        }
    const double *accepted = svmp_particles_statistic(p, "accept_stat__"),
                 *density = svmp_particles_statistic(p, "lp__");
    double acceptance = 0, there;
    for (size_t k = 0; k < N * each; k++) acceptance += accepted[k] / (double)(N * each);
    assert_true(acceptance > 0.5 && acceptance < 0.7);
    for (size_t k = 0; k < N * each; k += 997) {
        const double x[2] = {svmp_particles_values(p)[k], svmp_particles_values(p)[N * each + k]};
        assert_ok(svmp_model_evaluate(model, 1, x, &there, NULL));
        assert_near(density[k], there, 1e-12);
    }
    svmp_particles_free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void assert_same(svmp_particles *a, svmp_particles *b) {
    const size_t count = svmp_particles_count(a);
    assert_int_equal(count, svmp_particles_count(b));
    assert_memory_equal(svmp_particles_values(a), svmp_particles_values(b),
                        svmp_particles_variables(a) * count * sizeof(double));
    assert_memory_equal(svmp_particles_statistic(a, "lp__"), svmp_particles_statistic(b, "lp__"),
                        count * sizeof(double));
    assert_memory_equal(svmp_particles_statistic(a, "accept_stat__"), svmp_particles_statistic(b, "accept_stat__"),
                        count * sizeof(double));
}

/* 900 factors touch mu and tau: with 80 particles they are hubs. */
static svmp_model *read_hubs(svmp_context *context) {
    svmp_model *model = NULL;
    write_text("hubs.bug", "data { for (i in 1:900) { y[i] <- sin(i) } }\n"
                           "model { for (i in 1:900) { y[i] ~ dnorm(mu + z[trunc(i / 30.01) + 1], tau) }\n"
                           "  for (j in 1:30) { z[j] ~ dnorm(0, 4) }\n"
                           "  mu ~ dnorm(0, 1); tau ~ dgamma(2, 2) }\n");
    if (svmp_model_read(context, 1, (const char *[]){"hubs.bug"}, NULL, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

static void test_threads(void **state) {
    (void)state;
    svmp_particles *one = NULL;
    const run_options options = small(80, 12);
    for (int threads = 1; threads <= 4; threads++) {
        svmp_context *context = test_context(threads);
        svmp_model *model = read_hubs(context);
        svmp_particles *p = target_infer(model, &options);
        if (one) {
            assert_same(one, p);
            svmp_particles_free(p);
        } else {
            one = p;
        }
        svmp_model_free(model);
        if (threads > 1) svmp_context_free(context);
    }
    svmp_context *context = one->context;
    svmp_particles_free(one);
    svmp_context_free(context);
}

/* Once the steps are fixed, a particle's moves do not depend on other particles. */
static void test_particles_are_chains(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 4, 3);
    run_options options = small(9, 20);
    options.warmup = 0;
    options.draws = 20;
    svmp_particles *many = target_infer(model, &options);
    options.particles = 4; /* the curvature of a Gaussian is the same for any particle */
    svmp_particles *few = target_infer(model, &options);
    for (size_t i = 0; i < 16; i++)
        for (size_t l = 0; l < 4 * 20; l++)
            assert_near(svmp_particles_values(few)[i * 80 + l], svmp_particles_values(many)[i * 180 + l], 1e-9);
    svmp_particles_free(many);
    svmp_particles_free(few);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

typedef struct scaled {
    double by[2];
} scaled;

/* log f = -log(cosh(u - v)) - u^2 v^2 / 4 - u^2/8 - v^2/8, u and v in different units. */
static int coupled(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const scaled *s = user_data;
    for (size_t l = 0; l < n; l++) {
        const double u = x[0][l] / s->by[0], v = x[1][l] / s->by[1];
        value[l] = -log(cosh(u - v)) - u * u * v * v / 4 - u * u / 8 - v * v / 8;
        gradient[0][l] = (-tanh(u - v) - u * v * v / 2 - u / 4) / s->by[0];
        gradient[1][l] = (tanh(u - v) - u * u * v / 2 - v / 4) / s->by[1];
    }
    return 0;
}

/* The positions of n particles after 40 sweeps, in units of s->by. They start at different points or all at one. */
static void walk_in_units(svmp_context *context, const scaled *units, int together, size_t n, int apart, double *end) {
    svmp_model *model = NULL;
    backend *b = NULL;
    sweeper *s = NULL;
    double *x = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (int v = 0; v < 2 - together; v++)
        assert_ok(svmp_model_add_node(model, NULL, (size_t)(1 + together), NULL, NULL, NULL));
    assert_ok(
        svmp_model_add_callback(model, (size_t)(2 - together), (size_t[]){0, 1}, coupled, (void *)(uintptr_t)units));
    assert_ok(svmp_model_finish(model));
    assert_ok(svmp_backend_create(&svmp_backend_cpu, model, n, 3, NULL, NULL, &b));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t e = 0; e < 2 * n; e++) x[e] = units->by[e / n] * test_random(8, apart ? e : e / n);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    assert_ok(svmp_sweeper_create(b, &s));
    assert_ok(svmp_sweeper_measure_curvature(s, b, 0));
    for (size_t t = 0; t < 40; t++) {
        if (t == 16) assert_ok(svmp_sweeper_measure_curvature(s, b, 1));
        assert_ok(svmp_sweep(s, b, t, t < 30 ? 1 / sqrt(1 + (double)t) : 0));
    }
    for (size_t e = 0; e < 2 * n; e++) end[e] = x[e] / units->by[e / n];
    svmp_sweeper_free(s);
    svmp_backend_free(b);
    svmp_model_free(model);
}

/* In units that are powers of two all rounding is the same, so the moves are the same. This includes one particle, and
 * particles that start at one point and so give no scale. */
static void test_units(void **state) {
    (void)state;
    enum { N = 50 };
    svmp_context *context = test_context(1);
    static const scaled scales[] = {{{1, 1}}, {{0x1p20, 0x1p-20}}, {{0x1p-40, 0x1p7}}, {{0x1p-60, 0x1p-60}}};
    static const struct {
        size_t n;
        int apart;
    } starts[] = {{N, 1}, {N, 0}, {1, 0}};
    for (int together = 0; together < 2; together++) /* two nodes, or one of two variables */
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
            const size_t n = starts[k].n;
            double first[2 * N], end[2 * N], moved = 0;
            walk_in_units(context, &scales[0], together, n, starts[k].apart, first);
            for (size_t e = 0; e < 2 * n; e++)
                moved += fabs(first[e] - test_random(8, starts[k].apart ? e : e / n)) / (double)(2 * n);
            assert_true(moved > 0.3); /* the sd of both is about 1.4 */
            for (size_t scale = 1; scale < sizeof scales / sizeof *scales; scale++) {
                walk_in_units(context, &scales[scale], together, n, starts[k].apart, end);
                /* libm rounds log_size differently in other units; 1e-9 is far below a move */
                for (size_t e = 0; e < 2 * n; e++) assert_near(end[e], first[e], 1e-9);
            }
        }
    svmp_context_free(context);
}

/* ---- starts and refusals ----------------------------------------------------------------------------------------- */

/* log x, undefined below 0. */
static int half_line(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const int *mode = user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = x[0][l] > 0 ? log(x[0][l]) - x[0][l] : -INFINITY;
        gradient[0][l] = 1 / x[0][l] - 1;
        if (*mode == 2) value[l] = -INFINITY;
    }
    return *mode == 3;
}

static svmp_model *make_half_line(svmp_context *context, const int *mode) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 2; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_callback(model, 1, &v, half_line, (void *)(uintptr_t)mode));
    }
    assert_ok(svmp_model_finish(model));
    return model;
}

/* x ~ gamma(2, 1): starts below 0 are drawn again, and no particle gets there. */
static void test_starts(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const int mode = 0;
    svmp_model *model = make_half_line(context, &mode);
    const run_options options = small(60, 400);
    svmp_particles *p = target_infer(model, &options);
    double mean = 0;
    for (size_t k = 0; k < 2 * svmp_particles_count(p); k++) {
        const double x = svmp_particles_values(p)[k];
        assert_true(x > 0);
        mean += x / (double)(2 * svmp_particles_count(p));
    }
    assert_near(mean, 2, 0.1); /* much more than sqrt(2 / draws) */
    svmp_particles_free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void assert_refused(const svmp_model *model, run_options options, const char *words) {
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_status status = svmp_run_make(model, &options, &run);
    if (status == SVMP_OK) status = svmp_run_go(run, &outcome);
    assert_true(status != SVMP_OK);
    if (strstr(svmp_context_error(model->context), words) == NULL) fail_msg("%s", svmp_context_error(model->context));
    svmp_run_free(run);
}

static void test_refusals(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const int nowhere = 2, failing = 3;
    svmp_model *model = make_half_line(context, &nowhere);
    assert_refused(model, small(3, 10),
                   "Particle 1 cannot start: the log density is -inf at the last of 100 random starts");
    svmp_model_free(model);
    model = make_half_line(context, &failing);
    assert_refused(model, small(3, 10), "The callback of factor 0");
    svmp_model_free(model);
    model = test_grid(context, 2, 1);
    run_options options = small(3, 10);
    options.warmup = 10;
    assert_refused(model, options, "The method 'local' would discard all of its 10 sweeps");
    options = small(3, 10);
    options.step = "fixed:1";
    assert_refused(model, options, "The method 'local' does not take a step");
    svmp_model_free(model);
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "box", 1, (double[]){0}, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){1}, NULL));
    assert_ok(svmp_model_finish(model));
    assert_refused(model, small(3, 10), "the node box has one");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* One particle, no sweep, one sweep, a clique, a single node. */
static void test_small_models(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *clique = test_random_gaussian(context, 20, 1, 0, 4), *alone = target_student(context, 1);
    svmp_model *const both[] = {clique, alone};
    for (size_t m = 0; m < 2; m++)
        for (size_t n = 1; n <= 2; n++)
            for (size_t sweeps = 0; sweeps < 5; sweeps++) {
                const run_options options = small(n, sweeps);
                svmp_particles *p = target_infer(both[m], &options);
                const size_t kept = sweeps - sweeps / 2;
                assert_int_equal(svmp_particles_count(p), n * (kept > 0 ? kept : 1));
                svmp_particles_free(p);
            }
    svmp_model_free(clique);
    svmp_model_free(alone);
    svmp_context_free(context);
}

/* ---- kept states ------------------------------------------------------------------------------------------------- */

/* Every stride-th state after the warm-up; a longer run with the same limit keeps every other one of these. */
static void test_thinning(void **state) {
    (void)state;
    enum { N = 3, D = 9, LONG = 64 };
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 3, 3);
    run_options options = small(N, LONG + 10);
    options.warmup = 10;
    options.draws = LONG;
    svmp_particles *all = target_infer(model, &options);
    for (size_t draws = 1; draws <= LONG; draws++) {
        options.draws = draws;
        svmp_particles *some = target_infer(model, &options);
        const size_t each = svmp_particles_count(some) / N, stride = LONG / each;
        assert_true(each <= draws && 2 * each > draws && each * stride == LONG);
        for (size_t i = 0; i < D; i++)
            for (size_t l = 0; l < N; l++)
                for (size_t k = 0; k < each; k++)
                    assert_true(svmp_particles_values(some)[(i * N + l) * each + k] ==
                                svmp_particles_values(all)[(i * N + l) * LONG + (k + 1) * stride - 1]);
        svmp_particles_free(some);
    }
    svmp_particles_free(all);
    svmp_model_free(model);
    svmp_context_free(context);
}

static int stop(const svmp_progress *progress, void *at) { return progress->iteration == *(const size_t *)at; }

/* An extended run keeps every other one of its states; an extension that it cannot compute is refused. */
static void test_a_longer_run(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 3, 3);
    run_options options = small(4, 40);
    options.warmup = 8;
    options.draws = 16;
    for (size_t at = 5; at <= 40; at += 7) {
        svmp_run *run = NULL;
        svmp_outcome outcome;
        run_options longer = options;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_set_monitor(run, stop, &at));
        assert_ok(svmp_run_go(run, &outcome));
        assert_ok(svmp_run_save(run, "short.svmp"));
        svmp_run_free(run);
        longer.iterations = 8 + 3 * 32;
        svmp_particles *whole = target_infer(model, &longer), *grown = NULL;
        assert_ok(svmp_run_make(model, &longer, &run));
        assert_ok(svmp_run_load(run, "short.svmp"));
        assert_ok(svmp_run_go(run, &outcome));
        assert_ok(svmp_run_particles(run, &grown));
        assert_same(whole, grown);
        svmp_run_free(run);
        svmp_particles_free(whole);
        svmp_particles_free(grown);
        longer.iterations = 40;
        longer.draws = 32;
        assert_ok(svmp_run_make(model, &longer, &run));
        assert_int_equal(svmp_run_load(run, "short.svmp"), SVMP_BAD_INPUT);
        assert_non_null(strstr(svmp_context_error(context), "keeps one sweep in 2, but this run would keep one in 1"));
        svmp_run_free(run);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A centre, tied to each of 40 nodes by a factor of its own: with a budget of one evaluation of all factors it moves in
 * some sweeps, and after a budget of less than the 32nd part of its cost never again. */
static void test_budget(void **state) {
    (void)state;
    enum { D = 41, N = 20, SWEEPS = 64 };
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    backend *b = NULL;
    sweeper *s = NULL;
    double *x = NULL;
    const double budgets[] = {INFINITY, 1, 0.01};
    size_t moved[3][2] = {{0}};
    assert_ok(svmp_model_read_text(context, NULL, "model { a ~ dnorm(0, 1)\n for (i in 1:40) { x[i] ~ dt(a, 1, 5) } }",
                                   NULL, NULL, &model));
    assert_int_equal(svmp_graph_variables(svmp_model_graph(model)), D);
    assert_ok(svmp_backend_create(&svmp_backend_cpu, model, N, 1, NULL, NULL, &b));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    svmp_random_normals((random_stream){.seed = 1, .a = 0, .b = 0, .purpose = RANDOM_TEST}, D * N, x);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    assert_ok(svmp_sweeper_create(b, &s));
    assert_ok(svmp_sweeper_measure_curvature(s, b, 0));
    for (size_t k = 0; k < 3; k++) {
        svmp_sweeper_set_budget(s, budgets[k]);
        for (size_t t = 0; t < SWEEPS; t++) {
            const double centre = x[0], node = x[5 * N];
            assert_ok(svmp_sweep(s, b, t, 0));
            moved[k][0] += x[0] != centre;
            moved[k][1] += x[5 * N] != node;
        }
    }
    assert_true(moved[0][0] > SWEEPS / 4 && moved[0][1] > SWEEPS / 4);
    assert_in_range(moved[1][0], 1, SWEEPS / 3);
    assert_int_equal(moved[2][0], 0);
    svmp_sweeper_free(s);
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_gaussians),
        cmocka_unit_test(test_heavy_tails),
        cmocka_unit_test(test_runs_reach_the_posterior),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_particles_are_chains),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_small_models),
        cmocka_unit_test(test_thinning),
        cmocka_unit_test(test_a_longer_run),
        cmocka_unit_test(test_proposals_of_another_gaussian),
        cmocka_unit_test(test_proposals_cross_gaps),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
