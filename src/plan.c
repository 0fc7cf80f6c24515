/* What several processes would do, on paper: partition and sizes are exact, the time of a node is measured on some of
 * them, that of messages follows from a network of a latency and a bandwidth:
 *
 *     compute     rate * work, interior and boundary
 *     exchange    neighbours * latency + bytes / bandwidth
 *     iteration   max over processes of max(interior, exchange) + boundary, and the reductions
 *     reduction   of b bytes: 2 ceil(log2 P) latency + 2 b / bandwidth
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "graph/partition.h"
#include "kernel/kernel.h"
#include "method/method.h"
#include "model/part.h"

/* ---- the rate ---------------------------------------------------------------------------------------------------- */

enum {
    MEASURED_NUMBERS = 1 << 22, /* particles and states of so many numbers are beyond the caches; */
    MEASURED_PARTICLES = 2000,  /* with more, the square of particles is all that counts */
    ROUNDS = 5,
    WARM = 4
};

static const double measured_work = 8e9; /* so much, in units of a pair of particles, takes some tenths of a second */

/* Nodes around the middle one, neighbours first. */
typedef struct selection {
    uint32_t *chosen, *queue;
    size_t count, most;
    double work, enough; /* no more are taken than to reach that */
} selection;

static void take(const svmp_graph *graph, size_t v, selection *s) {
    if (s->chosen[v] || s->count >= s->most || s->work >= s->enough) return;
    s->chosen[v] = 1;
    s->queue[s->count++] = (uint32_t)v;
    s->work += svmp_node_work(graph, v);
}

static svmp_status mark_some(const svmp_graph *graph, selection *s) {
    size_t at = 0;
    if (s->most > graph->nodes) s->most = graph->nodes;
    SVMP_TRY(SVMP_NEW(graph->context, s->queue, graph->nodes));
    for (size_t v = graph->nodes / 2; s->count < s->most && s->work < s->enough; v = (v + 1) % graph->nodes) {
        take(graph, v, s);
        for (; at < s->count; at++) {
            size_t near;
            const uint32_t *closed = svmp_graph_neighbourhood(graph, s->queue[at], &near);
            for (size_t k = 0; k < near; k++) take(graph, closed[k], s);
        }
    }
    svmp_release(graph->context, s->queue);
    return SVMP_OK;
}

/* Seconds an iteration of a model by one thread: the least of some rounds, each long enough to be seen by the clock. */
static svmp_status time_iteration(const svmp_model *model, const svmp_run_options *options, double *seconds) {
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_run_options short_run = *options;
    svmp_status status;
    size_t batch = 1;
    short_run.init = "normal:1";
    short_run.tolerance = 0;
    short_run.iterations = 1000000000;
    *seconds = INFINITY;
    const int threads = model->context->options.threads;
    model->context->options.threads = 1;
    status = svmp_run_create(model, &short_run, &run);
    model->context->options.threads = threads;
    SVMP_CHECK(status);
    const double begun = svmp_clock_seconds(), patience = 4;
    for (int round = -WARM; round < 1 || (round < ROUNDS && svmp_clock_seconds() - begun < patience);) {
        const double started = svmp_clock_seconds();
        if (round < 0 && started - begun > patience / 2) round = 0;
        run->iterations = run->iteration + batch;
        SVMP_CHECK(svmp_run_go(run, &outcome));
        const double spent = svmp_clock_seconds() - started;
        if (round >= 0 && spent < 0.02) {
            batch *= 2;
            continue;
        }
        if (round >= 0)
            *seconds = fmin(*seconds, spent / (double)batch); /* the first ones find their memory and medians */
        round++;
    }
done:
    svmp_run_free(run);
    return status;
}

/* Seconds for a unit of work, and the nodes that it was measured on. */
static svmp_status measure_rate(const svmp_model *model, const svmp_run_options *options, double *rate,
                                double *measured) {
    const svmp_graph *graph = model->graph;
    svmp_context *context = model->context;
    svmp_model *some = NULL;
    double seconds = 0;
    svmp_run_options fewer = *options;
    if (fewer.particles > MEASURED_PARTICLES) fewer.particles = MEASURED_PARTICLES;
    const double n = (double)fewer.particles, more = (double)options->particles / n;
    selection s = {.most = MEASURED_NUMBERS / fewer.particles + 64, .enough = measured_work / (n * n)};
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, s.chosen, graph->nodes));
    SVMP_CHECK(mark_some(graph, &s));
    SVMP_CHECK(svmp_model_part(model, s.chosen, 1, &some));
    status = time_iteration(some, &fewer, &seconds);
    if (status == SVMP_NOT_FINITE) { /* where it does not run away, then */
        fewer.step = "fixed:1e-9";
        status = time_iteration(some, &fewer, &seconds);
    }
    SVMP_CHECK(status);
    *rate = seconds / s.work * more * more;
    *measured = (double)some->graph->own;
done:
    svmp_model_free(some);
    svmp_release(context, s.chosen);
    return status;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* What the options come to. */
typedef struct demand {
    size_t particles, states; /* of the step, kept for every number */
    size_t all_terms;         /* of the kernel, on all variables */
} demand;

/* A run of one iteration on the smallest of models says what they mean. */
static svmp_status read_demand(svmp_context *context, const svmp_run_options *options, demand *d) {
    svmp_model *smallest = NULL;
    svmp_run *run = NULL;
    const size_t node = 0;
    const double one = 1;
    svmp_run_options asked = *options;
    svmp_status status;
    asked.init = "normal:1";
    asked.particles = options->particles > 0;
    SVMP_CHECK(svmp_model_create(context, &smallest));
    SVMP_CHECK(svmp_model_add_node(smallest, NULL, 1, NULL, NULL, NULL));
    SVMP_CHECK(svmp_model_add_gaussian(smallest, 1, &node, &one, NULL));
    SVMP_CHECK(svmp_model_finish(smallest));
    SVMP_CHECK(svmp_run_create(smallest, &asked, &run));
    if (!run->method->local)
        SVMP_CHECK(svmp_fail(context, SVMP_UNSUPPORTED, "The method '%s' needs the whole model in one process.",
                             run->method->name));
    *d = (demand){options->particles, run->step.rule->states, 0};
    for (size_t a = 0; a < run->kernel.count; a++) d->all_terms += run->kernel.terms[a].domain == DOMAIN_ALL;
done:
    svmp_run_free(run);
    svmp_model_free(smallest);
    return status;
}

static svmp_load load_of(const part_size *size, const demand *d, double rate, svmp_network network) {
    const double row = (double)d->particles * sizeof(double);
    const double matrix = row * (double)d->particles / 2;
    const double rows = (double)(3 + d->states) * (double)(size->variables + size->halo_variables);
    return (svmp_load){
        .nodes = (double)size->nodes,
        .halo = (double)size->halo_nodes,
        .boundary = (double)size->boundary,
        .neighbours = (double)size->neighbours,
        .bytes = (double)size->sent_variables * row,
        .memory = (rows + (double)size->sent_variables) * row + matrix,
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

static void fill(const part_size *sizes, const demand *d, svmp_network network, svmp_plan *plan, double rate) {
    const double n = (double)d->particles;
    double slowest = 0, total = 0;
    for (size_t p = 0; p < plan->processes; p++) {
        const svmp_load load = load_of(&sizes[p], d, rate, network);
        const double boundary = rate * sizes[p].boundary_work;
        add_load(&load, 1 / (double)plan->processes, &plan->most, &plan->mean);
        slowest = fmax(slowest, fmax(load.compute - boundary, load.exchange) + boundary);
        total += load.compute;
    }
    plan->alone = total;
    plan->reduce = 2 * reduction(plan->processes, 64, network) +
                   (double)d->all_terms * reduction(plan->processes, n * n / 2 * sizeof(double), network);
    plan->iteration = slowest + plan->reduce;
}

svmp_status svmp_model_plan(const svmp_model *model, const svmp_run_options *options, size_t processes,
                            svmp_network network, svmp_plan *plan) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    if (options == NULL || plan == NULL || processes == 0 || !(network.latency >= 0) || !(network.bandwidth > 0))
        return svmp_fail(
            context, SVMP_BAD_CALL,
            "svmp_model_plan needs options, processes, a network with a bandwidth, and a place to put it.");
    SVMP_TRY(svmp_model_require_finished(model));
    const svmp_graph *graph = model->graph;
    svmp_plan made = {.processes = processes};
    demand d = {0};
    uint32_t *owner = NULL;
    part_size *sizes = NULL;
    double rate = 0, work = 0;
    svmp_status status;
    SVMP_CHECK(read_demand(context, options, &d));
    SVMP_CHECK(measure_rate(model, options, &rate, &made.measured));
    SVMP_CHECK(SVMP_NEW(context, owner, graph->nodes));
    SVMP_CHECK(SVMP_NEW(context, sizes, processes));
    SVMP_CHECK(svmp_partition(graph, processes, owner));
    SVMP_CHECK(svmp_partition_measure(graph, processes, owner, sizes));
    const partition_quality q = svmp_partition_quality(graph, processes, owner, sizes);
    made.busy = q.busy;
    made.imbalance = q.imbalance;
    made.cut = q.cut;
    made.edges = q.edges;
    for (size_t p = 0; p < processes; p++) work += sizes[p].work;
    made.rate = rate * work / (double)graph->nodes;
    fill(sizes, &d, network, &made, rate);
    *plan = made;
done:
    svmp_release(context, owner);
    svmp_release(context, sizes);
    return status;
}
