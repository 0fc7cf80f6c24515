#include "graph/graph_part.h"

#include <string.h>

#include "base/peers.h"
#include "svmp_parallel.h"

svmp_status svmp_graph_create(svmp_context *context, svmp_graph **graph) {
    svmp_graph *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    made->peers = &svmp_alone;
    svmp_status status;
    SVMP_CHECK(SVMP_GROW(context, made->first, made->first_capacity, 1));
    SVMP_CHECK(SVMP_GROW(context, made->scopes.start, made->scope_start_capacity, 1));
    made->first[0] = 0;
    made->scopes.start[0] = 0;
    *graph = made;
    return SVMP_OK;
done:
    svmp_graph_free(made);
    return status;
}

static void free_derived(svmp_graph *graph) {
    svmp_release(graph->context, graph->neighbourhood_of);
    graph->neighbourhood_of = NULL;
    svmp_lists_free(graph->context, &graph->neighbourhoods);
    svmp_lists_free(graph->context, &graph->members);
    svmp_release_all(graph->context, graph->node_key, graph->variable_key, graph->colour);
    svmp_halo_free(graph->context, graph->halo);
}

void svmp_graph_free(svmp_graph *graph) {
    if (graph == NULL) return;
    svmp_context *context = graph->context;
    free_derived(graph);
    svmp_release_all(context, graph->first, graph->stamp);
    svmp_lists_free(context, &graph->scopes);
    svmp_release(context, graph);
}

svmp_status svmp_graph_check_size(const svmp_graph *graph, size_t dimension) {
    if (dimension <= UINT32_MAX && graph->variables <= UINT32_MAX - dimension) return SVMP_OK;
    return svmp_fail(graph->context, SVMP_UNSUPPORTED, "A model can have at most %u variables.", UINT32_MAX);
}

svmp_status svmp_graph_add_node(svmp_graph *graph, size_t dimension) {
    svmp_context *context = graph->context;
    SVMP_TRY(svmp_graph_check_size(graph, dimension));
    SVMP_TRY(SVMP_GROW(context, graph->first, graph->first_capacity, graph->nodes + 2));
    SVMP_TRY(SVMP_GROW(context, graph->stamp, graph->stamp_capacity, graph->nodes + 1));
    graph->stamp[graph->nodes] = 0;
    graph->variables += dimension;
    graph->first[++graph->nodes] = graph->variables;
    return SVMP_OK;
}

svmp_status svmp_graph_add_factor(svmp_graph *graph, size_t count, const size_t *nodes) {
    svmp_context *context = graph->context;
    size_t end = graph->scopes.start[graph->factors];
    if (graph->factors >= UINT32_MAX - 1)
        return svmp_fail(context, SVMP_UNSUPPORTED, "A model can have at most %u factors.", UINT32_MAX - 1);
    SVMP_TRY(SVMP_GROW(context, graph->scopes.start, graph->scope_start_capacity, graph->factors + 2));
    SVMP_TRY(SVMP_GROW(context, graph->scopes.item, graph->scope_capacity, end + count));
    for (size_t k = 0; k < count; k++) {
        size_t *stamp = &graph->stamp[nodes[k]];
        if (*stamp != graph->factors + 1) graph->scopes.item[end++] = (uint32_t)nodes[k];
        *stamp = graph->factors + 1;
    }
    graph->scopes.start[++graph->factors] = end;
    return SVMP_OK;
}

void svmp_graph_remove_factors(svmp_graph *graph, size_t first) {
    for (size_t e = graph->scopes.start[first]; e < graph->scopes.start[graph->factors]; e++)
        graph->stamp[graph->scopes.item[e]] = 0;
    graph->factors = first;
}

/* Node -> the factors that join it to other nodes. Nodes with the same such factors have the same closed
 * neighbourhood, so that a factor over many nodes costs one neighbourhood, not one for each of them. */
static svmp_status joining_factors(const svmp_graph *graph, index_lists *incidence) {
    svmp_context *context = graph->context;
    svmp_status status;
    index_lists joining = {0};
    size_t end = 0;
    SVMP_CHECK(SVMP_NEW(context, joining.start, graph->factors + 1));
    SVMP_CHECK(SVMP_NEW(context, joining.item, graph->scopes.start[graph->factors]));
    for (size_t f = 0; f < graph->factors; f++) {
        size_t from = graph->scopes.start[f], to = graph->scopes.start[f + 1];
        if (to - from > 1) {
            memcpy(joining.item + end, graph->scopes.item + from, (to - from) * sizeof *joining.item);
            end += to - from;
        }
        joining.start[f + 1] = end;
    }
    SVMP_CHECK(svmp_lists_transpose(context, graph->factors, &joining, graph->nodes, incidence));
done:
    svmp_lists_free(context, &joining);
    return status;
}

/* The nodes of all scopes that contain `node`, itself first, without duplicates. Returns their number; with `out` NULL
 * it only counts. `stamp` marks visited nodes with `mark`, which is new for each call. */
static size_t union_of_scopes(const svmp_graph *graph, const index_lists *incidence, size_t node, size_t *stamp,
                              size_t mark, uint32_t *out) {
    size_t count = 0;
    stamp[node] = mark;
    if (out) out[count] = (uint32_t)node;
    count++;
    for (size_t e = incidence->start[node]; e < incidence->start[node + 1]; e++) {
        size_t factor = incidence->item[e];
        for (size_t s = graph->scopes.start[factor]; s < graph->scopes.start[factor + 1]; s++) {
            size_t other = graph->scopes.item[s];
            if (stamp[other] == mark) continue;
            stamp[other] = mark;
            if (out) out[count] = (uint32_t)other;
            count++;
        }
    }
    return count;
}

/* The closed neighbourhood of the first node of every class, each list ascending. */
static svmp_status closed_neighbourhoods(const svmp_graph *graph, const index_lists *incidence, size_t classes,
                                         const uint32_t *class_of, index_lists *closed) {
    svmp_context *context = graph->context;
    svmp_status status;
    index_lists unsorted = {0}, holders = {0};
    size_t seen = 0, mark = 0, *stamp = NULL;
    SVMP_CHECK(SVMP_NEW(context, stamp, graph->nodes));
    SVMP_CHECK(SVMP_NEW(context, unsorted.start, classes + 1));
    for (size_t v = 0; v < graph->nodes; v++)
        if (class_of[v] == seen) {
            size_t count = union_of_scopes(graph, incidence, v, stamp, ++mark, NULL);
            unsorted.start[seen + 1] = unsorted.start[seen] + count;
            seen++;
        }
    SVMP_CHECK(SVMP_NEW(context, unsorted.item, unsorted.start[classes]));
    seen = 0;
    for (size_t v = 0; v < graph->nodes; v++)
        if (class_of[v] == seen) {
            union_of_scopes(graph, incidence, v, stamp, ++mark, unsorted.item + unsorted.start[seen]);
            seen++;
        }
    /* Transposed twice, every list comes out ascending: a sort in linear time. */
    SVMP_CHECK(svmp_lists_transpose(context, classes, &unsorted, graph->nodes, &holders));
    SVMP_CHECK(svmp_lists_transpose(context, graph->nodes, &holders, classes, closed));
done:
    svmp_release(context, stamp);
    svmp_lists_free(context, &unsorted);
    svmp_lists_free(context, &holders);
    return status;
}

/* Keeps the first list of every class. */
static svmp_status keep_distinct(svmp_context *context, size_t count, const index_lists *lists, const uint32_t *kind,
                                 size_t kinds, index_lists *kept) {
    svmp_status status;
    index_lists made = {0};
    size_t seen = 0, total = 0;
    for (size_t k = 0; k < count; k++)
        if (kind[k] == seen) total += lists->start[k + 1] - lists->start[k], seen++;
    SVMP_CHECK(SVMP_NEW(context, made.start, kinds + 1));
    SVMP_CHECK(SVMP_NEW(context, made.item, total));
    seen = 0;
    for (size_t k = 0; k < count; k++) {
        if (kind[k] != seen) continue;
        size_t length = lists->start[k + 1] - lists->start[k];
        memcpy(made.item + made.start[seen], lists->item + lists->start[k], length * sizeof *made.item);
        made.start[seen + 1] = made.start[seen] + length;
        seen++;
    }
    *kept = made;
    made = (index_lists){0};
done:
    svmp_lists_free(context, &made);
    return status;
}

/* The map node -> neighbourhood, transposed. */
svmp_status svmp_graph_members(const svmp_graph *graph, index_lists *members) {
    index_lists one_each = {.item = graph->neighbourhood_of};
    SVMP_TRY(SVMP_NEW(graph->context, one_each.start, graph->moved + 1));
    for (size_t v = 0; v <= graph->moved; v++) one_each.start[v] = v;
    svmp_status status = svmp_lists_transpose(graph->context, graph->moved, &one_each, graph->distinct, members);
    svmp_release(graph->context, one_each.start);
    return status;
}

svmp_status svmp_graph_finish(svmp_graph *graph) {
    svmp_context *context = graph->context;
    svmp_status status;
    index_lists incidence = {0}, closed = {0};
    uint32_t *class_of = NULL, *kind = NULL;
    size_t classes = 0;

    SVMP_CHECK(joining_factors(graph, &incidence));
    SVMP_CHECK(SVMP_NEW(context, class_of, graph->nodes));
    SVMP_CHECK(svmp_lists_classify(context, graph->nodes, &incidence, class_of, &classes));
    SVMP_CHECK(closed_neighbourhoods(graph, &incidence, classes, class_of, &closed));

    SVMP_CHECK(SVMP_NEW(context, kind, classes));
    SVMP_CHECK(svmp_lists_classify(context, classes, &closed, kind, &graph->distinct));
    SVMP_CHECK(keep_distinct(context, classes, &closed, kind, graph->distinct, &graph->neighbourhoods));
    for (size_t v = 0; v < graph->nodes; v++) class_of[v] = kind[class_of[v]];
    graph->neighbourhood_of = class_of;
    class_of = NULL;
    graph->moved = graph->inner = graph->whole_nodes = graph->nodes;
    graph->moved_variables = graph->inner_variables = graph->whole_variables = graph->variables;
    SVMP_CHECK(svmp_graph_members(graph, &graph->members));

done:
    if (status != SVMP_OK) free_derived(graph);
    svmp_lists_free(context, &incidence);
    svmp_lists_free(context, &closed);
    svmp_release_all(context, class_of, kind);
    return status;
}

size_t svmp_graph_nodes(const svmp_graph *graph) { return graph ? graph->nodes : 0; }

size_t svmp_graph_own(const svmp_graph *graph) { return graph ? graph->moved : 0; }

size_t svmp_graph_node_in_whole(const svmp_graph *graph, size_t node) {
    return graph && node < graph->nodes ? svmp_node_key(graph, node) : 0;
}

size_t svmp_graph_variable_in_whole(const svmp_graph *graph, size_t variable) {
    return graph && variable < graph->variables ? svmp_variable_key(graph, variable) : 0;
}

size_t svmp_graph_variables(const svmp_graph *graph) { return graph ? graph->variables : 0; }

size_t svmp_graph_factors(const svmp_graph *graph) { return graph ? graph->factors : 0; }

size_t svmp_graph_node_first(const svmp_graph *graph, size_t node) {
    return graph && node < graph->nodes ? graph->first[node] : 0;
}

size_t svmp_graph_node_dimension(const svmp_graph *graph, size_t node) {
    return graph && node < graph->nodes ? graph->first[node + 1] - graph->first[node] : 0;
}

const uint32_t *svmp_graph_neighbourhood(const svmp_graph *graph, size_t node, size_t *count) {
    if (count) *count = 0;
    if (graph == NULL || count == NULL || node >= graph->moved || graph->neighbourhood_of == NULL) return NULL;
    const size_t *start = graph->neighbourhoods.start + graph->neighbourhood_of[node];
    *count = start[1] - start[0];
    return graph->neighbourhoods.item + start[0];
}

size_t svmp_graph_distinct_neighbourhoods(const svmp_graph *graph) { return graph ? graph->distinct : 0; }
