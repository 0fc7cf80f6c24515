#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "command_table.h"
#include "run_arguments.h"
#include "summary_table.h"

static const option_row rows[] = {
    {"ranks", 'r', "P", "2", "processes to plan for", "Plan"},
    {"latency", 0, "US", "2", "latency of a message, in microseconds", "Plan"},
    {"throughput", 0, "GB/S", "10", "gigabytes per second that a process sends and receives", "Plan"},
};

static void options(option_set *set) {
    static const char *const taken[] = {"method", "kernel", "bandwidth", "step", "particles", "backend"};
    options_add_run(set, sizeof taken / sizeof *taken, taken);
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add(set, 1, &coordinates_option);
}

/* "1.2 ms" */
static const char *duration(double seconds, char text[32]) {
    const double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
    snprintf(text, 32, "%.3g %s", scale * seconds, scale == 1e6 ? "us" : scale == 1e3 ? "ms" : "s");
    return text;
}

static const char *size(double bytes, char text[32]) {
    const double scale = bytes < 1e6 ? 1e-3 : bytes < 1e9 ? 1e-6 : 1e-9;
    snprintf(text, 32, "%.3g %s", scale * bytes, scale == 1e-3 ? "kB" : scale == 1e-6 ? "MB" : "GB");
    return text;
}

static void print_count(const char *label, double mean, double most) {
    printf("%-26s %12.4g %12.6g\n", label, mean, most);
}

static void print_text(const char *label, const char *(*format)(double, char *), double mean, double most) {
    char left[32], right[32];
    printf("%-26s %12s %12s\n", label, format(mean, left), format(most, right));
}

static void print_plan(const svmp_plan *plan, const svmp_model *model, const svmp_network *network, double reading) {
    char text[32], more[32], name[256];
    const svmp_load *mean = &plan->mean, *most = &plan->most;
    printf("%s: %zu process%s, %zu with nodes; the busiest has %s more work than average; %zu of %zu edge%s cut\n\n",
           plan->method, plan->processes, plan->processes == 1 ? "" : "es", plan->busy,
           percentage(plan->imbalance, text), plan->cut, plan->edges, plural(plan->edges));
    printf("%-26s %12s %12s\n", "per process", "mean", "maximum");
    print_count("own nodes", mean->nodes, most->nodes);
    print_count("  read by others", mean->boundary, most->boundary);
    print_count("nodes read from others", mean->halo, most->halo);
    print_count("neighbouring processes", mean->neighbours, most->neighbours);
    print_text("sent per iteration", size, mean->bytes, most->bytes);
    print_text("memory (without program)", size, mean->memory, most->memory);
    print_text("time for nodes", duration, mean->compute, most->compute);
    print_text("time for messages", duration, mean->exchange, most->exchange);
    if (plan->processes > 1)
        printf("\nThe first process needs the most memory: it partitions the graph and writes the output.\n");
    printf("Reading the whole model used up to %s of memory here. While reading a model text, each process needs "
           "nearly as\n"
           "much; for a matrix, it needs only its own part and 32 bytes per node.\n",
           size(reading, text));
    printf("A node takes %s on average, measured on %g nodes with one thread. ", duration(plan->rate, text),
           plan->measured);
    printf("The network is assumed to have a\n"
           "latency of %s (--latency) and a throughput of %s/s (--throughput).\n",
           duration(network->latency, more), size(network->bandwidth, text));
    printf("An iteration takes %s in one process", duration(plan->alone, text));
    if (plan->processes > 1) {
        const double gain = plan->alone / plan->iteration;
        printf(", %s in %zu processes: %.*f times as %s, with %s spent in reductions", duration(plan->iteration, text),
               plan->processes, gain >= 100 || gain <= 0.01 ? 0 : 2, gain >= 1 ? gain : 1 / gain,
               gain >= 1 ? "fast" : "slow", duration(plan->reduce, more));
    }
    printf(".\n");
    if (plan->heaviest_share * (double)plan->processes > 1 && plan->busy == plan->processes)
        printf("%s alone has %s of all work, which limits the speed: more than %.0f processes gain nothing and may be "
               "slower.\n",
               svmp_model_node_name(model, plan->heaviest, name, sizeof name), percentage(plan->heaviest_share, text),
               ceil(1 / plan->heaviest_share));
    if (plan->busy < plan->processes)
        printf("%zu of %zu processes have no nodes and would be idle.\n", plan->processes - plan->busy,
               plan->processes);
}

/* By chains: what one process does shrinks with their number, and what it holds does not. */
static void print_chains(const svmp_plan *plan, double reading) {
    char memory[32], text[32];
    printf("%s by chains: %zu process%s, each with the whole model and all results; %zu share the chains, the busiest "
           "has %s more than\naverage; memory of a process: %s, and up to %s to read the model\n",
           plan->method, plan->processes, plan->processes == 1 ? "" : "es", plan->busy,
           percentage(plan->imbalance, text), size(plan->most.memory, memory), size(reading, (char[32]){0}));
}

/* Bytes that this process has had at its highest. */
static double peak(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (double)usage.ru_maxrss : NAN;
}

/* The layout of the method; for the default also that of a model which is too large for it. */
static int plan_layouts(svmp_context *context, const svmp_model *model, svmp_options *options, size_t ranks,
                        const svmp_network *network) {
    const int automatic = strcmp(svmp_options_get(options, "method"), "auto") == 0;
    const double reading = peak();
    svmp_method method;
    svmp_plan plan;
    svmp_status status = svmp_method_describe(context, svmp_options_get(options, "method"), &method);
    if (status == SVMP_OK && method.shares) {
        status = svmp_model_plan(model, options, ranks, network, &plan);
        if (status == SVMP_OK) print_chains(&plan, reading);
        if (status == SVMP_OK && !automatic) return 0;
        if (status == SVMP_OK) printf("If that is too much memory, by nodes:\n\n");
        if (status == SVMP_OK) status = svmp_options_set(options, "method", "graphical");
    }
    if (status == SVMP_OK) status = svmp_model_plan(model, options, ranks, network, &plan);
    if (status == SVMP_OK) print_plan(&plan, model, network, reading);
    return status == SVMP_OK ? 0 : failed(context, status);
}

static int run(const option_set *set) {
    enum { MOST_RANKS = 1000000 };
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    svmp_options *run_options = NULL;
    size_t ranks = 0;
    double latency = 0, bandwidth = 0;
    int status = read_count("ranks", options_value(set, "ranks"), 1, MOST_RANKS, &ranks);
    if (status == 0) status = read_real("latency", options_value(set, "latency"), 0, 1e9, &latency);
    if (status == 0) status = read_real("throughput", options_value(set, "throughput"), 1e-6, 1e6, &bandwidth);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = options_of_run(set, context, &run_options);
    if (status == 0) status = read_model(set, context, &model);
    if (status == 0) {
        const svmp_network network = {1e-6 * latency, 1e9 * bandwidth};
        status = plan_layouts(context, model, run_options, ranks, &network);
    }
    svmp_model_free(model);
    svmp_options_free(run_options);
    svmp_context_free(context);
    return status;
}

const command command_plan = {
    .name = "plan",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Estimate a run with several processes",
    .text =
        "For methods whose processes share the chains, prints how, and the memory of a process. For the others, and "
        "for\nmodels too large for that:\nreads the model as\n.B svmp run\ndoes and partitions it for the given number "
        "of processes, with one "
        "thread each. Prints the balance\nof the work, the nodes that a process holds, the bytes that it sends per "
        "iteration, its memory, and the\ntime of an iteration after the first ten or twenty. The cost of a node is "
        "measured on a\nsample of nodes, late in a run or with particles that no longer move; the cost of messages "
        "follows from\nthe given latency and throughput. The command runs in one process: it needs neither mpirun "
        "nor the\nmemory of the run.\n",
    .options = options,
    .run = run,
};
