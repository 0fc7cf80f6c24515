#include "graph/colouring.h"

#include "base/peers.h"
#include "graph/graph_part.h"

#define NO_COLOUR UINT32_MAX

/* The smallest colour that no earlier neighbour of v has; NO_COLOUR while an earlier neighbour has no colour yet.
 * taken_by[c]: 1 + the last node found to have a neighbour of colour c. */
static uint32_t least_colour(const svmp_graph *graph, size_t v, const uint32_t *colour, size_t *taken_by) {
    size_t count;
    const uint32_t *near = svmp_graph_neighbourhood(graph, v, &count);
    for (size_t k = 0; k < count && near[k] != v; k++) { /* in the order of the whole */
        if (colour[near[k]] == NO_COLOUR) return NO_COLOUR;
        if (colour[near[k]] < graph->nodes) taken_by[colour[near[k]]] = v + 1;
    }
    uint32_t least = 0;
    while (taken_by[least] == v + 1) least++;
    return least;
}

/* Merges interior and boundary, which are both ascending, into the order of the whole. */
static void order_own(const svmp_graph *graph, uint32_t *order) {
    size_t inner = 0, outer = graph->inner;
    for (size_t k = 0; k < graph->moved; k++) {
        const int take_inner = outer == graph->moved ||
                               (inner < graph->inner && svmp_node_key(graph, inner) < svmp_node_key(graph, outer));
        order[k] = (uint32_t)(take_inner ? inner++ : outer++);
    }
}

/* Colours the nodes among order[0] ... order[*left - 1] that can be coloured; the others stay in `order`. */
static void colour_some(const svmp_graph *graph, size_t *left, uint32_t *order, size_t *taken_by, uint32_t *colour) {
    size_t rest = 0;
    for (size_t k = 0; k < *left; k++) {
        colour[order[k]] = least_colour(graph, order[k], colour, taken_by);
        if (colour[order[k]] == NO_COLOUR) order[rest++] = order[k];
    }
    *left = rest;
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

typedef struct exchange {
    svmp_peer_line *line;
    size_t *out, *in;
    double *leaving, *arriving; /* colours as numbers; -1: none yet */
} exchange;

static svmp_status open_exchange(const svmp_graph *graph, exchange *e) {
    const graph_halo *halo = graph->halo;
    svmp_context *context = graph->context;
    SVMP_TRY(SVMP_NEW(context, e->out, halo->neighbours));
    SVMP_TRY(SVMP_NEW(context, e->in, halo->neighbours));
    for (size_t k = 0; k < halo->neighbours; k++) {
        e->out[k] = halo->send.start[k + 1] - halo->send.start[k];
        e->in[k] = halo->from[k + 1] - halo->from[k];
    }
    SVMP_TRY(SVMP_NEW(context, e->leaving, halo->send.start[halo->neighbours]));
    return SVMP_NEW(context, e->arriving, graph->nodes - graph->moved);
}

static void exchange_colours(const svmp_graph *graph, exchange *e, uint32_t *colour) {
    const index_lists *send = &graph->halo->send;
    for (size_t k = 0; k < send->start[graph->halo->neighbours]; k++) {
        const uint32_t mine = colour[send->item[k]];
        e->leaving[k] = mine == NO_COLOUR ? -1 : (double)mine;
    }
    graph->peers->depart(graph->peers, e->line, e->leaving, e->arriving);
    graph->peers->arrived(graph->peers, e->line, true);
    for (size_t v = graph->moved; v < graph->nodes; v++) {
        const double theirs = e->arriving[v - graph->moved];
        colour[v] = theirs < 0 ? NO_COLOUR : (uint32_t)theirs;
    }
}

/* In rounds: colours what can be coloured and exchanges colours with neighbours, until all processes have finished. */
static svmp_status colour_part(const svmp_graph *graph, size_t left, uint32_t *order, size_t *taken_by,
                               uint32_t *colour) {
    svmp_context *context = graph->context;
    const svmp_peers *peers = graph->peers;
    exchange e = {0};
    svmp_status status = open_exchange(graph, &e);
    SVMP_CHECK(svmp_agree(context, peers, status));
    const svmp_peer_routes routes = {graph->halo->neighbours, 1, graph->halo->rank, e.out, e.in};
    SVMP_CHECK(peers->connect(context, peers, &routes, &e.line));
    for (double most = 1; most > 0;) {
        colour_some(graph, &left, order, taken_by, colour);
        exchange_colours(graph, &e, colour);
        most = (double)left;
        peers->max(peers, 1, &most);
    }
done:
    if (e.line) peers->disconnect(context, e.line);
    svmp_release(context, e.out);
    svmp_release(context, e.in);
    svmp_release(context, e.leaving);
    svmp_release(context, e.arriving);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

svmp_status svmp_graph_colour(const svmp_graph *graph, uint32_t *colour, size_t *colours) {
    svmp_context *context = graph->context;
    const svmp_peers *peers = graph->peers;
    uint32_t *order = NULL;
    size_t *taken_by = NULL, left = graph->moved;
    svmp_status status = SVMP_NEW(context, order, graph->moved);
    if (status == SVMP_OK) status = SVMP_NEW(context, taken_by, graph->nodes + 1);
    SVMP_CHECK(svmp_agree(context, peers, status));
    for (size_t v = 0; v < graph->nodes; v++) colour[v] = NO_COLOUR;
    order_own(graph, order);
    if (peers->count > 1)
        SVMP_CHECK(colour_part(graph, left, order, taken_by, colour));
    else
        colour_some(graph, &left, order, taken_by, colour);
    double most = 0;
    for (size_t v = 0; v < graph->moved; v++) most = (double)colour[v] + 1 > most ? (double)colour[v] + 1 : most;
    peers->max(peers, 1, &most);
    *colours = (size_t)most;
done:
    svmp_release(context, order);
    svmp_release(context, taken_by);
    return status;
}
