#include "backend/cpu/cpu.h"

#include <string.h>

#include "base/thread.h"

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* What the terms of a kernel ask of the room. */
typedef struct needs {
    int matrix, repulsion, moments;
    size_t drawn, rows; /* nodes, variables of the largest domain */
} needs;

static needs needs_of(const svmp_graph *graph, const kernel *k) {
    needs all = {.rows = svmp_unit_rows_most(graph, k), .drawn = svmp_unit_drawn_most(k)};
    for (size_t a = 0; a < k->count; a++) {
        const kernel_term *term = &k->terms[a];
        all.matrix |= term->shape->value != NULL;
        all.repulsion |= term->shape->repulsion != NULL;
        all.moments |= term->shape->value == NULL;
    }
    return all;
}

static svmp_status alloc_room(backend *b, const needs *all, stein_room *room) {
    svmp_context *context = b->context;
    const size_t n = b->n, bytes = n * sizeof(double);
    SVMP_TRY(SVMP_NEW(context, room->rows, all->rows));
    SVMP_TRY(SVMP_NEW(context, room->column_sum, n));
    SVMP_TRY(SVMP_NEW(context, room->drawn, all->drawn));
    SVMP_TRY(SVMP_NEW(context, room->row, (size_t)b->threads));
    for (int t = 0; t < b->threads; t++) SVMP_TRY(SVMP_NEW(context, room->row[t], n));
    if (all->matrix) SVMP_TRY(svmp_allocate(context, n, bytes, (void **)&room->k));
    if (all->matrix) SVMP_TRY(svmp_allocate(context, n / 2 + 1, bytes, (void **)&room->pairs));
    if (all->repulsion) SVMP_TRY(svmp_allocate(context, n, bytes, (void **)&room->repulsion));
    return SVMP_OK;
}

static void free_room(backend *b, stein_room *room) {
    svmp_context *context = b->context;
    for (int t = 0; room->row && t < b->threads; t++) svmp_release(context, room->row[t]);
    svmp_release(context, room->row);
    svmp_release(context, room->rows);
    svmp_release(context, room->column_sum);
    svmp_release(context, room->drawn);
    svmp_release(context, room->k);
    svmp_release(context, room->pairs);
    svmp_release(context, room->repulsion);
}

static void free_cpu(backend *b) {
    cpu *own = b->own;
    for (int t = 0; own->rooms && t < b->threads; t++) free_room(b, &own->rooms[t]);
    svmp_release(b->context, own->rooms);
    svmp_release(b->context, own->nodes);
    svmp_release(b->context, own->centred);
    svmp_release(b->context, own->variance);
    svmp_release(b->context, own);
}

static svmp_status alloc(backend *b, const kernel *k) {
    svmp_context *context = b->context;
    const svmp_graph *graph = b->model->graph;
    cpu *own = NULL;
    SVMP_TRY(SVMP_NEW(context, own, 1));
    b->own = own;
    SVMP_TRY(svmp_evaluator_create(b->model, b->n, &b->evaluator));
    if (k == NULL) return SVMP_OK;

    const needs all = needs_of(graph, k);
    SVMP_TRY(SVMP_NEW(context, own->nodes, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++) own->nodes[v] = (uint32_t)v;
    if (all.moments) {
        SVMP_TRY(svmp_allocate(context, graph->variables, b->n * sizeof(double), (void **)&own->centred));
        SVMP_TRY(SVMP_NEW(context, own->variance, graph->variables));
    }
    const double matrices = all.matrix * 1.5 + all.repulsion, n = (double)b->n; /* k, the pairs; the repulsion */
    SVMP_TRY(svmp_require_memory(context, matrices * n * n * sizeof(double) * b->threads,
                                 "the kernel matrices of so many particles take"));
    SVMP_TRY(SVMP_NEW(context, own->rooms, (size_t)b->threads));
    for (int t = 0; t < b->threads; t++) SVMP_TRY(alloc_room(b, &all, &own->rooms[t]));
    return SVMP_OK;
}

/* ---- stein ------------------------------------------------------------------------------------------------------- */

/* Roughly: for every pair of particles a distance and an exponential, or a product for every particle and variable. */
static double operations(const backend *b, const kernel_term *term, size_t units) {
    const svmp_graph *graph = b->model->graph;
    const double n = (double)b->n, numbers = n * (double)graph->variables;
    double domain = 1; /* variables that a node of the term sees, on average */
    if (term->domain == DOMAIN_ALL) domain = (double)graph->variables;
    if (term->domain == DOMAIN_RANDOM) domain = (double)term->neighbours + 1;
    if (term->domain == DOMAIN_BLANKET) domain = (double)graph->neighbourhoods.start[units] / (double)units;
    return term->shape->value ? (double)units * n * n * (2 * domain + 20) + 2 * n * numbers : 4 * numbers * domain;
}

static svmp_status stein(backend *b, const kernel *k, size_t t) {
    const cpu *own = b->own;
    if (own->centred) svmp_cpu_centre(b);
    memset(b->phi, 0, b->model->graph->variables * b->n * sizeof *b->phi);
    for (size_t a = 0; a < k->count; a++) {
        const kernel_term *term = &k->terms[a];
        const size_t units = svmp_unit_count(b->model->graph, term);
        const int threads = svmp_threads_for(b->threads, operations(b, term, units));
        const int team = units < (size_t)threads; /* too few units to go round: share each of them */
        void (*add)(backend *, const kernel_term *, const stein_unit *, stein_room *, int) =
            term->shape->value ? svmp_cpu_radial : svmp_cpu_linear;

#pragma omp parallel for schedule(dynamic) num_threads(team ? 1 : threads)
        for (size_t u = 0; u < units; u++) {
            stein_room *room = &own->rooms[team ? 0 : svmp_thread_number()];
            stein_unit unit = svmp_unit_find(b->model->graph, term, u, b->seed, t, own->nodes, room->drawn);
            add(b, term, &unit, room, team ? threads : 1);
        }
    }
    return SVMP_OK;
}

static svmp_status score(backend *b) { return svmp_evaluate(b->evaluator, b->x, NULL, b->score); }

const backend_kind svmp_backend_cpu = {
    .name = "cpu",
    .alloc = alloc,
    .free = free_cpu,
    .score = score,
    .stein = stein,
    .step = svmp_host_step,
    .diffuse = svmp_host_diffuse,
};
