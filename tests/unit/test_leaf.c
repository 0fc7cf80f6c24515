/* Leaves, the unknown nodes on which no observation depends: which nodes they are, that the rest of the model is the
 * same without them, and that they are drawn from their distributions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maths/special.h"
#include "sample/particles.h"
#include "unit/compile_text.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"

typedef struct lowered_test {
    svmp_context *context;
    lowered_model *model;
} lowered_test;

static lowered_test lower(const char *text, const char *dump, const char *monitors) {
    lowered_test test = {.context = test_context(1)};
    test.model = compile_dump(test.context, text, dump, monitors, &(choices){.centring = 1});
    return test;
}

static void end(lowered_test *test) {
    svmp_lowered_free(test->model);
    svmp_context_free(test->context);
}

/* ---- which nodes are leaves -------------------------------------------------------------------------------------- */

static void list(size_t count, const lowered_node *nodes, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t k = 0; k < count; k++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", k ? " " : "", nodes[k].name);
}

static void leaves_are_recognised(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *dump, *nodes, *leaves;
    } models[] = {
        /* missing responses and predictions; nodes that depend on them only; through deterministic nodes */
        {"model { for (i in 1:3) { y[i] ~ dnorm(m, 1) }\n m ~ dnorm(0, 1)\n p ~ dpois(exp(m)) }", "y <- c(1, NA, 2)",
         "m", "y[2] p"},
        {"model { y ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(m, t)\n t ~ dgamma(1, 1)\n b <- a + t\n c ~ dnorm(b, "
         "1) }",
         "y <- 1", "m", "a t c"},
        /* the end of a chain, but not before an observation */
        {"model { x[1] ~ dnorm(0, 1)\n for (t in 2:6) { x[t] ~ dnorm(x[t-1], 1) }\n y[2] ~ dnorm(x[2], 1)\n y[4] ~ "
         "dnorm(x[4], 1) }",
         "y <- c(NA, 1, NA, 2)", "x[1] x[2] x[3] x[4]", "x[5] x[6]"},
        /* nodes in a factor() and their parents are not leaves */
        {"model { y ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(b, 1)\n b ~ dnorm(0, 1)\n factor(-a^2)\n c ~ dnorm(a, "
         "1) }",
         "y <- 1", "m a b", "c"},
        /* dflat has no draws; its bound is not drawn, either */
        {"model { y ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n f ~ dflat() T(s,)\n s ~ dgamma(1, 1)\n g ~ dnorm(f, 1) }",
         "y <- 1", "m f s", "g"},
        /* censored nodes, and informative cut points */
        {"model { y ~ dinterval(t, c)\n t ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n c ~ dnorm(9, 1)\n z ~ dinterval(m, 0) }",
         "y <- 1", "t m c", "z"},
        /* a partly observed vector informs its other elements, unless these are independent */
        {"model { x[1:2] ~ dmnorm(mu[], T[,])\n for (i in 1:2) { mu[i] ~ dnorm(0, 1) } }",
         "x <- c(1, NA) T <- structure(c(2, 1, 1, 2), .Dim = c(2, 2))", "x[1:2] mu[1] mu[2]", ""},
        {"model { x[1:3] ~ dnorm(mu, 1)\n mu ~ dnorm(0, 1) }", "x <- c(1, NA, 2)", "mu", "x[1:3]"},
        {"model { x[1:3] ~ dnorm(mu, 1)\n mu ~ dnorm(0, 1)\n y ~ dnorm(x[2], 1) }", "x <- c(1, NA, 2) y <- 0",
         "x[1:3] mu", ""},
        /* the length of an array does not depend on its values */
        {"model { y ~ dnorm(m, length(x))\n m ~ dnorm(0, 1)\n for (i in 1:2) { x[i] ~ dnorm(m, 1) } }", "y <- 1", "m",
         "x[1] x[2]"},
        /* without observations the prior is sampled */
        {"model { a ~ dnorm(0, 1)\n b ~ dnorm(a, 1) }", "", "a b", ""},
        {"model { a ~ dnorm(0, 1)\n b ~ dnorm(a, 1)\n k ~ dbern(ilogit(a))\n c ~ dnorm(k, 1) }", "", "a b", "k c"},
        {"model { a ~ dnorm(0, 1)\n z ~ dnorm(1, 1) }", "z <- 1", "a", ""},
    };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        char text[500];
        lowered_test test = lower(models[k].text, models[k].dump, NULL);
        list(test.model->node_count, test.model->nodes, text, sizeof text);
        if (strcmp(text, models[k].nodes) != 0) fail_msg("%s: the nodes are %s", models[k].text, text);
        list(test.model->leaf_count, test.model->leaves, text, sizeof text);
        if (strcmp(text, models[k].leaves) != 0) fail_msg("%s: the leaves are %s", models[k].text, text);
        end(&test);
    }
}

/* Outputs stay in the order of the text, with leaves among the others; those of leaves are marked. */
static void outputs_keep_their_order(void **unused) {
    (void)unused;
    lowered_test test = lower("model { for (i in 1:3) { y[i] ~ dnorm(m, 1) }\n q[1:2] ~ ddirch(a[])\n m ~ dnorm(0, 1)\n"
                              " s ~ dgamma(1, 1)\n z ~ dnorm(m, s)\n p ~ dnorm(m, s) }",
                              "y <- c(NA, 1, NA) a <- c(1, 1) z <- 0", NULL);
    static const char *const names[] = {"y.1", "y.3", "q.1", "q.2", "m", "s", "p"};
    static const bool drawn[] = {true, true, true, true, false, false, true};
    assert_int_equal(test.model->outputs, 7);
    for (size_t k = 0; k < 7; k++) {
        assert_string_equal(test.model->names[k], names[k]);
        assert_int_equal(test.model->drawn[k], drawn[k]);
    }
    assert_int_equal(test.model->variables, 2);
    assert_int_equal(test.model->leaf_variables, 5);
    end(&test);
}

/* ---- draws ------------------------------------------------------------------------------------------------------ */

enum { DRAWS = 20000 };

/* All variables of n particles of equal nodes, with the leaves drawn. */
static double *draw(const lowered_model *model, size_t n, const double *nodes) {
    double *x = calloc((model->variables + model->leaf_variables) * n, sizeof *x);
    uint64_t *keys = calloc(n, sizeof *keys);
    for (size_t l = 0; l < n; l++) {
        keys[l] = l;
        for (size_t i = 0; i < model->variables; i++) x[i * n + l] = nodes[i];
    }
    assert_ok(svmp_lowered_draw_leaves(model, &(leaf_draws){.seed = 7, .number = keys}, n, x));
    free(keys);
    return x;
}

static void assert_moments(const char *name, const double *x, double mean, double variance) {
    double sum = 0, square = 0, fourth = 0;
    for (size_t l = 0; l < DRAWS; l++) sum += (x[l] - mean) / DRAWS;
    for (size_t l = 0; l < DRAWS; l++) {
        square += (x[l] - mean) * (x[l] - mean) / DRAWS;
        fourth += pow(x[l] - mean, 4) / DRAWS;
    }
    if (!(fabs(sum) <= 4.5 * sqrt(variance / DRAWS))) fail_msg("%s: the mean is off by %g", name, sum);
    if (!(fabs(square - variance) <= 4.5 * sqrt((fourth - square * square) / DRAWS)))
        fail_msg("%s: the variance is %g, not %g", name, square, variance);
}

/* Every leaf has the mean and variance of its distribution given its parents, which may be leaves: scalar, vector,
 * discrete. */
static void draws_have_their_moments(void **unused) {
    (void)unused;
    lowered_test test =
        lower("model { o ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(m, 4)\n b ~ dnorm(2 * a, 1)\n k ~ dpois(3 * m)\n"
              " j ~ dbin(0.25, k)\n c ~ dcat(w[1:3])\n q[1:3] ~ dmulti(w[1:3], 12)\n p[1:3] ~ ddirch(w[1:3])\n"
              " z[1:2] ~ dmnorm(v[], T[,])\n v[1] <- m\n v[2] <- a\n e[1:2] ~ dexp(r[])\n r[1] <- m\n r[2] <- 2 * m\n"
              " S[1:2,1:2] ~ dwish(T[,], 5) }",
              "o <- 1 w <- c(1, 2, 1) T <- structure(c(2, 0, 0, 1), .Dim = c(2, 2))", NULL);
    const double m = 1.5;
    static const struct {
        const char *name;
        double mean, variance;
    } leaves[] = {
        {"a", 1.5, 0.25},        {"b", 3, 2},
        {"k", 4.5, 4.5},         {"j", 1.125, 1.125},
        {"c", 2, 0.5},           {"q.1", 3, 2.25},
        {"q.2", 6, 3},           {"q.3", 3, 2.25},
        {"p.1", 0.25, 0.0375},   {"p.2", 0.5, 0.05},
        {"p.3", 0.25, 0.0375},   {"z.1", 1.5, 0.5},
        {"z.2", 1.5, 1.25},      {"e.1", 1 / 1.5, 1 / 2.25},
        {"e.2", 1 / 3., 1 / 9.}, {"S.1.1", 2.5, 2.5},
        {"S.2.1", 0, 2.5},       {"S.1.2", 0, 2.5},
        {"S.2.2", 5, 10},
    };
    assert_int_equal(test.model->leaf_variables, sizeof leaves / sizeof *leaves);
    double *x = draw(test.model, DRAWS, &m);
    for (size_t k = 0; k < test.model->leaf_variables; k++) {
        assert_string_equal(test.model->drawn_names.text[k], leaves[k].name);
        assert_moments(leaves[k].name, x + (1 + k) * DRAWS, leaves[k].mean, leaves[k].variance);
    }
    for (size_t l = 0; l < DRAWS; l++) { /* they are correlated */
        const double *q = x + 6 * DRAWS + l, *p = x + 9 * DRAWS + l;
        assert_true(q[0] + q[DRAWS] + q[2 * DRAWS] == 12);
        assert_near(p[0] + p[DRAWS] + p[2 * DRAWS], 1, 1e-12);
        assert_true(x[4 * DRAWS + l] <= x[3 * DRAWS + l]); /* successes in k trials */
    }
    free(x);
    end(&test);
}

/* T(,) works in any tail: a normal beyond c has mean phi(c)/Q(c) and variance 1 + c mean - mean^2; an exponential
 * beyond c is an exponential from c on; a Poisson of mean 0.1 is 8 or more with tiny probability, and then equals 8
 * with probability 1/(1 + 0.1/9 + 0.01/90 + ...). */
static void truncated_in_the_tail(void **unused) {
    (void)unused;
    lowered_test test = lower("model { o ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(0, 1) T(m,)\n b ~ dnorm(0, 1) T(, "
                              "-m)\n e ~ dexp(1) T(30, 200)\n k ~ dpois(0.1) T(8,)\n u ~ dnorm(0, 1) T(1, 1.5) }",
                              "o <- 1", NULL);
    const double m = 9, tail = 0.5 * erfc(m / sqrt(2)), mean = exp(-0.5 * m * m) / sqrt(2 * acos(-1)) / tail;
    double *x = draw(test.model, DRAWS, &m), eight = 0, series = 0;
    assert_moments("a", x + DRAWS, mean, 1 + m * mean - mean * mean);
    assert_moments("b", x + 2 * DRAWS, -mean, 1 + m * mean - mean * mean);
    assert_moments("e", x + 3 * DRAWS, 31, 1);
    for (double k = 8, term = 1; k < 20; k++, term *= 0.1 / k) series += term;
    for (size_t l = 0; l < DRAWS; l++) {
        assert_true(x[DRAWS + l] >= m && x[2 * DRAWS + l] <= -m && x[4 * DRAWS + l] >= 8);
        assert_true(x[5 * DRAWS + l] >= 1 && x[5 * DRAWS + l] <= 1.5);
        eight += x[4 * DRAWS + l] == 8;
    }
    assert_true(fabs(eight / DRAWS - 1 / series) <= 4.5 * sqrt(1 / series * (1 - 1 / series) / DRAWS));
    free(x);
    end(&test);
}

/* A particle's leaves depend on its number, not on the number of particles; monitored quantities follow from them. */
static void draws_depend_on_the_particle_number(void **unused) {
    (void)unused;
    lowered_test test = lower("model { o ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(m, 1)\n b ~ dnorm(a, 1)\n"
                              " s <- a * b + m }",
                              "o <- 1", "s");
    const double m = 0.3;
    double *many = draw(test.model, 20, &m), *few = draw(test.model, 5, &m), monitored[20];
    for (size_t i = 0; i < 3; i++) assert_memory_equal(many + i * 20, few + i * 5, 5 * sizeof *few);
    assert_ok(svmp_lowered_monitor(test.model, 20, many, monitored));
    for (size_t l = 0; l < 20; l++) assert_near(monitored[l], many[20 + l] * many[40 + l] + m, 1e-15);
    free(many);
    free(few);
    end(&test);
}

/* Draws are stratified: over particles, the uniform numbers of a leaf drawn by inversion have one value in each of n
 * equal cells; different leaves have different orders. Over seeds, the leaf of one particle is an ordinary draw. */
static void stratified(void **unused) {
    (void)unused;
    enum { N = 100, SEEDS = DRAWS };
    lowered_test test = lower("model { o ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(m, 4)\n b ~ dexp(2)\n"
                              " c ~ dgamma(3, 1) }",
                              "o <- 1", NULL);
    const double m = 0.3;
    uint64_t keys[N];
    double x[4 * N], one[3][SEEDS], together = 0;
    int cells[2][N] = {{0}};
    for (size_t l = 0; l < N; l++) keys[l] = l;
    for (size_t from = 0, to = 37; from < N; from = to, to = N) { /* in two blocks */
        const size_t some = to - from;
        for (size_t l = 0; l < some; l++) x[l] = m + 0.001 * (double)((7 * l) % some); /* in another order */
        assert_ok(svmp_lowered_draw_leaves(test.model, &(leaf_draws){7, keys + from, N}, some, x));
        for (size_t l = 0; l < some; l++) {
            const double u[] = {0.5 * erfc((x[l] - x[some + l]) * sqrt(2)),
                                exp(-2 * x[2 * some + l])}; /* for b: 1 - F */
            for (size_t k = 0; k < 2; k++) cells[k][(size_t)(u[k] * N)]++;
            together += (u[0] - 0.5) * (u[1] - 0.5) * 12 / N;
        }
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t l = 0; l < N; l++) assert_int_equal(cells[k][l], 1);
    assert_true(fabs(together) <= 4.5 / sqrt(N));
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const uint64_t number = 41;
        double particle[4] = {m};
        assert_ok(svmp_lowered_draw_leaves(test.model, &(leaf_draws){seed, &number, N}, 1, particle));
        for (size_t k = 0; k < 3; k++) one[k][seed] = particle[1 + k];
    }
    assert_moments("a", one[0], m, 0.25);
    assert_moments("b", one[1], 0.5, 0.25);
    assert_moments("c", one[2], 3, 3);
    end(&test);
}

/* Leaves of leaves: x has the quantiles of N(0, 1); a ~ N(x, 1), b ~ N(a, 1), c ~ N(b, 1) have variances 2, 3 and 4. In
 * random order, chance correlations of 1/sqrt(n) with the mean would give the sds errors of 5 %, up to 15 % in 250
 * trials; in the order of the means the errors are 2 %. v also has a varying precision. Two leaves with the same mean,
 * a and d, are still independent given it. */
static void leaves_of_leaves(void **unused) {
    (void)unused;
    enum { N = 100, SEEDS = 50, LEAVES = 5, LEFT_OUT = 2 };
    static const double variances[LEAVES] = {2, 3, 4, 2, 2};
    lowered_test test = lower("model { o ~ dnorm(x, t)\n x ~ dnorm(0, 1)\n t ~ dgamma(9, 8)\n a ~ dnorm(x, 1)\n"
                              " b ~ dnorm(a, 1)\n c ~ dnorm(b, 1)\n d ~ dnorm(x, 1)\n v ~ dnorm(x, t) }",
                              "o <- 1", NULL);
    double x[(LEAVES + LEFT_OUT) * N], squares[LEAVES] = {0}, largest = 0, together = 0;
    uint64_t keys[N];
    assert_int_equal(test.model->leaf_variables, LEAVES);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const random_stream order = {.seed = seed, .purpose = RANDOM_TEST};
        double mean_inverse = 0;
        for (size_t l = 0; l < N; l++) {
            keys[l] = l;
            x[l] = svmp_normal_quantile(((double)svmp_random_place(order, l, N) + 0.5) / N);
            const double root =
                1 + 0.15 * svmp_random_normal((random_stream){.seed = seed, .a = 1, .purpose = RANDOM_TEST}, l);
            x[N + l] = -2 * log(root); /* t is positive; its coordinate is its logarithm */
            mean_inverse += root * root / N;
        }
        assert_ok(svmp_lowered_draw_leaves(test.model, &(leaf_draws){seed, keys, N}, N, x));
        for (size_t k = 0; k < LEAVES; k++) {
            const double *leaf = x + (LEFT_OUT + k) * N, wanted = sqrt(k == 4 ? 1 + mean_inverse : variances[k]);
            double mean = 0, square = 0;
            for (size_t l = 0; l < N; l++) mean += leaf[l] / N;
            for (size_t l = 0; l < N; l++) square += (leaf[l] - mean) * (leaf[l] - mean) / (N - 1);
            const double off = sqrt(square) / wanted - 1;
            squares[k] += off * off / SEEDS;
            largest = fmax(largest, fabs(off));
        }
        for (size_t l = 0; l < N; l++) together += (x[2 * N + l] - x[l]) * (x[5 * N + l] - x[l]) / (N * SEEDS);
    }
    for (size_t k = 0; k < LEAVES; k++)
        if (!(sqrt(squares[k]) <= 0.025)) fail_msg("leaf %zu: the sds have errors of %g", k, sqrt(squares[k]));
    assert_true(largest <= 0.08);
    assert_true(fabs(together) <= 4.5 / sqrt(N * SEEDS));
    end(&test);
}

/* A distribution with invalid arguments has no draws. */
static void not_a_number_where_nothing_can_be_drawn(void **unused) {
    (void)unused;
    lowered_test test =
        lower("model { o ~ dnorm(m, 1)\n m ~ dnorm(0, 1)\n a ~ dnorm(0, m)\n b ~ dbern(m)\n c ~ dcat(w[])\n w[1] <- 1\n"
              " w[2] <- m\n d ~ dnorm(a, 1)\n q[1:2] ~ dmulti(w[], 3)\n u ~ dunif(0, m)\n ok ~ dnorm(m, 1)\n"
              " sum ~ dbin(1 + 1e-15 * m^2, 4) }",
              "o <- 1", NULL);
    const double m = -2;
    double *x = draw(test.model, 3, &m);
    for (size_t k = 1; k <= 7; k++)
        for (size_t l = 0; l < 3; l++) assert_true(isnan(x[k * 3 + l]));
    for (size_t l = 0; l < 3; l++) assert_true(isfinite(x[8 * 3 + l]) && x[9 * 3 + l] == 4); /* 1 up to rounding */
    free(x);
    end(&test);
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static const char with[] = "model { for (i in 1:3) { first[i] ~ dnorm(mu, 1) }\n"
                           " for (i in 1:4) { theta[i] ~ dgamma(2, 1)\n y[i] ~ dnorm(mu + log(theta[i]), 1) }\n"
                           " for (i in 1:3) { z[i] ~ dnorm(mu, 2)\n k[i] ~ dpois(theta[i]) }\n mu ~ dnorm(0, 1)\n"
                           " s <- z[1] + k[3] }\n";
static const char without[] = "model { for (i in 1:4) { theta[i] ~ dgamma(2, 1)\n y[i] ~ dnorm(mu + log(theta[i]), 1) }"
                              "\n z ~ dnorm(mu, 2)\n mu ~ dnorm(0, 1) }\n";

static svmp_run *make_run(const svmp_model *model, const char *by, const char *init) {
    run_options options = svmp_run_options_default();
    svmp_run *run = NULL;
    svmp_outcome outcome;
    options.method = by;
    options.particles = 9;
    if (init) options.init = init;
    options.iterations = strcmp(by, "local") == 0 ? 20 : 5;
    options.chains = 2;
    options.warmup = 10;
    options.draws = 6;
    options.seed = 3;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    return run;
}

static const double *column(svmp_particles *particles, const char *name) {
    for (size_t i = 0; i < svmp_particles_variables(particles); i++)
        if (strcmp(svmp_particles_name(particles, i), name) == 0)
            return svmp_particles_values(particles) + i * svmp_particles_count(particles);
    fail_msg("there is no %s", name);
    return NULL;
}

/* All other nodes, and lp__, have the bits of the model without the leaves. */
static void other_nodes_are_unaffected(void **unused) {
    (void)unused;
    static const char *const ways[][2] = {{"graphical", NULL},    {"graphical", "prior"}, {"langevin", NULL},
                                          {"nuts", NULL},         {"nuts", "prior"},      {"local", NULL},
                                          {"local", "prior"},     {"local", "gaussian"},  {"transport", NULL},
                                          {"transport", "prior"}, {"local", "map"}};
    static const char *const names[] = {"theta.1", "theta.4", "mu"};
    svmp_context *context = test_context(2);
    svmp_model *models[2] = {NULL, NULL};
    write_text("with.bug", with);
    write_text("with.R", "y <- c(1, 2, 3, 4)\nz <- c(NA, 0.5, NA)\n");
    write_text("without.bug", without);
    write_text("without.R", "y <- c(1, 2, 3, 4)\nz <- 0.5\n");
    assert_ok(svmp_model_read(context, 2, (const char *[]){"with.bug", "with.R"}, &(svmp_reading){.monitors = "s"},
                              &models[0]));
    assert_ok(svmp_model_read(context, 2, (const char *[]){"without.bug", "without.R"}, NULL, &models[1]));
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        svmp_run *runs[2];
        svmp_particles *particles[2];
        for (size_t w = 0; w < 2; w++) {
            runs[w] = make_run(models[w], ways[k][0], ways[k][1]);
            assert_ok(svmp_run_particles(runs[w], &particles[w]));
        }
        const size_t n = svmp_particles_count(particles[0]), size = n * sizeof(double);
        assert_int_equal(svmp_particles_variables(particles[0]), 5 + 3 + 2 + 3 + 1);
        for (size_t j = 0; j < 3; j++)
            assert_memory_equal(column(particles[0], names[j]), column(particles[1], names[j]), size);
        assert_memory_equal(svmp_particles_statistic(particles[0], "lp__"),
                            svmp_particles_statistic(particles[1], "lp__"), size);
        for (size_t l = 0; l < n; l++) {
            const double count = column(particles[0], "k.3")[l];
            assert_true(count >= 0 && count == floor(count));
            assert_near(column(particles[0], "s")[l], column(particles[0], "z.1")[l] + count, 1e-15);
        }
        for (size_t w = 0; w < 2; w++) {
            svmp_particles_free(particles[w]);
            svmp_run_free(runs[w]);
        }
    }
    for (size_t w = 0; w < 2; w++) svmp_model_free(models[w]);
    svmp_context_free(context);
}

/* A start may include values of leaves, which are drawn anyway. */
static void starts_with_and_without(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_particles *first = NULL, *some = NULL, *again[2] = {NULL, NULL};
    write_text("with.bug", with);
    write_text("with.R", "y <- c(1, 2, 3, 4)\nz <- c(NA, 0.5, NA)\n");
    assert_ok(svmp_model_read(context, 2, (const char *[]){"with.bug", "with.R"}, NULL, &model));
    svmp_run *run = make_run(model, "graphical", NULL);
    assert_ok(svmp_run_particles(run, &first));
    svmp_run_free(run);
    size_t kept[16], count = 0;
    for (size_t i = 0; i < svmp_particles_variables(first); i++)
        if (!svmp_model_computes(model, svmp_particles_name(first, i))) kept[count++] = i;
    assert_int_equal(count, 5);
    assert_ok(svmp_particles_select(first, count, kept, 1, &some));
    for (size_t w = 0; w < 2; w++) {
        run_options options = svmp_run_options_default();
        options.particles = 9;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_start_from(run, w ? some : first));
        assert_ok(svmp_run_particles(run, &again[w]));
        svmp_run_free(run);
    }
    assert_memory_equal(svmp_particles_values(again[0]), svmp_particles_values(again[1]), 10 * 9 * sizeof(double));
    assert_near(column(again[0], "theta.2")[4], column(first, "theta.2")[4], 1e-14);
    svmp_particles_free(first);
    svmp_particles_free(some);
    for (size_t w = 0; w < 2; w++) svmp_particles_free(again[w]);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Several processes: all columns have the bits of one. */
static void run_part(test_process *p) {
    const svmp_particles *alone = p->script;
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_particles *own = NULL, *all = NULL;
    p->status = svmp_model_read_split(p->context, 2, (const char *[]){"with.bug", "with.R"},
                                      &(svmp_reading){.monitors = "s"}, &model, NULL);
    if (p->status == SVMP_OK) run = make_run(model, "graphical", "prior");
    if (p->status == SVMP_OK) p->status = svmp_run_particles(run, &own);
    if (p->status == SVMP_OK) p->status = svmp_particles_first(own, 100, &all);
    if (p->status == SVMP_OK) {
        const size_t numbers = svmp_particles_variables(all) * svmp_particles_count(all);
        if (svmp_particles_variables(all) != svmp_particles_variables(alone) ||
            memcmp(svmp_particles_values(all), alone->values, numbers * sizeof(double)) != 0)
            p->status = SVMP_BAD_CALL;
        for (size_t i = 0; i < svmp_particles_variables(all); i++)
            if (strcmp(svmp_particles_name(all, i), svmp_particles_name(alone, i)) != 0) p->status = SVMP_BAD_INPUT;
    }
    svmp_particles_free(own);
    svmp_particles_free(all);
    svmp_run_free(run);
    svmp_model_free(model);
}

static void several_processes(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_particles *alone = NULL;
    write_text("with.bug", with);
    write_text("with.R", "y <- c(1, 2, 3, 4)\nz <- c(NA, 0.5, NA)\n");
    assert_ok(
        svmp_model_read(context, 2, (const char *[]){"with.bug", "with.R"}, &(svmp_reading){.monitors = "s"}, &model));
    svmp_run *run = make_run(model, "graphical", "prior");
    assert_ok(svmp_run_particles(run, &alone));
    for (size_t processes = 2; processes <= 4; processes++) {
        test_process group[MOST_PROCESSES];
        run_processes(processes, run_part, alone, group);
        for (size_t p = 0; p < processes; p++)
            if (group[p].status != SVMP_OK)
                fail_msg("process %zu of %zu: %d %s", p, processes, (int)group[p].status,
                         svmp_context_error(group[p].context));
        end_processes(processes, group);
    }
    svmp_particles_free(alone);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_are_recognised),
        cmocka_unit_test(outputs_keep_their_order),
        cmocka_unit_test(draws_have_their_moments),
        cmocka_unit_test(truncated_in_the_tail),
        cmocka_unit_test(draws_depend_on_the_particle_number),
        cmocka_unit_test(not_a_number_where_nothing_can_be_drawn),
        cmocka_unit_test(other_nodes_are_unaffected),
        cmocka_unit_test(starts_with_and_without),
        cmocka_unit_test(several_processes),
        cmocka_unit_test(stratified),
        cmocka_unit_test(leaves_of_leaves),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
