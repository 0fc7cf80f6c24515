/* Parts of a model, exchanged by hand in one process, move every node to the same bits as the whole model, for any
 * partition. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "graph/graph_part.h"
#include "graph/partition.h"
#include "method/method.h"
#include "model/model_part.h"
#include "unit/support.h"

enum { N = 13, ITERATIONS = 4, PARTS_MOST = 7 };

/* ---- partitions -------------------------------------------------------------------------------------------------- */

static uint64_t state = 1;

static uint32_t below(uint32_t bound) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % bound;
}

/* By METIS, in blocks, at random, everything in the last part. */
typedef enum way { BY_GRAPH, AT_RANDOM, LAST_HAS_ALL, WAYS } way;

static uint32_t *divide(const svmp_graph *graph, size_t parts, way how) {
    uint32_t *owner = calloc(graph->nodes, sizeof *owner);
    if (how == BY_GRAPH) assert_int_equal(svmp_partition(graph, parts, owner), SVMP_OK);
    for (size_t v = 0; v < graph->nodes && how == AT_RANDOM; v++) owner[v] = below((uint32_t)parts);
    for (size_t v = 0; v < graph->nodes && how == LAST_HAS_ALL; v++) owner[v] = (uint32_t)parts - 1;
    return owner;
}

/* ---- a run of parts ---------------------------------------------------------------------------------------------- */

typedef struct setting {
    const char *kernel; /* NULL: Langevin */
    const backend_kind *kind;
} setting;

static backend *start(const svmp_model *model, const setting *s, const kernel *k, const step *rule) {
    backend *b = NULL;
    const init from = {.kind = INIT_NORMAL, .sd = 0.7};
    assert_int_equal(svmp_backend_create(s->kind, model, N, 5, s->kernel ? k : NULL, rule, &b), SVMP_OK);
    const init_target target = svmp_start_target(b);
    double *x;
    assert_int_equal(svmp_backend_edit(b, ARRAY_PARTICLES, &x), SVMP_OK);
    assert_int_equal(svmp_init_draw(&from, &target, x), SVMP_OK);
    assert_int_equal(svmp_backend_commit(b, ARRAY_PARTICLES), SVMP_OK);
    return b;
}

/* Copies every halo row from its owner. */
static void exchange(backend *const *parts, size_t count, const uint32_t *owner) {
    for (size_t p = 0; p < count; p++) {
        const svmp_graph *here = parts[p]->model->graph;
        for (size_t v = here->moved; v < here->nodes; v++) {
            const backend *from = parts[owner[here->node_key[v]]];
            const svmp_graph *there = from->model->graph;
            size_t w = 0;
            while (there->node_key[w] != here->node_key[v]) w++;
            assert_true(w < there->moved);
            memcpy(parts[p]->x + here->first[v] * N, from->x + there->first[w] * N,
                   (here->first[v + 1] - here->first[v]) * N * sizeof(double));
        }
    }
}

/* First the interior, with wrong values in the halo; then the rest. */
static void spoil_halo(backend *b) {
    const svmp_graph *graph = b->model->graph;
    for (size_t k = graph->moved_variables * N; k < graph->variables * N; k++) b->x[k] = 1e6;
}

static void iterate(backend **parts, size_t count, const uint32_t *owner, const setting *s, const kernel *k,
                    const step *rule, size_t t) {
    for (size_t p = 0; p < count; p++) {
        backend *b = parts[p];
        const svmp_graph *graph = b->model->graph;
        spoil_halo(b);
        b->span = (node_span){0, graph->inner};
        assert_int_equal(s->kind->score(b), SVMP_OK);
        for (size_t first = 0; s->kernel && first < graph->inner; first += 3) {
            b->span = (node_span){first, first + 3 < graph->inner ? first + 3 : graph->inner};
            assert_int_equal(s->kind->stein(b, k, t), SVMP_OK);
        }
    }
    exchange(parts, count, owner);
    for (size_t p = 0; p < count; p++) {
        backend *b = parts[p];
        b->span = (node_span){b->model->graph->inner, b->model->graph->moved};
        assert_int_equal(s->kind->score(b), SVMP_OK);
        if (s->kernel && b->span.first < b->span.last) assert_int_equal(s->kind->stein(b, k, t), SVMP_OK);
    }
    for (size_t p = 0; p < count; p++)
        assert_int_equal(s->kernel ? s->kind->step(parts[p], rule, 0.05, t) : s->kind->diffuse(parts[p], 0.001, t),
                         SVMP_OK);
}

static void agree(const svmp_model *whole, const setting *s, size_t count, way how) {
    kernel k = {0};
    step rule;
    svmp_model *models[PARTS_MOST];
    backend *parts[PARTS_MOST];
    svmp_context *context = whole->context;
    assert_int_equal(svmp_step_parse(context, "adam:0.05", &rule), SVMP_OK);
    if (s->kernel)
        assert_int_equal(svmp_kernel_parse(context, s->kernel, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k), SVMP_OK);
    uint32_t *owner = divide(whole->graph, count, how);
    backend *b = start(whole, s, &k, &rule);
    for (size_t p = 0; p < count; p++) {
        assert_int_equal(svmp_model_part(whole, owner, (uint32_t)p, &models[p]), SVMP_OK);
        parts[p] = start(models[p], s, &k, &rule);
    }
    for (size_t t = 0; t < ITERATIONS; t++) {
        assert_int_equal(s->kind->score(b), SVMP_OK);
        if (s->kernel) assert_int_equal(s->kind->stein(b, &k, t), SVMP_OK);
        assert_int_equal(s->kernel ? s->kind->step(b, &rule, 0.05, t) : s->kind->diffuse(b, 0.001, t), SVMP_OK);
        iterate(parts, count, owner, s, &k, &rule, t);
    }
    size_t seen = 0;
    for (size_t p = 0; p < count; p++) {
        const svmp_graph *graph = models[p]->graph;
        for (size_t i = 0; i < graph->moved_variables; i++)
            assert_memory_equal(parts[p]->x + i * N, b->x + graph->variable_key[i] * N, N * sizeof(double));
        seen += graph->moved_variables;
        svmp_backend_free(parts[p]);
        svmp_model_free(models[p]);
    }
    assert_int_equal(seen, whole->graph->variables);
    svmp_backend_free(b);
    free(owner);
}

static void check(size_t count, const char *const *paths, const setting *settings, size_t setting_count) {
    static const size_t counts[] = {1, 2, 3, 4, 7};
    svmp_context *context = NULL;
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    assert_int_equal(svmp_context_set_threads(context, 2), SVMP_OK);
    svmp_model *model = NULL;
    if (svmp_model_read(context, count, paths, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    for (size_t s = 0; s < setting_count; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (way how = 0; how < WAYS; how++) agree(model, &settings[s], counts[c], how);
    svmp_model_free(model);
    svmp_context_free(context);
}

static const setting settings[] = {
    {"rbf@blanket", &svmp_backend_cpu}, {"rbf@random:2", &svmp_backend_cpu},
    {"imq@self", &svmp_backend_cpu},    {"0.3*rbf@blanket + linear@blanket + rbf@random:1", &svmp_backend_cpu},
    {NULL, &svmp_backend_cpu},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void a_grid(void **unused) {
    (void)unused;
    check(2, (const char *[]){SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"}, settings, SETTINGS);
    const setting plain[] = {{"rbf@blanket + linear@random:3", &svmp_backend_ref}};
    check(1, (const char *[]){SVMP_MODELS "/grid.mtx"}, plain, 1);
}

static void sensors(void **unused) {
    (void)unused;
#ifndef SVMP_HAVE_JANSSON
    skip();
#endif
    check(2, (const char *[]){SVMP_MODELS "/sensors.bug", SVMP_MODELS "/sensors.json"}, settings, SETTINGS);
}

static void a_crowd(void **unused) {
    (void)unused;
#ifndef SVMP_HAVE_JANSSON
    skip();
#endif
    check(3, (const char *[]){SVMP_MODELS "/crowd.bug", SVMP_MODELS "/crowd.csv", SVMP_MODELS "/crowd.json"}, settings,
          2);
}

/* ---- properties of partitions ------------------------------------------------------------------------------------ */

/* Sizes computed in one pass over the graph equal those of the parts. */
static void sizes_are_those_of_the_parts(void **unused) {
    (void)unused;
    svmp_context *context = NULL;
    svmp_model *model = NULL, *part = NULL;
    part_size sizes[5];
    const char *path = SVMP_MODELS "/grid.mtx";
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    assert_int_equal(svmp_model_read(context, 1, &path, NULL, &model), SVMP_OK);
    for (way how = 0; how < WAYS; how++) {
        uint32_t *owner = divide(model->graph, 5, how);
        assert_int_equal(svmp_partition_measure(model->graph, 5, owner, sizes), SVMP_OK);
        for (uint32_t p = 0; p < 5; p++) {
            assert_int_equal(svmp_model_part(model, owner, p, &part), SVMP_OK);
            const svmp_graph *graph = part->graph;
            assert_int_equal(sizes[p].nodes, graph->moved);
            assert_int_equal(sizes[p].boundary, graph->moved - graph->inner);
            assert_int_equal(sizes[p].halo_nodes, graph->nodes - graph->moved);
            assert_int_equal(sizes[p].halo_variables, graph->variables - graph->moved_variables);
            assert_int_equal(sizes[p].neighbours, graph->halo->neighbours);
            assert_int_equal(sizes[p].sent_variables, graph->halo->send.start[graph->halo->neighbours]);
            assert_int_equal(sizes[p].entries, graph->neighbourhoods.start[graph->distinct]);
            assert_true(sizes[p].work == svmp_graph_work(graph)); /* whole numbers */
            svmp_model_free(part);
        }
        free(owner);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* More parts than nodes: one node each, the others empty. Parts of a square are balanced, and cut few more edges than
 * straight cuts. */
static void partitions_are_balanced(void **unused) {
    (void)unused;
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    part_size sizes[200];
    uint32_t owner[100];
    const char *path = SVMP_MODELS "/grid.mtx"; /* 10 x 10 */
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    assert_int_equal(svmp_model_read(context, 1, &path, NULL, &model), SVMP_OK);
    assert_int_equal(svmp_partition(model->graph, 200, owner), SVMP_OK);
    assert_int_equal(svmp_partition_measure(model->graph, 200, owner, sizes), SVMP_OK);
    assert_int_equal(svmp_partition_quality(model->graph, 200, owner, sizes).busy, 100);
    for (size_t parts = 2; parts <= 4; parts += 2) {
        assert_int_equal(svmp_partition(model->graph, parts, owner), SVMP_OK);
        assert_int_equal(svmp_partition_measure(model->graph, parts, owner, sizes), SVMP_OK);
        const partition_quality q = svmp_partition_quality(model->graph, parts, owner, sizes);
        assert_int_equal(q.edges, 180);
        assert_true(q.imbalance < 0.1);
        assert_in_range(q.cut, parts == 2 ? 10 : 20, parts == 2 ? 20 : 40);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* `nodes` nodes of a dimension, each joined to the first one, as in a star, or to the previous one. */
static svmp_graph *joined(svmp_context *context, size_t count, size_t dimension, int star) {
    svmp_graph *graph = NULL;
    assert_int_equal(svmp_graph_create(context, &graph), SVMP_OK);
    for (size_t v = 0; v < count; v++) {
        assert_int_equal(svmp_graph_add_node(graph, dimension), SVMP_OK);
        if (v > 0) assert_int_equal(svmp_graph_add_factor(graph, 2, (size_t[]){star ? 0 : v - 1, v}), SVMP_OK);
    }
    assert_int_equal(svmp_graph_finish(graph), SVMP_OK);
    return graph;
}

static partition_quality quality_of(const svmp_graph *graph, size_t parts, uint32_t *owner) {
    part_size *sizes = calloc(parts, sizeof *sizes);
    assert_int_equal(svmp_partition(graph, parts, owner), SVMP_OK);
    assert_int_equal(svmp_partition_measure(graph, parts, owner, sizes), SVMP_OK);
    const partition_quality q = svmp_partition_quality(graph, parts, owner, sizes);
    free(sizes);
    return q;
}

/* The centre of a star has much work: with 64 parts it is a part by itself, and no other part has as much work; with
 * fewer parts it shares one, and the parts are balanced. */
static void a_hub_has_its_own_part(void **unused) {
    (void)unused;
    enum { NODES = 400 };
    svmp_context *context = NULL;
    uint32_t owner[NODES];
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    svmp_graph *graph = joined(context, NODES, 1, 1);
    const double hub = 2 * NODES + 30 + 2, leaf = 2 * 2 + 30 + 2, all = hub + (NODES - 1) * leaf;
    assert_true(svmp_graph_work(graph) == all);
    assert_float_equal(quality_of(graph, 64, owner).imbalance, hub * 64 / all - 1, 1e-12);
    for (size_t v = 1; v < NODES; v++) assert_int_not_equal(owner[v], owner[0]);
    for (size_t parts = 2; parts <= 16; parts *= 2) assert_true(quality_of(graph, parts, owner).imbalance < 0.1);
    svmp_graph_free(graph);
    svmp_context_free(context);
}

/* Nodes with equal neighbourhoods share a matrix, unless they are in different parts. */
static void matrices_are_shared(void **unused) {
    (void)unused;
    svmp_context *context = NULL;
    svmp_graph *graph = NULL;
    part_size sizes[2];
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    assert_int_equal(svmp_graph_create(context, &graph), SVMP_OK);
    for (size_t v = 0; v < 6; v++) assert_int_equal(svmp_graph_add_node(graph, 1), SVMP_OK);
    assert_int_equal(svmp_graph_add_factor(graph, 6, (size_t[]){0, 1, 2, 3, 4, 5}), SVMP_OK);
    assert_int_equal(svmp_graph_finish(graph), SVMP_OK);
    assert_int_equal(svmp_partition_measure(graph, 2, (uint32_t[]){0, 0, 0, 0, 1, 1}, sizes), SVMP_OK);
    const double matrix = 2 * 6 + 30;
    assert_true(svmp_graph_work(graph) == matrix + 6 * 2);
    assert_true(sizes[0].work == matrix + 4 * 2 && sizes[0].boundary_work == sizes[0].work);
    assert_true(sizes[1].work == matrix + 2 * 2);
    svmp_graph_free(graph);
    svmp_context_free(context);
}

/* Weights of nodes and edges whose sum exceeds 32 bits are balanced like others. */
static void large_weights_do_not_overflow(void **unused) {
    (void)unused;
    enum { NODES = 2000 };
    svmp_context *context = NULL;
    uint32_t owner[NODES];
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    svmp_graph *graph = joined(context, NODES, 2000000, 0);
    for (size_t parts = 2; parts <= 16; parts *= 2) {
        const partition_quality q = quality_of(graph, parts, owner);
        assert_true(q.imbalance < 0.03);
        assert_in_range(q.cut, parts - 1, 3 * parts);
    }
    svmp_graph_free(graph);
    svmp_context_free(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* If any allocation fails, the partition and its parts fail as a whole. */
static void scarce(size_t count, const char *const *paths) {
    scarce_memory memory = {LONG_MAX};
    svmp_context *context = scarce_context(&memory);
    svmp_model *model = NULL;
    uint32_t owner[100];
    if (svmp_model_read(context, count, paths, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    assert_true(model->graph->nodes <= 100);
    svmp_status status = SVMP_NO_MEMORY;
    for (long left = 0; status != SVMP_OK; left++) {
        svmp_model *part = NULL;
        part_size sizes[3];
        memory.left = left;
        status = svmp_partition(model->graph, 3, owner);
        if (status == SVMP_OK) status = svmp_partition_measure(model->graph, 3, owner, sizes);
        if (status == SVMP_OK) status = svmp_model_part(model, owner, 1, &part);
        if (status != SVMP_OK) assert_int_equal(status, SVMP_NO_MEMORY);
        svmp_model_free(part);
    }
    memory.left = LONG_MAX;
    svmp_model_free(model);
    svmp_context_free(context);
}

static void failing_allocations_are_survived(void **unused) {
    (void)unused;
    scarce(2, (const char *[]){SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"});
#ifdef SVMP_HAVE_JANSSON
    scarce(2, (const char *[]){SVMP_MODELS "/sensors.bug", SVMP_MODELS "/sensors.json"});
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid),
        cmocka_unit_test(sensors),
        cmocka_unit_test(a_crowd),
        cmocka_unit_test(sizes_are_those_of_the_parts),
        cmocka_unit_test(partitions_are_balanced),
        cmocka_unit_test(a_hub_has_its_own_part),
        cmocka_unit_test(matrices_are_shared),
        cmocka_unit_test(large_weights_do_not_overflow),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
