#include "run/plan_rate.h"

#include <math.h>

#include "base/clock.h"
#include "graph/partition.h"
#include "method/method.h"
#include "model/model_part.h"
#include "run/option_table.h"

enum {
    MEASURED_NUMBERS = 1 << 22, /* particles and states with this many numbers exceed the caches; */
    MEASURED_PARTICLES = 2000,  /* for more, only the square of the particles matters */
    ROUNDS = 10,
    FIRST_ITERATIONS = 200, /* iterations after which particles move little */
    FOUND = 3               /* iterations in which fixed particles warm up caches and medians */
};

static const double measured_work = 8e9; /* work, in units of a pair of particles, that takes some tenths of a second */
static const double most_queued = 4;     /* seconds, half of them for the first iterations and half for all rounds */

/* Selects nodes around the middle one, neighbours first. */
typedef struct selection {
    uint32_t *chosen, *queue;
    size_t count, most;
    double work, enough; /* stop when this is reached */
    double *works;       /* of every node */
} selection;

static void take(size_t v, selection *s) {
    if (s->chosen[v] || s->count >= s->most || s->work >= s->enough) return;
    s->chosen[v] = 1;
    s->queue[s->count++] = (uint32_t)v;
    s->work += s->works[v];
}

static svmp_status mark_some(const svmp_graph *graph, selection *s) {
    size_t at = 0;
    if (s->most > graph->nodes) s->most = graph->nodes;
    SVMP_TRY(SVMP_NEW(graph->context, s->queue, graph->nodes));
    for (size_t v = graph->nodes / 2; s->count < s->most && s->work < s->enough; v = (v + 1) % graph->nodes) {
        take(v, s);
        for (; at < s->count; at++) {
            size_t near;
            const uint32_t *closed = svmp_graph_neighbourhood(graph, s->queue[at], &near);
            for (size_t k = 0; k < near; k++) take(closed[k], s);
        }
    }
    svmp_release(graph->context, s->queue);
    return SVMP_OK;
}

/* Fixes the particles, so that every median is found at its last position. The step rule is still evaluated. */
static void fix_particles(step *s) { s->from = s->to = s->a = 0; }

static svmp_status go(svmp_run *run, size_t iterations) {
    svmp_outcome outcome;
    run->iterations = run->iteration + iterations;
    return svmp_run_go(run, &outcome);
}

/* Medians move far in the first iterations of a run and then need several passes, so these are not measured. If that
 * takes too long, or the particles would diverge (`still`), the particles are fixed, which costs nearly the same. */
static svmp_status skip_first_iterations(svmp_run *run, int still) {
    const double begun = svmp_clock_seconds();
    run->step.from = run->step.to = sqrt(run->step.from * run->step.to); /* the rate halfway through the run */
    while (!still && run->iteration < FIRST_ITERATIONS && svmp_clock_seconds() - begun < most_queued / 2)
        SVMP_TRY(go(run, 1));
    if (run->iteration == FIRST_ITERATIONS) return SVMP_OK;
    fix_particles(&run->step);
    return go(run, FOUND);
}

/* Seconds per iteration of a model with one thread: the minimum over some rounds, each long enough for the clock. */
static svmp_status time_iteration(const svmp_model *model, const run_options *options, int still, double *seconds) {
    svmp_run *run = NULL;
    run_options short_run = *options;
    svmp_status status;
    size_t batch = 1;
    short_run.init = "normal:1";
    short_run.tolerance = 0;
    *seconds = INFINITY;
    const int threads = model->context->threads;
    model->context->threads = 1;
    status = svmp_run_make(model, &short_run, &run);
    model->context->threads = threads;
    SVMP_CHECK(status);
    SVMP_CHECK(skip_first_iterations(run, still));
    const double begun = svmp_clock_seconds();
    for (int round = 0; round < 1 || (round < ROUNDS && svmp_clock_seconds() - begun < most_queued / 2);) {
        const double started = svmp_clock_thread_seconds();
        SVMP_CHECK(go(run, batch));
        const double spent = svmp_clock_thread_seconds() - started;
        if (spent < 0.02) {
            batch *= 2;
            continue;
        }
        *seconds = fmin(*seconds, spent / (double)batch);
        round++;
    }
done:
    svmp_run_free(run);
    return status;
}

/* The growth of the cost from some particles to all: quadratic if the method uses pairs. */
static double growth(const run_demand *d, double more) {
    for (size_t a = 0; a < d->kernel.count; a++)
        if (d->kernel.terms[a].shape->value) return more * more;
    return more;
}

svmp_status svmp_plan_measure_rate(const svmp_model *model, const run_options *options, const run_demand *d,
                                   double *rate, double *measured) {
    const svmp_graph *graph = model->graph;
    svmp_context *context = model->context;
    svmp_model *some = NULL;
    double seconds = 0;
    run_options fewer = *options;
    if (fewer.particles > MEASURED_PARTICLES) fewer.particles = MEASURED_PARTICLES;
    const double n = (double)fewer.particles;
    selection s = {.most = MEASURED_NUMBERS / fewer.particles + 64, .enough = measured_work / (n * n)};
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, s.chosen, graph->nodes));
    SVMP_CHECK(svmp_node_works(graph, &s.works));
    SVMP_CHECK(mark_some(graph, &s));
    SVMP_CHECK(svmp_model_part(model, s.chosen, 1, &some));
    status = time_iteration(some, &fewer, 0, &seconds);
    if (status == SVMP_NOT_FINITE) status = time_iteration(some, &fewer, 1, &seconds);
    SVMP_CHECK(status);
    *rate = seconds / svmp_graph_work(some->graph) * growth(d, (double)options->particles / n);
    *measured = (double)some->graph->moved;
done:
    svmp_model_free(some);
    svmp_release(context, s.chosen);
    svmp_release(context, s.works);
    return status;
}
