#include "backend/exchange_rows.h"

#include "base/clock.h"
#include "base/peers.h"
#include "graph/graph_rows.h"

struct row_exchange {
    graph_rows *rows;
    bool travelling;
    svmp_status status; /* the result of score and stein: exchanged with the step, so that no process waits for one that
                           has left */
    exchange_times times;
};

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Records a failure; the other processes learn of it with the step. */
static void note(backend *b, svmp_status status) {
    if (b->exchange->status == SVMP_OK) b->exchange->status = status;
}

/* Whether the particles are on a device, not in the memory of this process. */
static int on_device(const backend *b) { return b->local->fetch_rows != NULL; }

static svmp_status exchange(backend *b) {
    struct row_exchange *m = b->exchange;
    const svmp_graph *graph = b->model->graph;
    const double started = svmp_clock_seconds();
    m->status = SVMP_OK;
    if (on_device(b)) note(b, b->local->fetch_rows(b, graph->inner_variables, graph->moved_variables));
    svmp_graph_rows_send(m->rows, b->x);
    m->travelling = true;
    m->times.packing += svmp_clock_seconds() - started;
    return SVMP_OK;
}

/* Makes progress with messages, because some libraries for messages advance them only within calls. */
static void nudge(const backend *b) {
    if (b->exchange->travelling) b->exchange->travelling = !svmp_graph_rows_received(b->exchange->rows, false);
}

/* Waits for the messages; returns whether there were any. */
static bool await(const backend *b) {
    const double started = svmp_clock_seconds();
    const bool travelling = b->exchange->travelling;
    if (travelling) svmp_graph_rows_received(b->exchange->rows, true);
    b->exchange->travelling = false;
    b->exchange->times.waiting += svmp_clock_seconds() - started;
    return travelling;
}

static void arrive(backend *b) {
    const svmp_graph *graph = b->model->graph;
    if (await(b) && on_device(b)) note(b, b->local->store_rows(b, graph->moved_variables, graph->variables));
}

static svmp_status refresh(backend *b) {
    SVMP_TRY(exchange(b));
    arrive(b);
    return on_device(b) ? svmp_agree(b->context, b->model->graph->peers, b->exchange->status) : SVMP_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static svmp_status score(backend *b) {
    const svmp_graph *graph = b->model->graph;
    if (on_device(b)) arrive(b);
    b->span = (node_span){0, on_device(b) ? graph->moved : graph->inner};
    if (b->exchange->status == SVMP_OK) note(b, b->local->score(b));
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
    if (on_device(b)) {
        if (b->exchange->status == SVMP_OK) note(b, b->local->stein(b, k, t));
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
    double seen[] = {b->largest, b->exchange->status != SVMP_OK || status != SVMP_OK};
    peers->max(peers, 2, seen);
    b->largest = seen[0];
    b->exchange->times.agreeing += svmp_clock_seconds() - started;
    if (seen[1] == 0) return SVMP_OK;
    if (b->moved && status == SVMP_OK && b->exchange->status == SVMP_OK && b->local->take_back) {
        b->local->take_back(b);
    } else if (b->moved && status == SVMP_OK && b->exchange->status == SVMP_OK) {
        double *before = b->phi;
        b->phi = b->x;
        b->x = before;
    }
    b->moved = 0;
    return svmp_agree(b->context, b->model->graph->peers,
                      b->exchange->status != SVMP_OK ? b->exchange->status : status);
}

static svmp_status move(backend *b, const step *s, double rate, size_t t) {
    return agree(b, b->exchange->status == SVMP_OK ? b->local->step(b, s, rate, t) : SVMP_OK);
}

static svmp_status diffuse(backend *b, double rate, size_t t) {
    if (!on_device(b)) score_boundary(b);
    return agree(b, b->exchange->status == SVMP_OK ? b->local->diffuse(b, rate, t) : SVMP_OK);
}

static const backend_kind among_peers = {.name = "peers",
                                         .exchange = exchange,
                                         .refresh = refresh,
                                         .score = score,
                                         .stein = stein,
                                         .step = move,
                                         .diffuse = diffuse};

/* ---- making ------------------------------------------------------------------------------------------------------ */

svmp_status svmp_exchange_attach(backend *b) {
    const svmp_peers *peers = b->model->graph->peers;
    if (b->model->graph->halo == NULL) return SVMP_OK;
    svmp_status status = SVMP_NEW(b->context, b->exchange, 1);
    if (status == SVMP_OK) status = svmp_graph_rows_plan(b->model->graph, b->n, &b->exchange->rows);
    SVMP_TRY(svmp_agree(b->context, peers, status));
    SVMP_TRY(svmp_context_compare(b->context, "the backend that is selected for their processors",
                                  b->runs_as ? b->runs_as : b->local->name));
    svmp_graph_rows_connect(b->exchange->rows);
    b->kind = &among_peers;
    return SVMP_OK;
}

void svmp_exchange_detach(backend *b) {
    if (b->exchange == NULL) return;
    await(b);
    svmp_graph_rows_free(b->exchange->rows);
    svmp_release(b->context, b->exchange);
    b->exchange = NULL;
}

exchange_times svmp_exchange_times(const backend *b) { return b->exchange ? b->exchange->times : (exchange_times){0}; }
