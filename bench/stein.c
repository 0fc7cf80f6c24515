/* The Stein kernel: nanoseconds and cycles for every pair of particles of a node, median included, one thread; and how
 * near that is to a roof, the same loops on one tile that stays in the first cache, without any median.
 *
 *     bench_stein            all sizes, shapes and instruction sets
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "bench/bench.h"

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

/* Nanoseconds a pair in the backend, while the particles move as in a run. */
static double measure(const svmp_model *model, const backend_kind *kind, const char *shape, size_t n) {
    char text[32];
    kernel k;
    step s;
    backend *b = NULL;
    const double nodes = (double)svmp_graph_nodes(svmp_model_graph(model)), pairs = nodes * (double)(n * (n - 1) / 2);
    snprintf(text, sizeof text, "%s@blanket", shape);
    must(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.01", &s));
    if (svmp_backend_create(kind, model, n, 1, &k, &s, &b) != SVMP_OK) return 0;
    for (size_t p = 0; p < n * (size_t)nodes; p++) b->x[p] = rand() / (double)RAND_MAX;
    double best = 1e300;
    for (size_t t = 0; t < 60 || (double)t * pairs < 2e7; t++) {
        must(kind->score(b));
        const double started = thread_seconds();
        must(kind->stein(b, &k, t));
        const double spent = thread_seconds() - started;
        must(kind->step(b, &s, 0.01, t));
        if (t > 10 && spent < best) best = spent;
    }
    svmp_backend_free(b);
    return 1e9 * best / pairs;
}

/* The loops alone on a tile of 4 by 48 pairs: distances, shape, sums. */
static double roof(const lane_ops *ops, int rbf, size_t closed) {
    enum { COLUMNS = 48, STRIDE = COLUMNS + 1 + PADDING + LINE - 1, NUMBERS = TILE_ROWS * COLUMNS };
    static _Alignas(64) double block[68 * STRIDE + LINE], k[NUMBERS], r[NUMBERS];
    double *x = svmp_lanes_row(block), *w = x + 65 * STRIDE, *sum = w + STRIDE, *total = sum + STRIDE;
    const packed_rows rows = {x, closed, STRIDE};
    const tile t = {0, COLUMNS / ops->width, 0};
    for (size_t p = 0; p < STRIDE * closed; p++) x[p] = rand() / (double)RAND_MAX;
    double best = 1e300;
    for (int round = 0; round < 300; round++) {
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

int main(void) {
    const backend_kind *kinds[] = {&svmp_backend_cpu_avx512, &svmp_backend_cpu_avx2, &svmp_backend_cpu_baseline};
    const char *shapes[] = {"rbf", "imq"};
    const size_t sizes[] = {20, 50, 100, 200, 500, 1000}, closed[] = {3, 5, 9, 25};
    start_context(1);
    const double clock = core_clock() / 1e9;
    printf("one thread, double, the core at %.2f GHz; a pair is two different particles of a node\n\n", clock);
    printf("%-12s %-6s %4s %6s %12s %12s %10s\n", "set", "shape", "|C|", "n", "ns a pair", "cycles", "of roof");
    for (size_t c = 0; c < sizeof closed / sizeof *closed; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t shape = 0; shape < 2; shape++)
                for (size_t k = 0; k < 3; k++) {
                    if ((closed[c] != 5 || sizes[s] == 500) && (k > 0 || shape > 0)) continue;
                    const lane_ops *ops = svmp_lanes_named(kinds[k]->name + strlen("cpu-"));
                    if (ops == NULL) continue;
                    svmp_model *model = ring(sizes[s] < 500 ? 64 : 26, closed[c]);
                    const double ns = measure(model, kinds[k], shapes[shape], sizes[s]);
                    printf("%-12s %-6s %4zu %6zu %12.2f %12.1f %9.0f%%\n", ops->name, shapes[shape], closed[c],
                           sizes[s], ns, ns * clock, 100 * roof(ops, shape == 0, closed[c]) / ns);
                    svmp_model_free(model);
                }
    svmp_context_free(context);
    return 0;
}
