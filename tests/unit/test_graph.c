/* Blankets against brute force, sharing of equal neighbourhoods, export. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

enum { MOST_NODES = 40 };

static svmp_graph *random_graph(svmp_context *context, size_t nodes, size_t factors, uint64_t stream) {
    svmp_graph *graph = NULL;
    assert_ok(svmp_graph_create(context, &graph));
    for (size_t v = 0; v < nodes; v++) assert_ok(svmp_graph_add_node(graph, 1 + v % 3));
    for (size_t f = 0; f < factors; f++) {
        size_t scope[5], count = 1 + f % 5;
        for (size_t k = 0; k < count; k++)
            scope[k] = (size_t)((test_random(stream, 5 * f + k) + 1) / 2 * (double)nodes); /* may repeat a node */
        assert_ok(svmp_graph_add_factor(graph, count, scope));
    }
    assert_ok(svmp_graph_finish(graph));
    return graph;
}

/* adjacent[v][w]: v = w, or some factor holds both */
static void brute_force(const svmp_graph *graph, char adjacent[MOST_NODES][MOST_NODES]) {
    memset(adjacent, 0, MOST_NODES * MOST_NODES);
    for (size_t v = 0; v < graph->nodes; v++) adjacent[v][v] = 1;
    for (size_t f = 0; f < graph->factors; f++)
        for (size_t a = graph->scopes.start[f]; a < graph->scopes.start[f + 1]; a++)
            for (size_t b = graph->scopes.start[f]; b < graph->scopes.start[f + 1]; b++)
                adjacent[graph->scopes.item[a]][graph->scopes.item[b]] = 1;
}

static void test_blankets_against_brute_force(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (uint64_t trial = 0; trial < 60; trial++) {
        size_t nodes = 1 + trial % MOST_NODES;
        svmp_graph *graph = random_graph(context, nodes, trial, trial);
        char adjacent[MOST_NODES][MOST_NODES];
        brute_force(graph, adjacent);
        for (size_t v = 0; v < nodes; v++) {
            size_t count, k = 0;
            const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
            for (size_t w = 0; w < nodes; w++)
                if (adjacent[v][w]) {
                    assert_true(k < count);
                    assert_int_equal(closed[k++], w); /* ascending, and each once */
                }
            assert_int_equal(k, count);
        }
        svmp_graph_free(graph);
    }
    svmp_context_free(context);
}

static void test_equal_neighbourhoods_are_shared(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (uint64_t trial = 0; trial < 60; trial++) {
        size_t nodes = 1 + trial % MOST_NODES, distinct = 0, members = 0;
        svmp_graph *graph = random_graph(context, nodes, trial / 2, trial);
        char adjacent[MOST_NODES][MOST_NODES];
        brute_force(graph, adjacent);
        for (size_t v = 0; v < nodes; v++) {
            size_t first = 0;
            while (memcmp(adjacent[first], adjacent[v], nodes) != 0) first++;
            distinct += first == v;
            assert_int_equal(graph->neighbourhood_of[v], graph->neighbourhood_of[first]);
        }
        assert_int_equal(svmp_graph_distinct_neighbourhoods(graph), distinct);
        for (size_t k = 0; k < distinct; k++)
            for (size_t e = graph->members.start[k]; e < graph->members.start[k + 1]; e++, members++)
                assert_int_equal(graph->neighbourhood_of[graph->members.item[e]], k);
        assert_int_equal(members, nodes);
        svmp_graph_free(graph);
    }
    svmp_context_free(context);
}

/* A factor over 50,000 nodes has one neighbourhood of 50,000 nodes; stored for each node it would need 10 GB. */
static void test_a_factor_over_everything_costs_one_neighbourhood(void **state) {
    (void)state;
    enum { NODES = 50000 };
    svmp_context *context = test_context(1);
    svmp_graph *graph = NULL;
    size_t *all = malloc(NODES * sizeof *all), count;
    assert_ok(svmp_graph_create(context, &graph));
    for (size_t v = 0; v < NODES; v++) {
        assert_ok(svmp_graph_add_node(graph, 1));
        all[v] = v;
    }
    assert_ok(svmp_graph_add_factor(graph, NODES, all));
    assert_ok(svmp_graph_finish(graph));
    assert_int_equal(svmp_graph_distinct_neighbourhoods(graph), 1);
    svmp_graph_neighbourhood(graph, 777, &count);
    assert_int_equal(count, NODES);
    free(all);
    svmp_graph_free(graph);
    svmp_context_free(context);
}

static void test_factors_can_be_removed(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_graph *graph = NULL;
    assert_ok(svmp_graph_create(context, &graph));
    for (size_t v = 0; v < 3; v++) assert_ok(svmp_graph_add_node(graph, 1));
    assert_ok(svmp_graph_add_factor(graph, 2, (size_t[]){0, 1}));
    svmp_graph_remove_factors(graph, 0);
    assert_ok(svmp_graph_add_factor(graph, 2, (size_t[]){1, 2})); /* reuses the number of the removed factor */
    assert_ok(svmp_graph_finish(graph));
    size_t count;
    assert_int_equal(svmp_graph_neighbourhood(graph, 0, &count)[0], 0);
    assert_int_equal(count, 1);
    svmp_graph_neighbourhood(graph, 1, &count);
    assert_int_equal(count, 2);
    svmp_graph_free(graph);
    svmp_context_free(context);
}

static int append(const char *piece, void *text) {
    strcat(text, piece);
    return 0;
}

static int refuse(const char *piece, void *calls) {
    (void)piece;
    (*(int *)calls)++;
    return 1;
}

static void test_export(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    char text[2000] = "", dot[2000] = "";
    int calls = 0;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, "a", 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_node(model, "b\\", 2, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){0, 1}, NULL, NULL));
    assert_ok(svmp_model_finish(model));
    assert_ok(svmp_model_write_graph(model, SVMP_GRAPH_JSON, append, text));
    assert_string_equal(text, "{\n  \"nodes\": [\n"
                              "    {\"id\": 0, \"name\": \"a\", \"dimension\": 1, \"blanket\": [1]},\n"
                              "    {\"id\": 1, \"name\": \"b\\\\\", \"dimension\": 2, \"blanket\": [0]}\n"
                              "  ],\n  \"factors\": [\n    [0, 1]\n  ]\n}\n");
    assert_ok(svmp_model_write_graph(model, SVMP_GRAPH_DOT, append, dot));
    assert_non_null(strstr(dot, "f0 -- n1;"));
    assert_int_equal(svmp_model_write_graph(model, SVMP_GRAPH_DOT, refuse, &calls), SVMP_CANNOT_WRITE);
    assert_int_equal(calls, 1);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blankets_against_brute_force),
        cmocka_unit_test(test_equal_neighbourhoods_are_shared),
        cmocka_unit_test(test_a_factor_over_everything_costs_one_neighbourhood),
        cmocka_unit_test(test_factors_can_be_removed),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
