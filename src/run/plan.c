/* Predicts a run with several processes: partition and sizes are exact, the time of a node is measured on some nodes,
 * and the time of messages follows from the latency and bandwidth of the network:
 *
 *     compute     rate * work, interior and boundary
 *     exchange    neighbours * latency + bytes / bandwidth
 *     iteration   max over processes of max(interior, exchange) + boundary, and the reductions
 *     reduction   of b bytes: 2 ceil(log2 P) latency + 2 b / bandwidth
 */
#include <math.h>
#include <string.h>

#include "graph/partition.h"
#include "method/method.h"
#include "run/option_table.h"
#include "run/plan_memory.h"
#include "run/plan_rate.h"
#include "run/run.h"
#include "svmp_parallel.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* Resolves the options by creating a run of one particle on a minimal model, which free_small_run frees, too. */
static svmp_status make_small_run(svmp_context *context, const run_options *options, svmp_run **run) {
    svmp_model *smallest = NULL;
    const size_t node = 0;
    const double one = 1;
    run_options wanted = *options;
    svmp_status status;
    wanted.init = "normal:1";
    wanted.particles = options->particles > 0;
    SVMP_CHECK(svmp_model_create(context, &smallest));
    SVMP_CHECK(svmp_model_add_node(smallest, NULL, 1, NULL, NULL, NULL));
    SVMP_CHECK(svmp_model_add_gaussian(smallest, 1, &node, &one, NULL));
    SVMP_CHECK(svmp_model_finish(smallest));
    SVMP_CHECK(svmp_run_make(smallest, &wanted, run));
    return SVMP_OK;
done:
    svmp_model_free(smallest);
    return status;
}

static void free_small_run(svmp_run *run) {
    svmp_model *smallest = run ? (svmp_model *)run->model : NULL;
    svmp_run_free(run);
    svmp_model_free(smallest);
}

static svmp_status read_demand(svmp_context *context, const run_options *options, run_demand *d) {
    svmp_run *run = NULL;
    svmp_status status;
    SVMP_CHECK(make_small_run(context, options, &run));
    if (!run->method->local)
        SVMP_CHECK(svmp_fail(context, SVMP_UNSUPPORTED, "The method '%s' needs the whole model in one process.",
                             run->method->name));
    if (run->step.rule == NULL)
        SVMP_CHECK(svmp_fail(context, SVMP_UNSUPPORTED,
                             "Cannot plan the method '%s': its cost is not "
                             "predictable.",
                             run->method->name));
    *d = (run_demand){run->method, options->particles, run->step.rule->states, run->kernel, run->backend->local};
done:
    free_small_run(run);
    return status;
}

static svmp_load load_of(const part_size *size, double row, double rate, svmp_network network) {
    return (svmp_load){
        .nodes = (double)size->nodes,
        .halo = (double)size->halo_nodes,
        .boundary = (double)size->boundary,
        .neighbours = (double)size->neighbours,
        .bytes = (double)size->sent_variables * row,
        .compute = rate * size->work,
        .exchange = (double)size->neighbours * network.latency +
                    fmax((double)size->sent_variables, (double)size->halo_variables) * row / network.bandwidth,
    };
}

static void add_load(const svmp_load *load, double share, svmp_load *most, svmp_load *mean) {
    const double *from = &load->nodes;
    double *top = &most->nodes, *sum = &mean->nodes;
    for (size_t k = 0; k < sizeof *load / sizeof(double); k++) {
        top[k] = fmax(top[k], from[k]);
        sum[k] += share * from[k];
    }
}

static double reduction(size_t processes, double bytes, svmp_network network) {
    if (processes < 2) return 0;
    return 2 * ceil(log2((double)processes)) * network.latency + 2 * bytes / network.bandwidth;
}

/* The reductions of a kernel on all variables: a grid, and on it the distances between all pairs of particles or their
 * products; or all particles. */
static double sums_of_all(const run_demand *d, size_t variables, size_t processes, svmp_network network) {
    const double n = (double)d->particles;
    double seconds = 0;
    for (size_t a = 0; a < d->kernel.count; a++) {
        const kernel_term *term = &d->kernel.terms[a];
        const int gathers = term->shape->value == NULL && !svmp_term_multiplies(term, d->particles, variables);
        const double numbers = term->shape->value ? n * n / 2 : gathers ? n * (double)variables : n * n;
        if (term->domain != DOMAIN_ALL) continue;
        seconds += reduction(processes, numbers * sizeof(double), network);
        if (!gathers) seconds += reduction(processes, n * sizeof(double), network);
    }
    return seconds;
}

static void fill(const svmp_model *model, const part_size *sizes, const run_demand *d, svmp_network network,
                 svmp_plan *plan, double rate) {
    const memory_rates memory = svmp_plan_memory_rates(model, d);
    double slowest = 0;
    for (size_t p = 0; p < plan->processes; p++) {
        svmp_load load = load_of(&sizes[p], (double)d->particles * sizeof(double), rate, network);
        const double boundary = rate * sizes[p].boundary_work;
        load.memory = svmp_plan_memory(&memory, &sizes[p], p == 0 && plan->processes > 1);
        add_load(&load, 1 / (double)plan->processes, &plan->most, &plan->mean);
        slowest = fmax(slowest, fmax(load.compute - boundary, load.exchange) + boundary);
    }
    plan->alone = rate * svmp_graph_work(model->graph);
    plan->rate = plan->alone / (double)model->graph->nodes;
    plan->reduce =
        2 * reduction(plan->processes, 64, network) + sums_of_all(d, model->graph->variables, plan->processes, network);
    plan->iteration = slowest + plan->reduce;
}

/* The node with the most work. */
static svmp_status find_heaviest(const svmp_graph *graph, svmp_plan *plan) {
    double *works = NULL;
    SVMP_TRY(svmp_node_works(graph, &works));
    for (size_t v = 1; v < graph->nodes; v++)
        if (works[v] > works[plan->heaviest]) plan->heaviest = v;
    plan->heaviest_share = works[plan->heaviest] / svmp_graph_work(graph);
    svmp_release(graph->context, works);
    return SVMP_OK;
}

/* By chains each process has the whole model, and all particles or chains, of which it moves a share. */
static svmp_status plan_chains(const svmp_model *model, const run_options *wanted, svmp_plan *plan) {
    svmp_run *run = NULL;
    SVMP_TRY(make_small_run(model->context, wanted, &run));
    svmp_run planned = *run;
    planned.model = model;
    planned.options.particles = wanted->particles;
    planned.options.draws = wanted->draws;
    if (planned.method->answers)
        svmp_run_choose_draws(&planned);
    else
        planned.options.draws = run->options.draws;
    const size_t n = planned.method->yield == SVMP_YIELD_CHAINS ? planned.options.chains : planned.options.particles,
                 most = (n + plan->processes - 1) / plan->processes;
    plan->method = planned.method->name;
    plan->busy = n < plan->processes ? n : plan->processes;
    plan->imbalance = (double)(most * plan->busy) / (double)n - 1;
    plan->most.memory = plan->mean.memory = svmp_run_bytes(&planned, n);
    free_small_run(run);
    return SVMP_OK;
}

svmp_status svmp_model_plan(const svmp_model *model, const svmp_options *options, size_t processes,
                            const svmp_network *network, svmp_plan *plan) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    if (network == NULL || plan == NULL || processes == 0 || !(network->latency >= 0) || !(network->bandwidth > 0))
        return svmp_fail(context, SVMP_BAD_CALL,
                         "svmp_model_plan: a result, at least one process, a latency of at least 0 and a positive "
                         "bandwidth are needed.");
    SVMP_TRY(svmp_model_require_finished(model));
    SVMP_TRY(svmp_model_require_whole(model, "svmp_model_plan"));
    const svmp_graph *graph = model->graph;
    const run_options wanted = svmp_options_values(options);
    svmp_plan made = {.processes = processes};
    run_demand d = {0};
    uint32_t *owner = NULL;
    part_size *sizes = NULL;
    double rate = 0;
    svmp_status status;
    const method *chosen = svmp_method_find(context, wanted.method);
    if (chosen && chosen->shared) {
        SVMP_TRY(plan_chains(model, &wanted, &made));
        *plan = made;
        return SVMP_OK;
    }
    SVMP_CHECK(read_demand(context, &wanted, &d));
    SVMP_CHECK(svmp_plan_measure_rate(model, &wanted, &d, &rate, &made.measured));
    SVMP_CHECK(SVMP_NEW(context, owner, graph->nodes));
    SVMP_CHECK(SVMP_NEW(context, sizes, processes));
    SVMP_CHECK(svmp_partition(graph, processes, owner));
    SVMP_CHECK(svmp_partition_measure(graph, processes, owner, sizes));
    const partition_quality q = svmp_partition_quality(graph, processes, owner, sizes);
    made.busy = q.busy;
    made.imbalance = q.imbalance;
    made.cut = q.cut;
    made.edges = q.edges;
    SVMP_CHECK(find_heaviest(graph, &made));
    made.method = d.method->name;
    fill(model, sizes, &d, *network, &made, rate);
    *plan = made;
done:
    svmp_release(context, owner);
    svmp_release(context, sizes);
    return status;
}
