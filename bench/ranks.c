/* Several processes: the time of an iteration on a square grid, n = 50, graphical SVGD with AdaGrad, one thread each;
 * the shares of messages and reductions; and the prediction of `svmp plan` with the network given here.
 *
 *     mpirun -n P bench_ranks [SIDE] [ROUNDS]       bench/ranks calls it
 */
#include <math.h>

#include "backend/exchange_rows.h"
#include "bench/bench.h"
#include "method/method.h"

enum { N = 50, WARM = 20 }; /* the first iterations need several passes for their medians, which move far */

/* The network is a core's memory here; on other machines these numbers differ. */
static const svmp_network network = {1e-6, 5e9};

static svmp_options *options(void) {
    svmp_options *settings = NULL;
    must(svmp_options_create(context, &settings));
    must(svmp_options_set(settings, "method", "graphical"));
    must(svmp_options_set_count(settings, "particles", N));
    must(svmp_options_set_count(settings, "iterations", 1000000));
    return settings;
}

/* The plan, in a separate context: all processes measure at the same time, as in the run. */
static svmp_plan predict(size_t side, size_t processes) {
    svmp_context *joined = context;
    svmp_plan plan;
    start_context(1);
    svmp_model *model = grid(side);
    svmp_options *settings = options();
    must(svmp_model_plan(model, settings, processes, &network, &plan));
    svmp_options_free(settings);
    svmp_model_free(model);
    svmp_context_free(context);
    context = joined;
    return plan;
}

static int one_iteration(const svmp_progress *state, void *user_data) { return (void)state, (void)user_data, 1; }

typedef struct measured {
    double iteration, packing, waiting, agreeing; /* seconds of the fastest iteration, and of its parts */
} measured;

static measured measure(svmp_run *run, int rounds) {
    measured best = {.iteration = INFINITY};
    svmp_outcome outcome;
    must(svmp_run_set_monitor(run, one_iteration, NULL));
    for (int k = 0; k < WARM + rounds; k++) {
        const exchange_times before = svmp_exchange_times(run->backend);
        const double started = seconds();
        must(svmp_run_go(run, &outcome));
        const double spent = seconds() - started;
        const exchange_times after = svmp_exchange_times(run->backend);
        if (k < WARM || spent >= best.iteration) continue;
        best = (measured){spent, after.packing - before.packing, after.waiting - before.waiting,
                          after.agreeing - before.agreeing};
    }
    return best;
}

int main(int count, char **arguments) {
    const size_t side = count > 1 ? strtoul(arguments[1], NULL, 10) : 300;
    const int rounds = count > 2 ? (int)strtol(arguments[2], NULL, 10) : 10;
    start_context(1);
    must(svmp_context_join(context));
    const size_t processes = svmp_context_processes(context);
    const svmp_plan plan = predict(side, processes);
    svmp_model *model = grid(side);
    svmp_split split;
    svmp_run *run = NULL;
    svmp_options *settings = options();
    must(svmp_model_split(&model, &split));
    must(svmp_run_create(model, settings, &run));
    const measured m = measure(run, rounds);
    if (svmp_context_process(context) == 0)
        printf("%9zu %6zu %10.4g %8.2f%% %8.2f%% %8.2f%% %10.4g %+8.1f%%\n", side * side, processes, 1e3 * m.iteration,
               100 * m.packing / m.iteration, 100 * m.waiting / m.iteration, 100 * m.agreeing / m.iteration,
               1e3 * plan.iteration, 100 * (plan.iteration / m.iteration - 1));
    svmp_run_free(run);
    svmp_options_free(settings);
    svmp_model_free(model);
    svmp_context_free(context);
    return 0;
}
