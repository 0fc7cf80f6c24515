/* Iterations on a GPU: nanoseconds for every node and pair of particles, from score to step, in the steady state,
 * compared with the CPU.
 *
 *     bench_gpu [--quick]
 *     bench_gpu --grid                              the grid of 100 x 100 only
 *     bench_gpu --side SIDE N KERNEL                one grid; also with the host waiting for each iteration
 *     bench_gpu --band NODES REACH N                a chain with blankets of 2 REACH + 1
 *     bench_gpu --one SIDE N KERNEL ITERATIONS      one grid, for a profiler
 *     bench_gpu --field SIDE N ITERATIONS           the same with the Poisson field
 *     bench_gpu --tau SIDE N ITERATIONS             and with its precision unknown
 *     bench_gpu --fields                            the Poisson fields only
 *     bench_gpu --programs                          models with programs: compiled by NVRTC, and interpreted
 *     bench_gpu --of-paper sensors|crowd COUNT N ITERATIONS
 *     bench_gpu --paper-row sensors|crowd COUNT N KERNEL    measured, `cuda` only
 *     bench_gpu --paper                             sensors and crowd of the paper, and a hundred times as many
 *     bench_gpu --write sensors|crowd COUNT         their data, for the same in JAX (bench/peers/jax_gpu.py)
 *
 * From the project's root: it reads models/.
 */
#include "backend/backend.h"
#include "bench/paper.h"
#include "stein/discrepancy.h"

static int quick;

static const backend_kind *find(const char *name) { return svmp_backend_find(context, name); }

/* Seconds per iteration: the median of rounds of some iterations each. */
static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(const svmp_model *model, const backend_kind *kind, const char *text, size_t n, double budget,
                      size_t most_queued) {
    enum { ROUNDS = 5 };
    kernel k;
    step s;
    backend *b = NULL;
    double *x, spent[ROUNDS];
    size_t t = 0, each = quick ? 1 : 40; /* warm up until the particles move as they do later */
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.01", &s));
    if (svmp_backend_create(kind, model, n, 1, &k, &s, &b) != SVMP_OK) return -1;
    must(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t p = 0; p < n * svmp_graph_variables(svmp_model_graph(model)); p++) x[p] = rand() / (double)RAND_MAX;
    must(svmp_backend_commit(b, ARRAY_PARTICLES));
    b->most_queued = most_queued;
    for (int round = -2; round < ROUNDS; round++) {
        const double started = seconds();
        for (size_t e = 0; e < each; e++, t++) {
            must(kind->score(b));
            must(kind->stein(b, &k, t));
            must(kind->step(b, &s, 0.01, t));
        }
        if (kind->await) must(kind->await(b));
        const double each_took = (seconds() - started) / (double)each;
        if (round >= 0) spent[round] = each_took;
        if (round == -1) each = quick ? 1 : (size_t)(budget / ROUNDS / each_took) + 1;
    }
    svmp_backend_free(b);
    qsort(spent, ROUNDS, sizeof *spent, ascending);
    return spent[ROUNDS / 2];
}

static void row(const svmp_model *model, const char *name, const char *text, size_t n, int with_cpu) {
    const backend_kind *kinds[] = {find("cuda"), find("cuda-f64"), &svmp_backend_cpu};
    const double nodes = (double)svmp_graph_nodes(svmp_model_graph(model)), pairs = (double)n * (double)(n - 1) / 2;
    for (size_t k = 0; k < (with_cpu ? 3u : 2u); k++) {
        const double took = measure(model, kinds[k], text, n, 0.5, BACKEND_MOST_QUEUED);
        if (took < 0) {
            printf("%-9s %-14s n = %-5zu %s\n", kinds[k]->name, name, n, svmp_context_error(context));
            continue;
        }
        printf("%-9s %-14s %-12s n = %-5zu %10.2f us an iteration, %8.5f ns a node and pair\n", kinds[k]->name, name,
               text, n, 1e6 * took, 1e9 * took / nodes / pairs);
    }
    fflush(stdout);
}

/* Counts on a field of side * side places; `known`: the precision of its increments is data, otherwise every place
 * depends on it.
 */
static svmp_model *field(size_t side, int known) {
    const char *format = "model { %s\n u[1,1] ~ dnorm(0, 1)\n"
                         "for (j in 2:%zu) { u[1,j] ~ dnorm(u[1,j-1], tau)  u[j,1] ~ dnorm(u[j-1,1], tau) }\n"
                         "for (i in 2:%zu) { for (j in 2:%zu) { u[i,j] ~ dnorm(0.5*u[i-1,j] + 0.5*u[i,j-1], tau) } }\n"
                         "for (i in 1:%zu) { for (j in 1:%zu) { y[i,j] ~ dpois(exp(1 + u[i,j])) } } }";
    const size_t size[] = {side, side};
    double *counts = malloc(side * side * sizeof *counts);
    char text[1000];
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    for (size_t k = 0; k < side * side; k++) counts[k] = rand() % 7;
    must(svmp_data_create(context, &data));
    must(svmp_data_add(data, "y", 2, size, counts));
    snprintf(text, sizeof text, format, known ? "tau <- 4" : "tau ~ dgamma(8, 2)", side, side, side, side, side);
    must(svmp_model_read_text(context, NULL, text, data, NULL, &model));
    svmp_data_free(data);
    free(counts);
    return model;
}

/* Some iterations; a profiler records the last. */
static int alone(svmp_model *model, const char *text, size_t n, size_t iterations) {
    kernel k;
    step s;
    backend *b = NULL;
    double *x;
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.01", &s));
    must(svmp_backend_create(find("cuda"), model, n, 1, &k, &s, &b));
    must(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t p = 0; p < n * svmp_graph_variables(svmp_model_graph(model)); p++) x[p] = rand() / (double)RAND_MAX;
    must(svmp_backend_commit(b, ARRAY_PARTICLES));
    b->most_queued = BACKEND_MOST_QUEUED;
    for (size_t t = 0; t < iterations; t++) {
        must(b->kind->score(b));
        must(b->kind->stein(b, &k, t));
        must(b->kind->step(b, &s, 0.01, t));
    }
    svmp_backend_free(b);
    svmp_model_free(model);
    return 0;
}

/* Milliseconds for the Stein discrepancy of some particles, including scores: on their device, and on the CPU. */
static void discrepancy(const svmp_model *model, const char *name, size_t n) {
    enum { ROUNDS = 5 };
    const size_t variables = svmp_graph_variables(svmp_model_graph(model)), numbers = n * variables;
    kernel k;
    backend *b = NULL;
    double *x, *score = malloc(numbers * sizeof *score), there = 1e300, here = 1e300;
    svmp_stein_measure *measured = malloc(variables * sizeof *measured);
    svmp_discrepancy total;
    evaluator *e = NULL;
    must(svmp_kernel_parse(context, "rbf@blanket", (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_backend_create(find("cuda"), model, n, 1, &k, NULL, &b));
    must(svmp_evaluator_create(model, n, svmp_context_threads(context), &e));
    must(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t p = 0; p < numbers; p++) x[p] = rand() / (double)RAND_MAX;
    must(svmp_backend_commit(b, ARRAY_PARTICLES));
    for (int round = 0; round < ROUNDS; round++) {
        double started = seconds();
        must(b->kind->measure(b, &k, n, 0, measured));
        svmp_stein_finish(model->graph, n, measured, &total, NULL);
        if (round > 0) there = seconds() - started < there ? seconds() - started : there;
        started = seconds();
        must(svmp_evaluate(e, x, NULL, score));
        const stein_sample sample = {.graph = model->graph, .kernel = &k, .n = n, .x = x, .score = score};
        must(svmp_stein_discrepancy(context, &sample, &total, NULL));
        here = seconds() - started < here ? seconds() - started : here;
    }
    printf("%-14s n = %-5zu the discrepancy: cuda %.2f ms, cpu %.2f ms\n", name, n, 1e3 * there, 1e3 * here);
    svmp_evaluator_free(e);
    svmp_backend_free(b);
    free(score);
    free(measured);
}

static void discrepancies(void) {
    svmp_model *plain = grid(quick ? 4 : 100), *hub = field(quick ? 4 : 100, 0);
    discrepancy(plain, "grid 100", 50);
    discrepancy(plain, "grid 100", quick ? 60 : 200);
    discrepancy(hub, "Poisson, tau 100", 50);
    svmp_model_free(plain);
    svmp_model_free(hub);
}

static svmp_model *of_paper(const char *name, const char *count) {
    srand(1);
    return name[0] == 's' ? read_with("models/sensors.bug", write_sensors, strtoul(count, NULL, 10))
                          : read_with("models/crowd.bug", write_crowd, strtoul(count, NULL, 10));
}

/* The sensors and the crowd, as many as in the paper and a hundred times as many. */
static void paper_rows(void) {
    const size_t particles[] = {50, 100};
    for (size_t times = 1; times <= (quick ? 1 : 100); times *= 100)
        for (int crowd = 0; crowd < 2; crowd++) {
            const size_t size = (crowd ? 80 : 100) * times;
            char name[64];
            srand(1);
            svmp_model *model = crowd ? read_with("models/crowd.bug", write_crowd, size)
                                      : read_with("models/sensors.bug", write_sensors, size);
            snprintf(name, sizeof name, "%s %zu", crowd ? "crowd" : "sensors", size);
            for (size_t k = 0; k < (quick || times > 1 ? 1 : 2); k++) row(model, name, "rbf@blanket", particles[k], 1);
            svmp_model_free(model);
        }
}

static void field_rows(void) {
    for (size_t side = quick ? 4 : 30; side <= (quick ? 4 : 300); side = side == 30 ? 100 : side + 200)
        for (int known = 0; known < 2; known++) {
            char name[64];
            svmp_model *model = field(side, known);
            snprintf(name, sizeof name, "%s %zu", known ? "Poisson" : "Poisson, tau", side);
            row(model, name, "rbf@blanket", 50, 1);
            svmp_model_free(model);
        }
}

/* With compiled and with interpreted programs: the time of an iteration, and the time until the first. */
static void program_row(svmp_model *model, const char *name) {
    double took[2], made[2];
    for (int compiled = 0; compiled < 2; compiled++) {
        backend *b = NULL;
        if (compiled)
            unsetenv("SVMP_NVRTC");
        else
            setenv("SVMP_NVRTC", "", 1);
        const double started = seconds();
        must(svmp_backend_create(find("cuda"), model, 50, 1, NULL, NULL, &b));
        made[compiled] = seconds() - started;
        svmp_backend_free(b);
        took[compiled] = measure(model, find("cuda"), "rbf@blanket", 50, 0.3, BACKEND_MOST_QUEUED);
    }
    printf("%-18s programs interpreted %8.2f us an iteration, %.2f s to start; compiled %8.2f us, %.2f s\n", name,
           1e6 * took[0], made[0], 1e6 * took[1], made[1]);
    fflush(stdout);
    svmp_model_free(model);
}

static void program_rows(void) {
    program_row(field(quick ? 4 : 100, 0), "Poisson, tau 100");
    program_row(field(quick ? 4 : 100, 1), "Poisson 100");
    program_row(field(quick ? 4 : 300, 0), "Poisson, tau 300");
    for (size_t times = 1; times <= (quick ? 1 : 100); times *= 100) {
        srand(1);
        program_row(read_with("models/sensors.bug", write_sensors, 100 * times),
                    times > 1 ? "10,000 sensors" : "100 sensors");
        srand(1);
        program_row(read_with("models/crowd.bug", write_crowd, 80 * times),
                    times > 1 ? "crowd of 8,000" : "crowd of 80");
    }
}

int main(int count, char **arguments) {
    quick = is_quick(count, arguments);
    start_context(0);
    if (count == 4 && strcmp(arguments[1], "--write") == 0) {
        srand(1);
        (arguments[2][0] == 's' ? write_sensors : write_crowd)(stdout, strtoul(arguments[3], NULL, 10));
        return 0;
    }
    if (count == 6 && strcmp(arguments[1], "--of-paper") == 0)
        return alone(of_paper(arguments[2], arguments[3]), "rbf@blanket", strtoul(arguments[4], NULL, 10),
                     strtoul(arguments[5], NULL, 10));
    if (count == 6 && strcmp(arguments[1], "--paper-row") == 0) {
        svmp_model *model = of_paper(arguments[2], arguments[3]);
        const size_t n = strtoul(arguments[4], NULL, 10);
        printf("%s %s n = %zu %s: %.2f us an iteration\n", arguments[2], arguments[3], n, arguments[5],
               1e6 * measure(model, find("cuda"), arguments[5], n, 0.5, BACKEND_MOST_QUEUED));
        svmp_model_free(model);
        return 0;
    }
    if (count == 6 && strcmp(arguments[1], "--one") == 0)
        return alone(grid(strtoul(arguments[2], NULL, 10)), arguments[4], strtoul(arguments[3], NULL, 10),
                     strtoul(arguments[5], NULL, 10));
    if (count == 5 && (strcmp(arguments[1], "--field") == 0 || strcmp(arguments[1], "--tau") == 0))
        return alone(field(strtoul(arguments[2], NULL, 10), arguments[1][2] == 'f'), "rbf@blanket",
                     strtoul(arguments[3], NULL, 10), strtoul(arguments[4], NULL, 10));
    if (count == 5 && strcmp(arguments[1], "--band") == 0) {
        svmp_model *model = band(strtoul(arguments[2], NULL, 10), strtoul(arguments[3], NULL, 10));
        const size_t n = strtoul(arguments[4], NULL, 10);
        printf("%s nodes, blankets of 2 * %s + 1, n = %zu: %.2f us an iteration\n", arguments[2], arguments[3], n,
               1e6 * measure(model, find("cuda"), "rbf@blanket", n, 0.5, BACKEND_MOST_QUEUED));
        svmp_model_free(model);
        return 0;
    }
    if (count == 5 && strcmp(arguments[1], "--side") == 0) {
        svmp_model *model = grid(strtoul(arguments[2], NULL, 10));
        const size_t n = strtoul(arguments[3], NULL, 10);
        const size_t most_queued[] = {0, 8, BACKEND_MOST_QUEUED};
        for (size_t k = 0; k < 3; k++)
            printf("%s x %s n = %zu %s: %.2f us an iteration, the host %zu behind\n", arguments[2], arguments[2], n,
                   arguments[4], 1e6 * measure(model, find("cuda"), arguments[4], n, 0.5, most_queued[k]),
                   most_queued[k]);
        svmp_model_free(model);
        return 0;
    }
    const size_t sides[] = {10, 100, 316, 1000}, sizes[] = {50, 200, 1000};
    backend *b = NULL;
    svmp_model *small = grid(3);
    if (svmp_backend_create(find("cuda"), small, 2, 1, NULL, NULL, &b) != SVMP_OK) {
        printf("skipped: %s\n", svmp_context_error(context));
        return 0;
    }
    svmp_backend_free(b);
    svmp_model_free(small);
    const int brief = count == 2 && strcmp(arguments[1], "--grid") == 0;
    if (count == 2 && strcmp(arguments[1], "--fields") == 0) return field_rows(), 0;
    if (count == 2 && strcmp(arguments[1], "--programs") == 0) return program_rows(), 0;
    if (!brief) paper_rows();
    if (!brief) discrepancies();
    if (count == 2 && strcmp(arguments[1], "--paper") == 0) return 0;
    for (size_t a = 0; a < (quick ? 1 : sizeof sides / sizeof *sides); a++) {
        char name[64];
        if (brief && sides[a] != 100) continue;
        svmp_model *model = grid(sides[a]);
        snprintf(name, sizeof name, "%zu x %zu", sides[a], sides[a]);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            if (sides[a] * sides[a] * sizes[k] <= 50000000) /* larger ones take minutes in double precision */
                row(model, name, "rbf@blanket", sizes[k], sides[a] <= 100 && sizes[k] <= 200);
        if (sides[a] == 100) {
            row(model, name, "imq@blanket", 50, 1);
            row(model, name, "linear@blanket", 50, 1);
            row(model, name, "rbf@all", 50, 1);
            row(model, name, "rbf@random:4", 50, 1);
        }
        svmp_model_free(model);
    }
    if (!brief) field_rows();
    svmp_context_free(context);
    return 0;
}
