/* A node and its factors: values and scores at y against the whole model with the node moved there, for the language,
 * matrices and functions. */
#include "support.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "graph/colouring.h"
#include "model/model.h"
#include "model/node_evaluator.h"

enum { MOST_FILES = 4 };

static const char *const models[][MOST_FILES] = {
    {"car.bug", "car.json"},
    {"crowd.bug", "crowd.csv", "crowd.json"},
    {"crowd_log.bug", "crowd.csv", "crowd.json"},
    {"gaussian_grid.bug", "gaussian_grid.json"},
    {"grid.mtx", "grid_b.mtx"},
    {"growth.bug", "growth.json"},
    {"hierarchical.bug", "hierarchical.csv", "hierarchical.json"},
    {"linear.bug", "linear.csv"},
    {"logistic.bug", "logistic.csv"},
    {"mixture.bug", "mixture.csv"},
    {"network.bug", "network.json", "network.csv"},
    {"normal.bug", "normal.R"},
    {"poisson.bug", "poisson.R"},
    {"ranges.bug", "ranges.R"},
    {"robust.bug", "robust.csv"},
    {"rss.bug", "rss.R"},
    {"schools.bug", "schools.R"},
    {"schools_centred.bug", "schools.R"},
    {"sensors.bug", "sensors.json"},
    {"state_space.bug", "state_space.R"},
    {"survival.bug", "survival.csv", "survival.R"},
    {"votes.bug", "votes.json"},
};

/* NULL if this build cannot read all of the files. */
static svmp_model *read_files(svmp_context *context, const char *const *files) {
    char paths[MOST_FILES][1000];
    const char *list[MOST_FILES];
    size_t count = 0;
    for (; count < MOST_FILES && files[count]; count++) {
#ifndef SVMP_HAVE_JANSSON
        if (strstr(files[count], ".json")) return NULL;
#endif
        snprintf(paths[count], sizeof paths[count], "%s/%s", SVMP_MODELS, files[count]);
        list[count] = paths[count];
    }
    svmp_model *model = NULL;
    if (svmp_model_read(context, count, list, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    return model;
}

/* ---- against the whole model ------------------------------------------------------------------------------------- */

/* All of a model's values and scores at x, and at y of each node in turn. */
typedef struct evaluations {
    size_t n, colours, hubs;
    double *x, *y;
    double *value[2], *score[2]; /* node by node, variable by variable; at x, at y */
    double *alone;               /* scores by svmp_node_evaluate_scores */
} evaluations;

static double *numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static void evaluate_task(node_evaluator *l, const svmp_graph *graph, const node_task *task, evaluations *k) {
    const size_t n = k->n;
    double *value = numbers(task->count * n), *score = numbers(task->rows * n), *y = numbers(task->rows * n);
    for (size_t v = 0, r = 0; v < task->count; v++)
        for (size_t i = graph->first[task->nodes[v]]; i < graph->first[task->nodes[v] + 1]; i++, r++)
            memcpy(y + r * n, k->y + i * n, n * sizeof *y);
    for (int at = 0; at < 2; at++) {
        assert_true((at == 0 ? svmp_node_evaluate_current(l, task, 0, k->x, value, score)
                             : svmp_node_evaluate_proposed(l, task, 0, k->x, y, value, score)) == NODE_EVALUATED);
        for (size_t v = 0, r = 0; v < task->count; v++) {
            const size_t node = task->nodes[v], first = graph->first[node], rows = graph->first[node + 1] - first;
            memcpy(k->value[at] + node * n, value + v * n, n * sizeof *value);
            memcpy(k->score[at] + first * n, score + r * n, rows * n * sizeof *score);
            r += rows;
        }
    }
    k->hubs += task->hub != 0;
    free(value);
    free(score);
    free(y);
}

static evaluations evaluate_all(const svmp_model *model, size_t n, int threads, double far) {
    const svmp_graph *graph = model->graph;
    const size_t numbers_ = graph->variables * n;
    evaluations k = {.n = n, .x = numbers(numbers_), .y = numbers(numbers_), .alone = numbers(numbers_)};
    for (int at = 0; at < 2; at++) {
        k.value[at] = numbers(graph->nodes * n);
        k.score[at] = numbers(numbers_);
    }
    for (size_t e = 0; e < numbers_; e++) {
        k.x[e] = far + 0.6 * test_random(1, e);
        k.y[e] = far + 0.6 * test_random(2, e);
    }
    uint32_t *colour = calloc(graph->nodes, sizeof *colour);
    node_evaluator *l = NULL;
    assert_ok(svmp_graph_colour(graph, colour, &k.colours));
    assert_ok(svmp_node_evaluator_create(model, n, threads, k.colours, colour, &l));
    for (size_t c = 0; c < k.colours; c++) {
        size_t count, hubs;
        const node_task *tasks = svmp_node_evaluator_tasks(l, c, &count, &hubs);
        for (size_t t = 0; t < count; t++) {
            assert_int_equal(tasks[t].hub, t >= hubs);
            assert_true(tasks[t].count <= svmp_node_evaluator_most_nodes(l) &&
                        tasks[t].rows <= svmp_node_evaluator_most_rows(l));
            evaluate_task(l, graph, &tasks[t], &k);
        }
    }
    assert_ok(svmp_node_evaluate_scores(l, k.x, k.y, k.alone));
    svmp_node_evaluator_free(l);
    free(colour);
    return k;
}

static void free_evaluations(evaluations *k) {
    double *const arrays[] = {k->x, k->y, k->value[0], k->value[1], k->score[0], k->score[1], k->alone};
    for (size_t e = 0; e < sizeof arrays / sizeof *arrays; e++) free(arrays[e]);
}

/* Differences of values equal those of the whole log density when one node moves; scores equal those of the whole
 * model. A sum of m numbers has an error of at most m epsilon times their size: 1e-12 of the sum of magnitudes. */
static void check(const svmp_model *model, const char *name, size_t n) {
    const svmp_graph *graph = model->graph;
    evaluations k = evaluate_all(model, n, 1, 0);
    double *here = numbers(n), *there = numbers(n), *score = numbers(graph->variables * n);
    double *moved = numbers(graph->variables * n);
    assert_ok(svmp_model_evaluate(model, n, k.x, here, score));
    for (size_t e = 0; e < graph->variables * n; e++)
        if (!(fabs(k.score[0][e] - score[e]) <= 1e-12 * (1 + fabs(here[e % n]) + fabs(score[e]))))
            fail_msg("%s: variable %zu: the score is %.17g, the whole's %.17g", name, e / n, k.score[0][e], score[e]);
    for (size_t v = 0; v < graph->nodes; v++) {
        const size_t first = graph->first[v], last = graph->first[v + 1];
        memcpy(moved, k.x, graph->variables * n * sizeof *moved);
        memcpy(moved + first * n, k.y + first * n, (last - first) * n * sizeof *moved);
        assert_ok(svmp_model_evaluate(model, n, moved, there, score));
        for (size_t l = 0; l < n; l++) {
            const double ratio = k.value[1][v * n + l] - k.value[0][v * n + l], wanted = there[l] - here[l];
            if (!(fabs(ratio - wanted) <= 1e-12 * (1 + fabs(here[l]) + fabs(there[l]))))
                fail_msg("%s: node %zu: the ratio is %.17g, the whole's %.17g", name, v, ratio, wanted);
        }
        for (size_t e = first * n; e < last * n; e++) {
            const double bound = 1e-12 * (1 + fabs(there[e % n]) + fabs(score[e]));
            if (!(fabs(k.score[1][e] - score[e]) <= bound && fabs(k.alone[e] - score[e]) <= bound))
                fail_msg("%s: variable %zu at y: the score is %.17g and %.17g, the whole's %.17g", name, e / n,
                         k.score[1][e], k.alone[e], score[e]);
        }
    }
    free(here);
    free(there);
    free(score);
    free(moved);
    free_evaluations(&k);
}

static void test_models(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        svmp_model *model = read_files(context, models[k]);
        if (model == NULL) continue;
        const size_t few = model->graph->nodes > 200 ? 1 : 3; /* gathered instances */
        check(model, models[k][0], few);
        check(model, models[k][0], 1);
        if (model->graph->nodes < 100) check(model, models[k][0], 19); /* blocks of one instance */
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

static void test_matrices(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int scalar = 0; scalar < 2; scalar++) {
        svmp_model *model = test_random_gaussian(context, 30, 0.2, scalar, 5);
        check(model, "a Gaussian", 7);
        check(model, "a Gaussian", 100);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* log density -A (x - m)^2 / 2 with A = 1e8 and m = 1e4: its values are 1e16, and their difference is known. */
static void test_far_from_zero(void **state) {
    (void)state;
    enum { N = 5 };
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    const double precision = 1e8, centre = 1e4;
    const size_t node = 0;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, &node, &precision, (double[]){precision * centre}));
    assert_ok(svmp_model_finish(model));
    node_evaluator *l = NULL;
    assert_ok(svmp_node_evaluator_create(model, N, 1, 1, (uint32_t[]){0}, &l));
    double x[N], y[N], value[2][N], score[2][N];
    for (size_t k = 0; k < N; k++) {
        x[k] = centre + 1e-4 * test_random(1, k);
        y[k] = centre + 1e-4 * test_random(2, k);
    }
    size_t count, hubs;
    const node_task *task = svmp_node_evaluator_tasks(l, 0, &count, &hubs);
    assert_true(svmp_node_evaluate_current(l, task, 0, x, value[0], score[0]) == NODE_EVALUATED);
    assert_true(svmp_node_evaluate_proposed(l, task, 0, x, y, value[1], score[1]) == NODE_EVALUATED);
    for (size_t k = 0; k < N; k++) {
        const double dx = x[k] - centre, dy = y[k] - centre; /* exact */
        assert_near(value[1][k] - value[0][k], 0.5 * precision * (dx * dx - dy * dy), 1e-6);
    }
    svmp_node_evaluator_free(l);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* log f = -sum_k (k + 1) cos(x_k) x_(k + 1), over all variables of the scope, cyclically. */
static int twisted(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const size_t count = *(const size_t *)user_data;
    if (count == 0) return 1;
    for (size_t l = 0; l < n; l++) value[l] = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < n; l++) gradient[k][l] = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < n; l++) {
            const size_t next = (k + 1) % count;
            const double weight = -(double)(k + 1);
            value[l] += weight * cos(x[k][l]) * x[next][l];
            gradient[k][l] += -weight * sin(x[k][l]) * x[next][l];
            gradient[next][l] += weight * cos(x[k][l]);
        }
    return 0;
}

/* Nodes of one, two and three variables; functions over one to four of them, a matrix over some. */
static svmp_model *make_functions(svmp_context *context, const size_t *counts) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 6; v++) assert_ok(svmp_model_add_node(model, NULL, 1 + v % 3, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){4, 0}, (double[]){2, 1, 0, 1, 2, 1, 0, 1, 2}, NULL));
    assert_ok(svmp_model_add_callback(model, 1, (size_t[]){2}, twisted, (void *)(uintptr_t)&counts[0]));
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){5, 0}, twisted, (void *)(uintptr_t)&counts[1]));
    assert_ok(svmp_model_add_callback(model, 4, (size_t[]){3, 2, 1, 4}, twisted, (void *)(uintptr_t)&counts[2]));
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, twisted, (void *)(uintptr_t)&counts[3]));
    assert_ok(svmp_model_finish(model));
    return model;
}

static void test_functions(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    size_t counts[] = {3, 4, 8, 3};
    svmp_model *model = make_functions(context, counts);
    check(model, "functions", 1);
    check(model, "functions", 20);

    /* The error names the factor whose function fails. */
    double x[12] = {0}, score[12];
    uint32_t colour[] = {0, 1, 2, 3, 4, 5};
    node_evaluator *l = NULL;
    assert_ok(svmp_node_evaluator_create(model, 1, 1, 6, colour, &l));
    assert_ok(svmp_node_evaluate_scores(l, x, x, score));
    counts[2] = 0;
    assert_int_equal(svmp_node_evaluate_scores(l, x, x, score), SVMP_CALLBACK_FAILED);
    assert_non_null(strstr(svmp_context_error(context), "factor 3"));
    svmp_node_evaluator_free(l);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- hubs, and factors that touch many nodes --------------------------------------------------------------------- */

static svmp_model *read_text(svmp_context *context, const char *text, const char *data) {
    svmp_model *model = NULL;
    write_text("model.bug", text);
    write_text("data.R", data);
    if (svmp_model_read(context, 2, (const char *[]){"model.bug", "data.R"}, NULL, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

/* mu, tau and beta touch 2,000 factors each: with 40 particles they are hubs. The a are not. */
static svmp_model *read_hubs(svmp_context *context) {
    return read_text(context,
                     "data { for (i in 1:M) { y[i] <- sin(i) } }\n"
                     "model { for (i in 1:M) { y[i] ~ dnorm(mu + beta * cos(i), tau) }\n"
                     "  for (i in 1:30) { a[i] ~ dt(mu, 1, 4) }\n"
                     "  mu ~ dnorm(0, 1); tau ~ dgamma(2, 2); beta ~ dlogis(0, 1) }\n",
                     "M <- 2000\n");
}

static void test_hubs(void **state) {
    (void)state;
    enum { N = 40 };
    svmp_context *context = test_context(1);
    svmp_model *model = read_hubs(context);
    evaluations k = evaluate_all(model, N, 1, 0);
    assert_int_equal(k.hubs, 3);
    free_evaluations(&k);
    check(model, "hubs", N);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A factor over 100 nodes: more patterns than have specialised code. */
static void test_wide_factors(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context,
                                  "model { for (i in 1:M) { x[i] ~ dnorm(0, 1) }\n"
                                  "  factor(-0.01 * pow(sum(x[1:M]), 4)) }\n",
                                  "M <- 100\n");
    check(model, "a wide factor", 2);
    check(model, "a wide factor", 20);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void compare(const svmp_model *model, const evaluations *a, const evaluations *b) {
    const size_t values = model->graph->nodes * a->n, scores = model->graph->variables * a->n;
    for (int at = 0; at < 2; at++) {
        assert_memory_equal(a->value[at], b->value[at], values * sizeof(double));
        assert_memory_equal(a->score[at], b->score[at], scores * sizeof(double));
    }
    assert_memory_equal(a->alone, b->alone, scores * sizeof(double));
}

static void test_threads(void **state) {
    (void)state;
    svmp_context *context = test_context(4);
    svmp_model *hubs = read_hubs(context), *grid = test_grid(context, 12, 3);
    svmp_model *const both[] = {hubs, grid};
    for (size_t m = 0; m < 2; m++) {
        evaluations one = evaluate_all(both[m], 40, 1, 0);
        for (int threads = 2; threads < 5; threads++) {
            evaluations more = evaluate_all(both[m], 40, threads, 0);
            compare(both[m], &one, &more);
            free_evaluations(&more);
        }
        free_evaluations(&one);
        svmp_model_free(both[m]);
    }
    svmp_context_free(context);
}

/* A subset of the nodes, with neighbours in different colours: the same scores, and no others. */
static void test_a_subset_of_nodes(void **state) {
    (void)state;
    enum { N = 40 };
    svmp_context *context = test_context(2);
    svmp_model *model = read_hubs(context);
    const svmp_graph *graph = model->graph;
    evaluations all = evaluate_all(model, N, 2, 0);
    uint32_t *colour = calloc(graph->nodes, sizeof *colour);
    double *score = numbers(graph->variables * N);
    for (size_t v = 0; v < graph->nodes; v++) colour[v] = v % 3 == 1 ? NODE_UNCOLOURED : (uint32_t)v;
    for (size_t e = 0; e < graph->variables * N; e++) score[e] = 7;
    node_evaluator *l = NULL;
    assert_ok(svmp_node_evaluator_create(model, N, 2, graph->nodes, colour, &l));
    assert_ok(svmp_node_evaluate_scores(l, all.x, all.y, score));
    for (size_t v = 0; v < graph->nodes; v++)
        for (size_t e = graph->first[v] * N; e < graph->first[v + 1] * N; e++)
            assert_true(score[e] == (colour[v] == NODE_UNCOLOURED ? 7 : all.alone[e]));
    svmp_node_evaluator_free(l);
    free(colour);
    free(score);
    free_evaluations(&all);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

/* Scores are derivatives of values: y moved a little in each of its variables. */
static void check_differences(const svmp_model *model, const char *name) {
    enum { N = 2 };
    const double h = 1e-5;
    const svmp_graph *graph = model->graph;
    uint32_t *colour = calloc(graph->nodes, sizeof *colour);
    double *x = numbers(graph->variables * N);
    size_t colours;
    node_evaluator *l = NULL;
    assert_ok(svmp_graph_colour(graph, colour, &colours));
    assert_ok(svmp_node_evaluator_create(model, N, 1, colours, colour, &l));
    const size_t rows = svmp_node_evaluator_most_rows(l), nodes = svmp_node_evaluator_most_nodes(l);
    double *y = numbers(rows * N), *score = numbers(rows * N), *spare = numbers(rows * N);
    double *above = numbers(nodes * N), *below = numbers(nodes * N);
    for (size_t e = 0; e < graph->variables * N; e++) x[e] = 0.5 * test_random(4, e);
    for (size_t c = 0; c < colours; c++) {
        size_t count, hubs;
        const node_task *tasks = svmp_node_evaluator_tasks(l, c, &count, &hubs);
        for (size_t t = 0; t < count; t++)
            for (size_t k = 0, r = 0; k < tasks[t].count; k++)
                for (size_t j = 0; j < svmp_graph_node_dimension(graph, tasks[t].nodes[k]); j++, r++) {
                    for (size_t e = 0; e < tasks[t].rows * N; e++) y[e] = 0.5 * test_random(5, e);
                    svmp_node_evaluate_current(l, &tasks[t], 0, x, NULL, spare);
                    svmp_node_evaluate_proposed(l, &tasks[t], 0, x, y, above, score);
                    for (size_t e = r * N; e < (r + 1) * N; e++) y[e] += h;
                    svmp_node_evaluate_proposed(l, &tasks[t], 0, x, y, above, spare);
                    for (size_t e = r * N; e < (r + 1) * N; e++) y[e] -= 2 * h;
                    svmp_node_evaluate_proposed(l, &tasks[t], 0, x, y, below, spare);
                    for (size_t e = 0; e < N; e++) {
                        const double wanted = (above[k * N + e] - below[k * N + e]) / (2 * h);
                        const double rounding = 1e-15 * fabs(above[k * N + e]) / h;
                        if (!(fabs(score[r * N + e] - wanted) <= 1e-6 * (1 + fabs(wanted)) + 10 * rounding))
                            fail_msg("%s: the score of node %u is %.10g, differences say %.10g", name,
                                     (unsigned)tasks[t].nodes[k], score[r * N + e], wanted);
                    }
                }
    }
    svmp_node_evaluator_free(l);
    free(colour), free(x), free(y), free(score), free(spare), free(above), free(below);
}

static void test_differences(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const size_t counts[] = {3, 4, 8, 3};
    svmp_model *functions = make_functions(context, counts), *hubs = read_hubs(context);
    svmp_model *matrix = test_random_gaussian(context, 20, 0.3, 0, 9);
    check_differences(functions, "functions");
    check_differences(hubs, "hubs");
    check_differences(matrix, "a matrix");
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        svmp_model *model = read_files(context, models[k]);
        if (model && model->graph->nodes < 200) check_differences(model, models[k][0]);
        svmp_model_free(model);
    }
    svmp_model_free(functions);
    svmp_model_free(hubs);
    svmp_model_free(matrix);
    svmp_context_free(context);
}

/* ---- colours ----------------------------------------------------------------------------------------------------- */

static void test_colours(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *grid = test_grid(context, 9, 1), *random = test_random_gaussian(context, 60, 0.1, 1, 3);
    svmp_model *clique = test_random_gaussian(context, 12, 1, 1, 3), *const all[] = {grid, random, clique};
    for (size_t m = 0; m < 3; m++) {
        const svmp_graph *graph = all[m]->graph;
        uint32_t *colour = calloc(graph->nodes, sizeof *colour);
        size_t colours, most = 0;
        assert_ok(svmp_graph_colour(graph, colour, &colours));
        for (size_t v = 0; v < graph->nodes; v++) {
            size_t count;
            const uint32_t *near = svmp_graph_neighbourhood(graph, v, &count);
            assert_true(colour[v] < colours && colour[v] < count);
            for (size_t k = 0; k < count; k++) assert_true(near[k] == v || colour[near[k]] != colour[v]);
            most = colour[v] + (size_t)1 > most ? colour[v] + (size_t)1 : most;
        }
        assert_int_equal(most, colours);
        if (m != 1) assert_int_equal(colours, m == 0 ? 2 : 12);
        free(colour);
        svmp_model_free(all[m]);
    }
    svmp_context_free(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void test_memory(void **state) {
    (void)state;
    scarce_memory memory = {LONG_MAX};
    svmp_context *context = scarce_context(&memory);
    svmp_model *model = read_text(context,
                                  "model { for (i in 1:8) { x[i] ~ dt(m, 1, 3) }\n"
                                  "  m ~ dnorm(0, 1); factor(-pow(sum(x[1:8]), 4)) }\n",
                                  "unused <- 1\n");
    uint32_t colour[9];
    size_t colours;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        node_evaluator *l = NULL;
        memory.left = allowed;
        status = svmp_graph_colour(model->graph, colour, &colours);
        if (status == SVMP_OK) status = svmp_node_evaluator_create(model, 3, 2, colours, colour, &l);
        if (status != SVMP_OK) assert_non_null(strstr(svmp_context_error(context), "Out of memory"));
        svmp_node_evaluator_free(l);
        assert_true(allowed < 1000);
    }
    assert_ok(status);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_far_from_zero), cmocka_unit_test(test_functions),
        cmocka_unit_test(test_hubs),          cmocka_unit_test(test_wide_factors),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_a_subset_of_nodes),
        cmocka_unit_test(test_differences),   cmocka_unit_test(test_colours),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
