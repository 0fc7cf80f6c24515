/* The two methods of particle message passing: T-PMP (Besse et al. 2014) and D-PMP (Pacheco et al. 2014), which differ
 * in the particles that they select. */
#include "method/pmp/pmp.h"

#include <stdio.h>
#include <string.h>

#include "base/threads.h"

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static size_t most_ends(const pairwise *pairs) {
    size_t most = 0;
    for (size_t v = 0; v < pairs->model->graph->nodes; v++) {
        const size_t ends = pairs->ends_start[v + 1] - pairs->ends_start[v];
        most = ends > most ? ends : most;
    }
    return most;
}

static svmp_status alloc_workspace(const pmp *p, pmp_workspace *workspace) {
    svmp_context *context = p->pairs->model->context;
    const size_t n = 2 * p->n, rows = p->diverse ? most_ends(p->pairs) * n : 0;
    size_t numbers = PMP_CANDIDATES * p->pairs->dimension;
    numbers = 2 * n > numbers ? 2 * n : numbers;
    SVMP_TRY(svmp_pairwise_workspace_create(p->pairs, PMP_CANDIDATES, n, &workspace->pairs));
    SVMP_TRY(SVMP_NEW(context, workspace->numbers, numbers));
    SVMP_TRY(svmp_allocate(context, rows, n * sizeof(double), (void **)&workspace->psi));
    SVMP_TRY(SVMP_NEW(context, workspace->best, rows));
    SVMP_TRY(SVMP_NEW(context, workspace->heap, n));
    return SVMP_NEW(context, workspace->chosen, p->n);
}

static svmp_status alloc_arrays(pmp *p) {
    svmp_context *context = p->pairs->model->context;
    const svmp_graph *graph = p->pairs->model->graph;
    const size_t n = 2 * p->n, bytes = n * sizeof(double), edges = p->pairs->edges;
    const double workspaces = p->diverse ? (double)p->threads * (double)most_ends(p->pairs) : 0;
    const double tables = (double)n * ((double)edges + workspaces);
    const double candidates = PMP_CANDIDATES / 2.0 * (double)(graph->variables + graph->nodes);
    SVMP_TRY(svmp_require_memory(context, (tables + candidates) * (double)bytes,
                                 "the tables of these edges and particles need"));
    SVMP_TRY(svmp_allocate(context, graph->variables, bytes, (void **)&p->x));
    SVMP_TRY(svmp_allocate(context, graph->nodes, bytes, (void **)&p->unary));
    SVMP_TRY(svmp_allocate(context, graph->nodes, bytes, (void **)&p->belief));
    SVMP_TRY(svmp_allocate(context, edges * n, bytes, (void **)&p->table));
    SVMP_TRY(svmp_allocate(context, 2 * edges, bytes, (void **)&p->message));
    SVMP_TRY(svmp_allocate(context, 2 * edges, bytes, (void **)&p->foundation));
    SVMP_TRY(SVMP_NEW(context, p->plan, graph->nodes * p->n));
    SVMP_TRY(SVMP_NEW(context, p->candidate, graph->variables * p->n * PMP_CANDIDATES));
    SVMP_TRY(SVMP_NEW(context, p->weight, graph->nodes * p->n * PMP_CANDIDATES));
    SVMP_TRY(SVMP_NEW(context, p->workspace, (size_t)p->threads));
    for (int k = 0; k < p->threads; k++) SVMP_TRY(alloc_workspace(p, &p->workspace[k]));
    return SVMP_OK;
}

static svmp_status alloc_pmp(svmp_run *run, int diverse) {
    char who[64];
    pmp *p = NULL;
    snprintf(who, sizeof who, "The method '%s'", run->method->name);
    SVMP_TRY(SVMP_NEW(run->context, p, 1));
    run->state = p;
    *p = (pmp){.n = run->backend->n, .diverse = diverse, .threads = run->backend->threads};
    SVMP_TRY(svmp_pairwise_create(run->model, who, &p->pairs));
    return alloc_arrays(p);
}

static svmp_status alloc_best(svmp_run *run) { return alloc_pmp(run, 0); }
static svmp_status alloc_diverse(svmp_run *run) { return alloc_pmp(run, 1); }

static void free_workspace(const pmp *p, pmp_workspace *workspace) {
    svmp_context *context = p->pairs->model->context;
    svmp_pairwise_workspace_free(p->pairs, &workspace->pairs);
    svmp_release(context, workspace->numbers);
    svmp_release(context, workspace->psi);
    svmp_release(context, workspace->best);
    svmp_release(context, workspace->heap);
    svmp_release(context, workspace->chosen);
}

static void free_pmp(svmp_run *run) {
    pmp *p = run->state;
    for (int k = 0; p->workspace && k < p->threads; k++) free_workspace(p, &p->workspace[k]);
    void *const arrays[] = {p->x,          p->unary, p->belief,    p->table,  p->message,
                            p->foundation, p->plan,  p->candidate, p->weight, p->workspace};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(run->context, arrays[k]);
    svmp_pairwise_free(p->pairs);
    svmp_release(run->context, p);
}

/* ---- iterating --------------------------------------------------------------------------------------------------- */

svmp_status svmp_pmp_check(const pmp *p, size_t failed) {
    if (failed == PAIRWISE_DONE) return SVMP_OK;
    return svmp_model_fail(p->pairs->model, failed);
}

/* The backend's particles are the first half of the particles here. */
static svmp_status fetch(pmp *p, backend *b) {
    const double *x;
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    for (size_t i = 0; i < p->pairs->model->graph->variables; i++)
        memcpy(p->x + i * 2 * p->n, x + i * p->n, p->n * sizeof *p->x);
    return SVMP_OK;
}

typedef struct selection {
    pmp *p;
    double *x;
} selection;

static void select_node(void *work, size_t v) {
    const selection *s = work;
    pmp *p = s->p;
    const size_t n = 2 * p->n, *first = p->pairs->model->graph->first + v;
    pmp_workspace *workspace = &p->workspace[svmp_thread_number()];
    svmp_pmp_select(p, v, workspace);
    for (size_t i = first[0]; i < first[1]; i++)
        for (size_t l = 0; l < p->n; l++) s->x[i * p->n + l] = p->x[i * n + workspace->chosen[l]];
}

/* The selected particles become the backend's: particle l is the l-th choice of every node. */
static svmp_status keep(pmp *p, backend *b) {
    double *x;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    const size_t n = 2 * p->n;
    const int threads = svmp_threads_for(p->threads, 10 * (double)n * (double)(n * p->pairs->edges));
    svmp_parallel_for(threads, p->pairs->model->graph->nodes, 1, select_node, &(selection){p, x});
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static svmp_status iterate(svmp_run *run) {
    pmp *p = run->state;
    backend *b = run->backend;
    SVMP_TRY(fetch(p, b));
    SVMP_TRY(svmp_pmp_grow(p, b, run->iteration));
    SVMP_TRY(svmp_pmp_tables(p));
    b->largest = svmp_pmp_pass(p);
    return keep(p, b);
}

#define PASSING(member, alloc_)                                                                                        \
    const method svmp_method_##member = {.name = #member,                                                              \
                                         .yield = SVMP_YIELD_MODES,                                                    \
                                         .iterations = 100,                                                            \
                                         .largest = "change of a message",                                             \
                                         .on_host = 1,                                                                 \
                                         .alloc = alloc_,                                                              \
                                         .iterate = iterate,                                                           \
                                         .free = free_pmp}

PASSING(dpmp, alloc_diverse);
PASSING(tpmp, alloc_best);
