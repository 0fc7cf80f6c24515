/* The paper's three models in a run: iterations a second, and where their time goes.
 *
 *     bench_models [--quick | PARTICLES]        from the project's root: it reads models/
 *
 * Programs and quadratic forms, the Stein kernel and the step are what the method asks for. The rest is a run's own:
 * gathering the score, looking for what is not finite, loops and calls. One thread; a second column for all.
 */
#include <math.h>

#include "backend/backend.h"
#include "bench/bench.h"

static double uniform(void) { return rand() / (RAND_MAX + 1.0); }

static double normal(void) { return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform()); }

static void array(FILE *file, const char *name, size_t count, const double *values) {
    fprintf(file, "\"%s\": [", name);
    for (size_t k = 0; k < count; k++) fprintf(file, "%s%.10g", k ? ", " : "", values[k]);
    fprintf(file, "],\n");
}

/* 100 sensors in [-1, 1]^2, four anchors in the corners; pairs nearer than 0.5 are measured. */
static void write_sensors(FILE *file) {
    enum { SENSORS = 100, ANCHORS = 4, ALL = SENSORS + ANCHORS };
    static double x[ALL][2], from[ALL * ALL], to[ALL * ALL], r[ALL * ALL];
    size_t edges = 0;
    for (size_t i = 0; i < ALL; i++) {
        x[i][0] = i < ANCHORS ? (i % 2 ? 1 : -1) : 2 * uniform() - 1;
        x[i][1] = i < ANCHORS ? (i / 2 ? 1 : -1) : 2 * uniform() - 1;
        for (size_t j = 0; j < i; j++) {
            const double distance = hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]);
            if (distance > 0.5 || i < ANCHORS) continue;
            from[edges] = (double)i + 1, to[edges] = (double)j + 1, r[edges++] = fabs(distance + 0.05 * normal());
        }
    }
    fprintf(file, "{\"S\": %d, \"sigma\": 0.05,\n", ALL);
    array(file, "from", edges, from);
    array(file, "to", edges, to);
    array(file, "r", edges, r);
    fprintf(file, "\"x\": [");
    for (size_t i = 0; i < ALL; i++)
        if (i < ANCHORS)
            fprintf(file, "%s[%g, %g]", i ? ", " : "", x[i][0], x[i][1]);
        else
            fprintf(file, ", [null, null]");
    fprintf(file, "]}\n");
}

/* 80 questions, each answered by five of 50 workers. */
static void write_crowd(FILE *file) {
    enum { QUESTIONS = 80, WORKERS = 50, EACH = 5, ANSWERS = QUESTIONS * EACH };
    double question[ANSWERS], worker[ANSWERS], answer[ANSWERS], x[QUESTIONS], bias[WORKERS];
    for (size_t i = 0; i < QUESTIONS; i++) x[i] = 5 * normal();
    for (size_t j = 0; j < WORKERS; j++) bias[j] = 5 * normal();
    for (size_t k = 0; k < ANSWERS; k++) {
        const size_t i = k / EACH, j = (7 * i + 11 * (k % EACH)) % WORKERS;
        question[k] = (double)i + 1, worker[k] = (double)j + 1, answer[k] = x[i] + bias[j] + 0.7 * normal();
    }
    fprintf(file, "{\"questions\": %d, \"workers\": %d,\n", QUESTIONS, WORKERS);
    array(file, "question", ANSWERS, question);
    array(file, "worker", ANSWERS, worker);
    array(file, "answer", ANSWERS, answer);
    fprintf(file, "\"controls\": 0}\n");
}

static svmp_model *read_with(const char *path, void (*write)(FILE *file)) {
    char folder[] = "/tmp/bench_models_XXXXXX", data[64];
    svmp_model *model = NULL;
    FILE *file = NULL;
    if (mkdtemp(folder)) {
        snprintf(data, sizeof data, "%s/data.json", folder);
        file = fopen(data, "w");
    }
    if (file == NULL) {
        perror("the data cannot be written");
        exit(1);
    }
    write(file);
    fclose(file);
    const svmp_status status = svmp_model_read(context, 2, (const char *[]){path, data}, NULL, &model);
    remove(data);
    remove(folder);
    must(status);
    return model;
}

static size_t iterations = 300, rounds = 8;

/* Seconds an iteration: the least of some runs. */
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

/* What the programs and the quadratic form of the model take by themselves. */
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

/* The same iterations as a run's, move by move. */
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
        models[1] = read_with("models/sensors.bug", write_sensors);
        models[2] = read_with("models/crowd.bug", write_crowd);
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
