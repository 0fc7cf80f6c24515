#include "graph/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SVMP_HAVE_METIS
#include <metis.h>
#endif

/* Work in an iteration, in units of n^2. Nodes with the same closed neighbourhood C share a matrix: distances on C and
 * an exponential, 2 |C| + 30, |C| in variables; and each variable of a node is weighted by the matrix, 2. Measured with
 * 50 and 200 particles, on 3 to 101 variables. */
static double neighbourhood_work(const svmp_graph *graph, size_t neighbourhood) {
    const index_lists *closed = &graph->neighbourhoods;
    size_t seen = 0;
    for (size_t e = closed->start[neighbourhood]; e < closed->start[neighbourhood + 1]; e++)
        seen += svmp_graph_node_dimension(graph, closed->item[e]);
    return 2 * (double)seen + 30;
}

static double own_work(const svmp_graph *graph, size_t node) {
    return 2 * (double)svmp_graph_node_dimension(graph, node);
}

double svmp_graph_work(const svmp_graph *graph) {
    double work = 2 * (double)graph->moved_variables;
    for (size_t k = 0; k < graph->distinct; k++) work += neighbourhood_work(graph, k);
    return work;
}

svmp_status svmp_node_works(const svmp_graph *graph, double **works) {
    double *made = NULL;
    SVMP_TRY(SVMP_NEW(graph->context, made, graph->moved));
    for (size_t k = 0; k < graph->distinct; k++) {
        const size_t from = graph->members.start[k], to = graph->members.start[k + 1];
        const double shared = neighbourhood_work(graph, k) / (double)(to - from);
        for (size_t e = from; e < to; e++) {
            const size_t v = graph->members.item[e];
            made[v] = shared + own_work(graph, v);
        }
    }
    *works = made;
    return SVMP_OK;
}

/* ---- nodes that are a part by themselves ------------------------------------------------------------------------- */

/* A partition under construction: the nodes without an owner are still to be distributed among the first `parts`
 * parts. */
typedef struct cutting {
    const svmp_graph *graph;
    size_t parts, nodes; /* such parts and nodes */
    double work;         /* of these nodes */
    const double *works; /* of every node */
    uint32_t *owner;
} cutting;

enum { NO_OWNER = UINT32_MAX };

/* A node with more work than a fair share limits the speed in any part; it gets one by itself, so that it delays no
 * others. This reduces the share of the others, and the next node may exceed it. */
static void isolate_large_nodes(cutting *c) {
    for (size_t before = 0; before != c->parts;) {
        const double share = c->work / (double)c->parts;
        before = c->parts;
        for (size_t v = 0; v < c->graph->nodes && c->parts > 1; v++) {
            const double work = c->works[v];
            if (c->owner[v] != NO_OWNER || work <= share) continue;
            c->owner[v] = (uint32_t)--c->parts;
            c->nodes--;
            c->work -= work;
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

typedef struct heavy_node {
    double work;
    uint32_t node;
} heavy_node;

static int order_of_work(const void *a, const void *b) {
    const heavy_node *left = a, *right = b;
    if (left->work != right->work) return left->work < right->work ? 1 : -1;
    return (left->node > right->node) - (left->node < right->node);
}

/* Distributes the large nodes first, in descending order: one to each part, then back and forth. */
static svmp_status place_large_nodes(const cutting *c, double *load) {
    const double much = c->work / (double)c->parts / 8;
    svmp_context *context = c->graph->context;
    heavy_node *heavy = NULL;
    size_t count = 0, capacity = 0;
    svmp_status status = SVMP_OK;
    for (size_t v = 0; v < c->graph->nodes; v++) {
        const double work = c->works[v];
        if (c->owner[v] != NO_OWNER || work <= much) continue;
        SVMP_CHECK(SVMP_GROW(context, heavy, capacity, count + 1));
        heavy[count++] = (heavy_node){work, (uint32_t)v};
    }
    if (count > 0) qsort(heavy, count, sizeof *heavy, order_of_work);
    for (size_t k = 0; k < count; k++) {
        const size_t turn = k / c->parts, step = k % c->parts, part = turn % 2 ? c->parts - 1 - step : step;
        c->owner[heavy[k].node] = (uint32_t)part;
        load[part] += heavy[k].work;
    }
done:
    svmp_release(context, heavy);
    return status;
}

/* Distributes the other nodes in their order, each part up to its share. */
static svmp_status cut_blocks(const cutting *c) {
    svmp_context *context = c->graph->context;
    double *load = NULL, left = c->work;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, load, c->parts));
    SVMP_CHECK(place_large_nodes(c, load));
    for (size_t v = 0, part = 0; v < c->graph->nodes; v++) {
        if (c->owner[v] != NO_OWNER) continue;
        const double work = c->works[v];
        while (part + 1 < c->parts && load[part] + work / 2 > left / (double)(c->parts - part)) left -= load[part++];
        c->owner[v] = (uint32_t)part;
        load[part] += work;
    }
done:
    svmp_release(context, load);
    return status;
}

/* ---- METIS ------------------------------------------------------------------------------------------------------- */

#ifdef SVMP_HAVE_METIS

/* METIS adds up weights, and counts edges from both ends, in an idx_t. */
static const double most_weight = (double)(IDX_MAX / 2 - 1), most_edges = (double)(IDX_MAX / 2 - 1);

typedef struct metis_graph {
    idx_t *start, *item, *edge_weight, *node_weight, *part;
    uint32_t *node; /* its index in the whole */
    idx_t *place;   /* node of the whole -> its number here; -1: it is not here */
} metis_graph;

static void release(svmp_context *context, metis_graph *g) {
    svmp_release_all(context, g->start, g->item, g->edge_weight, g->node_weight, g->part, g->node, g->place);
}

/* The size of a message between two nodes. */
static double message(const svmp_graph *graph, size_t v, size_t w) {
    return (double)(svmp_graph_node_dimension(graph, v) + svmp_graph_node_dimension(graph, w));
}

/* Visits the edges between nodes of this graph: counts them, adds up their weights and, if `scale` is positive, lists
 * them. */
static size_t each_edge(const cutting *c, metis_graph *g, double scale, double *weight) {
    const svmp_graph *graph = c->graph;
    size_t at = 0;
    *weight = 0;
    for (size_t k = 0; k < c->nodes; k++) {
        size_t count;
        const size_t v = g->node[k];
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        for (size_t e = 0; e < count; e++) {
            const size_t w = closed[e];
            if (w == v || g->place[w] < 0) continue;
            *weight += message(graph, v, w);
            if (scale > 0) g->item[at] = g->place[w];
            if (scale > 0) g->edge_weight[at] = (idx_t)(scale * message(graph, v, w)) + 1;
            at++;
        }
        if (scale > 0) g->start[k + 1] = (idx_t)at;
    }
    return at;
}

static double scale_for(double total) { return total > most_weight ? most_weight / total : 1; }

/* The nodes without an owner, numbered. */
static svmp_status take_nodes(const cutting *c, metis_graph *g) {
    svmp_context *context = c->graph->context;
    SVMP_TRY(SVMP_NEW(context, g->start, c->nodes + 1));
    SVMP_TRY(SVMP_NEW(context, g->node_weight, c->nodes));
    SVMP_TRY(SVMP_NEW(context, g->part, c->nodes));
    SVMP_TRY(SVMP_NEW(context, g->node, c->nodes));
    SVMP_TRY(SVMP_NEW(context, g->place, c->graph->nodes));
    const double scale = scale_for(c->work);
    for (size_t v = 0, k = 0; v < c->graph->nodes; v++) {
        g->place[v] = -1;
        if (c->owner[v] != NO_OWNER) continue;
        g->node[k] = (uint32_t)v;
        g->node_weight[k] = (idx_t)(scale * c->works[v]) + 1;
        g->place[v] = (idx_t)k++;
    }
    return SVMP_OK;
}

/* *known: whether there are edges, and few enough for METIS's integers. */
static svmp_status take_edges(const cutting *c, metis_graph *g, int *known) {
    svmp_context *context = c->graph->context;
    double weight;
    const size_t edges = each_edge(c, g, 0, &weight);
    *known = edges > 0 && (double)edges <= most_edges;
    if ((double)edges > most_edges)
        svmp_log(
            context, SVMP_LOG_WARNING,
            "The graph has more edges than METIS can count: it is split into blocks of consecutive nodes instead.");
    if (!*known) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, g->item, edges));
    SVMP_TRY(SVMP_NEW(context, g->edge_weight, edges));
    each_edge(c, g, scale_for(weight), &weight);
    return SVMP_OK;
}

static svmp_status call_metis(const cutting *c, const metis_graph *g) {
    enum { FEW_PARTS = 8 }; /* up to this many parts, recursive bisection balances better */
    svmp_context *context = c->graph->context;
    idx_t options[METIS_NOPTIONS], nodes = (idx_t)c->nodes, constraints = 1, count = (idx_t)c->parts, cut;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_UFACTOR] = c->parts <= FEW_PARTS ? 1 : 10; /* thousandths */
    int done = (c->parts <= FEW_PARTS ? METIS_PartGraphRecursive : METIS_PartGraphKway)(
        &nodes, &constraints, g->start, g->item, g->node_weight, NULL, g->edge_weight, &count, NULL, NULL, options,
        &cut, g->part);
    if (done == METIS_OK) return SVMP_OK;
    if (done == METIS_ERROR_MEMORY)
        return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: METIS cannot partition a graph of %zu nodes.",
                         c->nodes);
    return svmp_fail(context, SVMP_UNSUPPORTED, "METIS failed to partition the graph into %zu parts.", c->parts);
}

/* If METIS cannot be used, because there are no edges or too many to count, *known is 0 and nodes get no owner. */
static svmp_status cut_by_metis(const cutting *c, int *known) {
    svmp_context *context = c->graph->context;
    metis_graph g = {0};
    svmp_status status;
    SVMP_CHECK(take_nodes(c, &g));
    SVMP_CHECK(take_edges(c, &g, known));
    if (!*known) goto done;
    SVMP_CHECK(call_metis(c, &g));
    for (size_t k = 0; k < c->nodes; k++) c->owner[g.node[k]] = (uint32_t)g.part[k];
done:
    release(context, &g);
    return status;
}

/* Whether METIS is worthwhile. */
static int metis_is_worthwhile(const cutting *c) {
    enum { NODES_A_PART = 8 };
    return c->parts > 1 && c->nodes / NODES_A_PART >= c->parts && (double)c->nodes <= most_weight;
}

/* The largest work of the shared parts over their mean, less 1. */
static svmp_status measure_imbalance(const cutting *c, double *imbalance) {
    double *load = NULL, most = 0;
    SVMP_TRY(SVMP_NEW(c->graph->context, load, c->parts));
    for (size_t v = 0; v < c->graph->nodes; v++)
        if (c->owner[v] < c->parts) load[c->owner[v]] += c->works[v];
    for (size_t p = 0; p < c->parts; p++) most = fmax(most, load[p]);
    svmp_release(c->graph->context, load);
    *imbalance = most * (double)c->parts / c->work - 1;
    return SVMP_OK;
}

/* METIS preserves the edges of a node with very many of them at the cost of balance. The work of a node costs many
 * times its messages, so blocks are better then. */
static svmp_status cut_evenly(const cutting *c) {
    const double tolerable = 0.1;
    cutting other = *c;
    double imbalance = 0, blocks_imbalance = 0;
    svmp_status status;
    other.owner = NULL;
    SVMP_TRY(measure_imbalance(c, &imbalance));
    if (imbalance <= tolerable) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(c->graph->context, other.owner, c->graph->nodes));
    for (size_t v = 0; v < c->graph->nodes; v++) other.owner[v] = c->owner[v] < c->parts ? NO_OWNER : c->owner[v];
    SVMP_CHECK(cut_blocks(&other));
    SVMP_CHECK(measure_imbalance(&other, &blocks_imbalance));
    if (blocks_imbalance < imbalance) memcpy(c->owner, other.owner, c->graph->nodes * sizeof *c->owner);
done:
    svmp_release(c->graph->context, other.owner);
    return status;
}

#endif

static svmp_status cut(const cutting *c) {
#ifdef SVMP_HAVE_METIS
    int known = 0;
    if (metis_is_worthwhile(c)) SVMP_TRY(cut_by_metis(c, &known));
    if (known) return cut_evenly(c);
#endif
    return cut_blocks(c);
}

svmp_status svmp_partition(const svmp_graph *graph, size_t parts, uint32_t *owner) {
    cutting c = {.graph = graph, .parts = parts, .nodes = graph->nodes, .owner = owner};
    double *works = NULL;
    SVMP_TRY(svmp_node_works(graph, &works));
    c.works = works;
    for (size_t v = 0; v < graph->nodes; v++) owner[v] = NO_OWNER, c.work += works[v];
    isolate_large_nodes(&c);
    svmp_status status = cut(&c);
    svmp_release(graph->context, works);
    return status;
}

/* ---- quality ----------------------------------------------------------------------------------------------------- */

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

/* Every part that has a node of a neighbourhood computes its matrix. */
static void add_work(const svmp_graph *graph, size_t neighbourhood, const uint32_t *owner, size_t *seen,
                     part_size *sizes) {
    const double work = neighbourhood_work(graph, neighbourhood);
    size_t count;
    for (size_t e = graph->members.start[neighbourhood]; e < graph->members.start[neighbourhood + 1]; e++) {
        const size_t v = graph->members.item[e];
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        part_size *own = &sizes[owner[v]];
        const int first = seen[owner[v]] != neighbourhood + 1;
        const double here = own_work(graph, v) + (first ? work : 0);
        seen[owner[v]] = neighbourhood + 1;
        own->work += here;
        own->entries += first ? count : 0;
        for (size_t k = 0; k < count; k++)
            if (owner[closed[k]] != owner[v]) {
                own->boundary_work += here;
                break;
            }
    }
}

svmp_status svmp_partition_measure(const svmp_graph *graph, size_t parts, const uint32_t *owner, part_size *sizes) {
    svmp_context *context = graph->context;
    svmp_status status;
    size_t *seen = NULL, pair_count = 0, pair_capacity = 0; /* part -> 1 + the last node found there */
    uint64_t *pairs = NULL;
    memset(sizes, 0, parts * sizeof *sizes);
    SVMP_CHECK(SVMP_NEW(context, seen, parts));
    for (size_t k = 0; k < graph->distinct; k++) add_work(graph, k, owner, seen, sizes);
    memset(seen, 0, parts * sizeof *seen);
    for (size_t v = 0; v < graph->nodes; v++) {
        part_size *own = &sizes[owner[v]];
        size_t count, dimension = svmp_graph_node_dimension(graph, v), receivers = 0;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        own->nodes++;
        own->variables += dimension;
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
        own->sent_variables += receivers * dimension;
    }
    count_neighbours(pair_count, pairs, sizes);
done:
    svmp_release_all(context, seen, pairs);
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
