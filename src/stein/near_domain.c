#include "stein/near_domain.h"

size_t svmp_near_most(const kernel_term *term, size_t n) { return term->most ? term->most : n / 3; }

/* The number of variables of a closed neighbourhood: of all its nodes, or of its hubs. */
static size_t count_variables(const svmp_graph *graph, size_t neighbourhood, const double *hub) {
    const index_lists *closed = &graph->neighbourhoods;
    size_t variables = 0;
    for (size_t e = closed->start[neighbourhood]; e < closed->start[neighbourhood + 1]; e++) {
        const size_t node = closed->item[e], first = graph->first[node];
        if (hub == NULL || hub[first] > 0) variables += graph->first[node + 1] - first;
    }
    return variables;
}

void svmp_near_mark(const svmp_graph *graph, size_t most, double *hub) {
    const index_lists *members = &graph->members;
    for (size_t k = 0; k < graph->distinct; k++) {
        const double mark = count_variables(graph, k, NULL) > most;
        for (size_t e = members->start[k]; e < members->start[k + 1]; e++)
            for (size_t i = graph->first[members->item[e]]; i < graph->first[members->item[e] + 1]; i++) hub[i] = mark;
    }
}

/* Lists the nodes that a hub reads; `list` may be NULL. `others`: whether it reads the hubs among its neighbours. */
static size_t list_nodes(const svmp_graph *graph, size_t node, int others, const double *hub, uint32_t *list) {
    size_t count, listed = 0;
    const uint32_t *closed = svmp_graph_neighbourhood(graph, node, &count);
    for (size_t k = 0; k < count; k++) {
        if (closed[k] != node && !(others && hub[graph->first[closed[k]]] > 0)) continue;
        if (list) list[listed] = closed[k];
        listed++;
    }
    return listed;
}

/* hubs[k]: the number of variables of hubs in neighbourhood k. */
static int reads_hubs(const svmp_graph *graph, size_t node, size_t most, const size_t *hubs) {
    const size_t all = hubs[graph->neighbourhood_of[node]];
    return all - (graph->first[node + 1] - graph->first[node]) <= most;
}

static svmp_status fill(const svmp_graph *graph, size_t most, const double *hub, size_t *hubs, index_lists *lists) {
    SVMP_TRY(SVMP_NEW(graph->context, lists->start, graph->moved + 1));
    for (size_t k = 0; k < graph->distinct; k++) hubs[k] = count_variables(graph, k, hub);
    for (size_t v = 0; v < graph->moved; v++) {
        const int is_hub = hub[graph->first[v]] > 0, others = is_hub && reads_hubs(graph, v, most, hubs);
        const size_t seen = !is_hub ? 0 : others ? list_nodes(graph, v, 1, hub, NULL) : 1;
        lists->start[v + 1] = lists->start[v] + seen;
    }
    SVMP_TRY(SVMP_NEW(graph->context, lists->item, lists->start[graph->moved]));
    for (size_t v = 0; v < graph->moved; v++)
        if (lists->start[v + 1] > lists->start[v])
            list_nodes(graph, v, reads_hubs(graph, v, most, hubs), hub, lists->item + lists->start[v]);
    return SVMP_OK;
}

svmp_status svmp_near_lists(const svmp_graph *graph, size_t most, const double *hub, index_lists *lists) {
    size_t *hubs = NULL;
    svmp_status status = SVMP_NEW(graph->context, hubs, graph->distinct);
    if (status == SVMP_OK) status = fill(graph, most, hub, hubs, lists);
    svmp_release(graph->context, hubs);
    return status;
}
