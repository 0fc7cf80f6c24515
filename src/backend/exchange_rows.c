#include "backend/exchange_rows.h"

#include <string.h>

#include "base/clock.h"
#include "base/peers.h"
#include "graph/graph_part.h"

struct mpi_halo {
    svmp_peer_line *line; /* to those that share an edge of the model; NULL: not yet */
    size_t *out, *in;     /* rows to each neighbour, and from each */
    double *leaving;      /* the rows to all neighbours, one after the other */
    bool travelling;
    svmp_status status; /* the result of score and stein: exchanged with the step, so that no process waits for one that
                           has left */
    mpi_times times;
};

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Rows of n numbers of boundary nodes' variables, for each neighbour in turn. */
static void pack(const svmp_graph *graph, size_t n, const double *values, double *leaving) {
    const index_lists *send = &graph->halo->send;
    for (size_t e = 0; e < send->start[graph->halo->neighbours]; e++) {
        const size_t first = graph->first[send->item[e]], rows = graph->first[send->item[e] + 1] - first;
        memcpy(leaving, values + first * n, rows * n * sizeof *leaving);
        leaving += rows * n;
    }
}

/* Records a failure; the other processes learn of it with the step. */
static void note(backend *b, svmp_status status) {
    if (b->mpi->status == SVMP_OK) b->mpi->status = status;
}

/* Whether the particles are not in the memory of this process. */
static int elsewhere(const backend *b) { return b->local->fetch_rows != NULL; }

static svmp_status exchange(backend *b) {
    struct mpi_halo *m = b->mpi;
    const svmp_peers *peers = b->model->graph->peers;
    const svmp_graph *graph = b->model->graph;
    const double started = svmp_clock_seconds();
    m->status = SVMP_OK;
    if (elsewhere(b)) note(b, b->local->fetch_rows(b, graph->inner_variables, graph->moved_variables));
    pack(b->model->graph, b->n, b->x, m->leaving);
    peers->depart(peers, m->line, m->leaving, b->x + b->model->graph->moved_variables * b->n);
    m->travelling = true;
    m->times.packing += svmp_clock_seconds() - started;
    return SVMP_OK;
}

/* Makes progress with messages, because some MPI libraries advance them only within calls. */
static void nudge(const backend *b) {
    const svmp_peers *peers = b->model->graph->peers;
    if (b->mpi->travelling) b->mpi->travelling = !peers->arrived(peers, b->mpi->line, false);
}

/* Waits for the messages; returns whether there were any. */
static bool await(const backend *b) {
    const svmp_peers *peers = b->model->graph->peers;
    const double started = svmp_clock_seconds();
    const bool travelling = b->mpi->travelling;
    if (travelling) peers->arrived(peers, b->mpi->line, true);
    b->mpi->travelling = false;
    b->mpi->times.waiting += svmp_clock_seconds() - started;
    return travelling;
}

static void arrive(backend *b) {
    const svmp_graph *graph = b->model->graph;
    if (await(b) && elsewhere(b)) note(b, b->local->store_rows(b, graph->moved_variables, graph->variables));
}

static svmp_status refresh(backend *b) {
    SVMP_TRY(exchange(b));
    arrive(b);
    return elsewhere(b) ? svmp_agree(b->context, b->model->graph->peers, b->mpi->status) : SVMP_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static svmp_status score(backend *b) {
    const svmp_graph *graph = b->model->graph;
    if (elsewhere(b)) arrive(b);
    b->span = (node_span){0, elsewhere(b) ? graph->moved : graph->inner};
    if (b->mpi->status == SVMP_OK) note(b, b->local->score(b));
    return SVMP_OK;
}

/* After the halo has arrived: the scores of the nodes that read it. */
static void score_boundary(backend *b) {
    arrive(b);
    b->span = (node_span){b->model->graph->inner, b->model->graph->moved};
    note(b, b->local->score(b));
}

/* The interior in slices, with progress on messages after each. A kernel on all variables is evaluated with the last
 * own node. */
static svmp_status stein(backend *b, const kernel *k, size_t t) {
    enum { SLICES = 64, LEAST = 16 };
    const svmp_graph *graph = b->model->graph;
    const size_t even = graph->inner / SLICES, slice = even > LEAST ? even : LEAST;
    const int all_interior = graph->inner == graph->moved && graph->moved > 0;
    if (elsewhere(b)) {
        if (b->mpi->status == SVMP_OK) note(b, b->local->stein(b, k, t));
        return SVMP_OK;
    }
    for (size_t first = 0; first < graph->inner; first += slice) {
        b->span = (node_span){first, first + slice < graph->inner ? first + slice : graph->inner};
        note(b, b->local->stein(b, k, t));
        nudge(b);
    }
    score_boundary(b);
    if (!all_interior) note(b, b->local->stein(b, k, t));
    return SVMP_OK;
}

/* Either all processes have moved or none. */
static svmp_status agree(backend *b, svmp_status status) {
    const svmp_peers *peers = b->model->graph->peers;
    const double started = svmp_clock_seconds();
    double seen[] = {b->largest, b->mpi->status != SVMP_OK || status != SVMP_OK};
    peers->max(peers, 2, seen);
    b->largest = seen[0];
    b->mpi->times.agreeing += svmp_clock_seconds() - started;
    if (seen[1] == 0) return SVMP_OK;
    if (b->moved && status == SVMP_OK && b->mpi->status == SVMP_OK && b->local->take_back) {
        b->local->take_back(b);
    } else if (b->moved && status == SVMP_OK && b->mpi->status == SVMP_OK) {
        double *before = b->phi;
        b->phi = b->x;
        b->x = before;
    }
    b->moved = 0;
    return svmp_agree(b->context, b->model->graph->peers, b->mpi->status != SVMP_OK ? b->mpi->status : status);
}

static svmp_status move(backend *b, const step *s, double rate, size_t t) {
    return agree(b, b->mpi->status == SVMP_OK ? b->local->step(b, s, rate, t) : SVMP_OK);
}

static svmp_status diffuse(backend *b, double rate, size_t t) {
    if (!elsewhere(b)) score_boundary(b);
    return agree(b, b->mpi->status == SVMP_OK ? b->local->diffuse(b, rate, t) : SVMP_OK);
}

static const backend_kind svmp_backend_mpi = {.name = "mpi",
                                              .exchange = exchange,
                                              .refresh = refresh,
                                              .score = score,
                                              .stein = stein,
                                              .step = move,
                                              .diffuse = diffuse};

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* The numbers of rows to and from each neighbour, and memory for outgoing rows of n numbers. */
static svmp_status count_rows(const svmp_graph *graph, size_t n, struct mpi_halo *m) {
    const graph_halo *halo = graph->halo;
    size_t all = 0;
    SVMP_TRY(SVMP_NEW(graph->context, m->out, halo->neighbours));
    SVMP_TRY(SVMP_NEW(graph->context, m->in, halo->neighbours));
    for (size_t k = 0; k < halo->neighbours; k++) {
        for (size_t e = halo->send.start[k]; e < halo->send.start[k + 1]; e++)
            m->out[k] += svmp_graph_node_dimension(graph, halo->send.item[e]);
        m->in[k] = graph->first[graph->moved + halo->from[k + 1]] - graph->first[graph->moved + halo->from[k]];
        all += m->out[k];
    }
    return svmp_allocate(graph->context, all, n * sizeof *m->leaving, (void **)&m->leaving);
}

static void release(svmp_context *context, const svmp_peers *peers, const struct mpi_halo *m) {
    if (m->line) peers->disconnect(context, m->line);
    svmp_release(context, m->out);
    svmp_release(context, m->in);
    svmp_release(context, m->leaving);
}

svmp_status svmp_mpi_attach(backend *b) {
    const graph_halo *halo = b->model->graph->halo;
    const svmp_peers *peers = b->model->graph->peers;
    if (peers->count == 1) return SVMP_OK;
    svmp_status status = SVMP_NEW(b->context, b->mpi, 1);
    if (status == SVMP_OK) status = count_rows(b->model->graph, b->n, b->mpi);
    SVMP_TRY(svmp_agree(b->context, peers, status));
    SVMP_TRY(svmp_context_compare(b->context, "the backend that is selected for their processors",
                                  b->runs_as ? b->runs_as : b->local->name));
    const svmp_peer_routes routes = {halo->neighbours, b->n, halo->rank, b->mpi->out, b->mpi->in};
    SVMP_TRY(peers->connect(b->context, peers, &routes, &b->mpi->line));
    b->kind = &svmp_backend_mpi;
    return SVMP_OK;
}

void svmp_mpi_detach(backend *b) {
    struct mpi_halo *m = b->mpi;
    if (m == NULL) return;
    await(b);
    release(b->context, b->model->graph->peers, m);
    svmp_release(b->context, m);
    b->mpi = NULL;
}

svmp_status svmp_mpi_bring(const svmp_graph *graph, double *values) {
    svmp_context *context = graph->context;
    const graph_halo *halo = graph->halo;
    const svmp_peers *peers = graph->peers;
    struct mpi_halo m = {0};
    svmp_status status;
    if (peers->count == 1) return SVMP_OK;
    SVMP_CHECK(svmp_agree(context, peers, count_rows(graph, 1, &m)));
    const svmp_peer_routes routes = {halo->neighbours, 1, halo->rank, m.out, m.in};
    SVMP_CHECK(peers->connect(context, peers, &routes, &m.line));
    pack(graph, 1, values, m.leaving);
    peers->depart(peers, m.line, m.leaving, values + graph->moved_variables);
    peers->arrived(peers, m.line, true);
done:
    release(context, peers, &m);
    return status;
}

mpi_times svmp_mpi_times(const backend *b) { return b->mpi ? b->mpi->times : (mpi_times){0}; }
