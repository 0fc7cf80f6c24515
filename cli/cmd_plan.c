#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "command.h"
#include "table.h"

static const svmp_option rows[] = {
    {"ranks", 'r', "P", "2", "processes to plan for", "Plan"},
    {"latency", 0, "US", "2", "microseconds until a message arrives", "Plan"},
    {"throughput", 0, "GB/S", "10", "gigabytes a second that a process sends, and receives", "Plan"},
};

static void options(option_set *set) {
    static const char *const taken[] = {"method", "kernel", "bandwidth", "step", "particles", "backend"};
    size_t count;
    const svmp_option *table = svmp_run_option_table(&count);
    for (size_t k = 0; k < count; k++)
        for (size_t t = 0; t < sizeof taken / sizeof *taken; t++)
            if (strcmp(table[k].name, taken[t]) == 0) options_add(set, 1, &table[k]);
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

static void print_plan(const svmp_plan *plan, const svmp_model *model, svmp_network network, double reading) {
    char text[32], more[32], name[256];
    const svmp_load *mean = &plan->mean, *most = &plan->most;
    printf("%zu process%s, %zu with nodes; the busiest has %s more than its share; %zu of %zu edge%s cut\n\n",
           plan->processes, plan->processes == 1 ? "" : "es", plan->busy, percentage(plan->imbalance, text), plan->cut,
           plan->edges, plan->edges == 1 ? " is" : "s are");
    printf("%-26s %12s %12s\n", "a process", "mean", "most");
    print_count("nodes of its own", mean->nodes, most->nodes);
    print_count("  that others read", mean->boundary, most->boundary);
    print_count("nodes that it reads", mean->halo, most->halo);
    print_count("neighbours", mean->neighbours, most->neighbours);
    print_text("sent an iteration", size, mean->bytes, most->bytes);
    print_text("memory, beside the program", size, mean->memory, most->memory);
    print_text("time of its nodes", duration, mean->compute, most->compute);
    print_text("time of its messages", duration, mean->exchange, most->exchange);
    if (plan->processes > 1) printf("\nThe first process has the most memory: it cuts the graph, and writes.\n");
    printf("Reading the whole model took up to %s here. Of a text each process takes nearly that while it reads, of\n"
           "a matrix its part and 32 bytes a node.\n",
           size(reading, text));
    printf("A node takes %s on average, measured on %g of them with one thread. ", duration(plan->rate, text),
           plan->measured);
    printf("Messages are taken to need\n%s (--latency), and 1 s for %s (--throughput).\n",
           duration(network.latency, more), size(network.bandwidth, text));
    printf("An iteration takes %s in one process", duration(plan->alone, text));
    if (plan->processes > 1) {
        const double gain = plan->alone / plan->iteration;
        printf(", %s in %zu: %.*f times as %s, %s of it in reductions", duration(plan->iteration, text),
               plan->processes, gain >= 100 || gain <= 0.01 ? 0 : 2, gain >= 1 ? gain : 1 / gain,
               gain >= 1 ? "fast" : "slow", duration(plan->reduce, more));
    }
    printf(".\n");
    if (plan->heaviest_share * (double)plan->processes > 1 && plan->busy == plan->processes)
        printf(
            "%s alone has %s of all work, and bounds the speed: more than %.0f processes gain nothing, and may lose.\n",
            svmp_model_node_name(model, plan->heaviest, name, sizeof name), percentage(plan->heaviest_share, text),
            ceil(1 / plan->heaviest_share));
    if (plan->busy < plan->processes)
        printf("%zu of %zu processes have no nodes and would be idle.\n", plan->processes - plan->busy,
               plan->processes);
}

/* Bytes that this process has had at its highest. */
static double peak(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (double)usage.ru_maxrss : NAN;
}

static int read_options(const option_set *set, svmp_context *context, svmp_run_options *asked) {
    size_t count;
    const svmp_option *table = svmp_run_option_table(&count);
    *asked = svmp_run_options_default();
    for (size_t k = 0; k < count; k++) {
        const char *value = options_given(set, table[k].name);
        svmp_status status = value ? svmp_run_options_set(context, asked, table[k].name, value) : SVMP_OK;
        if (status != SVMP_OK) return failed(context, status);
    }
    return 0;
}

static int run(const option_set *set) {
    enum { MOST_RANKS = 1000000 };
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    svmp_run_options asked;
    svmp_plan plan;
    size_t ranks = 0;
    double latency = 0, bandwidth = 0;
    int status = read_count("ranks", options_value(set, "ranks"), 1, MOST_RANKS, &ranks);
    if (status == 0) status = read_real("latency", options_value(set, "latency"), 0, 1e9, &latency);
    if (status == 0) status = read_real("throughput", options_value(set, "throughput"), 1e-6, 1e6, &bandwidth);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = read_options(set, context, &asked);
    if (status == 0) status = read_model(set, context, NULL, &model);
    if (status == 0) {
        const svmp_network network = {1e-6 * latency, 1e9 * bandwidth};
        const double reading = peak();
        svmp_status made = svmp_model_plan(model, &asked, ranks, network, &plan);
        if (made == SVMP_OK)
            print_plan(&plan, model, network, reading);
        else
            status = failed(context, made);
    }
    svmp_model_free(model);
    svmp_context_free(context);
    return status;
}

const command command_plan = {
    .name = "plan",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Say what several processes would take",
    .text =
        "Reads the model as\n.B svmp run\nwould and cuts it for so many processes, of one thread each. Says how even "
        "the work is,\n"
        "how many nodes and bytes a process has and sends in an iteration, how much memory it takes, and how long an\n"
        "iteration would, once the first ten or twenty are done: what a node costs is measured on some of them, late\n"
        "in a run or with particles that hold still; what messages cost follows from the latency and the bandwidth "
        "that are given. It "
        "is a command of one process: it needs no mpirun, nor the memory "
        "that\n"
        "the run would.\n",
    .options = options,
    .run = run,
};
