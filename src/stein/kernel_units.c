#include "stein/kernel_units.h"

size_t svmp_unit_count(const svmp_graph *graph, kernel_domain domain) {
    switch (domain) {
    case DOMAIN_ALL: return 1;
    case DOMAIN_BLANKET: return graph->distinct;
    case DOMAIN_SELF:
    case DOMAIN_RANDOM:
    case DOMAIN_MESSAGE:
    case DOMAIN_NEAR: break;
    }
    return graph->moved;
}

/* The first unit of `blanket` whose first member is `node` or a later node; units are ordered by their first
 * members. */
static size_t first_unit(const svmp_graph *graph, size_t node) {
    size_t low = 0, high = graph->distinct;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->members.item[graph->members.start[middle]] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

unit_span svmp_unit_span(const svmp_graph *graph, kernel_domain domain, node_span nodes) {
    switch (domain) {
    case DOMAIN_ALL: return (unit_span){0, nodes.last == graph->moved};
    case DOMAIN_BLANKET: return (unit_span){first_unit(graph, nodes.first), first_unit(graph, nodes.last)};
    case DOMAIN_SELF:
    case DOMAIN_RANDOM:
    case DOMAIN_MESSAGE:
    case DOMAIN_NEAR: break;
    }
    return (unit_span){nodes.first, nodes.last};
}

/* Node u alone, with a list of nodes. */
static stein_unit one_node(const unit_source *from, size_t u, size_t count, const uint32_t *domain) {
    return (stein_unit){domain, from->nodes + u, count, 1, 0};
}

/* A hub, or a node that reads its whole neighbourhood. */
static stein_unit near(const unit_source *from, const index_lists *hubs, size_t u) {
    const index_lists *closed = &from->graph->neighbourhoods;
    const size_t seen = hubs->start[u + 1] - hubs->start[u], k = from->graph->neighbourhood_of[u];
    if (seen == 0) return one_node(from, u, closed->start[k + 1] - closed->start[k], closed->item + closed->start[k]);
    stein_unit unit = one_node(from, u, seen, hubs->item + hubs->start[u]);
    unit.message = 1;
    return unit;
}

stein_unit svmp_unit_find(const unit_source *from, const kernel *k, size_t a, size_t u) {
    const svmp_graph *graph = from->graph;
    const index_lists *closed = &graph->neighbourhoods, *members = &graph->members;
    stein_unit unit = one_node(from, u, 1, from->nodes + u);
    switch (k->terms[a].domain) {
    case DOMAIN_ALL: return (stein_unit){from->nodes, from->nodes, graph->moved, graph->moved, 0};
    case DOMAIN_BLANKET:
        return (stein_unit){closed->item + closed->start[u], members->item + members->start[u],
                            closed->start[u + 1] - closed->start[u], members->start[u + 1] - members->start[u], 0};
    case DOMAIN_NEAR: return near(from, &from->hubs[a], u);
    case DOMAIN_MESSAGE: unit.message = 1; break;
    case DOMAIN_SELF:
    case DOMAIN_RANDOM: break;
    }
    return unit;
}

stein_unit svmp_unit_draw(const unit_source *from, const kernel *k, size_t a, size_t u, uint64_t seed, size_t t,
                          uint32_t *drawn) {
    const kernel_term *term = &k->terms[a];
    stein_unit unit = svmp_unit_find(from, k, a, u);
    if (term->domain != DOMAIN_RANDOM) return unit;
    unit.domain = drawn;
    unit.domain_count = svmp_domain_draw(from->graph, u, term->neighbours, seed, t, drawn);
    return unit;
}

static size_t add_rows(const svmp_graph *graph, size_t node, size_t n, const double *array, const double **rows) {
    size_t count = 0;
    for (size_t j = graph->first[node]; j < graph->first[node + 1]; j++) rows[count++] = array + j * n;
    return count;
}

size_t svmp_unit_rows(const svmp_graph *graph, const stein_unit *unit, size_t n, const double *array,
                      const double *messages, const double **rows) {
    size_t count = 0;
    for (size_t v = 0; v < unit->domain_count; v++) count += add_rows(graph, unit->domain[v], n, array, rows + count);
    if (unit->message) count += add_rows(graph, unit->members[0], n, messages, rows + count);
    return count;
}

/* The most variables of a closed neighbourhood, an upper bound on what a node draws or a hub reads. */
static size_t largest_neighbourhood(const svmp_graph *graph) {
    size_t most = 0;
    for (size_t c = 0; c < graph->distinct; c++) {
        size_t count = 0;
        for (size_t e = graph->neighbourhoods.start[c]; e < graph->neighbourhoods.start[c + 1]; e++)
            count += svmp_graph_node_dimension(graph, graph->neighbourhoods.item[e]);
        most = count > most ? count : most;
    }
    return most;
}

size_t svmp_unit_rows_most(const svmp_graph *graph, const kernel *k) {
    size_t most = 0, message = 0;
    for (size_t a = 0; a < k->count; a++)
        if (k->terms[a].domain == DOMAIN_ALL) most = graph->variables;
    if (most == 0) most = largest_neighbourhood(graph);
    for (size_t v = 0; v < graph->moved; v++) {
        const size_t dimension = graph->first[v + 1] - graph->first[v];
        message = dimension > message ? dimension : message;
    }
    return most + message;
}

size_t svmp_unit_drawn_most(const kernel *k) {
    size_t most = 0;
    for (size_t a = 0; a < k->count; a++) most = k->terms[a].neighbours > most ? k->terms[a].neighbours : most;
    return most + 1;
}
