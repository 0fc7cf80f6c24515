/* The Gaussian on the graph: exact for Gaussians, invariant to units and threads, with a bound that increases, and
 * particles from it. */
#include "files.h"

#include <math.h>

#include "prepare/bound_ascent.h"
#include "prepare/fitted_gaussian.h"
#include "targets.h"

static svmp_model *read_text(svmp_context *context, const char *text, const char *data) {
    svmp_model *model = NULL;
    write_text("model.bug", text);
    write_text("data.R", data);
    if (svmp_model_read(context, 2, (const char *const[]){"model.bug", "data.R"}, NULL, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

static gaussian *find(const svmp_model *model, uint64_t seed) {
    gaussian *q = NULL;
    if (svmp_gaussian_create(model, seed, &q) != SVMP_OK) fail_msg("%s", svmp_context_error(model->context));
    return q;
}

/* ---- Gaussians are exact ----------------------------------------------------------------------------------------- */

static const double log_2_pi = 1.8378770664093454836;

/* Mean and variances agree to 1e-10 of the sd, and the bound is the log of the integral: log p(m) + d/2 log 2 pi - log
 * det(A)/2. A comes from a model with factors of any kind. */
static void expect_exact(svmp_model *model, double *A, const double *b, double tolerance) {
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double *mean = calloc(d, sizeof *mean), *variance = calloc(d, sizeof *variance), at_mean, log_determinant = 0;
    gaussian *q = find(model, 3);
    const sparsity *pattern = svmp_gaussian_pattern(q);
    for (size_t j = 0; j < d; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
            const size_t i = pattern->row[e];
            assert_near((svmp_gaussian_precision(q)[e] - A[i * d + j]) / sqrt(A[i * d + i] * A[j * d + j]), 0,
                        tolerance);
        }
    double *L = calloc(d * d, sizeof *L);
    for (size_t j = 0; j < d; j++) {
        double pivot = A[j * d + j];
        for (size_t k = 0; k < j; k++) pivot -= L[j * d + k] * L[j * d + k];
        L[j * d + j] = sqrt(pivot);
        log_determinant += log(pivot);
        for (size_t i = j + 1; i < d; i++) {
            double entry = A[i * d + j];
            for (size_t k = 0; k < j; k++) entry -= L[i * d + k] * L[j * d + k];
            L[i * d + j] = entry / L[j * d + j];
        }
    }
    test_invert(d, A);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) mean[i] += A[i * d + j] * b[j];
    assert_ok(svmp_gaussian_variance(q, variance));
    for (size_t i = 0; i < d; i++) {
        assert_near((svmp_gaussian_mean(q)[i] - mean[i]) / sqrt(A[i * d + i]), 0, tolerance);
        assert_near(variance[i] / A[i * d + i], 1, tolerance);
    }
    assert_ok(svmp_model_evaluate(model, 1, mean, &at_mean, NULL));
    assert_near(svmp_gaussian_bound(q), at_mean + 0.5 * (double)d * log_2_pi - 0.5 * log_determinant, tolerance);
    svmp_gaussian_free(q);
    free(mean), free(variance), free(L);
}

static void test_matrices(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *models[] = {test_random_gaussian(context, 30, 0.1, 0, 5), test_grid(context, 7, 2),
                            test_random_gaussian(context, 1, 0, 1, 9)};
    for (size_t k = 0; k < 3; k++) {
        const size_t d = svmp_graph_variables(svmp_model_graph(models[k]));
        double *A = calloc(d * d, sizeof *A), *b = calloc(d, sizeof *b);
        test_dense(models[k], A, b);
        expect_exact(models[k], A, b, 1e-10);
        svmp_model_free(models[k]);
        free(A), free(b);
    }
    svmp_context_free(context);
}

/* y_i ~ N(a + c w_i, 1/4), a and c ~ N(1, 1/0.01), with a variable that is not Gaussian, so that statements stay
 * programs if that is cheaper; and the same model written with factor(). */
static void test_statements(void **state) {
    (void)state;
    static const char *const texts[] = {
        "model { for (i in 1:5) { y[i] ~ dnorm(a + c * w[i], 4) }\n a ~ dnorm(1, 0.01)\n c ~ dnorm(1, 0.01) }\n",
        "model { a ~ dflat()\n c ~ dflat()\n for (i in 1:5) { factor(-2 * exp(2 * log(abs(y[i] - a - c * w[i])))) }\n"
        " factor(-0.005 * (a - 1)^2)\n factor(-0.005 * exp(2 * log(abs(c - 1)))) }\n"};
    const double w[] = {0, 1, 2.5, 4, 7}, y[] = {0.3, 1.2, 2.9, 3.7, 7.1};
    for (size_t k = 0; k < 2; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_text(context, texts[k], "w <- c(0, 1, 2.5, 4, 7)\ny <- c(0.3, 1.2, 2.9, 3.7, 7.1)\n");
        double A[4] = {0.01, 0, 0, 0.01}, b[2] = {0.01, 0.01};
        for (int i = 0; i < 5; i++) {
            A[0] += 4;
            A[1] = A[2] += 4 * w[i];
            A[3] += 4 * w[i] * w[i];
            b[0] += 4 * y[i];
            b[1] += 4 * y[i] * w[i];
        }
        assert_int_equal(model->group_count > 0, k); /* the second is not recognised as Gaussian */
        expect_exact(model, A, b, 1e-10);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* -(x - 2y - 1)^2 - y^2/2, as functions: differences of a gradient that is linear are exact to rounding. */
static int pull(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double off = x[0][l] - 2 * x[1][l] - 1;
        value[l] = -off * off - 0.5 * x[1][l] * x[1][l];
        gradient[0][l] = -2 * off;
        gradient[1][l] = 4 * off - x[1][l];
    }
    return 0;
}

static void test_functions(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 2; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, pull, NULL));
    assert_ok(svmp_model_finish(model));
    double A[] = {2, -4, -4, 9}, b[] = {2, -4};
    expect_exact(model, A, b, 1e-9);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void count_notes(svmp_log_level level, const char *message, void *user_data) {
    *(int *)user_data += level == SVMP_LOG_INFO && strstr(message, "differences of the gradients") != NULL;
}

/* A run with the Gaussian as start or metric says once if second derivatives come from differences. */
static void test_note_on_differences(void **state) {
    (void)state;
    static const char *const methods[] = {"transport", "local", "nuts"};
    for (int functions = 0; functions < 2; functions++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            svmp_context *context = test_context(1);
            svmp_model *model = NULL;
            svmp_options *options = NULL;
            svmp_run *run = NULL;
            const double one = 1;
            int notes = 0;
            assert_ok(svmp_context_set_log(context, count_notes, &notes));
            assert_ok(svmp_model_create(context, &model));
            for (size_t v = 0; v < 2; v++) {
                assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
                assert_ok(svmp_model_add_gaussian(model, 1, &v, &one, NULL));
            }
            if (functions) assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, pull, NULL));
            assert_ok(svmp_model_finish(model));
            assert_ok(svmp_options_create(context, &options));
            assert_ok(svmp_options_set(options, "method", methods[k]));
            if (k > 0) assert_ok(svmp_options_set(options, "init", "gaussian"));
            assert_ok(svmp_options_set(options, k < 2 ? "iterations" : "draws", "20"));
            assert_ok(svmp_options_set(options, "particles", "4"));
            assert_ok(svmp_run_create(model, options, &run));
            svmp_outcome outcome;
            assert_ok(svmp_run_go(run, &outcome));
            assert_int_equal(notes, functions);
            svmp_run_free(run);
            svmp_options_free(options);
            svmp_model_free(model);
            svmp_context_free(context);
        }
}

/* ---- other posteriors -------------------------------------------------------------------------------------------- */

/* The logistic regression is nearly Gaussian: its mean and variances agree to a few percent of its sd, and the bound is
 * below the integral by the trapezoidal rule. */
static void test_logistic(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = target_logistic(context);
    gaussian *q = find(model, 1);
    double mean[2], variance[2], found[2], total = 0;
    target_logistic_moments(mean, variance);
    assert_ok(svmp_gaussian_variance(q, found));
    for (size_t i = 0; i < 2; i++) {
        assert_near((svmp_gaussian_mean(q)[i] - mean[i]) / sqrt(variance[i]), 0, 0.1);
        assert_near(found[i] / variance[i], 1, 0.1);
    }
    enum { POINTS = 200 };
    static double x[2 * POINTS * POINTS], value[POINTS * POINTS];
    for (size_t k = 0; k < POINTS * POINTS; k++) {
        x[k] = -3 + 8 * (double)(k / POINTS) / POINTS;
        x[POINTS * POINTS + k] = -3 + 10 * (double)(k % POINTS) / POINTS;
    }
    assert_ok(svmp_model_evaluate(model, POINTS * POINTS, x, value, NULL));
    for (size_t k = 0; k < POINTS * POINTS; k++) total += exp(value[k]) * 80 / (POINTS * POINTS);
    /* 64 fixed draws estimate the bound with a standard error of about 0.01 */
    assert_true(svmp_gaussian_bound(q) < log(total) + 0.03 && svmp_gaussian_bound(q) > log(total) - 0.1);
    svmp_gaussian_free(q);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Counts with random effects of unknown precision; every variable in units of its own. */
static const char counts[] = "model {\n"
                             "  for (i in 1:6) {\n"
                             "    u[i] ~ dflat()\n"
                             "    factor(0.5 * lt / s[7] - 0.5 * exp(lt / s[7]) * (u[i] / s[i] - m / s[8])^2)\n"
                             "    y[i] ~ dpois(exp(u[i] / s[i]))\n"
                             "  }\n"
                             "  lt ~ dflat()\n"
                             "  m ~ dflat()\n"
                             "  factor(lt / s[7] - exp(lt / s[7]) - 0.05 * (m / s[8])^2)\n"
                             "}\n";

static void test_units(void **state) {
    (void)state;
    const int power[2][8] = {{0}, {-6, 3, 6, -2, 1, 4, -3, 5}};
    double mean[2][8], variance[2][8], bound[2];
    for (int k = 0; k < 2; k++) {
        svmp_context *context = test_context(1);
        char data[400];
        const int *p = power[k];
        snprintf(data, sizeof data,
                 "y <- c(3, 7, 1, 12, 5, 9)\ns <- c(1e%d, 1e%d, 1e%d, 1e%d, 1e%d, 1e%d, 1e%d, 1e%d)\n", p[0], p[1],
                 p[2], p[3], p[4], p[5], p[6], p[7]);
        svmp_model *model = read_text(context, counts, data);
        gaussian *q = find(model, 1);
        assert_int_equal(svmp_graph_variables(svmp_model_graph(model)), 8);
        assert_ok(svmp_gaussian_variance(q, variance[k]));
        bound[k] = svmp_gaussian_bound(q);
        for (size_t i = 0; i < 8; i++) {
            char name[16];
            svmp_model_variable_name(model, i, name, sizeof name);
            const int of = name[0] == 'u' ? p[name[2] - '1'] : name[0] == 'l' ? p[6] : p[7];
            mean[k][i] = svmp_gaussian_mean(q)[i] / pow(10, of);
            variance[k][i] /= pow(100, of);
            bound[k] -= of * log(10);
        }
        svmp_gaussian_free(q);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    /* The ascent ends where a step gains less than 8e-6: sqrt(8e-6) is 0.003 sd. */
    assert_near(bound[1], bound[0], 1e-4);
    for (size_t i = 0; i < 8; i++) {
        assert_near((mean[1][i] - mean[0][i]) / sqrt(variance[0][i]), 0, 0.01);
        assert_near(variance[1][i] / variance[0][i], 1, 0.01);
    }
}

/* ---- the ascent -------------------------------------------------------------------------------------------------- */

/* From near and distant starts the bound F increases, and an ascent that reaches the end point of another one says so.
 * */
static void test_ascent(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context, counts, "y <- c(3, 7, 1, 12, 5, 9)\ns <- c(1, 1, 1, 1, 1, 1, 1, 1)\n");
    ascent *a = NULL;
    ascent_outcome end;
    ascent_point known = {0};
    double mean[8];
    int found;
    assert_ok(svmp_ascent_create(model, 32, &a));
    assert_ok(svmp_ascent_set_draws(a, 1, 32));
    for (size_t i = 0; i < 8; i++) { /* antithetic, with second moment 1 */
        double squares = 0;
        for (size_t l = 0; l < 32; l++) {
            squares += a->z[i * 32 + l] * a->z[i * 32 + l];
            assert_true(a->z[i * 32 + (l ^ 1)] == -a->z[i * 32 + l]);
        }
        assert_near(squares / 32, 1, 1e-14);
    }
    for (double far = 0; far <= 4; far += 2) {
        for (size_t i = 0; i < 8; i++) a->here.mean[i] = far * test_random(11, i);
        assert_ok(svmp_ascent_begin(a, &found));
        assert_true(found);
        const double before = a->here.bound;
        assert_ok(svmp_ascent_climb(a, (ascent_goal){1e-6, 1e-2, 6, 0, 0}, NULL, &end));
        assert_true(end == ASCENT_CONVERGED && a->here.bound > before + 1);
        if (far > 0) assert_near(a->here.bound, known.bound, 1e-4);
        known.bound = a->here.bound;
    }
    memcpy(mean, a->here.mean, sizeof mean);
    known.mean = mean;
    for (size_t i = 0; i < 8; i++) a->here.mean[i] = 2 * test_random(12, i);
    assert_ok(svmp_ascent_begin(a, &found));
    assert_ok(svmp_ascent_climb(a, (ascent_goal){1e-6, 1e-2, 6, 0, 0}, &known, &end));
    assert_true(end == ASCENT_KNOWN);
    assert_near(a->here.bound, known.bound, 0.5);
    for (int level = 0; level < 2; level++) { /* another mean: the known point can be recognised by its bound only */
        for (size_t i = 0; i < 8; i++) {
            mean[i] = 100;
            a->here.mean[i] = 2 * test_random(12, i);
        }
        assert_ok(svmp_ascent_begin(a, &found));
        assert_ok(svmp_ascent_climb(a, (ascent_goal){1e-6, 1e-2, 6, 0.3 * level, 0}, &known, &end));
        assert_int_equal(end == ASCENT_KNOWN, level);
        assert_true(a->here.bound > known.bound - 0.3);
    }
    svmp_ascent_free(a);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- threads and particles --------------------------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    enum { N = 7 };
    double x[2][8 * N];
    double *A[2] = {NULL, NULL}, mean[2][8], variance[2][8];
    size_t entries = 0;
    for (int k = 0; k < 2; k++) {
        svmp_context *context = test_context(k + 1);
        svmp_model *model = read_text(context, counts, "y <- c(3, 7, 1, 12, 5, 9)\ns <- c(1, 1, 1, 1, 1, 1, 1, 1)\n");
        gaussian *q = find(model, 4);
        entries = svmp_gaussian_pattern(q)->entries;
        A[k] = malloc(entries * sizeof *A[k]);
        memcpy(A[k], svmp_gaussian_precision(q), entries * sizeof *A[k]);
        memcpy(mean[k], svmp_gaussian_mean(q), sizeof mean[k]);
        assert_ok(svmp_gaussian_variance(q, variance[k]));
        assert_ok(svmp_gaussian_draw(q, 9, N, x[k]));
        svmp_gaussian_free(q);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    assert_memory_equal(A[0], A[1], entries * sizeof *A[0]);
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(variance[0], variance[1], sizeof variance[0]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    free(A[0]), free(A[1]);
}

/* Pairs are mirrored in the mean; second moments are those of A^-1, within five standard errors of n/2 pairs. */
static void test_draws(void **state) {
    (void)state;
    enum { N = 4000 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 4, 0.9, 0, 5); /* nodes of 1, 2, 1 and 2 variables */
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double A[36], b[6], *x = malloc(d * N * sizeof *x), one[6];
    gaussian *q = find(model, 1);
    assert_int_equal(d, 6);
    test_dense(model, A, b);
    test_invert(d, A);
    assert_ok(svmp_gaussian_draw(q, 1, N, x));
    for (size_t i = 0; i < d; i++) {
        const double mean = svmp_gaussian_mean(q)[i];
        for (size_t l = 0; l < N; l += 2) assert_near(0.5 * (x[i * N + l] + x[i * N + l + 1]), mean, 1e-13);
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t l = 0; l < N; l++) sum += (x[i * N + l] - mean) * (x[j * N + l] - svmp_gaussian_mean(q)[j]) / N;
            const double error = sqrt((A[i * d + i] * A[j * d + j] + A[i * d + j] * A[i * d + j]) / (N / 2));
            assert_near(sum, A[i * d + j], 5 * error);
        }
    }
    assert_ok(svmp_gaussian_draw(q, 1, 1, one)); /* the first particle does not depend on their number */
    for (size_t i = 0; i < d; i++) assert_true(one[i] == x[i * N]);
    assert_ok(svmp_gaussian_draw(q, 2, 1, one));
    assert_true(one[0] != x[0]);
    svmp_gaussian_free(q);
    svmp_model_free(model);
    svmp_context_free(context);
    free(x);
}

/* A posterior 1e8 away, with a log density 1e17 lower at the origin: every start reaches it. On the log scale the mean
 * of v is log(2e8) to 1e-4, which is 1/200 of its sd, and that of tau is psi(3) - log(S/2) for the sum of squares S. */
static void test_distant_posterior(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context,
                                  "model { for (i in 1:6) { y[i] ~ dnorm(v, tau) }\n"
                                  "v ~ dlnorm(18, 0.01)\n tau ~ dgamma(0.5, 1.0E-3) }\n",
                                  "y <- c(1.9E8, 2.1E8, 2.05E8, 1.95E8, 2.02E8, 1.98E8)\n");
    for (uint64_t seed = 1; seed <= 3; seed++) {
        gaussian *q = find(model, seed);
        assert_near(svmp_gaussian_mean(q)[0], log(2e8), 2e-3 / log(2e8));
        assert_near(svmp_gaussian_mean(q)[1], 0.9227843351 - log(0.5 * 2.58e14), 0.2 / 32);
        svmp_gaussian_free(q);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A density truncated at -1, where it is still high: draws outside are moved inside. */
static void test_draws_outside_the_support(void **state) {
    (void)state;
    enum { N = 20000 };
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context, "model { x ~ dnorm(0, 0.5)\n factor(0.01 * log(x + 1)) }\n", "y <- 1\n");
    gaussian *q = find(model, 1);
    static double x[N], value[N];
    size_t pulled = 0;
    assert_ok(svmp_gaussian_draw(q, 1, N, x));
    assert_ok(svmp_model_evaluate(model, N, x, value, NULL));
    for (size_t l = 0; l < N; l++) assert_true(isfinite(value[l]));
    for (size_t l = 0; l < N; l += 2) pulled += fabs(x[l] + x[l + 1] - 2 * svmp_gaussian_mean(q)[0]) > 1e-6;
    assert_true(pulled > 0 && pulled < N / 10);
    svmp_gaussian_free(q);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(svmp_context *context, const svmp_model *model, const char *sentence) {
    gaussian *q = NULL;
    assert_int_equal(svmp_gaussian_create(model, 1, &q), SVMP_UNSUPPORTED);
    if (!strstr(svmp_context_error(context), sentence)) fail_msg("%s", svmp_context_error(context));
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"model { x ~ dflat()\n z ~ dnorm(0, 1) }\n",
         "needs a proper posterior, but the density does not seem to decrease in x"},
        {"model { x ~ dflat()\n factor(x + 0 * z)\n z ~ dnorm(x, 1) }\n",
         "does not seem to decrease along a combination of x and z."},
        {"model { x ~ dnorm(0, 1)\n factor(x^2) }\n", "does not seem to decrease in x: the search ended at"},
        {"model { y ~ dpois(exp(a + b))\n a ~ dflat()\n b ~ dflat() }\n",
         "does not seem to decrease along a combination of a and b. Give at least one of them a proper prior of its "
         "own."},
        {"model { y ~ dt(1e6 * a - 1e-6 * b, 1, 5)\n a ~ dflat()\n b ~ dflat()\n c ~ dnorm(0, 1)\n factor(c) }\n",
         "along a combination of a and b."},
        {"model { u[1] ~ dflat()\n for (i in 2:9) { u[i] ~ dt(u[i - 1], y, 4) } }\n",
         "along a combination of u.1, u.2 and 7 others."},
        {"model { for (i in 1:8) { z[i] ~ dbern(ilogit(a + b * (i - 4.5))) }\n a ~ dflat()\n b ~ dflat() }\n"
         "data { for (i in 1:8) { z[i] <- i > 4 } }\n",
         "needs a proper posterior, but the density does not seem to decrease"},
        {"model { x ~ dnorm(0, 1)\n factor(log(x - 5)) }\n",
         "density is finite: where it began, the statement on line 2 has no finite value or derivative"},
        {"model { a ~ dnorm(0, 1)\n h[1] <- a\n for (t in 2:300) { h[t] <- 3 * h[t - 1] * h[t - 1] + y }\n"
         "for (t in 1:300) { factor(-(h[t] - 1)^2) } }\n",
         "density is finite: where it began, the statement on line 3 has no finite value or derivative"},
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_text(context, texts[k][0], "y <- 1\n");
        expect_refusal(context, model, texts[k][1]);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 3, 0.5, 1, 5);
    assert_ok(svmp_model_set_box(model, 1, 0, INFINITY));
    expect_refusal(context, model, "does not support boxes, but x.2 has one");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Proper priors are never refused, however wide the posterior is compared with a conditional or marginal sd, nor is a
 * posterior that the data make proper. */
static void test_wide_posteriors(void **state) {
    (void)state;
    static const char *const texts[] = {
        "model { y ~ dpois(exp(a + b))\n a ~ dnorm(0, 1e-14)\n b ~ dnorm(0, 1e-14) }\n",
        "model { y ~ dpois(exp(a + b))\n a ~ dnorm(0, 1e-40)\n b ~ dnorm(0, 1e-40) }\n",
        "model { y ~ dpois(exp(a + b))\n a ~ dflat()\n b ~ dnorm(0, 1e-14) }\n",
        "model { y ~ dpois(exp(a + b))\n a ~ dflat()\n b ~ dnorm(0, 1e-22) }\n",
        "model { y ~ dpois(exp(a + b))\n a ~ dt(0, 1e-16, 1)\n b ~ dt(0, 1e-16, 1) }\n",
        "model { y ~ dt(a, 1e-40, 3)\n b ~ dt(a, 1e-40, 2)\n a ~ dflat()\n factor(-b^2 * 1e-40) }\n",
        "model { y ~ dnorm(a, 1)\n a ~ dnorm(1e18, 1e-36)\n b ~ dt(a, 1e-40, 3) }\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_text(context, texts[k], "y <- 1\n");
        gaussian *q = NULL;
        if (svmp_gaussian_create(model, 1, &q) != SVMP_OK) fail_msg("%s%s", texts[k], svmp_context_error(context));
        svmp_gaussian_free(q);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* The density is finite only if thresholds ascend by 5, which holds for draws of their priors and no other start. */
static void test_starts_from_priors(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context,
                                  "model { for (k in 1:3) { t[k] ~ dnorm(10 * k, 1) }\n"
                                  "  factor(log(t[2] - t[1] - 5) + log(t[3] - t[2] - 5)) }\n",
                                  "");
    gaussian *q = find(model, 1);
    for (size_t i = 0; i < 3; i++) assert_near(svmp_gaussian_mean(q)[i], 10 * (double)(i + 1), 0.1);
    svmp_gaussian_free(q);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- a fit that was made while the model was prepared ---------------------------------------------------------------
 */

static void count_fits(svmp_log_level level, const char *message, void *user_data) {
    if (level == SVMP_LOG_DEBUG && strstr(message, "polished")) ++*(int *)user_data;
}

/* The first one of the same seed takes it; it is the fit that is made without it. */
static void test_kept_fit(void **state) {
    (void)state;
    static const char text[] = "model { for (i in 1:8) { y[i] ~ dnorm(th[i], 1000)\n th[i] ~ dnorm(mu, t) }\n"
                               "  mu ~ dnorm(0, 0.001)\n t ~ dgamma(1, 1) }\n",
                      data[] = "y <- c(28, 8, -3, 7, -1, 1, 18, 12)\n";
    svmp_context *context = test_context(1);
    svmp_model *prepared = NULL, *plain = read_text(context, text, data);
    int fits = 0;
    assert_ok(svmp_context_set_log(context, count_fits, &fits));
    assert_ok(svmp_model_read(context, 2, (const char *const[]){"model.bug", "data.R"},
                              &(svmp_reading){.coordinates = "auto"}, &prepared));
    assert_int_equal(fits, 1);
    const size_t d = svmp_graph_variables(svmp_model_graph(plain));
    gaussian *fitted = find(plain, GAUSSIAN_SEED), *other = find(prepared, GAUSSIAN_SEED + 1);
    assert_int_equal(fits, 3);
    gaussian *kept = find(prepared, GAUSSIAN_SEED);
    assert_int_equal(fits, 3);
    gaussian *again = find(prepared, GAUSSIAN_SEED);
    assert_int_equal(fits, 4);
    const size_t entries = svmp_gaussian_pattern(fitted)->entries;
    gaussian *const same[] = {kept, again};
    for (size_t k = 0; k < 2; k++) {
        double x[2][10 * 3];
        assert_memory_equal(svmp_gaussian_mean(same[k]), svmp_gaussian_mean(fitted), d * sizeof(double));
        assert_memory_equal(svmp_gaussian_precision(same[k]), svmp_gaussian_precision(fitted),
                            entries * sizeof(double));
        assert_ok(svmp_gaussian_draw(same[k], 7, 3, x[0]));
        assert_ok(svmp_gaussian_draw(fitted, 7, 3, x[1]));
        assert_memory_equal(x[0], x[1], sizeof x[0]);
    }
    gaussian *const all[] = {fitted, other, kept, again};
    for (size_t k = 0; k < 4; k++) svmp_gaussian_free(all[k]);
    svmp_model_free(plain);
    svmp_model_free(prepared);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_fit),
        cmocka_unit_test(test_starts_from_priors),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_note_on_differences),
        cmocka_unit_test(test_logistic),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_ascent),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_draws_outside_the_support),
        cmocka_unit_test(test_distant_posterior),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wide_posteriors),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
