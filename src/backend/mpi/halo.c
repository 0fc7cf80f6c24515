#include "backend/mpi/mpi.h"

#ifndef SVMP_HAVE_MPI

svmp_status svmp_mpi_attach(backend *b) { return (void)b, SVMP_OK; }
void svmp_mpi_detach(backend *b) { (void)b; }
mpi_times svmp_mpi_times(const backend *b) { return (void)b, (mpi_times){0}; }

#else

#include <limits.h>
#include <mpi.h>
#include <string.h>

#include "base/clock.h"
#include "base/team.h"
#include "graph/part.h"

struct mpi_halo {
    MPI_Comm neighbours;  /* a distributed graph: who shares an edge of the model with whom */
    MPI_Datatype row;     /* the particles of a variable */
    int *counts, *places; /* rows to each neighbour and where they begin; then the same from each */
    double *leaving;      /* the rows to all neighbours, one after the other */
    MPI_Request request;
    int travelling;
    svmp_status status; /* how score and stein went: told by the step, so that nobody waits for one who has left */
    mpi_times times;
};

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* The particles of boundary nodes, for each neighbour in turn. */
static void pack(const backend *b) {
    const svmp_graph *graph = b->model->graph;
    const index_lists *send = &graph->halo->send;
    double *to = b->mpi->leaving;
    for (size_t e = 0; e < send->start[graph->halo->neighbours]; e++) {
        const size_t first = graph->first[send->item[e]], rows = graph->first[send->item[e] + 1] - first;
        memcpy(to, b->x + first * b->n, rows * b->n * sizeof *to);
        to += rows * b->n;
    }
}

static svmp_status exchange(backend *b) {
    struct mpi_halo *m = b->mpi;
    const size_t neighbours = b->model->graph->halo->neighbours;
    const double started = svmp_clock_seconds();
    const int *in = m->counts + neighbours, *at = m->places + neighbours;
    pack(b);
    MPI_Ineighbor_alltoallv(m->leaving, m->counts, m->places, m->row, b->x + b->model->graph->own_variables * b->n, in,
                            at, m->row, m->neighbours, &m->request);
    m->travelling = 1;
    m->times.packing += svmp_clock_seconds() - started;
    return SVMP_OK;
}

/* Lets messages go on, where the library moves them only while it is called. */
static void nudge(const backend *b) {
    int arrived = 0;
    if (b->mpi->travelling) MPI_Test(&b->mpi->request, &arrived, MPI_STATUS_IGNORE);
    if (arrived) b->mpi->travelling = 0;
}

static void arrive(const backend *b) {
    const double started = svmp_clock_seconds();
    if (b->mpi->travelling) MPI_Wait(&b->mpi->request, MPI_STATUS_IGNORE);
    b->mpi->travelling = 0;
    b->mpi->times.waiting += svmp_clock_seconds() - started;
}

static svmp_status refresh(backend *b) {
    SVMP_TRY(exchange(b));
    return arrive(b), SVMP_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static void note(backend *b, svmp_status status) {
    if (b->mpi->status == SVMP_OK) b->mpi->status = status;
}

static svmp_status score(backend *b) {
    b->span = (node_span){0, b->model->graph->interior};
    b->mpi->status = SVMP_OK;
    note(b, b->local->score(b));
    return SVMP_OK;
}

/* The halo is there: the scores of the nodes that read it. */
static void score_boundary(backend *b) {
    arrive(b);
    b->span = (node_span){b->model->graph->interior, b->model->graph->own};
    note(b, b->local->score(b));
}

/* The interior in slices, a look at the messages after each. What a kernel on all variables does, it does with the last
 * own node. */
static svmp_status stein(backend *b, const kernel *k, size_t t) {
    enum { SLICES = 64, LEAST = 16 };
    const svmp_graph *graph = b->model->graph;
    const size_t even = graph->interior / SLICES, slice = even > LEAST ? even : LEAST;
    const int all_interior = graph->interior == graph->own && graph->own > 0;
    for (size_t first = 0; first < graph->interior; first += slice) {
        b->span = (node_span){first, first + slice < graph->interior ? first + slice : graph->interior};
        note(b, b->local->stein(b, k, t));
        nudge(b);
    }
    score_boundary(b);
    if (!all_interior) note(b, b->local->stein(b, k, t));
    return SVMP_OK;
}

/* All have moved, or none has. */
static svmp_status agree(backend *b, svmp_status status) {
    const team *others = b->context->team;
    const double started = svmp_clock_seconds();
    double seen[] = {b->largest, b->mpi->status != SVMP_OK || status != SVMP_OK};
    others->max(others, 2, seen);
    b->largest = seen[0];
    b->mpi->times.agreeing += svmp_clock_seconds() - started;
    if (seen[1] == 0) return SVMP_OK;
    if (b->moved && status == SVMP_OK && b->mpi->status == SVMP_OK) {
        double *before = b->phi;
        b->phi = b->x;
        b->x = before;
    }
    b->moved = 0;
    return svmp_team_agree(b->context, b->mpi->status != SVMP_OK ? b->mpi->status : status);
}

static svmp_status move(backend *b, const step *s, double rate, size_t t) {
    return agree(b, b->mpi->status == SVMP_OK ? b->local->step(b, s, rate, t) : SVMP_OK);
}

static svmp_status diffuse(backend *b, double rate, size_t t) {
    score_boundary(b);
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

static size_t rows_of(const svmp_graph *graph, const uint32_t *nodes, size_t count) {
    size_t rows = 0;
    for (size_t k = 0; k < count; k++) rows += svmp_graph_node_dimension(graph, nodes[k]);
    return rows;
}

/* How many rows go where, and come from where. */
static svmp_status count_rows(backend *b) {
    const svmp_graph *graph = b->model->graph;
    const graph_halo *halo = graph->halo;
    const size_t neighbours = halo->neighbours;
    struct mpi_halo *m = b->mpi;
    const size_t in = graph->variables - graph->own_variables;
    size_t out = 0;
    SVMP_TRY(SVMP_NEW(b->context, m->counts, 2 * neighbours));
    SVMP_TRY(SVMP_NEW(b->context, m->places, 2 * neighbours));
    for (size_t k = 0; k < neighbours; k++) {
        const size_t from = halo->send.start[k];
        const size_t rows = rows_of(graph, halo->send.item + from, halo->send.start[k + 1] - from);
        const size_t first = graph->first[graph->own + halo->from[k]],
                     last = graph->first[graph->own + halo->from[k + 1]];
        m->counts[k] = (int)rows;
        m->places[k] = (int)out;
        out += rows;
        m->counts[neighbours + k] = (int)(last - first);
        m->places[neighbours + k] = (int)(first - graph->own_variables);
    }
    if (out > INT_MAX || in > INT_MAX || b->n > INT_MAX)
        return svmp_fail(b->context, SVMP_UNSUPPORTED,
                         "A process would send %zu and receive %zu variables of %zu particles at once; the most that "
                         "MPI counts is %d.",
                         out, in, b->n, INT_MAX);
    return svmp_allocate(b->context, out, b->n * sizeof *m->leaving, (void **)&m->leaving);
}

svmp_status svmp_mpi_attach(backend *b) {
    const graph_halo *halo = b->model->graph->halo;
    struct mpi_halo *m = NULL;
    MPI_Comm all;
    if (b->context->team == NULL || halo == NULL) return SVMP_OK;
    SVMP_TRY(svmp_team_agree(b->context, SVMP_NEW(b->context, m, 1)));
    b->mpi = m;
    SVMP_TRY(svmp_team_agree(b->context, count_rows(b)));
    SVMP_TRY(svmp_context_compare(b->context, "what --backend comes to on their processors",
                                  b->runs_as ? b->runs_as : b->local->name));
    memcpy(&all, b->context->team->own, sizeof all); /* the team's communicator stands first */
    const int neighbours = (int)halo->neighbours, *ranks = (const int *)halo->rank;
    MPI_Dist_graph_create_adjacent(all, neighbours, ranks, m->counts + neighbours, neighbours, ranks, m->counts,
                                   MPI_INFO_NULL, 0, &m->neighbours);
    MPI_Type_contiguous((int)b->n, MPI_DOUBLE, &m->row);
    MPI_Type_commit(&m->row);
    b->kind = &svmp_backend_mpi;
    return SVMP_OK;
}

void svmp_mpi_detach(backend *b) {
    struct mpi_halo *m = b->mpi;
    if (m == NULL) return;
    if (b->kind == &svmp_backend_mpi) {
        if (m->travelling) MPI_Wait(&m->request, MPI_STATUS_IGNORE);
        MPI_Type_free(&m->row);
        MPI_Comm_free(&m->neighbours);
    }
    svmp_release(b->context, m->counts);
    svmp_release(b->context, m->places);
    svmp_release(b->context, m->leaving);
    svmp_release(b->context, m);
    b->mpi = NULL;
}

mpi_times svmp_mpi_times(const backend *b) { return b->mpi ? b->mpi->times : (mpi_times){0}; }

#endif
