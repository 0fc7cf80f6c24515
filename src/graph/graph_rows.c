#include "graph/graph_rows.h"

#include <string.h>

#include "base/peers.h"
#include "graph/graph_part.h"

struct graph_rows {
    const svmp_graph *graph;
    size_t n;
    svmp_peer_line *line;
    uint64_t round, *received_round; /* the current round, and for each neighbour the round of its latest rows */
    double *leaving;                 /* the rows to all neighbours, one after the other */
};

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* The number of rows sent to each neighbour and received from it. */
static size_t count_rows(const svmp_graph *graph, size_t *out, size_t *in) {
    const graph_halo *halo = graph->halo;
    size_t all = 0;
    for (size_t k = 0; k < halo->neighbours; k++) {
        for (size_t e = halo->send.start[k]; e < halo->send.start[k + 1]; e++)
            out[k] += svmp_graph_node_dimension(graph, halo->send.item[e]);
        in[k] = graph->first[graph->moved + halo->from[k + 1]] - graph->first[graph->moved + halo->from[k]];
        all += out[k];
    }
    return all;
}

static svmp_status plan_line(graph_rows *rows) {
    const svmp_graph *graph = rows->graph;
    const graph_halo *halo = graph->halo;
    svmp_context *context = graph->context;
    size_t *counts = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, rows->received_round, halo->neighbours));
    SVMP_CHECK(SVMP_NEW(context, counts, 2 * halo->neighbours));
    const svmp_peer_routes routes = {halo->neighbours, rows->n, halo->rank, counts, counts + halo->neighbours};
    const size_t leaving = count_rows(graph, counts, counts + halo->neighbours);
    SVMP_CHECK(svmp_allocate(context, leaving, rows->n * sizeof *rows->leaving, (void **)&rows->leaving));
    status = (svmp_status)graph->peers->plan(graph->peers, &routes, &rows->line);
done:
    svmp_release(context, counts);
    return status;
}

svmp_status svmp_graph_rows_plan(const svmp_graph *graph, size_t n, graph_rows **made) {
    SVMP_TRY(SVMP_NEW(graph->context, *made, 1));
    **made = (graph_rows){.graph = graph, .n = n};
    return graph->halo ? plan_line(*made) : SVMP_OK;
}

void svmp_graph_rows_connect(graph_rows *rows) {
    if (rows->line) rows->graph->peers->connect(rows->line);
}

void svmp_graph_rows_free(graph_rows *rows) {
    if (rows == NULL) return;
    svmp_context *context = rows->graph->context;
    rows->graph->peers->close(rows->line);
    svmp_release_all(context, rows->received_round, rows->leaving, rows);
}

/* ---- exchange ---------------------------------------------------------------------------------------------------- */

static void pack(const graph_rows *rows, const double *values) {
    const svmp_graph *graph = rows->graph;
    const index_lists *send = &graph->halo->send;
    double *to = rows->leaving;
    for (size_t e = 0; e < send->start[graph->halo->neighbours]; e++) {
        const size_t first = graph->first[send->item[e]], numbers = (graph->first[send->item[e] + 1] - first) * rows->n;
        memcpy(to, values + first * rows->n, numbers * sizeof *to);
        to += numbers;
    }
}

void svmp_graph_rows_send(graph_rows *rows, double *values) {
    rows->round++;
    if (rows->line == NULL) return;
    pack(rows, values);
    rows->graph->peers->send(rows->line, rows->round, rows->leaving, values + rows->graph->moved_variables * rows->n);
}

static bool all_received(const graph_rows *rows) {
    for (size_t k = 0; k < rows->graph->halo->neighbours; k++)
        if (rows->received_round[k] != rows->round) return false;
    return true;
}

bool svmp_graph_rows_received(graph_rows *rows, bool wait) {
    if (rows->line == NULL) return true;
    while (!all_received(rows)) {
        rows->graph->peers->receive(rows->line, rows->received_round, wait);
        if (!wait) return all_received(rows);
    }
    return true;
}

svmp_status svmp_graph_exchange(const svmp_graph *graph, double *values) {
    graph_rows *rows = NULL;
    svmp_status status;
    if (graph->halo == NULL) return SVMP_OK;
    SVMP_CHECK(svmp_agree(graph->context, graph->peers, svmp_graph_rows_plan(graph, 1, &rows)));
    svmp_graph_rows_connect(rows);
    svmp_graph_rows_send(rows, values);
    svmp_graph_rows_received(rows, true);
done:
    svmp_graph_rows_free(rows);
    return status;
}
