/* The cost of a sweep of local moves relative to the score of the whole model, and its lower bound.
 *
 *     bench_local [--quick | PARTICLES]        from the project's root: it reads models/
 *
 * A sweep evaluates the factors that touch a node once at x and once at y, for every node. `operations` is the lower
 * bound: the operations per particle of these evaluations, of programs and matrix, divided by those of a score.
 * `factors` is the time of these evaluations alone, `numbers` that of the random numbers alone (a normal number per
 * variable and the logarithm of a uniform number per node), and `sweep` that of the whole sweep, all divided by the
 * time of a score. One thread.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/random.h"
#include "bench/bench.h"
#include "graph/colouring.h"
#include "method/moves/sweep.h"
#include "model/node_evaluator.h"

static int rounds = 15;
static double enough = 0.03; /* seconds a round */

/* ---- models ------------------------------------------------------------------------------------------------------ */

static svmp_model *read_text(const char *text) {
    svmp_model *model = NULL;
    must(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    return model;
}

/* Counts on a grid whose log rates are similar at neighbours; alpha and tau touch all nodes. */
static svmp_model *field(void) {
    return read_text("data { for (i in 1:30) { for (j in 1:30) { y[i,j] <- trunc(3 + 2 * sin(i + j)) } } }\n"
                     "model { for (i in 1:30) { for (j in 1:30) { u[i,j] ~ dflat()\n"
                     "    y[i,j] ~ dpois(exp(alpha + u[i,j])) } }\n"
                     "  for (i in 1:29) { for (j in 1:30) { factor(-0.5 * tau * (u[i,j] - u[i+1,j])^2) } }\n"
                     "  for (i in 1:30) { for (j in 1:29) { factor(-0.5 * tau * (u[i,j] - u[i,j+1])^2) } }\n"
                     "  for (i in 1:30) { for (j in 1:30) { factor(-0.005 * u[i,j]^2 + 0.5 * log(tau)) } }\n"
                     "  alpha ~ dnorm(0, 1); tau ~ dgamma(2, 1) }\n");
}

/* A regression of 2,000 outcomes with effects of 100 groups. */
static svmp_model *effects(void) {
    return read_text("data { for (i in 1:2000) { y[i] <- sin(i); z[i] <- cos(3 * i); g[i] <- 1 + trunc(i / 20.01) } }\n"
                     "model { for (i in 1:2000) { y[i] ~ dt(a[g[i]] + b * z[i], tau, 5) }\n"
                     "  for (j in 1:100) { a[j] ~ dnorm(mu, tau_a) }\n"
                     "  mu ~ dnorm(0, 0.01); b ~ dnorm(0, 0.01); tau ~ dgamma(1, 1); tau_a ~ dgamma(1, 1) }\n");
}

static svmp_model *read_two(const char *text, const char *data) {
    svmp_model *model = NULL;
    must(svmp_model_read(context, 2, (const char *[]){text, data}, NULL, &model));
    return model;
}

/* ---- measured functions ------------------------------------------------------------------------------------------ */

typedef struct subject {
    backend *b;
    evaluator *evaluator;
    node_evaluator *local;
    sweeper *sweeper;
    size_t colours, t;
    double *value, *here, *there, *y;
} subject;

static void score(subject *s) { must(svmp_evaluate(s->evaluator, s->b->x, NULL, s->b->score)); }
static void sweep(subject *s) { must(svmp_sweep(s->sweeper, s->b, s->t++, 0)); }

/* Only the evaluations of a sweep; y is x. */
static void factors(subject *s) {
    const svmp_graph *graph = s->b->model->graph;
    const size_t n = s->b->n;
    for (size_t c = 0; c < s->colours; c++) {
        size_t count, hubs;
        const node_task *tasks = svmp_node_evaluator_tasks(s->local, c, &count, &hubs);
        for (size_t k = 0; k < count; k++) {
            for (size_t v = 0, r = 0; v < tasks[k].count; v++) {
                const size_t first = graph->first[tasks[k].nodes[v]], last = graph->first[tasks[k].nodes[v] + 1];
                memcpy(s->y + r * n, s->b->x + first * n, (last - first) * n * sizeof *s->y);
                r += last - first;
            }
            svmp_node_evaluate_current(s->local, &tasks[k], 0, s->b->x, s->value, s->here);
            svmp_node_evaluate_proposed(s->local, &tasks[k], 0, s->b->x, s->y, s->value, s->there);
        }
    }
}

/* Only the random numbers of a sweep. */
static void numbers(subject *s) {
    const svmp_graph *graph = s->b->model->graph;
    for (size_t i = 0; i < graph->variables; i++)
        svmp_random_quick_normals((random_stream){.purpose = RANDOM_LOCAL, .a = s->t, .b = i}, s->b->n, s->value);
    for (size_t v = 0; v < graph->nodes; v++)
        svmp_random_log_uniforms((random_stream){.purpose = RANDOM_LOCAL_ACCEPT, .a = s->t, .b = v}, s->b->n, s->value);
    s->t++;
}

typedef void (*work)(subject *s);

/* Seconds of each: the minimum of some rounds, in which they take turns. */
static void costs(subject *s, size_t count, const work *works, double *best) {
    size_t times[4] = {1, 1, 1, 1};
    for (size_t k = 0; k < count; k++) {
        const double started = thread_seconds();
        works[k](s);
        times[k] += (size_t)(enough / (thread_seconds() - started + 1e-7));
        best[k] = 1e300;
    }
    for (int round = 0; round < rounds; round++)
        for (size_t k = 0; k < count; k++) {
            const double started = thread_seconds();
            for (size_t t = 0; t < times[k]; t++) works[k](s);
            best[k] = fmin(best[k], (thread_seconds() - started) / (double)times[k]);
        }
}

static void measure(const char *name, svmp_model *model, size_t n) {
    const svmp_graph *graph = model->graph;
    subject s = {0};
    uint32_t *colour = calloc(graph->nodes, sizeof *colour);
    must(svmp_backend_create(&svmp_backend_cpu, model, n, 1, NULL, NULL, &s.b));
    for (size_t i = 0; i < graph->variables; i++) {
        svmp_random_normals((random_stream){.purpose = RANDOM_TEST, .b = i}, n, s.b->x + i * n);
        for (size_t l = 0; l < n; l++) s.b->x[i * n + l] *= 0.3;
    }
    must(svmp_evaluator_create(model, n, 1, &s.evaluator));
    must(svmp_graph_colour(graph, colour, &s.colours));
    must(svmp_node_evaluator_create(model, n, 1, s.colours, colour, &s.local));
    must(svmp_sweeper_create(s.b, &s.sweeper));
    const size_t rows = svmp_node_evaluator_most_rows(s.local) * n;
    s.value = calloc(svmp_node_evaluator_most_nodes(s.local) * n, sizeof *s.value);
    s.here = calloc(rows, sizeof *s.here);
    s.there = calloc(rows, sizeof *s.there);
    s.y = calloc(rows, sizeof *s.y);

    must(svmp_sweeper_measure_curvature(s.sweeper, s.b, 0));
    for (size_t t = 0; t < 30; t++) must(svmp_sweep(s.sweeper, s.b, s.t++, 2 / sqrt(1 + (double)t)));
    double best[4];
    costs(&s, 4, (const work[]){score, factors, numbers, sweep}, best);
    const node_work floor = svmp_node_evaluator_work(s.local);
    printf("%-18s %7zu %5zu %8zu %10.1f %10.1f %11.2f %9.2f %9.2f %9.2f\n", name, graph->variables, n, s.colours,
           1e6 * best[0], 1e6 * best[3], (double)floor.sweep / (double)floor.score, best[1] / best[0],
           best[2] / best[0], best[3] / best[0]);
    fflush(stdout);
    free(s.value), free(s.here), free(s.there), free(s.y), free(colour);
    svmp_sweeper_free(s.sweeper);
    svmp_node_evaluator_free(s.local);
    svmp_evaluator_free(s.evaluator);
    svmp_backend_free(s.b);
    svmp_model_free(model);
}

int main(int count, char **arguments) {
    const int quick = is_quick(count, arguments);
    const size_t n = quick ? 5 : count > 1 ? strtoul(arguments[1], NULL, 10) : 100;
    if (quick) rounds = 1, enough = 0;
    start_context(1);
    printf("%-18s %7s %5s %8s %10s %10s %41s\n", "", "", "", "", "us", "us", "a sweep over a score");
    printf("%-18s %7s %5s %8s %10s %10s %11s %9s %9s %9s\n", "model", "vars", "n", "colours", "score", "sweep",
           "operations", "factors", "numbers", "sweep");
    measure("matrix, 60 x 60", grid(quick ? 10 : 60), n);
    measure("field, 30 x 30", field(), n);
    measure("effects", effects(), n);
    measure("sensors", read_two("models/sensors.bug", "models/sensors.json"), n);
    measure("mixture", read_two("models/mixture.bug", "models/mixture.csv"), n);
    measure("field, 4 chains", field(), 4);
    svmp_context_free(context);
    return 0;
}
