/* The CUDA backend on a simulated device: the same host code and kernel bodies, in plain loops. Compares scores,
 * velocities and steps with the plain loops of `ref`; tests/gpu/run does the same on a GPU. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend_choice.h"
#include "backend/device_backend.h"
#include "gpu/compare.h"
#include "listed.h"
#include "method/method.h"
#include "model/computed.h"
#include "simulated.h"

static void expect(const comparison *c, const char *name, double tolerance) {
    differences found;
    if (compare_backends(c, &found) != SVMP_OK) fail_msg("%s: %s", name, svmp_context_error(c->model->context));
    if (!(found.iterations > 0 && found.score <= 1e-12 && found.phi <= tolerance && found.x <= 1e-12))
        fail_msg("%s with %s, %s, n = %zu: score %g, phi %g, x %g after %zu iterations", name, c->kernel, c->step, c->n,
                 found.score, found.phi, found.x, found.iterations);
}

/* Double: rounding errors of sums of n terms. Mixed: those of single precision. */
static void expect_both(comparison c, const char *name) {
    c.reference = &svmp_backend_ref;
    c.other = &test_backend_simulated_f64;
    expect(&c, name, 1e-12);
    c.other = &test_backend_simulated;
    expect(&c, name, 1e-6);
}

static void test_models(void **state) {
    (void)state;
    for (size_t k = 0; k < ALL_MODELS; k++) {
        if (!can_read_model(all_models[k])) continue;
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, all_models[k]);
        expect_both(
            (comparison){.model = model, .kernel = "rbf@blanket", .step = "adagrad:0.1", .n = 7, .iterations = 3},
            all_models[k][0]);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* All shapes, metrics, domains and bandwidth rules. */
static const char *const all_kernels[] = {"rbf@blanket",
                                          "imq@blanket",
                                          "linear@blanket",
                                          "rbf@self",
                                          "rbf(median-log)@random:2",
                                          "imq@random:100000", /* more than there are */
                                          "rbf@random:0",
                                          "imq(median-zeros)@all",
                                          "linear@all",
                                          "rbf(1.7)@blanket",
                                          "rbf/sd@blanket + 0.3*linear/sd@blanket",
                                          "0.5*imq/sd@random:4 + 0.5*linear@random:1 + rbf@all",
                                          "rbf@message",
                                          "rbf/sd@near:2 + linear@near:3"};

/* Nodes of one and two variables. */
static void test_kernels(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 12, 0.3, 0, 5);
    const size_t sizes[] = {1, 2, 3, 8, 65};
    for (size_t k = 0; k < sizeof all_kernels / sizeof *all_kernels; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            expect_both(
                (comparison){
                    .model = model, .kernel = all_kernels[k], .step = "adam:0.1", .n = sizes[s], .iterations = 4},
                "a Gaussian");
    svmp_model_free(model);
    model = test_random_gaussian(context, 12, 0, 0, 5);
    expect_both(
        (comparison){
            .model = model, .kernel = "0.5*rbf@random:4 + 0.5*rbf@all", .step = "adam:0.1", .n = 20, .iterations = 4},
        "nodes without neighbours");
    expect_both((comparison){.model = model, .kernel = "rbf@random:4", .step = "adam:0.1", .n = 20, .iterations = 4},
                "nodes without neighbours");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Factors that are programs, some of which touch a node with two or more variables. */
static void test_messages_of_programs(void **state) {
    (void)state;
    const char *const files[][MODEL_FILES] = {{"schools_centred.bug", "schools.R"}, {"poisson.bug", "poisson.R"}};
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < 2; k++) {
        svmp_model *model = read_model(context, files[k]);
        expect_both(
            (comparison){.model = model, .kernel = "rbf/sd@message", .step = "fixed:0.001", .n = 9, .iterations = 3},
            files[k][0]);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* A program that needs more registers than the device has, for scores and for messages: they are in memory. */
static void test_many_registers(void **state) {
    (void)state;
    enum { FACTORS = 20 };
    const char *kernels[] = {"rbf@blanket", "rbf/sd@message"};
    char text[1000] = "model { for (i in 1:20) { x[i] ~ dnorm(0, 1) } y ~ dnorm(1";
    for (size_t i = 1; i <= FACTORS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " * cos(x[%zu])", i);
    strcat(text, ", 1) }");
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    for (size_t k = 0; k < 2; k++)
        expect_both((comparison){.model = model, .kernel = kernels[k], .step = "adagrad:0.1", .n = 5, .iterations = 3},
                    "a long product");
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_steps(void **state) {
    (void)state;
    const char *steps[] = {"fixed:0.01",  "decay:0.1,1,0.5", "adagrad:0.1",
                           "rmsprop:0.1", "adam:0.1..0.01",  "adam-sd:0.1"};
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 4, 3);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        expect_both((comparison){.model = model, .kernel = "rbf@blanket", .step = steps[k], .n = 10, .iterations = 20},
                    "a grid");
    expect_both((comparison){.model = model, .n = 10, .iterations = 20}, "Langevin");
    for (size_t i = 0; i < model->graph->variables; i++) /* one bound, two and none */
        if (i % 3) assert_ok(svmp_model_set_box(model, i, -0.1, i % 3 == 1 ? INFINITY : 0.3));
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        expect_both((comparison){.model = model, .kernel = "rbf@blanket", .step = steps[k], .n = 10, .iterations = 20},
                    "a grid in boxes");
    expect_both((comparison){.model = model, .n = 10, .iterations = 20}, "Langevin in boxes");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Variables with more rows than one thread sums: derivatives of 2,000 programs, or entries of a Gaussian. */
static void test_hub(void **state) {
    (void)state;
    const char *texts[] = {"model { mu ~ dnorm(0, 1) tau ~ dgamma(2, 2) for (i in 1:2000) { x[i] ~ dt(mu, tau, 5) } }",
                           "model { mu ~ dnorm(0, 1) for (i in 1:2000) { x[i] ~ dnorm(mu, 2) } }"};
    const char *kernels[] = {"rbf@self", "rbf@all", "rbf/sd@self + linear/sd@near"};
    svmp_context *context = test_context(1);
    for (size_t each = 0; each < 2 * 3; each++) {
        svmp_model *model = NULL;
        assert_ok(svmp_model_read_text(context, NULL, texts[each % 2], NULL, NULL, &model));
        expect_both(
            (comparison){.model = model, .kernel = kernels[each / 2], .step = "adagrad:0.1", .n = 4, .iterations = 2},
            "a hub");
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* Squared distances and products over 10^5 rows in one piece, in single precision: plain summation would have an error
 * of 1e-5 of the sum of magnitudes. */
static void test_long_distances(void **state) {
    (void)state;
    enum { ROWS = 100000, N = 3 };
    const device_ops *ops = test_simulated_launches;
    const size_t begin = 0, end = ROWS;
    float *z = malloc(ROWS * N * sizeof *z), matrix[N * N];
    uint32_t *domain = malloc(ROWS * sizeof *domain);
    device *d = NULL;
    char words[100];
    assert_int_equal(ops->open(&d, 0, words, sizeof words), 0);
    for (size_t k = 0; k < ROWS * N; k++) z[k] = (float)(1 + sin(1.7 * (double)k));
    for (uint32_t k = 0; k < ROWS; k++) domain[k] = k;
    for (int shape = 0; shape < 2; shape++) {
        const pair_args a = {.n = N,
                             .units = 1,
                             .pieces = 1,
                             .begin = &begin,
                             .end = &end,
                             .domain = domain,
                             .z = z,
                             .matrix = matrix,
                             .shape = shape ? SVMP_SHAPE_LINEAR : SVMP_SHAPE_RBF};
        assert_int_equal(ops->launch(d, KERNEL_MATRIX, 32, &a, N * N), 0);
        for (size_t l = 0; l < N; l++)
            for (size_t m = 0; m < N; m++) {
                double sum = 0;
                for (size_t e = 0; e < ROWS; e++) {
                    const double here = z[e * N + l], there = z[e * N + m];
                    sum += shape ? here * there : (here - there) * (here - there);
                }
                assert_near(matrix[l * N + m], sum, 2e-7 * sum);
            }
    }
    ops->close(d);
    free(z);
    free(domain);
}

/* ---- discrepancies ----------------------------------------------------------------------------------------------- */

static void expect_discrepancy(comparison c, const char *name, double tolerance) {
    const backend_kind *kinds[] = {&test_backend_simulated_f64, &test_backend_simulated, &test_backend_simulated_whole};
    for (size_t k = 0; k < 3; k++) {
        double largest;
        c.other = kinds[k];
        if (compare_discrepancies(&c, &largest) != SVMP_OK)
            fail_msg("%s: %s", name, svmp_context_error(c.model->context));
        if (!(largest <= tolerance))
            fail_msg("%s, %s with %s, n = %zu: %g", kinds[k]->name, name, c.kernel, c.n, largest);
    }
}

/* Always in double precision: all shapes, metrics and domains, and nodes of one and two variables. */
static void test_discrepancy_of_kernels(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 12, 0.3, 0, 5);
    const size_t sizes[] = {1, 2, 3, 8, 65};
    for (size_t k = 0; k < sizeof all_kernels / sizeof *all_kernels; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            expect_discrepancy(
                (comparison){
                    .model = model, .kernel = all_kernels[k], .step = "adam:0.1", .n = sizes[s], .iterations = 4},
                "a Gaussian", 1e-12);
    /* a method without a kernel, some of whose particles are measured */
    expect_discrepancy((comparison){.model = model, .kernel = "rbf@blanket", .n = 30, .measured = 20}, "Langevin",
                       1e-12);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_discrepancy_of_models(void **state) {
    (void)state;
    for (size_t k = 0; k < ALL_MODELS; k++) {
        if (!can_read_model(all_models[k])) continue;
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, all_models[k]);
        expect_discrepancy(
            (comparison){.model = model, .kernel = "rbf@blanket", .step = "adagrad:0.1", .n = 7, .iterations = 1},
            all_models[k][0], 1e-11);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* ---- iterations in one launch ------------------------------------------------------------------------------------ */

enum { WATCH_SCORE = 1, WATCH_PHI = 2, WATCH_BEFORE = 4, WATCH_LATE = 8 };

/* The particles after some iterations, with some arrays read on the way; scores read after the last step belong to the
 * particles before it. */
static double *run_whole(const svmp_model *model, const char *text, size_t n, unsigned watched) {
    kernel k;
    step s;
    backend *b = NULL;
    double *x;
    const double *seen, *before;
    const size_t numbers = n * model->graph->variables;
    double *end = malloc(numbers * sizeof *end), *score = malloc(numbers * sizeof *score);
    assert_ok(svmp_kernel_parse(model->context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    assert_ok(svmp_step_parse(model->context, "adagrad:0.1", &s));
    assert_ok(svmp_backend_create(&test_backend_simulated_whole, model, n, 3, &k, &s, &b));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t p = 0; p < numbers; p++) x[p] = sin(1.7 * (double)p);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    b->most_queued = watched & WATCH_LATE ? 3 : 0;
    for (size_t t = 0; t < 6; t++) {
        assert_ok(b->kind->score(b));
        if (watched & WATCH_SCORE && t % 2) assert_ok(svmp_backend_view(b, ARRAY_SCORE, &seen));
        assert_ok(b->kind->stein(b, &k, t));
        if (watched & WATCH_PHI && t % 3) assert_ok(svmp_backend_view(b, ARRAY_PHI, &seen));
        assert_ok(b->kind->step(b, &s, 0.1, t));
        if (!(watched & WATCH_BEFORE)) continue;
        assert_ok(svmp_backend_view(b, ARRAY_SCORE, &seen));
        memcpy(score, seen, numbers * sizeof *score);
        assert_ok(svmp_backend_view(b, ARRAY_PHI, &before));
        assert_ok(svmp_model_evaluate(model, n, before, NULL, end));
        for (size_t p = 0; p < numbers; p++) assert_true(fabs(score[p] - end[p]) <= 1e-12 * (1 + fabs(end[p])));
    }
    assert_ok(svmp_backend_view(b, ARRAY_PARTICLES, &seen));
    memcpy(end, seen, numbers * sizeof *end);
    free(score);
    svmp_backend_free(b);
    return end;
}

/* Deferred work gives the same bits, whichever array is read. */
static void test_whole_iterations(void **state) {
    (void)state;
    const char *kernels[] = {"rbf@blanket", "imq@random:2", "rbf(1.7)@self"};
    const char *text =
        "model { for (i in 1:4) { x[i] ~ dt(0, 1, 4) } for (i in 2:4) { y[i] ~ dnorm(x[i-1], exp(x[i])) } }";
    svmp_context *context = test_context(1);
    svmp_model *models[2] = {test_grid(context, 4, 3), NULL};
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &models[1]));
    for (size_t m = 0; m < 2; m++)
        for (size_t k = 0; k < 3; k++) {
            const size_t bytes = 9 * models[m]->graph->variables * sizeof(double);
            double *quiet = run_whole(models[m], kernels[k], 9, 0);
            for (unsigned watched = 1; watched < 16; watched++) {
                double *other = run_whole(models[m], kernels[k], 9, watched);
                assert_memory_equal(quiet, other, bytes);
                free(other);
            }
            free(quiet);
        }
    for (size_t m = 0; m < 2; m++) {
        const comparison c = {.model = models[m],
                              .reference = &svmp_backend_ref,
                              .other = &test_backend_simulated_whole,
                              .kernel = "rbf@blanket",
                              .step = "adam:0.1",
                              .n = 9,
                              .iterations = 4};
        expect(&c, "one launch", 1e-6);
        svmp_model_free(models[m]);
    }
    svmp_context_free(context);
}

/* ---- queued iterations ---------------------------------------------------------------------------- */

typedef struct listener {
    svmp_run *run;
    size_t stop, calls;
    double largest[64]; /* by iteration */
    const char *path;
    int measures; /* in each iteration; failures are ignored */
} listener;

static int listen(const svmp_progress *progress, void *user_data) {
    listener *to = user_data;
    to->calls++;
    to->largest[progress->iteration] = progress->largest;
    if (to->measures) (void)svmp_run_measure(to->run, NULL, NULL);
    if (to->path && progress->iteration == to->stop) assert_ok(svmp_run_save(to->run, to->path));
    return to->path == NULL && progress->iteration == to->stop;
}

/* A run whose backend is replaced by one on a simulated device. */
static svmp_run *run_on(const svmp_model *model, const backend_kind *kind, const char *iterations) {
    const char *set[][2] = {{"method", "graphical"},
                            {"particles", "9"},
                            {"iterations", iterations},
                            {"backend", "ref"},
                            {"step", "fixed:0.5"}};
    svmp_options *options = NULL;
    svmp_run *run = NULL;
    backend *b = NULL;
    const double *from;
    double *to;
    assert_ok(svmp_options_create(model->context, &options));
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) assert_ok(svmp_options_set(options, set[k][0], set[k][1]));
    assert_ok(svmp_run_create(model, options, &run));
    svmp_options_free(options);
    assert_ok(svmp_backend_create(kind, model, 9, run->options.seed, &run->kernel, &run->step, &b));
    assert_ok(svmp_backend_view(run->backend, ARRAY_PARTICLES, &from));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &to));
    memcpy(to, from, 9 * model->graph->variables * sizeof *to);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    svmp_backend_free(run->backend);
    run->backend = run->own = b;
    return run;
}

static void expect_same_runs(svmp_run *one, svmp_run *two) {
    const double *x, *y;
    assert_int_equal(svmp_run_iteration(one), svmp_run_iteration(two));
    assert_int_equal(one->trace.count, two->trace.count);
    assert_memory_equal(one->trace.column, two->trace.column, sizeof one->trace.column);
    assert_true(one->rate == two->rate && one->backend->largest == two->backend->largest);
    assert_ok(svmp_backend_view(one->backend, ARRAY_PARTICLES, &x));
    assert_ok(svmp_backend_view(two->backend, ARRAY_PARTICLES, &y));
    assert_memory_equal(x, y, 9 * one->model->graph->variables * sizeof *x);
}

/* Without a monitor, with one that allows a lag, and with one that does not: the same run, which stops at the requested
 * iteration; the last monitor sees each iteration in time. */
static void test_queued_iterations(void **state) {
    (void)state;
    const backend_kind *kinds[] = {&test_backend_simulated, &test_backend_simulated_whole, &svmp_backend_ref};
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 4, 3);
    for (size_t each = 0; each < 2 * 3; each++) {
        const size_t k = each / 2, most = each % 2 ? BACKEND_MOST_QUEUED : 5;
        svmp_outcome outcome;
        svmp_run *quiet = run_on(model, kinds[k], "41"), *late = run_on(model, kinds[k], "60"),
                 *timely = run_on(model, kinds[k], "60");
        listener patient = {.run = late, .stop = 41}, strict = {.run = timely, .stop = 41};
        assert_ok(svmp_run_set_monitor(late, listen, &patient));
        assert_ok(svmp_run_set_lag(late, most));
        assert_ok(svmp_run_set_monitor(timely, listen, &strict));
        assert_ok(svmp_run_go(quiet, &outcome));
        assert_int_equal(outcome, SVMP_COMPLETED);
        assert_ok(svmp_run_go(late, &outcome));
        assert_int_equal(outcome, SVMP_STOPPED);
        assert_ok(svmp_run_go(timely, &outcome));
        expect_same_runs(quiet, late);
        expect_same_runs(quiet, timely);
        const size_t lag = k == 2 ? 0 : most;
        for (size_t t = 1; t <= 41; t++) {
            assert_true(strict.largest[t] == quiet->trace.column[1][t - 1]);
            assert_true(t > lag ? patient.largest[t] == strict.largest[t - lag] : isnan(patient.largest[t]));
        }
        svmp_run_free(quiet);
        svmp_run_free(late);
        svmp_run_free(timely);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A checkpoint saved by a monitor that allows a lag is that of its iteration. */
static void test_late_checkpoint(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 4, 3);
    svmp_outcome outcome;
    char path[] = "/tmp/svmp-late-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    svmp_run *first = run_on(model, &test_backend_simulated_whole, "30"),
             *second = run_on(model, &test_backend_simulated_whole, "30");
    listener patient = {.run = first, .stop = 13, .path = path};
    assert_ok(svmp_run_set_monitor(first, listen, &patient));
    assert_ok(svmp_run_set_lag(first, 100));
    assert_ok(svmp_run_go(first, &outcome));
    assert_ok(svmp_run_load(second, path));
    assert_int_equal(svmp_run_iteration(second), 13);
    assert_ok(svmp_run_go(second, &outcome));
    expect_same_runs(first, second);
    svmp_run_free(first);
    svmp_run_free(second);
    remove(path);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A step to values that are not finite, which the host learns some iterations later or when the monitor reads the
 * particles: the run ends where it does without a device, with the same message and the particles before that step. */
static void test_late_divergence(void **state) {
    (void)state;
    const char *text = "model { a ~ dnorm(-3, 0.3)\n b ~ dnorm(sqrt(a), 1)\n c ~ dnorm(b, 1) }";
    const backend_kind *kinds[] = {&svmp_backend_cpu, &test_backend_simulated_f64, &test_backend_simulated_whole};
    double x[3][27];
    char words[3][1024];
    size_t ended[3];
    for (size_t k = 0; k < 3; k++)
        for (int listens = 0; listens < 3; listens++) {
            svmp_context *context = test_context(1);
            svmp_model *model = NULL;
            svmp_outcome outcome;
            const double *end;
            double *begin;
            assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
            svmp_run *run = run_on(model, kinds[k], "40");
            assert_ok(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &begin));
            for (size_t p = 0; p < 27; p++) begin[p] = 8 + sin(1.7 * (double)p);
            assert_ok(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
            listener to = {.run = run, .measures = listens == 2};
            if (listens) assert_ok(svmp_run_set_monitor(run, listen, &to));
            assert_ok(svmp_run_set_lag(run, 3));
            assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
            assert_int_equal(outcome, SVMP_DIVERGED);
            snprintf(words[k], sizeof words[k], "%s", svmp_context_error(context));
            *strstr(words[k], ", at the value") = 0;
            ended[k] = svmp_run_iteration(run);
            assert_in_range(ended[k], 2, 30);
            assert_int_equal(run->trace.count, ended[k]);
            assert_int_equal(run->backend->moved, 0);
            assert_ok(svmp_backend_view(run->backend, ARRAY_PARTICLES, &end));
            memcpy(x[k], end, sizeof x[k]);
            svmp_run_free(run);
            svmp_model_free(model);
            svmp_context_free(context);
            for (size_t p = 0; p < 27; p++) assert_near(x[k][p], x[0][p], k == 2 ? 1e-4 : 1e-9);
            assert_int_equal(ended[k], ended[0]);
            assert_string_equal(words[k], words[0]);
        }
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static int parabola(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) value[l] = -x[0][l] * x[0][l], gradient[0][l] = -2 * x[0][l];
    return 0;
}

static void test_functions_are_refused(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    backend *b = NULL;
    size_t node;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, &node));
    assert_ok(svmp_model_add_callback(model, 1, &node, parabola, NULL));
    assert_ok(svmp_model_finish(model));
    assert_int_equal(svmp_backend_create(&test_backend_simulated, model, 5, 1, NULL, NULL, &b), SVMP_UNSUPPORTED);
    assert_non_null(strstr(svmp_context_error(context), "it has factors given as functions"));
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A recursion of many steps is kept as rows that are computed one after the other: the device refuses the model, and
 * `auto` uses the CPU, with the reason. */
static void test_computed_rows_run_on_the_cpu(void **state) {
    (void)state;
    const char *text = "model { a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n h[1] <- exp(a)\n"
                       "for (t in 2:400) { h[t] <- 0.1 + ilogit(b) * h[t-1] + 0.05 * sin(h[t-1]) }\n"
                       "for (t in 1:400) { y[t] ~ dnorm(h[t], 1) } }";
    char why[512];
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    backend *b = NULL;
    size_t blocks = 0;
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    for (size_t g = 0; g < model->group_count; g++) blocks += svmp_computed_group_is(&model->groups[g]);
    assert_true(blocks > 0);
    assert_int_equal(svmp_backend_create(&test_backend_simulated, model, 5, 1, NULL, NULL, &b), SVMP_UNSUPPORTED);
    assert_string_equal(svmp_context_error(context), "The backend 'cuda' cannot run this model: it has recursions that "
                                                     "are computed step by step. Use backend = cpu.");
    svmp_backend_choose(model, 1000000, NULL, why, sizeof why);
    assert_string_equal(why, "the model has recursions that are computed step by step, which GPUs cannot run");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Whichever launch fails, the run ends with one sentence and keeps its checkpoint. */
static void test_failing_device(void **state) {
    (void)state;
    char path[] = "/tmp/svmp-failing-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t after = 1; after < 60; after += 7) {
        svmp_context *context = test_context(1);
        svmp_model *model = test_grid(context, 4, 3);
        svmp_outcome outcome;
        svmp_run *run = run_on(model, &test_backend_simulated, "40"),
                 *again = run_on(model, &test_backend_simulated, "40");
        assert_ok(svmp_run_save(run, path));
        test_simulated_failure = after;
        assert_int_equal(svmp_run_go(run, &outcome), SVMP_DEVICE_FAILED);
        assert_int_equal(test_simulated_failure, 0);
        assert_string_equal(svmp_context_error(context), "The device a simulated device failed: it was unplugged.");
        assert_ok(svmp_run_load(again, path));
        assert_ok(svmp_run_go(again, &outcome));
        svmp_run_free(run);
        svmp_run_free(again);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    remove(path);
}

/* If the device cannot measure the particles, the CPU does. */
static void test_discrepancy_falls_back(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 4, 3);
    svmp_run *there = run_on(model, &test_backend_simulated_f64, "3"), *here = run_on(model, &svmp_backend_ref, "3"),
             *failing = run_on(model, &test_backend_simulated_f64, "3");
    svmp_discrepancy measured[3];
    svmp_outcome outcome;
    svmp_run *runs[] = {here, there, failing};
    for (size_t k = 0; k < 3; k++) {
        assert_ok(svmp_run_go(runs[k], &outcome));
        test_simulated_failure = k == 2 ? 3 : 0;
        assert_ok(svmp_run_discrepancy(runs[k], &measured[k], NULL));
        assert_int_equal(test_simulated_failure, 0);
        assert_near(measured[k].v, measured[0].v, 1e-9 * fabs(measured[0].v));
        assert_near(measured[k].ratio, measured[0].ratio, 1e-9 * measured[0].ratio);
        assert_near(measured[k].bandwidth, measured[0].bandwidth, 1e-9 * measured[0].bandwidth);
        svmp_run_free(runs[k]);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A step to values that are not finite fails as on the CPU, with the same message and unchanged particles. */
static void test_not_finite(void **state) {
    (void)state;
    const backend_kind *kinds[] = {&svmp_backend_cpu, &test_backend_simulated_f64};
    char words[2][1024];
    for (size_t k = 0; k < 2; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = NULL;
        backend *b = NULL;
        double *x;
        const double *after;
        const step s = {.rule = &svmp_step_fixed, .from = 1, .to = 1};
        assert_ok(svmp_model_read_text(context, NULL, "model { a ~ dnorm(0, 1)\n b ~ dnorm(sqrt(a), 1) }", NULL, NULL,
                                       &model));
        assert_ok(svmp_backend_create(kinds[k], model, 3, 1, NULL, &s, &b));
        assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        for (size_t l = 0; l < 6; l++) x[l] = l == 1 ? -1 : 1;
        assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
        assert_ok(b->kind->score(b));
        assert_int_equal(b->kind->diffuse(b, 0.1, 0), SVMP_NOT_FINITE);
        snprintf(words[k], sizeof words[k], "%s", svmp_context_error(context));
        assert_ok(svmp_backend_view(b, ARRAY_PARTICLES, &after));
        for (size_t l = 0; l < 6; l++) assert_true(after[l] == (l == 1 ? -1 : 1));
        svmp_backend_free(b);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    assert_string_equal(words[0], words[1]);
}

/* A score of 1e307 and a step to infinity: in single precision the score itself is too large. */
static void test_too_large_for_single(void **state) {
    (void)state;
    const char *text = "model { a ~ dnorm(0, 1)\n b ~ dnorm(exp(-a), 1) }";
    const char *words[] = {"in particle 2 at iteration 1, too large for single precision", "The particles diverged"};
    const backend_kind *kinds[] = {&test_backend_simulated, &test_backend_simulated_f64};
    const step s = {.rule = &svmp_step_fixed, .from = 1000, .to = 1000};
    for (size_t k = 0; k < 2; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = NULL;
        backend *b = NULL;
        kernel rbf;
        double *x;
        assert_ok(svmp_kernel_parse(context, "rbf@blanket", (bandwidth){.rule = BANDWIDTH_MEDIAN}, &rbf));
        assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
        assert_ok(svmp_backend_create(kinds[k], model, 3, 1, &rbf, &s, &b));
        assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        for (size_t l = 0; l < 6; l++) x[l] = l == 1 ? -354 : (double)l;
        assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
        assert_ok(b->kind->score(b));
        assert_ok(b->kind->stein(b, &rbf, 0));
        assert_int_equal(b->kind->step(b, &s, 1000, 0), SVMP_NOT_FINITE);
        assert_non_null(strstr(svmp_context_error(context), words[k]));
        svmp_backend_free(b);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_messages_of_programs),
        cmocka_unit_test(test_many_registers),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_hub),
        cmocka_unit_test(test_long_distances),
        cmocka_unit_test(test_discrepancy_of_kernels),
        cmocka_unit_test(test_discrepancy_of_models),
        cmocka_unit_test(test_whole_iterations),
        cmocka_unit_test(test_queued_iterations),
        cmocka_unit_test(test_late_checkpoint),
        cmocka_unit_test(test_late_divergence),
        cmocka_unit_test(test_functions_are_refused),
        cmocka_unit_test(test_computed_rows_run_on_the_cpu),
        cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_discrepancy_falls_back),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_too_large_for_single),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
