/* The Stein kernel: nanoseconds and cycles per pair of particles of a node, including the median, on one thread and on
 * all; and the share of the peak speed, that of the same loops on one tile in the first-level cache without a median.
 * Then large cases: a kernel shared by 10,000 variables, and 10,000 particles. Then terms in units of the particles' sd
 * and with messages, relative to the paper's kernel.
 *
 *     bench_stein [--quick]       all sizes, shapes and instruction sets
 */
#include "backend/cpu/cpu_backend.h"
#include "bench/bench.h"

static int all_threads, quick;

/* `nodes` on a ring, each joined to (closed - 1)/2 on either side: neighbourhoods of `closed` variables. */
static svmp_model *ring(size_t nodes, size_t closed) {
    const double one = 1, pull[] = {0.1, -0.1, -0.1, 0.1};
    svmp_model *model = NULL;
    must(svmp_model_create(context, &model));
    for (size_t v = 0; v < nodes; v++) {
        must(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        must(svmp_model_add_gaussian(model, 1, &v, &one, NULL));
    }
    for (size_t v = 0; v < nodes; v++)
        for (size_t k = 1; k <= (closed - 1) / 2; k++)
            must(svmp_model_add_gaussian(model, 2, (size_t[]){v, (v + k) % nodes}, pull, NULL));
    must(svmp_model_finish(model));
    return model;
}

/* Seconds for phi, while the particles move as in a run. */
static double measure(const svmp_model *model, const backend_kind *kind, const char *text, size_t n, int threads,
                      size_t rounds) {
    kernel k;
    step s;
    backend *b = NULL;
    double (*clock)(void) = threads > 1 ? seconds : thread_seconds;
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.01", &s));
    must(svmp_backend_create(kind, model, n, 1, &k, &s, &b));
    b->threads = threads; /* at most all_threads, which have workspaces */
    for (size_t p = 0; p < n * svmp_graph_variables(svmp_model_graph(model)); p++) b->x[p] = rand() / (double)RAND_MAX;
    double best = 1e300;
    for (size_t t = 0; t < rounds; t++) {
        must(kind->score(b));
        const double started = clock();
        must(kind->stein(b, &k, t));
        const double spent = clock() - started;
        must(kind->step(b, &s, 0.01, t));
        if (t >= rounds / 4 && spent < best) best = spent;
    }
    b->threads = all_threads;
    svmp_backend_free(b);
    return best;
}

/* Only the loops on a tile of 4 by 48 pairs: distances, shape, sums. */
static double roof(const lane_ops *ops, int rbf, size_t closed) {
    enum { COLUMNS = 48, STRIDE = COLUMNS + 1 + PADDING + LINE - 1, NUMBERS = TILE_ROWS * COLUMNS };
    static _Alignas(64) double block[68 * STRIDE + LINE], k[NUMBERS], r[NUMBERS];
    double *x = svmp_lanes_row(block), *w = x + 65 * STRIDE, *sum = w + STRIDE, *total = sum + STRIDE;
    const packed_rows rows = {x, closed, STRIDE};
    const tile t = {0, COLUMNS / ops->width, 0};
    for (size_t p = 0; p < STRIDE * closed; p++) x[p] = rand() / (double)RAND_MAX;
    double best = 1e300;
    for (int round = 0; round < (quick ? 3 : 300); round++) {
        const double started = thread_seconds();
        for (int again = 0; again < 200; again++) {
            ops->distances(&rows, &t, 0, k);
            if (rbf) {
                ops->rbf_and_weigh(&t, 2, k, w, sum, total);
            } else {
                ops->imq(&t, 2, k, r);
                ops->weigh(&t, k, 1, w, sum, STRIDE);
                ops->weigh(&t, r, 1, w, sum, STRIDE);
                ops->weigh(&t, r, 1, w, total, STRIDE);
            }
        }
        const double spent = (thread_seconds() - started) / 200 / NUMBERS;
        best = spent < best ? spent : best;
    }
    return 1e9 * best;
}

/* The loops of a backend; NULL if this machine cannot run them. */
static const lane_ops *lanes_of(const backend_kind *kind) { return svmp_lanes_named(kind->name + strlen("cpu-")); }

static double pairs_of(size_t n) { return (double)n * (double)(n - 1) / 2; }

static void show(const backend_kind *kind, const char *shape, size_t closed, size_t n, double clock) {
    char text[32];
    const lane_ops *ops = lanes_of(kind);
    if (ops == NULL) return;
    const size_t nodes = n < 500 ? 64 : 26, rounds = quick ? 4 : n < 500 ? 60 : 16;
    const double each = 1e9 / ((double)nodes * pairs_of(n));
    svmp_model *model = ring(nodes, closed);
    snprintf(text, sizeof text, "%s@blanket", shape);
    const double one = each * measure(model, kind, text, n, 1, rounds);
    const double all = each * measure(model, kind, text, n, all_threads, rounds);
    printf("%-10s %-6s %4zu %6zu %10.2f %8.1f %8.0f%% %11.2f\n", ops->name, shape, closed, n, one, one * clock,
           100 * roof(ops, shape[0] == 'r', closed) / one, all);
    fflush(stdout);
    svmp_model_free(model);
}

/* One number per pair and variable: a shared kernel needs 3 multiply-adds, by loops or by matrix products. */
static void show_large(const char *text, size_t side, size_t n, double clock) {
    svmp_model *model = grid(side);
    const double numbers = pairs_of(n) * (double)(side * side);
    const double one = measure(model, &svmp_backend_cpu, text, n, 1, 4);
    const double all = measure(model, &svmp_backend_cpu, text, n, all_threads, 4);
    printf("%-12s %9zu %6zu %10.3f %10.3f %12.3f %8.2f\n", text, side * side, n, one, all, 1e9 * one / numbers,
           1e9 * one / numbers * clock);
    fflush(stdout);
    svmp_model_free(model);
}

/* The time of phi, including units and messages, relative to rbf@blanket on one thread. */
static void show_terms(size_t closed) {
    const char *terms[] = {"rbf/sd@blanket",
                           "rbf/sd@self",
                           "linear@blanket",
                           "linear/sd@self",
                           "linear/sd@blanket",
                           "linear/sd@message",
                           "rbf/sd@self + linear/sd@blanket",
                           "rbf/sd@self + linear/sd@near"};
    const size_t sizes[] = {20, 50, 100, 200, 1000}, nodes = 64, count = quick ? 2 : 5;
    svmp_model *model = ring(nodes, closed);
    double paper[5];
    printf("\n|C| = %-28zu", closed);
    for (size_t s = 0; s < count; s++) printf(" n = %4zu", sizes[s]);
    printf("\n%-34s", "rbf@blanket, us a node");
    for (size_t s = 0; s < count; s++) {
        paper[s] = measure(model, &svmp_backend_cpu, "rbf@blanket", sizes[s], 1, quick ? 2 : sizes[s] < 500 ? 60 : 16);
        printf(" %8.2f", 1e6 * paper[s] / (double)nodes);
    }
    for (size_t k = 0; k < sizeof terms / sizeof *terms; k++) {
        printf("\n%-34s", terms[k]);
        for (size_t s = 0; s < count; s++)
            printf(" %8.2f", measure(model, &svmp_backend_cpu, terms[k], sizes[s], 1,
                                     quick            ? 2
                                     : sizes[s] < 500 ? 60
                                                      : 16) /
                                 paper[s]);
        fflush(stdout);
    }
    printf("\n");
    svmp_model_free(model);
}

int main(int count, char **arguments) {
    const backend_kind *kinds[] = {&svmp_backend_cpu_avx512, &svmp_backend_cpu_avx2, &svmp_backend_cpu_baseline};
    const size_t all_sizes[] = {20, 50, 100, 200, 1000}, closed[] = {3, 9, 25};
    quick = is_quick(count, arguments);
    const size_t sizes = quick ? 2 : sizeof all_sizes / sizeof *all_sizes, large = quick ? 10 : 1;
    start_context(0);
    all_threads = svmp_context_threads(context);
    const double clock = core_clock() / 1e9;
    printf("double, the core at %.2f GHz; a pair is two different particles of a node\n\n", clock);
    printf("%-10s %-6s %4s %6s %10s %8s %9s  %d threads\n", "set", "shape", "|C|", "n", "ns a pair", "cycles",
           "of roof", all_threads);
    for (size_t k = 0; k < 3; k++)
        for (size_t s = 0; s < sizes; s++) show(kinds[k], "rbf", 5, all_sizes[s], clock);
    const backend_kind **widest = kinds;
    while (lanes_of(*widest) == NULL) widest++;
    for (size_t s = 0; s < sizes; s++) show(*widest, "imq", 5, all_sizes[s], clock);
    for (size_t c = 0; c < sizeof closed / sizeof *closed; c++)
        for (size_t s = 1; s < sizes; s += 2) show(*widest, "rbf", closed[c], all_sizes[s], clock);

    printf("\n%-12s %9s %6s %10s %8s %d %12s %8s\n", "kernel", "variables", "n", "s, 1", "s,", all_threads,
           "ns a number", "cycles");
    show_large("rbf@all", 100 / large, 100, clock);
    show_large("rbf@all", 100 / large, 500 / large, clock);
    show_large("rbf@blanket", 4, 10000 / large, clock);

    printf("\nterms beside the paper's, one thread\n");
    show_terms(5);
    show_terms(25);
    svmp_context_free(context);
    return 0;
}
