/* Scale: what a node costs on square grids of 10^2 to 10^6 nodes, n = 50, graphical SVGD with AdaGrad; what two threads
 * make of one; and the memory of it all in arrays of variables * particles.
 *
 *     bench_scale [LARGEST SIDE]
 */
#include <sys/resource.h>

#include "backend/backend.h"
#include "bench/bench.h"

enum { N = 50 };

static double resident_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

/* Seconds an iteration: score, stein and step, the least of some after the first few; *share: of these three, stein's.
 */
static double cost(const svmp_model *model, int threads, double *share) {
    kernel k;
    step s;
    backend *b = NULL;
    const backend_kind *kind = &svmp_backend_cpu;
    must(svmp_kernel_parse(context, "rbf@blanket", (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.1", &s));
    must(svmp_backend_create(kind, model, N, 1, &k, &s, &b));
    const int all = b->threads; /* there are rooms for so many */
    b->threads = threads;
    const size_t numbers = svmp_graph_variables(svmp_model_graph(model)) * N;
    for (size_t p = 0; p < numbers; p++) b->x[p] = rand() / (double)RAND_MAX;
    const int rounds = numbers > 10000000 ? 8 : 30;
    double best = 1e300;
    for (int t = 0; t < rounds; t++) {
        const double started = seconds();
        must(kind->score(b));
        const double scored = seconds();
        must(kind->stein(b, &k, (size_t)t));
        const double moved = seconds();
        must(kind->step(b, &s, 0.1, (size_t)t));
        const double spent = seconds() - started;
        if (t < 4 || spent > best) continue;
        best = spent;
        *share = (moved - scored) / spent;
    }
    b->threads = all;
    svmp_backend_free(b);
    return best;
}

int main(int count, char **arguments) {
    const size_t sides[] = {10, 32, 100, 316, 1000}, largest = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    start_context(2);
    printf("graphical SVGD with AdaGrad on square grids, n = %d\n\n", N);
    printf("%9s %11s %15s %15s %9s %8s %14s\n", "nodes", "built in s", "us a node, 1", "us a node, 2", "1 over 2",
           "stein", "memory, arrays");
    for (size_t k = 0; k < sizeof sides / sizeof *sides && sides[k] <= largest; k++) {
        const double nodes = (double)(sides[k] * sides[k]), before = resident_bytes(), started = seconds();
        svmp_model *model = grid(sides[k]);
        const double built = seconds() - started;
        double share, one = cost(model, 1, &share), unused, two = cost(model, 2, &unused);
        printf("%9.0f %11.2f %15.2f %15.2f %9.2f %7.0f%% %14.1f\n", nodes, built, 1e6 * one / nodes, 1e6 * two / nodes,
               one / two, 100 * share, (resident_bytes() - before) / (nodes * N * sizeof(double)));
        fflush(stdout);
        svmp_model_free(model);
    }
    svmp_context_free(context);
    return 0;
}
