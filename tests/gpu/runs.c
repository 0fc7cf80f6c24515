#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h" /* last: it has a context of its own */
#include "cases.h"
#include "wide.h"

static int failures;

static const backend_kind *find(const char *name) { return svmp_backend_find(context, name); }

/* Runs some iterations and returns the final particles. WATCHED: scores and velocities are read in each iteration, so
 * that an iteration takes several launches. LATE: the result of a step is not awaited. */
enum { WATCHED = 1, LATE = 2 };

static double *run(const backend_kind *kind, const svmp_model *model, const char *text, const char *by, size_t n,
                   size_t iterations, int how) {
    kernel k;
    step s;
    backend *b = NULL;
    double *x;
    const double *end;
    const size_t numbers = n * svmp_graph_variables(svmp_model_graph(model));
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, by, &s));
    must(svmp_backend_create(kind, model, n, 1, &k, &s, &b));
    must(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t p = 0; p < numbers; p++) x[p] = sin((double)p * 1.7) * 3;
    must(svmp_backend_commit(b, ARRAY_PARTICLES));
    b->most_queued = how & LATE ? BACKEND_MOST_QUEUED : 0;
    for (size_t t = 0; t < iterations; t++) {
        must(b->kind->score(b));
        if (how & WATCHED) must(svmp_backend_view(b, ARRAY_SCORE, &end));
        must(b->kind->stein(b, &k, t));
        if (how & WATCHED) must(svmp_backend_view(b, ARRAY_PHI, &end));
        must(b->kind->step(b, &s, svmp_step_rate(&s, t, iterations), t));
    }
    must(svmp_backend_view(b, ARRAY_PARTICLES, &end));
    double *kept = malloc(numbers * sizeof *kept);
    memcpy(kept, end, numbers * sizeof *kept);
    svmp_backend_free(b);
    return kept;
}

/* The same bits from run to run, with iterations of one launch and of several. */
static void check_bits_of(const svmp_model *model, const char *name, const backend_kind *kind, const char *text,
                          const char *by, size_t n) {
    enum { ITERATIONS = 60 };
    const size_t bytes = n * svmp_graph_variables(svmp_model_graph(model)) * sizeof(double);
    double *one = run(kind, model, text, by, n, ITERATIONS, 0), *two = run(kind, model, text, by, n, ITERATIONS, LATE),
           *watched = run(kind, model, text, by, n, ITERATIONS, WATCHED);
    const int same = memcmp(one, two, bytes) == 0 && memcmp(one, watched, bytes) == 0;
    printf(
        "%-4s %-8s the same bits from run to run, with queued iterations, and if it is watched, %s, %s, %s, n = %zu\n",
        same ? "ok" : "BAD", kind->name, name, text, by, n);
    failures += !same;
    free(one);
    free(two);
    free(watched);
}

/* Many units, and few enough that iterations are launched as a graph. */
static void check_bits(const backend_kind *const kinds[2]) {
    const char *kernels[] = {"rbf@blanket + 0.1*imq@random:2", "rbf@blanket", "imq@random:3", "rbf@random:8"};
    const char *names[] = {"a grid of 40 x 40", "a grid of 10 x 10", "a grid of 10 x 10 in boxes"};
    const size_t sizes[] = {2, 16, 20, 33, 50, 64, 130};
    svmp_model *models[] = {grid(40), grid(10), boxed_grid(10)};
    for (size_t m = 0; m < 3; m++) {
        for (size_t each = 0; each < 4 * 2 * 7; each++)
            check_bits_of(models[m], names[m], kinds[each % 2], kernels[each / 2 % 4], rules[(each + each / 8) % 4],
                          sizes[each / 8]);
        svmp_model_free(models[m]);
    }
}

/* Whole iterations, as in a user's run, against the CPU, so that rounding errors accumulate. Plain loops in the same
 * precisions (tests/unit/simulated.c) differ by 2e-15 and 3e-7; sums in another order and tensor cores may differ by a
 * few times as much. A wrong row or a wrong step differs by more than 1e-2. */
static void check_run(const backend_kind *const kinds[2]) {
    const double tolerance[] = {1e-10, 1e-5}; /* of `kinds` */
    const size_t sizes[] = {50, 100}, iterations = 20;
    svmp_model *model = grid(10);
    for (size_t each = 0; each < 2 * 2; each++) {
        const backend_kind *kind = kinds[each % 2];
        const size_t n = sizes[each / 2], numbers = n * 100;
        double *here = run(&svmp_backend_cpu, model, "rbf@blanket", "adagrad:0.05", n, iterations, 0),
               *there = run(kind, model, "rbf@blanket", "adagrad:0.05", n, iterations, LATE), largest = 0;
        for (size_t p = 0; p < numbers; p++) { /* NaN stays */
            const double off = fabs(there[p] - here[p]) / fmax(1, fabs(here[p]));
            largest = off <= largest ? largest : off;
        }
        const int good = largest <= tolerance[each % 2];
        printf("%-4s %-8s %zu unwatched iterations, a grid of 10 x 10, n = %zu: x %.1e\n", good ? "ok" : "BAD",
               kind->name, iterations, n, largest);
        failures += !good;
        free(here);
        free(there);
    }
    svmp_model_free(model);
}

/* Few and more units, whose scores are sums of rows of particles, of derivatives and of both. */
static void check_wide_bits(void) {
    const wide_model models[] = {{100, 2, 7, 1},  {70, 3, 6, 0},   {500, 2, 7, 1},
                                 {1000, 2, 4, 0}, {1400, 2, 7, 1}, {1400, 3, 4, 0}};
    const size_t sizes[] = {2, 20, 50, 64};
    const char *kernels[] = {"rbf@blanket", "imq@blanket", "rbf@random:4"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        svmp_model *model = read_wide(&models[m]);
        for (size_t s = 0; s < 4; s++)
            check_bits_of(model, models[m].curved ? "curved wide blankets" : "wide blankets", find("cuda"),
                          kernels[(m + s) % 3], rules[(m + s) % 4], sizes[s]);
        svmp_model_free(model);
    }
}

/* Velocities of iteration `last`, of a backend that has run iterations `first` to `last`. */
static double *velocities(const svmp_model *model, const char *text, size_t n, placement place, size_t first,
                          size_t last) {
    kernel k;
    backend *b = NULL;
    double *x;
    const double *phi;
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_backend_create(find("cuda"), model, n, 1, &k, NULL, &b));
    for (size_t t = first; t <= last; t++) {
        must(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        for (size_t i = 0; i < variables; i++) place(t, i, n, x + i * n);
        must(svmp_backend_commit(b, ARRAY_PARTICLES));
        must(b->kind->score(b));
        must(b->kind->stein(b, &k, t));
    }
    must(svmp_backend_view(b, ARRAY_PHI, &phi));
    double *kept = malloc(variables * n * sizeof *kept);
    memcpy(kept, phi, variables * n * sizeof *kept);
    svmp_backend_free(b);
    return kept;
}

/* A resumed run starts its median searches at other values: the same bits, even if a search is long. */
static void check_resumed(void) {
    const char *kernels[] = {"rbf@blanket", "imq@blanket", "rbf@blanket"};
    const size_t sizes[] = {50, 64, 100, 196, 900};
    svmp_model *models[] = {grid(5), grid(5), band(25, 8)};
    for (size_t each = 0; each < 5 * 5 * 3; each++) {
        const char *text = kernels[each % 3];
        const svmp_model *model = models[each % 3];
        const size_t n = sizes[each / 3 % 5], from = each / 15;
        double *one = velocities(model, text, n, places[from], 0, 5),
               *other = velocities(model, text, n, places[from], 5, 5);
        const int same = memcmp(one, other, n * 25 * sizeof(double)) == 0;
        printf("%-4s cuda     the same bits of a run that is resumed, %s, %s%s, n = %zu\n", same ? "ok" : "BAD",
               place_names[from], text, each % 3 == 2 ? " of 17" : "", n);
        failures += !same;
        free(one);
        free(other);
    }
    for (size_t k = 0; k < 3; k++) svmp_model_free(models[k]);
}

/* Iterates until a number is not finite; returns the error message and the remaining particles. */
static double *diverge(const backend_kind *kind, const svmp_model *model, const char *text, const char *by, size_t n,
                       size_t most_queued, size_t *iterations, char *words) {
    enum { MOST = 1000 };
    kernel k;
    step s;
    backend *b = NULL;
    double *x;
    const double *end;
    size_t t = 0;
    const size_t numbers = n * svmp_graph_variables(svmp_model_graph(model));
    svmp_status status = SVMP_OK;
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, by, &s));
    must(svmp_backend_create(kind, model, n, 1, &k, &s, &b));
    must(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t p = 0; p < numbers; p++) x[p] = 8 + sin((double)p * 1.7);
    must(svmp_backend_commit(b, ARRAY_PARTICLES));
    b->most_queued = most_queued;
    for (; status == SVMP_OK && t < MOST; t += status == SVMP_OK) {
        status = b->kind->score(b);
        if (status == SVMP_OK) status = b->kind->stein(b, &k, t);
        if (status == SVMP_OK) status = b->kind->step(b, &s, svmp_step_rate(&s, t, MOST), t);
    }
    *iterations = status == SVMP_NOT_FINITE ? t - b->rolled_back : 0;
    snprintf(words, 1024, "%s", svmp_context_error(context));
    must(svmp_backend_view(b, ARRAY_PARTICLES, &end));
    double *kept = malloc(numbers * sizeof *kept);
    memcpy(kept, end, numbers * sizeof *kept);
    svmp_backend_free(b);
    return kept;
}

/* A step to values that are not finite, which the host learns at once or later; not before iteration `least`. */
static void check_divergence_of(const svmp_model *model, const char *name, const backend_kind *kind, const char *text,
                                const char *by, size_t least) {
    enum { N = 20 };
    const size_t bytes = N * svmp_graph_variables(svmp_model_graph(model)) * sizeof(double);
    size_t ended[2];
    char words[2][1024];
    double *left[2];
    for (size_t late = 0; late < 2; late++)
        left[late] = diverge(kind, model, text, by, N, late ? BACKEND_MOST_QUEUED : 0, &ended[late], words[late]);
    const int same = ended[0] >= least && ended[0] == ended[1] && strcmp(words[0], words[1]) == 0 &&
                     memcmp(left[0], left[1], bytes) == 0;
    printf("%-4s %-8s a step that is not finite, at iteration %zu and %zu with queued iterations, %s, %s\n",
           same ? "ok" : "BAD", kind->name, ended[0], ended[1], name, text);
    failures += !same;
    free(left[0]);
    free(left[1]);
}

/* A model that leaves its support, and one launched as graphs, several of which have run by then: with this step the
 * particles grow by a factor in each iteration until squared distances overflow. */
static void check_divergence(const backend_kind *const kinds[2]) {
    const char *text = "model { a ~ dnorm(-3, 0.3)\n b ~ dnorm(sqrt(a), 1)\n c ~ dnorm(b, 1) }";
    const char *kernels[] = {"rbf@blanket", "rbf@blanket + 0.1*imq@blanket"};
    svmp_model *model = NULL, *growing = grid(10);
    must(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    for (size_t each = 0; each < 4; each++)
        check_divergence_of(model, "three nodes", kinds[each % 2], kernels[each / 2], "fixed:0.5", 3);
    for (size_t each = 0; each < 2; each++)
        check_divergence_of(growing, "a grid of 10 x 10", kinds[each], "rbf@blanket", "fixed:1.2", 41);
    svmp_model_free(model);
    svmp_model_free(growing);
}

int check_runs(svmp_context *given, const backend_kind *const kinds[2], int wide) {
    context = given;
    check_wide_bits();
    if (wide) return failures;
    check_bits(kinds);
    check_run(kinds);
    check_divergence(kinds);
    check_resumed();
    return failures;
}
