#include "graph/partition.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SVMP_HAVE_METIS
#include <metis.h>
#endif

static size_t variables_seen(const svmp_graph *graph, size_t neighbourhood) {
    size_t count = 0;
    for (size_t e = graph->neighbourhoods.start[neighbourhood]; e < graph->neighbourhoods.start[neighbourhood + 1]; e++)
        count += svmp_graph_node_dimension(graph, graph->neighbourhoods.item[e]);
    return count;
}

double svmp_node_work(const svmp_graph *graph, size_t node) {
    return 2 * (double)variables_seen(graph, graph->neighbourhood_of[node]) + 20 +
           2 * (double)svmp_graph_node_dimension(graph, node);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void cut_blocks(const svmp_graph *graph, size_t parts, uint32_t *owner) {
    double total = 0, before = 0;
    for (size_t v = 0; v < graph->nodes; v++) total += svmp_node_work(graph, v);
    for (size_t v = 0; v < graph->nodes; v++) { /* by where its middle lies */
        const double work = svmp_node_work(graph, v), place = (before + work / 2) / total * (double)parts;
        owner[v] = (uint32_t)fmin(place, (double)parts - 1);
        before += work;
    }
}

/* ---- METIS ------------------------------------------------------------------------------------------------------- */

#ifdef SVMP_HAVE_METIS

typedef struct metis_graph {
    idx_t *start, *item, *edge_weight, *node_weight, *part;
} metis_graph;

static void release(svmp_context *context, metis_graph *g) {
    svmp_release(context, g->start);
    svmp_release(context, g->item);
    svmp_release(context, g->edge_weight);
    svmp_release(context, g->node_weight);
    svmp_release(context, g->part);
}

static svmp_status prepare(const svmp_graph *graph, size_t edges, metis_graph *g) {
    svmp_context *context = graph->context;
    double total = 0;
    SVMP_TRY(SVMP_NEW(context, g->start, graph->nodes + 1));
    SVMP_TRY(SVMP_NEW(context, g->item, edges));
    SVMP_TRY(SVMP_NEW(context, g->edge_weight, edges));
    SVMP_TRY(SVMP_NEW(context, g->node_weight, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, g->part, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++) total += svmp_node_work(graph, v);
    const double scale = total > 1e9 ? 1e9 / total : 1; /* the sum of all weights fits an idx_t */
    for (size_t v = 0, at = 0; v < graph->nodes; v++) {
        size_t count;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        g->node_weight[v] = (idx_t)(scale * svmp_node_work(graph, v)) + 1;
        for (size_t k = 0; k < count; k++) {
            if (closed[k] == v) continue;
            const size_t both = svmp_graph_node_dimension(graph, v) + svmp_graph_node_dimension(graph, closed[k]);
            g->edge_weight[at] = both < 1000 ? (idx_t)both : 1000;
            g->item[at++] = (idx_t)closed[k];
        }
        g->start[v + 1] = (idx_t)at;
    }
    return SVMP_OK;
}

static svmp_status cut_by_metis(const svmp_graph *graph, size_t edges, size_t parts, uint32_t *owner) {
    enum { FEW_PARTS = 8 }; /* up to so many, halving again and again balances better */
    svmp_context *context = graph->context;
    metis_graph g = {0};
    idx_t options[METIS_NOPTIONS], nodes = (idx_t)graph->nodes, constraints = 1, count = (idx_t)parts, cut;
    svmp_status status;
    SVMP_CHECK(prepare(graph, edges, &g));
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_UFACTOR] = parts <= FEW_PARTS ? 1 : 10; /* thousandths */
    int done = (parts <= FEW_PARTS ? METIS_PartGraphRecursive
                                   : METIS_PartGraphKway)(&nodes, &constraints, g.start, g.item, g.node_weight, NULL,
                                                          g.edge_weight, &count, NULL, NULL, options, &cut, g.part);
    if (done == METIS_ERROR_MEMORY)
        SVMP_CHECK(svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: METIS could not cut a graph of %zu nodes.",
                             graph->nodes));
    if (done != METIS_OK)
        SVMP_CHECK(svmp_fail(context, SVMP_UNSUPPORTED, "METIS could not cut the graph into %zu parts.", parts));
    for (size_t v = 0; v < graph->nodes; v++) owner[v] = (uint32_t)g.part[v];
done:
    release(context, &g);
    return status;
}

/* Whether it is worth to ask METIS, and it can count so far. */
static int suits_metis(const svmp_graph *graph, size_t edges, size_t parts) {
    enum { NODES_A_PART = 8 };
    return graph->nodes / NODES_A_PART >= parts && edges > 0 && edges < INT_MAX && graph->nodes < INT_MAX;
}

#endif

svmp_status svmp_partition(const svmp_graph *graph, size_t parts, uint32_t *owner) {
    if (parts <= 1) return memset(owner, 0, graph->nodes * sizeof *owner), SVMP_OK;
#ifdef SVMP_HAVE_METIS
    size_t edges = 0;
    for (size_t u = 0; u < graph->distinct; u++)
        edges += (graph->members.start[u + 1] - graph->members.start[u]) *
                 (graph->neighbourhoods.start[u + 1] - graph->neighbourhoods.start[u] - 1);
    if (suits_metis(graph, edges, parts)) return cut_by_metis(graph, edges, parts, owner);
#endif
    cut_blocks(graph, parts, owner);
    return SVMP_OK;
}

/* ---- what it comes to -------------------------------------------------------------------------------------------- */

static int order_of_pairs(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Counts the different pairs (sender, receiver). */
static void count_neighbours(size_t count, uint64_t *pairs, part_size *sizes) {
    if (count > 0) qsort(pairs, count, sizeof *pairs, order_of_pairs);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || pairs[k] != pairs[k - 1]) sizes[pairs[k] >> 32].neighbours++;
}

svmp_status svmp_partition_measure(const svmp_graph *graph, size_t parts, const uint32_t *owner, part_size *sizes) {
    svmp_context *context = graph->context;
    svmp_status status;
    size_t *seen = NULL, pair_count = 0, pair_capacity = 0; /* part -> 1 + the last node that was sent there */
    uint64_t *pairs = NULL;
    SVMP_CHECK(SVMP_NEW(context, seen, parts));
    memset(sizes, 0, parts * sizeof *sizes);
    for (size_t v = 0; v < graph->nodes; v++) {
        part_size *own = &sizes[owner[v]];
        size_t count, dimension = svmp_graph_node_dimension(graph, v), receivers = 0;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        const double work = svmp_node_work(graph, v);
        own->nodes++;
        own->variables += dimension;
        own->work += work;
        for (size_t k = 0; k < count; k++) {
            const uint32_t to = owner[closed[k]];
            if (to == owner[v] || seen[to] == v + 1) continue;
            seen[to] = v + 1;
            receivers++;
            sizes[to].halo_nodes++;
            sizes[to].halo_variables += dimension;
            SVMP_CHECK(SVMP_GROW(context, pairs, pair_capacity, pair_count + 1));
            pairs[pair_count++] = (uint64_t)owner[v] << 32 | to;
        }
        own->boundary += receivers > 0;
        own->boundary_work += receivers > 0 ? work : 0;
        own->sent_variables += receivers * dimension;
    }
    count_neighbours(pair_count, pairs, sizes);
done:
    svmp_release(context, seen);
    svmp_release(context, pairs);
    return status;
}

partition_quality svmp_partition_quality(const svmp_graph *graph, size_t parts, const uint32_t *owner,
                                         const part_size *sizes) {
    partition_quality q = {0};
    double total = 0, largest = 0;
    for (size_t p = 0; p < parts; p++) {
        q.busy += sizes[p].nodes > 0;
        total += sizes[p].work;
        largest = fmax(largest, sizes[p].work);
    }
    q.imbalance = largest * (double)parts / total - 1;
    for (size_t v = 0; v < graph->nodes; v++) {
        size_t count;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        for (size_t k = 0; k < count; k++) {
            q.edges += closed[k] > v;
            q.cut += closed[k] > v && owner[closed[k]] != owner[v];
        }
    }
    return q;
}
