/* Max-sum on the particles. With s and r the two ends of an edge between u (at s) and v (at r):
 *
 *     foundation_s(a) = theta_u(a) + sum_{ends q at u, q /= s} message_q(a)       what leaves u, before the edge
 *     message_r(b)    = max_a ( psi(a, b) + foundation_s(a) )                     what arrives at v; its maximum is 0
 *     belief_u(a)     = theta_u(a) + sum_{ends q at u} message_q(a)               max-marginal, up to a constant
 *
 * On a tree the belief of a particle is the largest log density of all configurations of particles that hold it. */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "method/pmp/pmp.h"

static const double damping = 0.5, still = 1e-5;
enum { SWEEPS = 100 };

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Row a of the table of an edge: particle a of the lower node with every particle of the higher one. */
static size_t fill_table(pmp *p, size_t edge, pmp_workspace *workspace) {
    const size_t n = 2 * p->n, u = p->pairs->node[2 * edge], v = p->pairs->node[2 * edge + 1];
    const size_t *first = p->pairs->model->graph->first, du = first[u + 1] - first[u], dv = first[v + 1] - first[v];
    double *x = workspace->pairs.x, *table = p->table + edge * n * n;
    memcpy(x + du * n, p->x + first[v] * n, dv * n * sizeof *x);
    for (size_t a = 0; a < n; a++) {
        for (size_t k = 0; k < du; k++)
            for (size_t b = 0; b < n; b++) x[k * n + b] = p->x[(first[u] + k) * n + a];
        const size_t failed = svmp_pairwise_edge(p->pairs, edge, n, x, &workspace->pairs, table + a * n);
        if (failed != PAIRWISE_DONE) return failed;
    }
    return PAIRWISE_DONE;
}

typedef struct table_work {
    pmp *p;
    atomic_size_t failed; /* the first factor that failed */
} table_work;

static void find_unary(void *work, size_t v) {
    table_work *w = work;
    pmp *p = w->p;
    const size_t n = 2 * p->n;
    const double *x = p->x + p->pairs->model->graph->first[v] * n;
    pmp_workspace *workspace = &p->workspace[svmp_thread_number()];
    svmp_keep_least(&w->failed, svmp_pairwise_node(p->pairs, v, n, x, &workspace->pairs, p->unary + v * n));
}

static void find_table(void *work, size_t e) {
    table_work *w = work;
    svmp_keep_least(&w->failed, fill_table(w->p, e, &w->p->workspace[svmp_thread_number()]));
}

svmp_status svmp_pmp_tables(pmp *p) {
    const svmp_graph *graph = p->pairs->model->graph;
    const size_t n = 2 * p->n, edges = p->pairs->edges;
    const int threads = svmp_threads_for(p->threads, 20 * (double)n * (double)(n * edges + graph->variables));
    table_work work = {p, PAIRWISE_DONE};
    svmp_parallel_for(threads, graph->nodes, 4, find_unary, &work);
    svmp_parallel_for(threads, edges, 1, find_table, &work);
    return svmp_pmp_check(p, work.failed);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void add(size_t n, const double *from, double *to) {
    for (size_t a = 0; a < n; a++) to[a] += from[a];
}

/* Foundations and belief of a node in time linear in its ends, without cancellation: the sum over the ends before this
 * one plus the sum over those after it. */
static void gather_node(pmp *p, size_t v, double *behind) {
    const size_t n = 2 * p->n, from = p->pairs->ends_start[v], to = p->pairs->ends_start[v + 1];
    double *belief = p->belief + v * n;
    memcpy(belief, p->unary + v * n, n * sizeof *belief);
    for (size_t k = from; k < to; k++) {
        const size_t end = p->pairs->ends[k];
        memcpy(p->foundation + end * n, belief, n * sizeof *belief);
        add(n, p->message + end * n, belief);
    }
    memset(behind, 0, n * sizeof *behind);
    for (size_t k = to; k-- > from;) {
        const size_t end = p->pairs->ends[k];
        add(n, behind, p->foundation + end * n);
        add(n, p->message + end * n, behind);
    }
}

/* max_b ( row[b] + foundation[b] ), in eight lanes, since a maximum does not depend on the order */
static double largest_sum(size_t n, const double *row, const double *foundation) {
    double lane[8], largest = -INFINITY;
    for (size_t k = 0; k < 8; k++) lane[k] = -INFINITY;
    size_t b = 0;
    for (; b + 8 <= n; b += 8)
        for (size_t k = 0; k < 8; k++) {
            const double sum = row[b + k] + foundation[b + k];
            lane[k] = sum > lane[k] ? sum : lane[k];
        }
    for (; b < n; b++) {
        const double sum = row[b] + foundation[b];
        lane[0] = sum > lane[0] ? sum : lane[0];
    }
    for (size_t k = 0; k < 8; k++) largest = lane[k] > largest ? lane[k] : largest;
    return largest;
}

/* message = half of the old one and half of the new one, both with maximum 0; returns the largest change. */
static double damp(size_t n, double *fresh, double *message) {
    double largest = fresh[0], again = -INFINITY, change = 0;
    for (size_t a = 1; a < n; a++) largest = fresh[a] > largest ? fresh[a] : largest;
    for (size_t a = 0; a < n; a++) {
        fresh[a] = damping * message[a] + (1 - damping) * (fresh[a] - largest);
        again = fresh[a] > again ? fresh[a] : again;
    }
    for (size_t a = 0; a < n; a++) {
        fresh[a] -= again;
        change = fmax(change, fabs(fresh[a] - message[a]));
        message[a] = fresh[a];
    }
    return change;
}

static double send_along(pmp *p, size_t edge, double *fresh) {
    const size_t n = 2 * p->n, low = 2 * edge, high = low + 1;
    const double *table = p->table + edge * n * n, *from_low = p->foundation + low * n;
    for (size_t a = 0; a < n; a++) fresh[a] = largest_sum(n, table + a * n, p->foundation + high * n);
    const double change = damp(n, fresh, p->message + low * n);

    for (size_t b = 0; b < n; b++) fresh[b] = -INFINITY;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            const double sum = table[a * n + b] + from_low[a];
            fresh[b] = sum > fresh[b] ? sum : fresh[b];
        }
    return fmax(change, damp(n, fresh, p->message + high * n));
}

typedef struct pass_work {
    pmp *p;
    _Atomic double change;
} pass_work;

static void gather(void *work, size_t v) {
    const pass_work *w = work;
    gather_node(w->p, v, w->p->workspace[svmp_thread_number()].numbers);
}

static void send_edge(void *work, size_t e) {
    pass_work *w = work;
    svmp_keep_largest(&w->change, send_along(w->p, e, w->p->workspace[svmp_thread_number()].numbers));
}

double svmp_pmp_pass(pmp *p) {
    const size_t n = 2 * p->n, nodes = p->pairs->model->graph->nodes, edges = p->pairs->edges;
    const int threads = svmp_threads_for(p->threads, 2 * (double)n * (double)(n * edges));
    pass_work work = {p, 0};
    memset(p->message, 0, 2 * edges * n * sizeof *p->message);
    for (size_t sweep = 0;; sweep++) {
        svmp_parallel_for(threads, nodes, 0, gather, &work);
        if (sweep == SWEEPS || (sweep > 0 && work.change <= still)) return work.change;
        work.change = 0;
        svmp_parallel_for(threads, edges, 0, send_edge, &work);
    }
}
