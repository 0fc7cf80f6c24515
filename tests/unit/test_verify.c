/* Cross-examination: exact draws pass, wrong ones fail for the right reason, and the messages name it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "method/method.h"
#include "unit/support.h"
#include "verify/before_after.h"
#include "verify/verdict_inside.h"

static const char chain[] = "model {\n"
                            "  x[1] ~ dnorm(0, 1)\n"
                            "  for (i in 2:10) { x[i] ~ dnorm(0.9 * x[i-1], 1 / 0.19) }\n"
                            "}\n";

/* Exact draws of a model without data, from its prior. Every variable of `chain` has mean 0 and sd 1. */
static svmp_run *draw(svmp_context *context, const char *text, const char *start, size_t n, svmp_model **model) {
    run_options options = svmp_run_options_default();
    svmp_run *run = NULL;
    options.method = "graphical";
    options.init = start;
    options.particles = n;
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, model));
    assert_ok(svmp_run_make(*model, &options, &run));
    return run;
}

static svmp_verdict examine(const svmp_run *run) {
    svmp_verdict verdict = {0};
    assert_ok(svmp_run_examine(run, 0, 0, &verdict));
    return verdict;
}

/* The particles themselves are not changed. */
static void test_exact_draws_pass(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, chain, "prior", 100, &model);
    double before[10 * 100];
    char text[512];
    memcpy(before, run->backend->x, sizeof before);
    const svmp_verdict v = examine(run);
    assert_int_equal(v.finding, SVMP_FINDING_PASSED);
    assert_true(svmp_verdict_is_clear(&v));
    assert_int_equal(v.drifts, 0);
    assert_int_equal(v.particles, 100);
    assert_int_equal(v.variables, 10);
    assert_true(v.slowest <= 0.5);
    assert_memory_equal(before, run->backend->x, sizeof before);
    assert_non_null(strstr(svmp_verdict_sentence(&v, text, sizeof text), "significantly after 30 exact moves"));
    assert_string_equal(svmp_verdict_advice(&v, text, sizeof text), "");
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Changes variable 4 of the draws and returns the verdict. */
static svmp_verdict find(double scale, double shift) {
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, chain, "prior", 100, &model);
    for (size_t l = 0; l < 100; l++) {
        double *x = &run->backend->x[4 * 100 + l];
        *x = scale * *x + shift;
    }
    const svmp_verdict v = examine(run);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
    return v;
}

/* Shifted by 1.5 sd, it is also far from its conditional mean given its neighbours, which determine it to 0.3 sd. */
static void test_one_variable_is_named(void **state) {
    (void)state;
    const svmp_verdict shifted = find(1, 1.5), frozen = find(0, 0);
    assert_int_equal(shifted.finding, SVMP_FINDING_FAILED);
    size_t k = 0;
    while (k < shifted.drifts && shifted.drift[k].variable != 4) k++;
    assert_true(k < shifted.drifts);
    assert_string_equal(shifted.drift[k].name, "x.5");
    assert_int_equal(frozen.finding, SVMP_FINDING_FAILED);
    assert_false(svmp_verdict_is_clear(&frozen));
}

/* The effects by hand: before, mean 1.5 and sd 0.5; afterwards N(0, 1), independent in every iteration. */
static before_after_row find_effects(size_t first_window) {
    enum { N = 400, WINDOW = 40 };
    svmp_context *context = test_context(1);
    before_after *a = NULL;
    double x[N], score[N], density[N];
    before_after_row row;
    for (size_t l = 0; l < N; l++) {
        x[l] = 1.5 + 0.5 * svmp_random_normal((random_stream){.seed = 1, .a = 0, .b = 0, .purpose = RANDOM_TEST}, l);
        score[l] = -x[l];
        density[l] = -0.5 * x[l] * x[l];
    }
    double before[N];
    memcpy(before, density, sizeof before);
    assert_ok(svmp_before_after_create(context, &(before_after_size){1, 0, N, 1}, x, score, NULL, &a));
    svmp_before_after_open(a, first_window);
    size_t shots = 0;
    for (size_t t = 1; t <= WINDOW; t++) {
        if (t == first_window + 1) {
            svmp_before_after_extend(a);
            shots /= 2;
        }
        for (size_t l = 0; l < N; l++) {
            x[l] = svmp_random_normal((random_stream){.seed = 1, .a = t, .b = 0, .purpose = RANDOM_TEST}, l);
            score[l] = -x[l];
            density[l] = -0.5 * x[l] * x[l];
        }
        if (!svmp_before_after_add(a, x, score, NULL)) continue;
        svmp_before_after_add_density(a, density);
        shots++;
    }
    assert_int_equal(shots, 4);
    svmp_before_after_close(a, &row);
    /* standard errors: 0.5/sqrt(400) of the mean, 0.5/sqrt(800) of the sd, 0.024 of the share */
    assert_near(row.effect[SVMP_ASPECT_MEAN], 1.5, 5 * 0.025 / 1.5);
    assert_near(row.effect[SVMP_ASPECT_SPREAD], -0.5, 5 * 0.018);
    assert_near(row.effect[SVMP_ASPECT_TAILS], 0.5 * erfc((1.645 - 1.5) / 0.5 / sqrt(2)) - 0.1, 5 * 0.024);
    assert_near(row.effect[SVMP_ASPECT_SCORES], sqrt(2.5) - 1, 5 * 0.03); /* E[s^2] = 1.5^2 + 0.5^2 */
    assert_near(row.between_share, 1.0 / WINDOW, 0.01);
    assert_true(row.z[SVMP_ASPECT_MEAN] > 20 && row.z[SVMP_ASPECT_SPREAD] < -8 && row.z[SVMP_ASPECT_MEDIAN] > 15);
    const before_after_row all = svmp_before_after_density(a, before, 0.5);
    assert_near(all.effect[0], 1 - 2.5, 5 * 0.1); /* E[-x^2/2] less that afterwards, over 1/2 */
    svmp_before_after_free(a);
    svmp_context_free(context);
    row.level = all.effect[0]; /* to be compared, too */
    return row;
}

/* A window that was doubled when it was full says the same as one of that length. */
static void test_effects(void **state) {
    (void)state;
    const before_after_row whole = find_effects(40), doubled = find_effects(20);
    for (size_t k = 0; k < BEFORE_AFTER_TESTS; k++) {
        assert_true(whole.effect[k] == doubled.effect[k]);
        assert_true(whole.z[k] == doubled.z[k]);
    }
    assert_true(whole.between_share == doubled.between_share && whole.level == doubled.level);
}

/* Correct marginals, but correlations of 0.9 are lost. */
static void test_lost_correlations_fail(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, chain, "prior", 100, &model);
    double row[100];
    for (size_t i = 0; i < 10; i++) {
        for (size_t l = 0; l < 100; l++) row[l] = run->backend->x[i * 100 + (l + 9 * i) % 100];
        memcpy(run->backend->x + i * 100, row, sizeof row);
    }
    const svmp_verdict v = examine(run);
    assert_int_equal(v.finding, SVMP_FINDING_FAILED);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Changes all draws of the chain, whose variables have mean 0 and sd 1. */
static svmp_verdict find_after(void (*change)(double *x, size_t n)) {
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, chain, "prior", 100, &model);
    change(run->backend->x, 100);
    const svmp_verdict v = examine(run);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
    return v;
}

/* The first variable, and with it the others, in two clusters at -1 and 1, still with mean 0 and sd 1. */
static void make_clusters(double *x, size_t n) {
    for (size_t l = 0; l < n; l++) {
        const double by = (x[l] < 0 ? -1 : 1) - x[l];
        double weight = 1;
        for (size_t i = 0; i < 10; i++, weight *= 0.9) x[i * n + l] += weight * by;
    }
}

/* The mean of all variables is halved, and every variable keeps its sd. */
static void halve_common(double *x, size_t n) {
    for (size_t l = 0; l < n; l++) {
        double mean = 0;
        for (size_t i = 0; i < 10; i++) mean += x[i * n + l] / 10;
        for (size_t i = 0; i < 10; i++) x[i * n + l] -= mean / 2;
    }
    for (size_t i = 0; i < 10; i++) {
        double square = 0;
        for (size_t l = 0; l < n; l++) square += x[i * n + l] * x[i * n + l] / (double)n;
        for (size_t l = 0; l < n; l++) x[i * n + l] /= sqrt(square);
    }
}

/* Quantiles are named by their level, sums by their variables. */
static void test_shapes_and_sums_fail(void **state) {
    (void)state;
    char text[512];
    const svmp_verdict clusters = find_after(make_clusters), common = find_after(halve_common);
    assert_int_equal(clusters.finding, SVMP_FINDING_FAILED);
    size_t k = 0;
    while (k < clusters.drifts && clusters.drift[k].aspect != SVMP_ASPECT_SHAPE) k++;
    assert_true(k < clusters.drifts);
    assert_true(clusters.drift[k].level > 0 && clusters.drift[k].level < 1);
    assert_non_null(strstr(svmp_verdict_sentence(&clusters, text, sizeof text), " % quantile "));
    assert_int_equal(common.finding, SVMP_FINDING_FAILED);
    for (k = 0; k < common.drifts && strchr(common.drift[k].name, '+') == NULL;) k++;
    assert_true(k < common.drifts);
    assert_true(common.drift[k].variable == SIZE_MAX);
}

/* Heavy tails are not other modes: other starts that are still far away must not make these exact draws fail. */
static void test_heavy_tails_are_not_modes(void **state) {
    (void)state;
    static const uint64_t seeds[] = {2, 5, 18};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        svmp_context *context = test_context(1);
        run_options options = svmp_run_options_default();
        svmp_model *model = NULL;
        svmp_run *run = NULL;
        options.method = "graphical";
        options.init = "prior";
        options.seed = seeds[k];
        assert_ok(svmp_model_read_text(context, NULL, "model { for (i in 1:10) { x[i] ~ dt(0, 1, 2) } }", NULL, NULL,
                                       &model));
        assert_ok(svmp_run_make(model, &options, &run));
        const svmp_verdict v = examine(run);
        assert_int_equal(v.finding, SVMP_FINDING_PASSED);
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* x is N(0, 1) and y is nearly 3 x^2, along which moves are slow: particles with three quarters of the sd of x do not
 * pass while more than 0.3 of a variance is between particles that have not mixed. */
static void test_slow_moves_do_not_pass(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, "model { x ~ dnorm(0, 1)\n y ~ dnorm(3 * x * x, 4) }", "normal:1", 100, &model);
    double *x = run->backend->x;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        svmp_random_normals((random_stream){.seed = seed, .purpose = RANDOM_TEST}, 200, x);
        for (size_t l = 0; l < 100; l++) {
            x[l] *= 0.72;
            x[100 + l] = 3 * x[l] * x[l] + 0.5 * x[100 + l];
        }
        const svmp_verdict v = examine(run);
        assert_true(v.finding != SVMP_FINDING_PASSED || v.slowest <= 0.3);
    }
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Elements of a simplex are named as in the table, without a subscript of the text; nearly equal neighbours are named
 * if the moves do not mix. */
static void test_names(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    char text[512];
    svmp_run *run = draw(context, "model { p[1:4] ~ ddirch(c(3, 3, 3, 3)) }", "prior", 100, &model);
    for (size_t l = 0; l < 300; l++) run->backend->x[l] *= 0.4;
    const svmp_verdict v = examine(run);
    assert_int_equal(v.finding, SVMP_FINDING_FAILED);
    assert_non_null(strstr(svmp_verdict_sentence(&v, text, sizeof text), "p.1 to p.4 ("));
    assert_null(strchr(text, '['));
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_verdict slow = {.finding = SVMP_FINDING_UNDECIDED, .unexamined = SVMP_UNEXAMINED_NONE, .ridge = "a and b"};
    assert_non_null(strstr(svmp_verdict_advice(&slow, text, sizeof text), "a and b are nearly collinear"));
    svmp_context_free(context);
}

/* A sum of one variable counts as that variable, not as another one, or the message would read "a, b and 1 more of 2
 * variables". */
static void test_no_variable_counts_twice(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    char text[512];
    svmp_run *run =
        draw(context, "model { a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n c ~ dnorm(0.9 * a, 5) }", "prior", 100, &model);
    for (size_t l = 0; l < 300; l++) run->backend->x[l] *= 0.4;
    const svmp_verdict v = examine(run);
    assert_int_equal(v.drifting, 3);
    assert_null(strstr(svmp_verdict_sentence(&v, text, sizeof text), " more of 3 variables"));
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static const char two_modes[] = "model { x ~ dflat()\n"
                                "factor(log(0.5 * exp(-(x - 4)^2 / 2) + 0.5 * exp(-(x + 4)^2 / 2))) }";

/* The same in three dimensions, 8 sd apart in each. */
static const char distant_modes[] =
    "model { for (i in 1:3) { x[i] ~ dflat() }\n"
    "a <- (x[1] - 4)^2 + (x[2] - 4)^2 + (x[3] - 4)^2\n b <- (x[1] + 4)^2 + (x[2] + 4)^2 + (x[3] + 4)^2\n"
    "factor(log(exp((min(a, b) - a) / 2) + exp((min(a, b) - b) / 2)) - min(a, b) / 2) }";

/* Particles in both of two modes of one variable pass, since Cauchy proposals connect them. */
static void test_connected_modes(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, two_modes, "normal:1", 100, &model);
    for (size_t l = 0; l < 100; l++) run->backend->x[l] += 4;
    assert_int_equal(examine(run).finding, SVMP_FINDING_FAILED);
    for (size_t l = 0; l < 100; l += 2) run->backend->x[l] -= 8;
    assert_int_equal(examine(run).finding, SVMP_FINDING_PASSED);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Particles that are all in one of two distant modes fail; particles in both modes, which only jumps connect, pass. */
static void test_modes(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, distant_modes, "normal:1", 100, &model);
    char text[512];
    for (size_t l = 0; l < 300; l++) run->backend->x[l] += 4;
    const svmp_verdict one = examine(run);
    assert_int_equal(one.finding, SVMP_FINDING_FAILED);
    assert_int_equal(one.drift[0].aspect, SVMP_ASPECT_ELSEWHERE);
    assert_near(one.drift[0].effect, 8, 1);
    assert_non_null(strstr(svmp_verdict_advice(&one, text, sizeof text), "several modes"));
    for (size_t l = 0; l < 300; l += 2) run->backend->x[l] -= 8;
    const svmp_verdict both = examine(run);
    assert_int_equal(both.finding, SVMP_FINDING_PASSED);
    assert_int_equal(both.modes, 2);
    assert_near(both.mode[0].share, 0.5, 1e-12);
    assert_near(fabs(both.mode[1].value), 4, 0.1);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static const char sorted[] = "model { for (k in 1:2) { v[k] ~ dnorm(0, 0.1) }\n"
                             "s[1:2] <- sort(v[1:2])\n"
                             "factor(-50 * (s[1] + 1)^2 - 50 * (s[2] - 1)^2) }";

/* N(-1, 0.1^2) and N(1, 0.1^2), nearly, in either order: samples in one order or in both pass. If the variables are not
 * exchangeable, there is one mode, and particles in the other order fail. */
static void test_sorted_unknowns(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, sorted, "normal:0.1", 100, &model);
    double *x = run->backend->x;
    svmp_random_normals((random_stream){.seed = 3, .purpose = RANDOM_TEST}, 200, x);
    for (size_t l = 0; l < 200; l++) x[l] = (l < 100 ? -0.999 : 0.999) + x[l] / sqrt(100.1);
    assert_int_equal(examine(run).finding, SVMP_FINDING_PASSED);
    for (size_t l = 0; l < 50; l++) {
        const double first = x[l];
        x[l] = x[100 + l];
        x[100 + l] = first;
    }
    assert_int_equal(examine(run).finding, SVMP_FINDING_PASSED);
    for (size_t l = 0; l < 200; l++) x[l] *= 0.8; /* both are 2 sd too close to 0 */
    assert_int_equal(examine(run).finding, SVMP_FINDING_FAILED);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The density 1/(1 + exp(b - a)) 1/(1 + exp(-b - a)) does not decrease as a grows. */
static void test_improper_directions_are_named(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    char text[1024];
    svmp_run *run =
        draw(context, "model { a ~ dflat()\n b ~ dflat()\n factor(-log(1 + exp(b - a)) - log(1 + exp(-b - a))) }",
             "normal:1", 50, &model);
    const svmp_verdict v = examine(run);
    assert_false(svmp_verdict_is_clear(&v));
    assert_non_null(strstr(svmp_verdict_sentence(&v, text, sizeof text), "The density does not decrease along "));
    assert_non_null(strstr(text, "along a: the posterior is improper"));
    assert_string_equal(svmp_verdict_advice(&v, text, sizeof text), "Give a a proper prior.");
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Half of all values are equal, before and afterwards, which is not an error. The others are normal, so that some |z|
 * exceeds 4 in only 1 of 4,000 cases. */
static void test_equal_values(void **state) {
    enum { N = 200, WINDOW = 20 };
    (void)state;
    svmp_context *context = test_context(1);
    before_after *a = NULL;
    double x[N], score[N];
    before_after_row row;
    for (size_t t = 0; t <= WINDOW; t++) {
        for (size_t l = 0; l < N; l++) {
            x[l] = l % 2 ? 1 + svmp_random_normal((random_stream){.seed = 2, .a = t, .b = 0, .purpose = RANDOM_TEST}, l)
                         : 0;
            score[l] = -x[l];
        }
        if (t == 0) {
            assert_ok(svmp_before_after_create(context, &(before_after_size){1, 0, N, 1}, x, score, NULL, &a));
            svmp_before_after_open(a, WINDOW);
        } else {
            svmp_before_after_add(a, x, score, NULL);
        }
    }
    svmp_before_after_close(a, &row);
    assert_true(fabs(row.z[TEST_SHAPE]) < 4 && fabs(row.z[TEST_MEDIAN]) < 4 && fabs(row.z[TEST_TAILS]) < 4);
    svmp_before_after_free(a);
    svmp_context_free(context);
}

/* 24 * 24 nodes with 90 particles are enough for several threads. */
static void test_threads(void **state) {
    (void)state;
    svmp_verdict of[2] = {{0}};
    for (int t = 0; t < 2; t++) {
        svmp_context *context = test_context(t + 1);
        svmp_model *model = test_grid(context, 24, 3);
        run_options options = svmp_run_options_default();
        svmp_run *run = NULL;
        options.method = "graphical";
        options.init = "normal:1";
        options.particles = 90;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_examine(run, 0, 40, &of[t]));
        of[t].seconds = 0;
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    assert_memory_equal(&of[0], &of[1], sizeof of[0]);
    assert_int_equal(of[0].finding, SVMP_FINDING_FAILED);
}

/* ---- vetoes and messages ----------------------------------------------------------------------------------------- */

static int stop_at_once(const svmp_progress *progress, void *user_data) {
    (void)progress, (void)user_data;
    return 1;
}

static void test_vetoes(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, chain, "normal:1", 20, &model);
    svmp_discrepancy total, nodes[10];
    svmp_verdict v = {0};
    svmp_outcome outcome;
    char text[512];
    assert_ok(svmp_run_verdict(run, NULL, 0, &v));
    assert_int_equal(v.veto, SVMP_NOTE_UNMOVED);
    assert_int_equal(v.finding, SVMP_FINDING_NOT_EXAMINED);
    assert_string_equal(svmp_verdict_sentence(&v, text, sizeof text),
                        "Not converged: the particles have not moved from the start.");
    assert_ok(svmp_run_set_monitor(run, stop_at_once, NULL));
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_discrepancy(run, &total, nodes));
    for (size_t k = 0; k < 10; k++) nodes[k].ratio = nodes[k].moment_z = 0;
    nodes[7].ratio = 2 * nodes[7].limit;
    assert_ok(svmp_run_verdict(run, nodes, 0, &v));
    assert_int_equal(v.veto, SVMP_NOTE_DISCREPANCY);
    assert_non_null(strstr(svmp_verdict_sentence(&v, text, sizeof text),
                           "1 of 10 nodes is farther from the posterior than exact draws would be (worst: x.8)"));
    nodes[7].ratio = 0;
    assert_ok(svmp_run_verdict(run, nodes, 0, &v));
    assert_int_equal(v.veto, SVMP_NOTE_LARGE_STEP); /* AdaGrad's first step is of the order of an sd */
    svmp_verdict_veto(&v, SVMP_NOTE_DIVERGED, 0, NULL);
    assert_int_equal(v.veto, SVMP_NOTE_LARGE_STEP); /* the first one stays */
    assert_ok(svmp_run_examine(run, 0, 0, &v));     /* the monitor stops it at once */
    assert_int_equal(v.finding, SVMP_FINDING_NOT_EXAMINED);
    assert_int_equal(v.unexamined, SVMP_UNEXAMINED_INTERRUPTED);
    assert_int_equal(svmp_run_examine(run, 0, 0, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_verdict(NULL, NULL, 0, &v), SVMP_BAD_CALL);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_unsupported_models(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = draw(context, chain, "normal:1", 9, &model);
    char text[64];
    svmp_verdict v = examine(run);
    assert_int_equal(v.finding, SVMP_FINDING_NOT_EXAMINED);
    assert_ok(svmp_run_verdict(run, NULL, 1, &v));
    assert_string_equal(svmp_verdict_sentence(&v, text, 20), "Fewer than 10 parti");
    assert_string_equal(svmp_verdict_sentence(&v, text, 1), "");
    svmp_run_free(run);
    svmp_model_free(model);
    model = test_grid(context, 3, 1);
    assert_ok(svmp_model_set_box(model, 0, -1, 1));
    run_options options = svmp_run_options_default();
    options.method = "graphical";
    options.init = "normal:0.1";
    assert_ok(svmp_run_make(model, &options, &run));
    v = examine(run);
    assert_int_equal(v.unexamined, SVMP_UNEXAMINED_BOXES);
    assert_int_equal(v.finding, SVMP_FINDING_NOT_EXAMINED);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void test_memory(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {100000};
        svmp_context *context = scarce_context(&memory);
        svmp_model *model = NULL;
        svmp_run *run = draw(context, "model { a ~ dnorm(0, 1)\n b ~ dnorm(a, 1) }", "prior", 10, &model);
        svmp_verdict v = {0};
        memory.left = allowed;
        status = svmp_run_examine(run, 0, 30, &v);
        memory.left = 100000;
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
        assert_true(allowed < 1000);
    }
    assert_ok(status);
}

static void count_fits(svmp_log_level level, const char *message, void *user_data) {
    if (level == SVMP_LOG_DEBUG && strstr(message, "polished")) ++*(size_t *)user_data;
}

/* The Gaussian on the graph of a large model is fitted once: the examination uses that of the run. */
static void test_large_models_are_fitted_once(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    run_options options = svmp_run_options_default();
    size_t fits = 0;
    options.method = "transport";
    options.init = "prior";
    options.particles = 10;
    assert_ok(svmp_context_set_log(context, count_fits, &fits));
    assert_ok(svmp_model_read_text(context, NULL,
                                   "model { x[1] ~ dnorm(0, 1); for (i in 2:5000) { x[i] ~ dnorm(0.5 * x[i-1], 1) } }",
                                   NULL, NULL, &model));
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(fits, 1);
    svmp_verdict v = {0};
    assert_ok(svmp_run_examine(run, 0, 30, &v));
    assert_int_equal(v.moves, 30);
    assert_int_equal(fits, 1);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_models_are_fitted_once),
        cmocka_unit_test(test_exact_draws_pass),
        cmocka_unit_test(test_one_variable_is_named),
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_lost_correlations_fail),
        cmocka_unit_test(test_shapes_and_sums_fail),
        cmocka_unit_test(test_heavy_tails_are_not_modes),
        cmocka_unit_test(test_slow_moves_do_not_pass),
        cmocka_unit_test(test_no_variable_counts_twice),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_connected_modes),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_sorted_unknowns),
        cmocka_unit_test(test_improper_directions_are_named),
        cmocka_unit_test(test_equal_values),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_vetoes),
        cmocka_unit_test(test_unsupported_models),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
