/* Kernels and steps in units of the particles' sd: against the plain formula, every backend against the plain loops,
 * Stein's identities at convergence, and runs that do not depend on the units of the model. */
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "method/method.h"
#include "stein/discrepancy.h"

static kernel parse(svmp_context *context, const char *text) {
    kernel k;
    assert_ok(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    return k;
}

/* phi of the given particles (variables * n) with their sd, in iteration 3 with seed 11. */
static void velocity(const svmp_model *model, const backend_kind *kind, const char *text, size_t n, const double *x,
                     double *phi) {
    kernel k = parse(model->context, text);
    backend *b = NULL;
    const size_t size = model->graph->variables * n * sizeof(double);
    assert_ok(svmp_backend_create(kind, model, n, 11, &k, NULL, &b));
    memcpy(b->x, x, size);
    assert_ok(kind->score(b));
    assert_ok(kind->stein(b, &k, 3));
    memcpy(phi, b->phi, size);
    svmp_backend_free(b);
}

/* Particles whose variables differ in scale by up to ten orders of magnitude, and in location. */
static void scatter(size_t d, size_t n, uint64_t stream, double *x) {
    for (size_t i = 0; i < d; i++)
        for (size_t l = 0; l < n; l++)
            x[i * n + l] = pow(10, (double)(i % 11) - 5) * (2 * test_random(stream, i * n + l) + (double)(i % 3));
}

static double mean_of(size_t n, const double *x) {
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += x[l];
    return sum / (double)n;
}

static double sd_of(size_t n, const double *x) {
    double sum = 0;
    const double mean = mean_of(n, x);
    for (size_t l = 0; l < n; l++) sum += (x[l] - mean) * (x[l] - mean);
    return sqrt(sum / (double)n);
}

/* |a - b| <= tolerance * the largest |b| of a variable: since variables differ in scale. */
static void assert_rows_near(size_t d, size_t n, const double *a, const double *b, double tolerance) {
    for (size_t i = 0; i < d; i++) {
        double largest = 0;
        for (size_t l = 0; l < n; l++) largest = fmax(largest, fabs(b[i * n + l]));
        for (size_t l = 0; l < n; l++)
            if (!(fabs(a[i * n + l] - b[i * n + l]) <= tolerance * largest))
                fail_msg("variable %zu, particle %zu: %.17g is not %.17g", i, l, a[i * n + l], b[i * n + l]);
    }
}

/* ---- the definition ---------------------------------------------------------------------------------------------- */

/* k between two points of the plane in z = (x - mean)/sd. */
static double scaled_value(const char *shape, const double a[2], const double b[2], double h, const double mean[2],
                           const double sd[2]) {
    double distance = 0, product = 0;
    for (int j = 0; j < 2; j++) {
        distance += pow((a[j] - b[j]) / sd[j], 2);
        product += (a[j] - mean[j]) * (b[j] - mean[j]) / (sd[j] * sd[j]);
    }
    if (strcmp(shape, "rbf") == 0) return exp(-distance / h);
    if (strcmp(shape, "imq") == 0) return pow(1 + distance / h, -0.5);
    return 1 + product;
}

/* phi_i[m] = 1/n sum_l ( s_i[l] k(x_l, x_m) + d k(x_l, x_m) / d x_i[l] ), the derivative by finite differences. */
static void test_phi_is_its_definition(void **state) {
    (void)state;
    enum { N = 9 };
    const char *shapes[] = {"rbf", "imq", "linear"};
    const backend_kind *kinds[] = {&svmp_backend_ref, &svmp_backend_cpu};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 71);
    double x[2 * N], score[2 * N], phi[2 * N], mean[2], sd[2];
    for (size_t l = 0; l < 2 * N; l++) x[l] = (l < N ? 0.01 : 50) * (test_random(1, l) + 3);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    for (size_t i = 0; i < 2; i++) mean[i] = mean_of(N, x + i * N), sd[i] = sd_of(N, x + i * N);
    for (size_t s = 0; s < 3; s++)
        for (size_t kind = 0; kind < 2; kind++) {
            char text[32];
            snprintf(text, sizeof text, "0.5*%s%s/sd@blanket", shapes[s], s < 2 ? "(1.7)" : "");
            velocity(model, kinds[kind], text, N, x, phi);
            for (size_t i = 0; i < 2; i++)
                for (size_t m = 0; m < N; m++) {
                    const double at[2] = {x[m], x[N + m]}, tiny = 1e-5 * sd[i];
                    double sum = 0;
                    for (size_t l = 0; l < N; l++) {
                        double from[2] = {x[l], x[N + l]}, k, slope;
                        k = scaled_value(shapes[s], from, at, 1.7, mean, sd);
                        from[i] += tiny;
                        slope = scaled_value(shapes[s], from, at, 1.7, mean, sd);
                        from[i] -= 2 * tiny;
                        slope = (slope - scaled_value(shapes[s], from, at, 1.7, mean, sd)) / (2 * tiny);
                        sum += score[i * N + l] * k + slope;
                    }
                    assert_near(phi[i * N + m] * sd[i], 0.5 * sum / N * sd[i], 1e-8);
                }
        }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* If all variables have mean 0 and sd 1, the metric changes only the division of `linear` by the summed variance. */
static void test_units_of_one_change_nothing(void **state) {
    (void)state;
    enum { N = 20, D = 4 };
    const char *pairs[][2] = {{"rbf/sd@blanket", "rbf@blanket"},
                              {"imq/sd@all", "imq@all"},
                              {"rbf(median-log)/sd@self + imq/sd@random:1", "rbf(median-log)@self + imq@random:1"}};
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, D, 0.5, 1, 5);
    double x[D * N], phi[D * N], other[D * N];
    for (size_t i = 0; i < D; i++) {
        for (size_t l = 0; l < N; l++) x[i * N + l] = test_random(2, i * N + l);
        const double mean = mean_of(N, x + i * N), sd = sd_of(N, x + i * N);
        for (size_t l = 0; l < N; l++) x[i * N + l] = (x[i * N + l] - mean) / sd;
    }
    for (size_t k = 0; k < 3; k++) {
        velocity(model, &svmp_backend_cpu, pairs[k][0], N, x, phi);
        velocity(model, &svmp_backend_cpu, pairs[k][1], N, x, other);
        assert_rows_near(D, N, phi, other, 1e-13);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* One particle, or all at one point: k = 1, without repulsion. */
static void test_coinciding_particles(void **state) {
    (void)state;
    enum { D = 3, N = 6 };
    const char *kernels[] = {"rbf/sd@blanket", "imq/sd@self", "linear/sd@blanket", "linear/sd@all", "rbf/sd@all"};
    const backend_kind *kinds[] = {&svmp_backend_ref, &svmp_backend_cpu};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 1, 1, 9);
    double x[D * N], phi[D * N], score[D * N];
    for (size_t n = 1; n <= N; n += N - 1)
        for (size_t k = 0; k < 10; k++) {
            for (size_t e = 0; e < D * n; e++) x[e] = (double)(e / n) - 0.3;
            assert_ok(svmp_model_evaluate(model, n, x, NULL, score));
            velocity(model, kinds[k % 2], kernels[k / 2], n, x, phi);
            for (size_t e = 0; e < D * n; e++) assert_near(phi[e], score[e], 1e-14);
        }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

static const char *const battery[] = {
    "rbf/sd@blanket",
    "rbf/sd@all",
    "rbf/sd@self",
    "rbf/sd@random:2",
    "imq/sd@blanket",
    "imq(0.7)/sd@all",
    "linear/sd@blanket",
    "linear/sd@all",
    "linear/sd@self",
    "linear/sd@random:3",
    "rbf/sd@self + linear/sd@blanket",
    "0.5*rbf(median-log)/sd@random:4 + 2*rbf@blanket + linear@blanket + linear/sd@all"};
enum { BATTERY = sizeof battery / sizeof *battery };

static void test_cpu_agrees_with_ref(void **state) {
    (void)state;
    const double densities[] = {0, 0.3, 1};
    const size_t sizes[] = {1, 2, 3, 50, 64, 65, 200};
    for (size_t k = 0; k < 3; k++) {
        svmp_context *context = test_context(2);
        svmp_model *model = test_random_gaussian(context, 13, densities[k], 0, 23 + k);
        const size_t d = svmp_graph_variables(svmp_model_graph(model));
        double *x = malloc(3 * d * 200 * sizeof *x), *phi = x + d * 200, *other = phi + d * 200;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t b = 0; b < BATTERY; b++) {
                const size_t n = sizes[s];
                scatter(d, n, s, x);
                velocity(model, &svmp_backend_ref, battery[b], n, x, phi);
                velocity(model, &svmp_backend_cpu, battery[b], n, x, other);
                assert_rows_near(d, n, other, phi, 1e-11);
            }
        free(x);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* Particles far from the origin, tiny, huge, and equal in some variables. */
static void test_cpu_agrees_with_ref_at_the_edges(void **state) {
    (void)state;
    enum { N = 50, D = 6 };
    const struct { double mean, spread; } clouds[] = {{1e5, 0.01}, {0, 1e-160}, {0, 1e150}, {-1e7, 1}};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 0.5, 1, 41);
    double x[D * N], phi[D * N], other[D * N];
    for (size_t c = 0; c < sizeof clouds / sizeof *clouds; c++)
        for (size_t b = 0; b < BATTERY - 1; b++)
            for (size_t flat = 0; flat <= 2; flat++) { /* the number of variables with a single value */
                for (size_t e = 0; e < D * N; e++)
                    x[e] = clouds[c].mean + (e / N < flat ? 0 : clouds[c].spread * test_random(c, e));
                velocity(model, &svmp_backend_ref, battery[b], N, x, phi);
                velocity(model, &svmp_backend_cpu, battery[b], N, x, other);
                assert_rows_near(D, N, other, phi, 1e-8); /* 1e5 and 0.01: x loses seven digits */
            }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { N = 64, NODES = 60 };
    const int threads[] = {1, 2, 3, 8};
    const double densities[] = {0.1, 1};
    for (size_t k = 0; k < 2; k++)
        for (size_t b = 0; b < BATTERY; b++) {
            double *kept = NULL;
            for (size_t t = 0; t < 4; t++) {
                svmp_context *context = test_context(threads[t]);
                svmp_model *model = test_random_gaussian(context, NODES, densities[k], 0, 29);
                const size_t d = svmp_graph_variables(svmp_model_graph(model)), size = d * N * sizeof(double);
                double *x = malloc(2 * size), *phi = x + d * N;
                scatter(d, N, 1, x);
                velocity(model, &svmp_backend_cpu, battery[b], N, x, phi);
                if (kept == NULL) kept = memcpy(malloc(size), phi, size);
                assert_memory_equal(kept, phi, size);
                free(x);
                svmp_model_free(model);
                svmp_context_free(context);
            }
            free(kept);
        }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* sd = .95 sd + .05 (now), the first time (now); M = .9 M + .1 p, V = .99 V + .01 p^2 with p = phi sd, and
 * dx = rate sd M' / (sqrt(V') + 1e-12), ' corrected for the start. Variable 1 has one value: its unit is 1. */
static void test_adam_sd_is_its_definition(void **state) {
    (void)state;
    enum { N = 5, D = 3, T = 30 };
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, D, 0, 1, 3);
    kernel k = parse(context, "rbf@self");
    step s;
    backend *b = NULL;
    double x[D * N], M[D * N] = {0}, V[D * N] = {0}, sd[D] = {0};
    assert_ok(svmp_step_parse(context, "adam-sd:0.2..0.01", &s));
    assert_ok(svmp_backend_create(&svmp_backend_cpu, model, N, 1, &k, &s, &b));
    for (size_t e = 0; e < D * N; e++) x[e] = e / N == 1 ? 7 : 100 * test_random(4, e);
    memcpy(b->x, x, sizeof x);
    for (size_t t = 0; t < T; t++) {
        const double rate = svmp_step_rate(&s, t, T);
        double largest = 0;
        assert_ok(b->kind->score(b));
        assert_ok(b->kind->stein(b, &k, t));
        for (size_t i = 0; i < D; i++) {
            const double now = i == 1 ? 0 : sd_of(N, x + i * N),
                         unit = (sd[i] = t == 0 ? now : 0.95 * sd[i] + 0.05 * now, sd[i] > 0 ? sd[i] : 1);
            for (size_t e = i * N; e < (i + 1) * N; e++) {
                const double p = b->phi[e] * unit;
                largest = fmax(largest, fabs(p));
                M[e] = 0.9 * M[e] + 0.1 * p;
                V[e] = 0.99 * V[e] + 0.01 * p * p;
                x[e] += rate * unit * (M[e] / (1 - pow(0.9, (double)t + 1))) /
                        (sqrt(V[e] / (1 - pow(0.99, (double)t + 1))) + 1e-12);
            }
        }
        assert_ok(b->kind->step(b, &s, rate, t));
        assert_near(b->largest, largest, 1e-12);
        for (size_t e = 0; e < D * N; e++) assert_near(b->x[e], x[e], 1e-12);
        for (size_t i = 0; i < D; i++) assert_near(b->sd[i], sd[i], 1e-12);
    }
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* The Gaussian whose variable i is unit[i] times that of a random one, on a random graph, a complete one, or a star. */
typedef enum pattern { SOME, ALL, STAR } pattern;

static svmp_model *in_units(svmp_context *context, size_t d, const double *unit, pattern edges) {
    svmp_model *plain = test_random_gaussian(context, d, edges == SOME ? 0.4 : 1, 1, 17), *model = NULL;
    double *A = malloc((d * d + d) * sizeof *A), *b = A + d * d;
    test_dense(plain, A, b);
    assert_ok(svmp_model_create(context, &model));
    for (size_t i = 0; i < d; i++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    for (size_t i = 0; i < d; i++) {
        const double square = A[i * d + i] / unit[i] / unit[i], linear = b[i] / unit[i];
        assert_ok(svmp_model_add_gaussian(model, 1, &i, &square, &linear));
        for (size_t j = 0; j < i; j++) {
            const double product = A[i * d + j] / unit[i] / unit[j], block[] = {0, product, product, 0};
            if (product != 0 && (edges != STAR || j == 0))
                assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){i, j}, block, NULL));
        }
    }
    assert_ok(svmp_model_finish(model));
    free(A);
    svmp_model_free(plain);
    return model;
}

typedef struct scaled_run {
    const char *kernel, *step;
    size_t n, iterations;
} scaled_run;

/* The particles after a run that starts at unit[i] times the same ones; the discrepancy of the end. */
static double *run_in_units(const svmp_model *model, const double *unit, const scaled_run *how,
                            svmp_discrepancy *discrepancy) {
    const size_t d = model->graph->variables, size = d * how->n * sizeof(double);
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_outcome outcome;
    options.kernel = how->kernel;
    options.step = how->step;
    options.particles = how->n;
    options.iterations = how->iterations;
    assert_ok(svmp_run_make(model, &options, &run));
    for (size_t i = 0; i < d; i++)
        for (size_t l = 0; l < how->n; l++) run->backend->x[i * how->n + l] *= unit[i];
    if (svmp_run_go(run, &outcome) != SVMP_OK) fail_msg("%s", svmp_context_error(model->context));
    assert_ok(svmp_run_discrepancy(run, discrepancy, NULL));
    double *x = memcpy(malloc(size), run->backend->x, size);
    svmp_run_free(run);
    return x;
}

static const scaled_run scaled_runs[] = {
    {"rbf/sd@self + linear/sd@blanket", "adam-sd:0.1..0.002", 20, 400},
    {"linear/sd@self", "adam-sd:0.3..0.1", 20, 300},
    {"rbf/sd@blanket", "adam-sd:0.1..0.002", 15, 300},
    {"imq/sd@random:2 + 0.3*linear/sd@all", "adam-sd:0.1", 16, 200},
    {"0.5*rbf(2)/sd@all", "adam-sd:0.1..0.01", 20, 200},
    {"rbf/sd@self + linear/sd@near", "adam-sd:0.1..0.002", 12, 400},
    {"rbf/sd@message + linear/sd@near:7", "adam-sd:0.1..0.01", 12, 200},
};

/* In units that are powers of two nothing is rounded differently, so the bits are the same. In other units the numbers
 * of the model and the start are rounded, and particles differ by the propagated errors. */
static void test_a_gaussian_in_any_units(void **state) {
    (void)state;
    enum { D = 13 };
    svmp_context *context = test_context(2);
    double one[D], two[D], ten[D];
    for (size_t i = 0; i < D; i++) {
        const int k = (int)(7 * i % D) - 6;
        one[i] = 1;
        two[i] = ldexp(1, 3 * k);
        ten[i] = pow(10, k);
    }
    const double *units[] = {two, ten};
    svmp_model *plain = in_units(context, D, one, SOME);
    for (size_t r = 0; r < sizeof scaled_runs / sizeof *scaled_runs; r++) {
        const scaled_run *how = &scaled_runs[r];
        svmp_discrepancy expected, found;
        double *x = run_in_units(plain, one, how, &expected);
        for (int u = 0; u < 2; u++) {
            svmp_model *model = in_units(context, D, units[u], SOME);
            double *y = run_in_units(model, units[u], how, &found);
            for (size_t e = 0; e < D * how->n; e++) y[e] /= units[u][e / how->n];
            if (u == 0)
                assert_memory_equal(x, y, D * how->n * sizeof *x);
            else
                assert_rows_near(D, how->n, y, x, 1e-9);
            assert_near(found.v, expected.v, u == 0 ? 0 : 1e-9);
            assert_near(found.ratio, expected.ratio, u == 0 ? 0 : 1e-9);
            free(y);
            svmp_model_free(model);
        }
        free(x);
    }
    svmp_model_free(plain);
    svmp_context_free(context);
}

/* A regression with random effects and heavy tails; every unknown has its own unit: a for the intercepts, b for the
 * slope, m for their mean; log sigma has no unit and is shifted by that of the data. */
static svmp_model *regression(svmp_context *context, double a, double b, double m) {
    char text[4000];
    size_t at =
        (size_t)snprintf(text, sizeof text,
                         "model {\n"
                         "  for (k in 1:24) { y[k] ~ dt(alpha[g[k]] / %.17g + t[k] * beta / %.17g, exp(-2 * ls), 4) }\n"
                         "  for (j in 1:6) { alpha[j] ~ dnorm(mu * %.17g / %.17g, 0.7 / %.17g / %.17g) }\n"
                         "  beta ~ dnorm(0, 0.1 / %.17g / %.17g)\n"
                         "  mu ~ dnorm(0, 0.1 / %.17g / %.17g)\n"
                         "  ls ~ dnorm(0, 1)\n}\n",
                         a, b, a, m, a, a, b, b, m, m);
    write_text("units.bug", text);
    at = 0;
    at += (size_t)snprintf(text, sizeof text, "y <- c(");
    for (size_t k = 0; k < 24; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.17g", k ? ", " : "",
                               (double)(k / 4) + 2 * (double)(k % 4) + test_random(6, k));
    at += (size_t)snprintf(text + at, sizeof text - at, ")\ng <- c(");
    for (size_t k = 0; k < 24; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%zu", k ? ", " : "", k / 4 + 1);
    at += (size_t)snprintf(text + at, sizeof text - at, ")\nt <- c(");
    for (size_t k = 0; k < 24; k++) at += (size_t)snprintf(text + at, sizeof text - at, "%s%zu", k ? ", " : "", k % 4);
    snprintf(text + at, sizeof text - at, ")\n");
    write_text("units.R", text);
    svmp_model *model = NULL;
    if (svmp_model_read(context, 2, (const char *[]){"units.bug", "units.R"}, NULL, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

static void test_a_text_in_any_units(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *plain = regression(context, 1, 1, 1), *model = regression(context, 1e-6, 1e6, 1e3);
    const size_t d = svmp_graph_variables(svmp_model_graph(plain));
    double one[16], unit[16];
    assert_int_equal(d, 9);
    for (size_t i = 0; i < d; i++) {
        char name[32];
        svmp_model_variable_name(model, i, name, sizeof name);
        one[i] = 1;
        unit[i] = name[0] == 'a' ? 1e-6 : name[0] == 'b' ? 1e6 : name[0] == 'm' ? 1e3 : 1;
    }
    for (size_t r = 0; r < sizeof scaled_runs / sizeof *scaled_runs; r++) {
        const scaled_run *how = &scaled_runs[r];
        svmp_discrepancy expected, found;
        double *x = run_in_units(plain, one, how, &expected), *y = run_in_units(model, unit, how, &found);
        for (size_t e = 0; e < d * how->n; e++) y[e] /= unit[e / how->n];
        assert_rows_near(d, how->n, y, x, 1e-9);
        assert_near(found.v, expected.v, 1e-9);
        free(x);
        free(y);
    }
    svmp_model_free(plain);
    svmp_model_free(model);
    svmp_context_free(context);
}

static svmp_discrepancy measure(const svmp_model *model, const kernel *k, size_t n, const double *x) {
    double *score = malloc(model->graph->variables * n * sizeof *score);
    svmp_discrepancy total;
    assert_ok(svmp_model_evaluate(model, n, x, NULL, score));
    const stein_sample sample = {
        .graph = model->graph, .kernel = k, .n = n, .x = x, .score = score, .seed = 11, .iteration = 3};
    assert_ok(svmp_stein_discrepancy(model->context, &sample, &total, NULL));
    free(score);
    return total;
}

/* ---- identities -------------------------------------------------------------------------------------------------- */

/* At the fixed point of linear/sd@blanket Stein's identities E[s_i] = 0 and E[s_i (x_c - m_c)] = -[c = i] hold for
 * every variable c of the closed neighbourhood, in any units: on a Gaussian they say that the mean is exact, and that
 * (precision times covariance)_ic is [i = c] on the pattern of the graph. */
static void assert_identities(pattern edges) {
    enum { D = 9, N = 30 };
    svmp_context *context = test_context(2);
    double unit[D];
    for (size_t i = 0; i < D; i++) unit[i] = pow(10, (double)(i % 5) - 2);
    svmp_model *model = in_units(context, D, unit, edges);
    const svmp_graph *graph = model->graph;
    kernel linear = parse(context, "linear/sd@blanket");
    backend *descent = NULL;
    assert_ok(svmp_backend_create(&svmp_backend_cpu, model, N, 1, &linear, NULL, &descent));
    double *x = descent->x, *s = descent->score;
    for (size_t e = 0; e < D * N; e++) x[e] = unit[e / N] * test_random(8, e);
    for (size_t t = 0; t < 8000; t++) {
        assert_ok(descent->kind->score(descent));
        assert_ok(descent->kind->stein(descent, &linear, t));
        for (size_t e = 0; e < D * N; e++) x[e] += 0.1 * pow(descent->sd[e / N], 2) * descent->phi[e];
    }
    assert_ok(descent->kind->score(descent));
    double A[D * D], b[D], expected[D];
    test_dense(model, A, b);
    test_invert(D, A);
    for (size_t i = 0; i < D; i++) {
        size_t count;
        const uint32_t *near = svmp_graph_neighbourhood(graph, i, &count);
        expected[i] = 0;
        for (size_t j = 0; j < D; j++) expected[i] += A[i * D + j] * b[j];
        assert_near(mean_of(N, x + i * N) / unit[i], expected[i] / unit[i], 1e-9);
        assert_near(mean_of(N, s + i * N) * unit[i], 0, 1e-10);
        for (size_t k = 0; k < count; k++) {
            const size_t c = near[k];
            double sum = 0;
            for (size_t l = 0; l < N; l++) sum += s[i * N + l] * (x[c * N + l] - mean_of(N, x + c * N)) / N;
            assert_near(sum * unit[i] / unit[c], c == i ? -1 : 0, 1e-10);
        }
    }
    assert_near(measure(model, &linear, N, x).v, 0, 1e-18);
    svmp_backend_free(descent);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_identities_of_the_fixed_point(void **state) {
    (void)state;
    assert_identities(ALL);
    assert_identities(STAR);
}

/* Particles with exactly the mean and the covariance of the model: 2d of them, m +- sqrt(d) times the columns of a
 * square root of the covariance. They satisfy the identities, so linear/sd does not move them, whatever its sd state,
 * since the identities do not depend on units. */
static void test_exact_particles_stay(void **state) {
    (void)state;
    enum { D = 7, N = 2 * D };
    svmp_context *context = test_context(1);
    double unit[D], A[D * D], b[D], L[D * D] = {0}, mean[D], x[D * N], phi[D * N];
    for (size_t i = 0; i < D; i++) unit[i] = pow(10, (double)i - 3);
    svmp_model *model = in_units(context, D, unit, SOME);
    test_dense(model, A, b);
    test_invert(D, A);
    for (size_t i = 0; i < D; i++) { /* A = L L' */
        mean[i] = 0;
        for (size_t j = 0; j < D; j++) mean[i] += A[i * D + j] * b[j];
        for (size_t j = 0; j <= i; j++) {
            double rest = A[i * D + j];
            for (size_t k = 0; k < j; k++) rest -= L[i * D + k] * L[j * D + k];
            L[i * D + j] = i == j ? sqrt(rest) : rest / L[j * D + j];
        }
    }
    for (size_t i = 0; i < D; i++)
        for (size_t l = 0; l < N; l++) x[i * N + l] = mean[i] + (l < D ? 1 : -1) * sqrt((double)D) * L[i * D + l % D];
    const char *kernels[] = {"linear/sd@blanket", "linear/sd@all", "linear/sd@self"};
    for (size_t k = 0; k < 3; k++) {
        velocity(model, &svmp_backend_cpu, kernels[k], N, x, phi);
        for (size_t e = 0; e < D * N; e++) assert_near(phi[e] * sqrt(A[(e / N) * (D + 1)]), 0, 1e-10);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- the discrepancy --------------------------------------------------------------------------------------------- */

/* V is the mean over all pairs of sd_i^2 ( s s' k + s dk/dx_i' + s' dk/dx_i + d2k/dx_i dx_i' ), summed over i; also for
 * a sum with a term without a metric. Derivatives by finite differences. */
static void test_the_discrepancy_is_its_definition(void **state) {
    (void)state;
    enum { N = 7 };
    const char *shapes[] = {"rbf", "imq", "linear"};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 71);
    double x[2 * N], score[2 * N], mean[2], sd[2], plain_mean[2] = {0}, ones[2] = {1, 1};
    for (size_t l = 0; l < 2 * N; l++) x[l] = (l < N ? 0.1 : 5) * (test_random(1, l) + 3);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    for (size_t i = 0; i < 2; i++) mean[i] = mean_of(N, x + i * N), sd[i] = sd_of(N, x + i * N);
    for (size_t s = 0; s < 3; s++) {
        char text[64];
        snprintf(text, sizeof text, "0.5*%s%s/sd@blanket + 2*rbf(3)@all", shapes[s], s < 2 ? "(1.7)" : "");
        const kernel k = parse(context, text);
        double all = 0;
        for (int i = 0; i < 2; i++)
            for (size_t l = 0; l < N; l++)
                for (size_t m = 0; m < N; m++) {
                    const double tiny = 1e-4 * sd[i];
                    double value[3][3];
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 3; q++) {
                            double a[2] = {x[l], x[N + l]}, b[2] = {x[m], x[N + m]};
                            a[i] += (p - 1) * tiny;
                            b[i] += (q - 1) * tiny;
                            value[p][q] = 0.5 * scaled_value(shapes[s], a, b, 1.7, mean, sd) +
                                          2 * scaled_value("rbf", a, b, 3, plain_mean, ones);
                        }
                    const double first = (value[2][1] - value[0][1]) / (2 * tiny),
                                 second = (value[1][2] - value[1][0]) / (2 * tiny),
                                 both = (value[2][2] - value[2][0] - value[0][2] + value[0][0]) / (4 * tiny * tiny);
                    const double a = score[i * N + l], b = score[i * N + m];
                    all += sd[i] * sd[i] * (a * b * value[1][1] + a * second + b * first + both) / (N * N);
                }
        assert_near(measure(model, &k, N, x).v, all, 1e-5);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void test_texts(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    kernel k = parse(context, "2*rbf( 3 ) / sd @self+linear/sd@blanket + imq@self");
    assert_int_equal(k.count, 3);
    assert_true(k.terms[0].metric == METRIC_SD && k.terms[0].shape == &svmp_shape_linear);
    assert_true(k.terms[1].metric == METRIC_SD && k.terms[1].bandwidth.fixed == 3 && k.terms[1].weight == 2);
    assert_true(k.terms[2].metric == METRIC_NONE);
    assert_true(svmp_kernel_measures(&k, METRIC_SD));
    k = parse(context, "rbf@all");
    assert_false(svmp_kernel_measures(&k, METRIC_SD));
    const char *bad[][2] = {{"rbf/@self", "Unknown metric ''"},
                            {"rbf/mad@self", "Unknown metric 'mad'"},
                            {"/sd@self", "Unknown kernel shape ''"},
                            {"rbf/sd(2)@self", "Unknown metric 'sd(2)'"}};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        assert_int_equal(svmp_kernel_parse(context, bad[b][0], k.terms[0].bandwidth, &k), SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), bad[b][1]));
    }
    step s;
    assert_int_equal(svmp_step_parse(context, "adam-sd", &s), SVMP_BAD_CALL);
    assert_int_equal(svmp_step_parse(context, "adam-sd:0", &s), SVMP_BAD_CALL);
    assert_ok(svmp_step_parse(context, "adam-sd:0.1..0.002", &s));
    assert_true(s.rule == &svmp_step_adam_sd && s.from == 0.1 && s.to == 0.002);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phi_is_its_definition),
        cmocka_unit_test(test_units_of_one_change_nothing),
        cmocka_unit_test(test_coinciding_particles),
        cmocka_unit_test(test_cpu_agrees_with_ref),
        cmocka_unit_test(test_cpu_agrees_with_ref_at_the_edges),
        cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_adam_sd_is_its_definition),
        cmocka_unit_test(test_a_gaussian_in_any_units),
        cmocka_unit_test(test_a_text_in_any_units),
        cmocka_unit_test(test_identities_of_the_fixed_point),
        cmocka_unit_test(test_exact_particles_stay),
        cmocka_unit_test(test_the_discrepancy_is_its_definition),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
