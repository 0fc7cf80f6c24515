#include "method/transport/stein_transport.h"

#include <math.h>

#include "base/peers.h"
#include "base/row_sums.h"
#include "method/transport/transport_constants.h"

/* The largest displacement of a variable's particles, root mean square in units of their sd. */
static double largest_displacement(size_t variables, size_t n, const double *x, const double *by) {
    double largest = 0;
    for (size_t i = 0; i < variables; i++) {
        const double *row = x + i * n, *moved = by + i * n, mean = svmp_sum(n, row) / (double)n;
        double squares = 0;
        for (size_t l = 0; l < n; l++) squares += (row[l] - mean) * (row[l] - mean);
        const double share = sqrt(svmp_dot(n, moved, moved) / squares);
        largest = share > largest || isnan(share) ? share : largest;
    }
    return largest;
}

/* ---- shared among processes -------------------------------------------------------------------------------------- */

/* Each process evaluates the scores of its own particles. */
static svmp_status find_scores(backend *own, backend *all) {
    const double *from;
    double *to;
    if (own == all) return all->kind->score(all);
    SVMP_TRY(svmp_backend_take(own, all));
    SVMP_TRY(svmp_agree(own->context, own->columns.peers, own->kind->score(own)));
    SVMP_TRY(svmp_backend_view(own, ARRAY_SCORE, &from));
    SVMP_TRY(svmp_backend_edit(all, ARRAY_SCORE, &to));
    svmp_shared_gather(&own->columns, all->model->graph->variables, from, to);
    return svmp_backend_commit(all, ARRAY_SCORE);
}

static svmp_status stein_of_span(backend *b, node_span span, const kernel *k, size_t t) {
    const node_span whole = b->span;
    b->span = span;
    const svmp_status status = b->kind->stein(b, k, t);
    b->span = whole;
    return status;
}

/* Each process computes phi for some nodes, and all get all of it. A span that begins with the first node also updates
 * the units of all variables, once. On a device each process computes all. */
static svmp_status find_phi(const backend *own, backend *all, const kernel *k, size_t t) {
    const svmp_graph *graph = all->model->graph;
    const svmp_peers *peers = own->columns.peers;
    size_t first, count;
    double *phi;
    if (own == all || all->local->fetch || peers->count > graph->nodes) return all->kind->stein(all, k, t);
    svmp_shared_find(graph->nodes, peers->count, peers->rank, &first, &count);
    svmp_status status = first > 0 ? stein_of_span(all, (node_span){0, 0}, k, t) : SVMP_OK;
    if (status == SVMP_OK) status = stein_of_span(all, (node_span){first, first + count}, k, t);
    SVMP_TRY(svmp_agree(all->context, peers, status));
    SVMP_TRY(svmp_backend_edit(all, ARRAY_PHI, &phi));
    for (size_t rank = 0; rank < peers->count; rank++) {
        svmp_shared_find(graph->nodes, peers->count, rank, &first, &count);
        const size_t from = graph->first[first] * all->n, to = graph->first[first + count] * all->n;
        peers->broadcast(peers, rank, (to - from) * sizeof *phi, phi + from);
    }
    return SVMP_OK;
}

/* phi <- A^-1 phi, of the own particles in each process. */
static svmp_status solve(gaussian *q, backend *own, const backend *all, double *phi) {
    const size_t variables = all->model->graph->variables;
    double *part;
    if (own == all) return svmp_gaussian_solve(q, all->n, phi);
    SVMP_TRY(svmp_backend_edit(own, ARRAY_PHI, &part));
    svmp_shared_take(&own->columns, variables, phi, part);
    SVMP_TRY(svmp_agree(own->context, own->columns.peers, svmp_gaussian_solve(q, own->n, part)));
    svmp_shared_gather(&own->columns, variables, part, phi);
    return SVMP_OK;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* x <- x + rate A^-1 phi: in the metric of q correlated variables move together. The rate falls from 0.3 to 0.015,
 * which is stable if the correlation matrix of the variables that a node reads has no eigenvalue far above 60. */
svmp_status svmp_stein_transport(backend *own, backend *b, gaussian *q, const kernel *k, size_t done, size_t steps,
                                 double *rate, int *finite) {
    const size_t variables = b->model->graph->variables;
    double *x, *phi;
    SVMP_TRY(find_scores(own, b));
    SVMP_TRY(find_phi(own, b, k, done));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &phi));
    SVMP_TRY(solve(q, own, b, phi));
    const double largest = largest_displacement(variables, b->n, x, phi), share = (double)done / (double)steps;
    *finite = isfinite(largest) != 0;
    if (!*finite) return SVMP_OK;
    *rate = fmin(first_rate * pow(rate_falls_to, share), most_displacement / largest);
    for (size_t e = 0; e < variables * b->n; e++) x[e] += *rate * phi[e];
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
