#include "graph/colouring.h"

#include <string.h>

#include "base/peers.h"
#include "graph/graph_rows.h"

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

/* Colours as numbers, in each variable of a node; -1: none yet. */
static void exchange_colours(const svmp_graph *graph, graph_rows *rows, double *values, uint32_t *colour) {
    for (size_t i = 0, v = 0; i < graph->moved_variables; i++) {
        while (graph->first[v + 1] <= i) v++;
        values[i] = colour[v] == NO_COLOUR ? -1 : (double)colour[v];
    }
    svmp_graph_rows_send(rows, values);
    svmp_graph_rows_received(rows, true);
    for (size_t v = graph->moved; v < graph->nodes; v++) {
        const double theirs = values[graph->first[v]];
        colour[v] = theirs < 0 ? NO_COLOUR : (uint32_t)theirs;
    }
}

/* In rounds: colours what can be coloured and exchanges colours with neighbours, until all processes have finished. */
static void colour_part(const svmp_graph *graph, size_t left, uint32_t *order, size_t *taken_by, graph_rows *rows,
                        double *values, uint32_t *colour) {
    svmp_graph_rows_connect(rows);
    for (double most = 1; most > 0;) {
        colour_some(graph, &left, order, taken_by, colour);
        exchange_colours(graph, rows, values, colour);
        most = (double)left;
        graph->peers->max(graph->peers, 1, &most);
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

svmp_status svmp_graph_colour(const svmp_graph *graph, uint32_t *colour, size_t *colours) {
    svmp_context *context = graph->context;
    if (graph->colour) {
        memcpy(colour, graph->colour, graph->nodes * sizeof *colour);
        *colours = graph->colours;
        return SVMP_OK;
    }
    const svmp_peers *peers = graph->peers;
    uint32_t *order = NULL;
    size_t *taken_by = NULL;
    double *values = NULL, most = 0;
    graph_rows *rows = NULL;
    svmp_status status = SVMP_NEW(context, order, graph->moved);
    if (status == SVMP_OK) status = SVMP_NEW(context, taken_by, graph->nodes + 1);
    if (status == SVMP_OK) status = SVMP_NEW(context, values, graph->variables);
    if (status == SVMP_OK) status = svmp_graph_rows_plan(graph, 1, &rows);
    SVMP_CHECK(svmp_agree(context, peers, status));
    for (size_t v = 0; v < graph->nodes; v++) colour[v] = NO_COLOUR;
    order_own(graph, order);
    colour_part(graph, graph->moved, order, taken_by, rows, values, colour);
    for (size_t v = 0; v < graph->moved; v++) most = (double)colour[v] + 1 > most ? (double)colour[v] + 1 : most;
    peers->max(peers, 1, &most);
    *colours = (size_t)most;
done:
    svmp_graph_rows_free(rows);
    svmp_release_all(context, order, taken_by, values);
    return status;
}
