/* Runs of the paper's three models: iterations per second, and the time of their parts.
 *
 *     bench_models [--quick | PARTICLES]        from the project's root: it reads models/
 *
 * The method needs programs and quadratic forms, the Stein kernel and the step. The rest is overhead of a run:
 * gathering the score, checking for numbers that are not finite, loops and calls. One thread; a second column for all
 * threads.
 */
#include "backend/backend.h"
#include "bench/paper.h"

static size_t iterations = 300, rounds = 8;

/* Seconds per iteration: the minimum of some runs. */
static double whole_run(const svmp_model *model, size_t n, double (*clock)(void)) {
    svmp_options *options;
    must(svmp_options_create(context, &options));
    must(svmp_options_set(options, "method", "graphical"));
    must(svmp_options_set_count(options, "particles", n));
    must(svmp_options_set_count(options, "iterations", iterations));
    double best = 1e300;
    for (size_t round = 0; round < rounds; round++) {
        svmp_run *run;
        svmp_outcome outcome;
        must(svmp_run_create(model, options, &run));
        const double started = clock();
        must(svmp_run_go(run, &outcome));
        const double spent = (clock() - started) / (double)iterations;
        svmp_run_free(run);
        best = spent < best ? spent : best;
    }
    svmp_options_free(options);
    return best;
}

/* The time of the model's programs and quadratic form alone. */
typedef struct parts {
    void *scratch;
    double *value, *gradient;
} parts;

static void evaluate(const backend *b, const parts *p) {
    const svmp_model *model = b->model;
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        group->kind->evaluate(group, 0, group->instances, b->n, b->x, p->scratch, p->value, p->gradient);
    }
    for (size_t i = 0; i < model->graph->variables; i++)
        svmp_quadratic_score(&model->quadratic, i, b->n, 0, b->n, b->x, p->gradient);
}

typedef struct costs {
    double programs, stein, step;
} costs;

/* The iterations of a run, step by step. */
static costs moves(const svmp_model *model, size_t n, const parts *p) {
    costs best = {1e300, 1e300, 1e300};
    kernel k;
    step s;
    must(svmp_kernel_parse(context, "rbf@blanket", (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    must(svmp_step_parse(context, "adagrad:0.1", &s));
    for (size_t round = 0; round < rounds; round++) {
        backend *b = NULL;
        costs here = {0};
        must(svmp_backend_create(&svmp_backend_cpu, model, n, 1, &k, &s, &b));
        for (size_t i = 0; i < model->graph->variables * n; i++) b->x[i] = normal();
        for (size_t t = 0; t < iterations; t++) {
            const double started = thread_seconds();
            evaluate(b, p);
            here.programs += thread_seconds() - started;
            must(b->kind->score(b));
            const double scored = thread_seconds();
            must(b->kind->stein(b, &k, t));
            const double moved = thread_seconds();
            must(b->kind->step(b, &s, 0.1, t));
            here.stein += moved - scored;
            here.step += thread_seconds() - moved;
        }
        best.programs = fmin(best.programs, here.programs / (double)iterations);
        best.stein = fmin(best.stein, here.stein / (double)iterations);
        best.step = fmin(best.step, here.step / (double)iterations);
        svmp_backend_free(b);
    }
    return best;
}

static size_t most_instances(const svmp_model *model) {
    size_t most = 1;
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].instances > most) most = model->groups[g].instances;
    return most;
}

static void show(const char *name, const svmp_model *model, size_t n, double all_threads) {
    size_t scratch = 1, slots = 1;
    for (size_t g = 0; g < model->group_count; g++) {
        const size_t needs = model->groups[g].kind->scratch(&model->groups[g], n);
        if (needs > scratch) scratch = needs;
        if (model->groups[g].slots > slots) slots = model->groups[g].slots;
    }
    const parts p = {calloc(scratch, 1), calloc(most_instances(model) * n, sizeof(double)),
                     calloc(most_instances(model) * n * slots, sizeof(double))};
    const costs c = moves(model, n, &p);
    const double whole = whole_run(model, n, thread_seconds), percent = 100 / whole;
    printf("%-10s %9zu %8zu %12.1f %9.0f %9.0f %9.0f%% %6.0f%% %6.0f%% %6.1f%%\n", name, model->graph->variables,
           svmp_graph_factors(model->graph), 1e6 * whole, 1 / whole, 1 / all_threads, percent * c.programs,
           percent * c.stein, percent * c.step, 100 - percent * (c.programs + c.stein + c.step));
    free(p.scratch), free(p.value), free(p.gradient);
}

int main(int count, char **arguments) {
    const int quick = is_quick(count, arguments);
    const size_t n = quick ? 5 : count > 1 ? strtoul(arguments[1], NULL, 10) : 50;
    if (quick) iterations = 5, rounds = 1;
    double wall[3];
    for (int threads = 0; threads < 2; threads++) { /* all, then one */
        start_context(threads);
        srand(1); /* the same data for both */
        svmp_model *models[3];
        const char *names[] = {"grid", "sensors", "crowd"};
        must(svmp_model_read(context, 2, (const char *[]){"models/grid.mtx", "models/grid_b.mtx"}, NULL, &models[0]));
        models[1] = read_with("models/sensors.bug", write_sensors, 100);
        models[2] = read_with("models/crowd.bug", write_crowd, 80);
        if (threads == 1)
            printf("graphical SVGD with AdaGrad, n = %zu\n\n%-10s %9s %8s %12s %9s %9s %10s %7s %7s %7s\n", n, "model",
                   "variables", "factors", "us, 1 thread", "per s", "all", "programs", "stein", "step", "rest");
        for (size_t m = 0; m < 3; m++) {
            if (threads == 0) wall[m] = whole_run(models[m], n, seconds);
            if (threads == 1) show(names[m], models[m], n, wall[m]);
            svmp_model_free(models[m]);
        }
        svmp_context_free(context);
    }
    return 0;
}
