#include "backend/cpu/cpu_backend.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"

/* ---- room -------------------------------------------------------------------------------------------------------- */

static size_t variables_of(const svmp_graph *graph, const uint32_t *nodes, size_t count) {
    size_t variables = 0;
    for (size_t k = 0; k < count; k++) variables += svmp_graph_node_dimension(graph, nodes[k]);
    return variables;
}

/* The sizes of the workspace that the terms of a kernel need. */
typedef struct needs {
    int matrix, repulsion, moments, products, gathered, grid;
    size_t neighbours, domain, members; /* nodes drawn; variables of the largest domain, and members of it */
    size_t packed;                      /* variables packed at a time */
    int stores, first_stores; /* whether every workspace, and whether the first one, holds all tiles of a unit */
    int teams;                /* whether all threads share units, which then use the first workspace */
} needs;

static void add_needs(const backend *b, const kernel *k, size_t a, needs *all) {
    const kernel_term *term = &k->terms[a];
    const svmp_graph *graph = b->model->graph;
    const unit_source from = svmp_cpu_source(b);
    const cpu *own = b->local_state;
    enum {
        TEAM_MOST = 1 << 27
    }; /* numbers, a gigabyte: up to this size threads share stored tiles instead of recomputing them alone */
    const size_t units = svmp_unit_count(graph, term->domain);
    all->matrix |= term->shape->value != NULL;
    all->repulsion |= term->shape->repulsion != NULL;
    all->moments |= term->shape->value == NULL && term->metric == METRIC_NONE;
    all->grid |= term->domain == DOMAIN_ALL;
    const int multiplies = svmp_term_multiplies(term, b->n, graph->whole_variables);
    all->products |= multiplies;
    all->gathered |= term->shape->value == NULL && svmp_cpu_among_processes(b, term) && !multiplies;
    all->teams |= units < (size_t)b->threads && own->all_tiles <= TEAM_MOST;
    all->first_stores |= all->teams || svmp_cpu_among_processes(b, term);
    if (term->neighbours > all->neighbours) all->neighbours = term->neighbours;
    if (all->gathered) all->domain = graph->whole_variables;
    for (size_t u = 0; u < units; u++) {
        const stein_unit unit = svmp_unit_find(&from, k, a, u);
        size_t domain = variables_of(graph, unit.domain, unit.domain_count);
        const size_t members = variables_of(graph, unit.members, unit.member_count);
        if (unit.message) domain += members;
        if (term->domain == DOMAIN_RANDOM) { /* at most the whole neighbourhood */
            size_t count;
            const uint32_t *closed = svmp_graph_neighbourhood(graph, u, &count);
            domain = variables_of(graph, closed, count);
        }
        if (domain > all->domain) all->domain = domain;
        if (members > all->members) all->members = members;
        const int stores = svmp_cpu_stores(b, members);
        const size_t packed = stores && domain > PACKED_VARIABLES ? PACKED_VARIABLES : domain;
        if (packed > all->packed) all->packed = packed;
        all->first_stores |= stores;
        all->stores |= stores && units > 1;
    }
}

/* Hands out pieces of an array, each starting at a cache line. Without an array, it counts the numbers needed. */
typedef struct supply {
    double *numbers;
    size_t taken;
} supply;

static double *take(supply *from, size_t count) {
    double *piece = from->numbers ? from->numbers + from->taken : NULL;
    from->taken += (count + LINE - 1) / LINE * LINE;
    return piece;
}

static double *take_rows(supply *from, size_t count, size_t stride) {
    double *line = take(from, count * stride + LINE);
    return line ? svmp_lanes_row(line) : NULL;
}

static double *next_line(double *p) {
    const uintptr_t bytes = LINE * sizeof *p, over = (uintptr_t)p % bytes;
    return over ? p + (bytes - over) / sizeof *p : p;
}

static void lay_out(const backend *b, const needs *all, int first, supply *from, stein_workspace *workspace) {
    const cpu *own = b->local_state;
    const size_t stride = svmp_lanes_stride(b->n);
    const size_t tiles = all->stores || (first && all->first_stores) ? own->all_tiles : own->largest_tile;
    if (all->matrix) workspace->packed = take_rows(from, all->packed, stride);
    if (all->matrix) workspace->k = take(from, tiles);
    if (all->repulsion) workspace->repulsion = take(from, tiles);
    workspace->total = take_rows(from, 1, stride);
    workspace->weight = take_rows(from, (size_t)2 * WEIGHED_VARIABLES, stride);
    workspace->sum = take_rows(from, WEIGHED_VARIABLES, stride);
    workspace->list = take(from, own->list_capacity + WIDEST_LANES);
}

static svmp_status alloc_workspace(backend *b, const needs *all, int first, stein_workspace *workspace) {
    svmp_context *context = b->context;
    supply numbers = {0};
    lay_out(b, all, first, &numbers, workspace);
    SVMP_TRY(SVMP_NEW(context, workspace->rows, all->domain));
    SVMP_TRY(SVMP_NEW(context, workspace->members, all->members));
    SVMP_TRY(SVMP_NEW(context, workspace->drawn, all->neighbours + 1));
    SVMP_TRY(SVMP_NEW(context, workspace->numbers, numbers.taken + LINE));
    numbers = (supply){next_line(workspace->numbers), 0};
    lay_out(b, all, first, &numbers, workspace);
    return SVMP_OK;
}

static void free_workspace(backend *b, stein_workspace *workspace) {
    svmp_release_all(b->context, workspace->rows, workspace->members, workspace->drawn, workspace->numbers);
}

static void free_cpu(backend *b) {
    cpu *own = b->local_state;
    for (int t = 0; own->workspaces && t < b->threads; t++) free_workspace(b, &own->workspaces[t]);
    for (size_t a = 0; own->middles && a < KERNEL_TERMS_MAX; a++) svmp_release(b->context, own->middles[a]);
    svmp_release_all(b->context, own->workspaces, own->middles, own->tiles, own->ones, own->nodes, own->centred,
                     own->variance, own->grid.of, own->grid.steps, own->grid.near, own->near, own->products,
                     own->gathered, own);
}

static svmp_status plan_tiles(backend *b) {
    cpu *own = b->local_state;
    const size_t n = b->n, width = own->lanes->width;
    SVMP_TRY(SVMP_NEW(b->context, own->tiles, n / TILE_ROWS + 1));
    for (size_t first = 0; first + 1 < n; first += TILE_ROWS) {
        const size_t vectors = (n - 1 - first + width - 1) / width, numbers = vectors * TILE_ROWS * width;
        own->tiles[own->tile_count++] = (tile){first, vectors, own->all_tiles};
        own->all_tiles += numbers;
        if (numbers > own->largest_tile) own->largest_tile = numbers;
    }
    own->list_capacity = svmp_median_capacity(own->all_tiles);
    SVMP_TRY(SVMP_NEW(b->context, own->ones, n + PADDING));
    for (size_t l = 0; l < n; l++) own->ones[l] = 1;
    return SVMP_OK;
}

static svmp_status alloc_kernel(backend *b, const kernel *k) {
    svmp_context *context = b->context;
    const svmp_graph *graph = b->model->graph;
    cpu *own = b->local_state;
    needs all = {0};
    SVMP_TRY(plan_tiles(b));
    SVMP_TRY(SVMP_NEW(context, own->nodes, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++) own->nodes[v] = (uint32_t)v;
    SVMP_TRY(SVMP_NEW(context, own->middles, (size_t)KERNEL_TERMS_MAX));
    for (size_t a = 0; a < k->count; a++) {
        add_needs(b, k, a, &all);
        SVMP_TRY(SVMP_NEW(context, own->middles[a], svmp_unit_count(graph, k->terms[a].domain)));
    }
    if (all.moments) {
        SVMP_TRY(svmp_allocate(context, graph->variables, b->n * sizeof(double), (void **)&own->centred));
        SVMP_TRY(SVMP_NEW(context, own->variance, graph->variables));
    }
    own->teams = all.teams;
    const double tiles = (all.matrix + all.repulsion) * (all.stores ? b->threads : all.first_stores),
                 squares = 2.0 * all.products * (double)b->n * (double)b->n;
    SVMP_TRY(svmp_require_memory(context, (tiles * (double)own->all_tiles + squares) * sizeof(double),
                                 "the kernel matrices of this many particles need"));
    own->grid = (common_grid){.n = b->n, .variables = graph->whole_variables, .peers = graph->peers};
    if (all.grid) SVMP_TRY(SVMP_NEW(context, own->grid.of, b->n + PADDING));
    if (all.grid) SVMP_TRY(SVMP_NEW(context, own->grid.near, (size_t)GRID_NEAR));
    if (all.grid) SVMP_TRY(SVMP_NEW(context, own->near, own->tile_count));
    for (size_t p = 0; all.grid && p < PADDING; p++) own->grid.of[b->n + p] = INFINITY;
    if (all.products) SVMP_TRY(SVMP_NEW(context, own->grid.steps, b->n * b->n));
    if (all.products) SVMP_TRY(SVMP_NEW(context, own->products, b->n * b->n));
    if (all.gathered)
        SVMP_TRY(svmp_allocate(context, graph->whole_variables, b->n * sizeof(double), (void **)&own->gathered));
    SVMP_TRY(SVMP_NEW(context, own->workspaces, (size_t)b->threads));
    for (int t = 0; t < b->threads; t++) SVMP_TRY(alloc_workspace(b, &all, t == 0, &own->workspaces[t]));
    return SVMP_OK;
}

/* A backend for one instruction set. */
static const char *name_of(const lane_ops *lanes) {
    const backend_kind *const sets[] = {&svmp_backend_cpu_baseline, &svmp_backend_cpu_avx2, &svmp_backend_cpu_avx512};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        if (strcmp(sets[k]->name + strlen("cpu-"), lanes->name) == 0) return sets[k]->name;
    return NULL;
}

static svmp_status alloc(backend *b, const kernel *k) {
    cpu *own = NULL;
    SVMP_TRY(SVMP_NEW(b->context, own, 1));
    b->local_state = own;
    own->lanes = b->local == &svmp_backend_cpu ? svmp_lanes_best() : svmp_lanes_named(b->local->name + strlen("cpu-"));
    if (own->lanes == NULL)
        return svmp_fail(b->context, SVMP_UNSUPPORTED, "This machine cannot run the backend '%s'.", b->local->name);
    b->runs_as = name_of(own->lanes);
    SVMP_TRY(svmp_backend_evaluator(b, &b->evaluator));
    return k ? alloc_kernel(b, k) : SVMP_OK;
}

/* ---- stein ------------------------------------------------------------------------------------------------------- */

size_t svmp_cpu_members(const backend *b, const stein_unit *unit, stein_workspace *workspace) {
    const size_t *first = b->model->graph->first;
    size_t count = 0;
    for (size_t v = 0; v < unit->member_count; v++)
        for (size_t i = first[unit->members[v]]; i < first[unit->members[v] + 1]; i++)
            workspace->members[count++] = (uint32_t)i;
    return count;
}

/* Roughly: for every pair of particles a distance and an exponential, or a product for every particle and variable. */
static double operations(const backend *b, const kernel_term *term, size_t units) {
    const svmp_graph *graph = b->model->graph;
    const double n = (double)b->n, numbers = n * (double)graph->moved_variables;
    double domain = 1; /* the mean number of nodes in a domain of the term */
    if (term->domain == DOMAIN_ALL) domain = (double)graph->moved_variables;
    if (term->domain == DOMAIN_RANDOM) domain = (double)term->neighbours + 1;
    if (term->domain == DOMAIN_MESSAGE) domain = 2;
    if ((term->domain == DOMAIN_BLANKET || term->domain == DOMAIN_NEAR) && units > 0)
        domain = (double)graph->neighbourhoods.start[graph->distinct] / (double)graph->distinct;
    return term->shape->value ? (double)units * n * n * (2 * domain + 20) + 2 * n * numbers : 4 * numbers * domain;
}

/* Units that a thread takes at a time: neighbours read the same rows and write adjacent memory; but each thread should
 * get several batches, because units differ in cost. */
static size_t run_of(size_t units, int threads) {
    const size_t turns = 16, most = 4096, run = units / ((size_t)threads * turns);
    return run < 1 ? 1 : run > most ? most : run;
}

typedef struct term_work {
    backend *b;
    const kernel *k;
    unit_source from;
    size_t term, first, t; /* the first unit; the iteration */
    int threads;           /* that work on one unit */
} term_work;

static void do_unit(void *work, size_t number) {
    const term_work *w = work;
    const cpu *own = w->b->local_state;
    const kernel_term *term = &w->k->terms[w->term];
    const size_t u = w->first + number;
    stein_workspace *workspace = &own->workspaces[svmp_thread_number()];
    stein_unit unit = svmp_unit_draw(&w->from, w->k, w->term, u, w->b->seed, w->t, workspace->drawn);
    if (term->shape->value)
        svmp_cpu_radial(w->b, term, &unit, workspace, &own->middles[w->term][u], w->threads);
    else
        svmp_cpu_linear(w->b, term, &unit, workspace, w->threads);
}

static svmp_status stein(backend *b, const kernel *k, size_t t) {
    const cpu *own = b->local_state;
    const svmp_graph *graph = b->model->graph;
    svmp_host_units(b);
    if (own->centred) svmp_cpu_centre(b);
    SVMP_TRY(svmp_messages_update(b));
    if (b->span.first == 0) memset(b->phi, 0, graph->moved_variables * b->n * sizeof *b->phi);
    for (size_t a = 0; a < k->count; a++) {
        const kernel_term *term = &k->terms[a];
        const unit_span units = svmp_unit_span(graph, term->domain, b->span);
        const size_t count = units.last - units.first;
        const int threads = svmp_threads_for(b->threads, operations(b, term, count));
        const int shared = own->teams && count < (size_t)threads; /* fewer units than threads: share each of them */
        const int at_once = shared || count == 0 ? 1 : count < (size_t)threads ? (int)count : threads;
        term_work work = {b, k, svmp_cpu_source(b), a, units.first, t, shared ? threads : 1};
        svmp_parallel_for(at_once, count, run_of(count, at_once), do_unit, &work);
    }
    return SVMP_OK;
}

static svmp_status score(backend *b) { return svmp_evaluate_span(b->evaluator, b->span, b->x, b->score); }

#define CPU(variable, name_)                                                                                           \
    const backend_kind variable = {.name = name_,                                                                      \
                                   .alloc = alloc,                                                                     \
                                   .free = free_cpu,                                                                   \
                                   .score = score,                                                                     \
                                   .stein = stein,                                                                     \
                                   .step = svmp_host_step,                                                             \
                                   .diffuse = svmp_host_diffuse,                                                       \
                                   .keeps = svmp_cpu_keeps}

CPU(svmp_backend_cpu, "cpu"); /* the best instruction set of the machine; the others are for comparison */
CPU(svmp_backend_cpu_baseline, "cpu-baseline");
CPU(svmp_backend_cpu_avx2, "cpu-avx2");
CPU(svmp_backend_cpu_avx512, "cpu-avx512");
