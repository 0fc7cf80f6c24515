/* Scaling: the time per node on square grids of 10^2 to 10^6 nodes, n = 50, graphical SVGD with AdaGrad; the speed-up
 * of two threads; and the memory in units of arrays of variables * particles.
 *
 *     bench_scale [--quick | LARGEST SIDE]
 */
#include <unistd.h>

#include "backend/backend.h"
#include "bench/bench.h"

enum { N = 50 };

/* The current memory of the process; 0 if unknown. */
static double resident_bytes(void) {
    char line[100] = "", *rest; /* total pages, resident pages, ... */
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fgets(line, sizeof line, file) == NULL) line[0] = '\0';
    fclose(file);
    strtod(line, &rest);
    return strtod(rest, NULL) * (double)sysconf(_SC_PAGESIZE);
}

typedef struct cost {
    double built, iteration, stein; /* seconds; the share of stein in an iteration */
    double bytes;                   /* of the model and its run */
} cost;

/* Times of score, stein and step in an iteration: the minimum of some after the first few. */
static cost measure(size_t side, int threads) {
    kernel k;
    step s;
    backend *b = NULL;
    const backend_kind *kind = &svmp_backend_cpu;
    cost c = {.iteration = 1e300};
    start_context(threads);
    const double before = resident_bytes(), begun = seconds();
    svmp_model *model = grid(side);
    c.built = seconds() - begun;
    must(svmp_kernel_parse(context, "rbf@blanket", (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.1", &s));
    must(svmp_backend_create(kind, model, N, 1, &k, &s, &b));
    const size_t numbers = svmp_graph_variables(svmp_model_graph(model)) * N;
    for (size_t p = 0; p < numbers; p++) b->x[p] = rand() / (double)RAND_MAX;
    const int rounds = numbers > 10000000 ? 8 : 30;
    for (int t = 0; t < rounds; t++) {
        const double started = seconds();
        must(kind->score(b));
        const double scored = seconds();
        must(kind->stein(b, &k, (size_t)t));
        const double moved = seconds();
        must(kind->step(b, &s, 0.1, (size_t)t));
        const double spent = seconds() - started;
        if (t < 4 || spent > c.iteration) continue;
        c.iteration = spent;
        c.stein = (moved - scored) / spent;
    }
    c.bytes = resident_bytes() - before;
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
    return c;
}

int main(int count, char **arguments) {
    const size_t sides[] = {10, 32, 100, 316, 1000};
    const size_t largest = is_quick(count, arguments) ? 10 : count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    printf("graphical SVGD with AdaGrad on square grids, n = %d\n\n", N);
    printf("%9s %11s %15s %15s %9s %8s %14s\n", "nodes", "built in s", "us a node, 1", "us a node, 2", "1 over 2",
           "stein", "memory, arrays");
    for (size_t k = 0; k < sizeof sides / sizeof *sides && sides[k] <= largest; k++) {
        const double nodes = (double)(sides[k] * sides[k]);
        const cost one = measure(sides[k], 1), two = measure(sides[k], 2);
        printf("%9.0f %11.2f %15.2f %15.2f %9.2f %7.0f%% %14.1f\n", nodes, one.built, 1e6 * one.iteration / nodes,
               1e6 * two.iteration / nodes, one.iteration / two.iteration, 100 * one.stein,
               one.bytes / (nodes * N * sizeof(double)));
        fflush(stdout);
    }
    return 0;
}
