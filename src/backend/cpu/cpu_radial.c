/* Kernels that are functions of the distance, for one unit: distances and their median, then kernel and velocities,
 * tile by tile (lanes.h). */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "base/threads.h"

/* How the repulsion follows from k: as ratio * k (0 in the limits), or element by element in workspace->repulsion. */
typedef struct repelling {
    double h, ratio;
    int by_number;
} repelling;

/* The computation of a unit. */
typedef struct radial {
    backend *b;
    const cpu *own;
    const kernel_term *term;
    stein_workspace *workspace;
    const double *x; /* variables * n: the coordinates that the term uses */
    size_t n, stride, domain_variables;
    int threads, stored;
    packed_rows packed;   /* the currently packed variables */
    size_t packed_before; /* the number of variables before them in the domain */
    const double *grid;   /* a row, for a domain of all variables (stein/order_free_sums.h); NULL: sums are in the order
                             of the domain */
    repelling how;
    const uint32_t *members;
    size_t member_count;
} radial;

int svmp_cpu_keeps(double pairs, size_t variables) {
    enum { NEAR = 8 * 1024 * 1024 / sizeof(double) }; /* numbers that fit in the caches */
    return pairs <= NEAR || variables > WEIGHED_VARIABLES;
}

int svmp_cpu_stores(const backend *b, size_t member_variables) {
    const cpu *own = b->local_state;
    return svmp_cpu_keeps((double)own->all_tiles, member_variables);
}

typedef struct pieces {
    const radial *u;
    void (*work)(const radial *u, size_t piece);
} pieces;

static void do_piece(void *work, size_t piece) {
    const pieces *p = work;
    p->work(p->u, piece);
}

/* Does `count` pieces of work. */
static void share(const radial *u, size_t count, void (*work)(const radial *u, size_t piece)) {
    svmp_parallel_for(u->threads, count, 1, do_piece, &(pieces){u, work});
}

/* The workspace of the calling thread. */
static stein_workspace *find_workspace(const radial *u) {
    return u->threads > 1 ? &u->own->workspaces[svmp_thread_number()] : u->workspace;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

static void pack(radial *u, double *packed, size_t first, size_t count) {
    for (size_t j = 0; j < count; j++) {
        double *to = packed + j * u->stride;
        memcpy(to, u->workspace->rows[first + j], u->n * sizeof *to);
        for (size_t k = 0; k < PADDING; k++) to[u->n + k] = INFINITY;
    }
    u->packed = (packed_rows){packed, count, u->stride};
    u->packed_before = first;
}

static double *tile_numbers(const radial *u, const tile *t) { return u->workspace->k + (u->stored ? t->offset : 0); }

/* Distances on the currently packed variables; on a grid, still in steps. */
static void measure(const radial *u, const tile *t, double *numbers) {
    if (u->grid)
        u->own->lanes->steps(&u->packed, t, u->grid, u->packed_before > 0, (int64_t *)(void *)numbers);
    else
        u->own->lanes->distances(&u->packed, t, u->packed_before > 0, numbers);
}

/* A thread's share of the tiles, for successive groups of variables of the domain. */
static void measure_share(const radial *u, size_t first) {
    radial mine = *u;
    if (first >= u->own->tile_count) return;
    for (size_t before = 0; before < u->domain_variables; before += PACKED_VARIABLES) {
        const size_t left = u->domain_variables - before;
        pack(&mine, find_workspace(u)->packed, before, left < PACKED_VARIABLES ? left : PACKED_VARIABLES);
        for (size_t t = first; t < u->own->tile_count; t += (size_t)u->threads)
            measure(&mine, &u->own->tiles[t], tile_numbers(u, &u->own->tiles[t]));
    }
}

/* Converts steps to distances. Returns whether some pairs have few steps and must be recounted. */
static int finish(const radial *u, const tile *t, double *numbers) {
    return u->own->lanes->from_steps(t, u->grid, svmp_grid_few(&u->own->grid), numbers);
}

static void finish_tile(const radial *u, size_t t) {
    u->own->near[t] = (char)finish(u, &u->own->tiles[t], tile_numbers(u, &u->own->tiles[t]));
}

static grid_recount recount_of(const radial *u) {
    return (grid_recount){&u->own->grid, u->domain_variables, u->workspace->rows, u->threads, 0};
}

static void note_near(const radial *u, const tile *t, double *numbers, grid_recount *again) {
    const common_grid *grid = &u->own->grid;
    const size_t width = u->own->lanes->width;
    const double few = svmp_grid_few(grid);
    for (size_t v = 0; v < t->vectors; v++)
        for (size_t r = 0; r < TILE_ROWS; r++)
            for (size_t k = 0; k < width; k++) {
                const size_t l = t->first + r, m = t->first + 1 + v * width + k;
                double *distance = numbers + (v * TILE_ROWS + r) * width + k;
                if (m > l && m < u->n && *distance < few * svmp_grid_step(grid, l, m))
                    svmp_grid_note(again, l, m, distance);
            }
}

/* All tiles of a stored unit, on the variables of this process and then on those of the others. Threads pack all
 * variables for themselves, so that none waits for another. */
static void store_distances(const radial *u) {
    share(u, (size_t)u->threads, measure_share);
    if (u->grid == NULL) return;
    if (u->domain_variables == 0) memset(u->workspace->k, 0, u->own->all_tiles * sizeof *u->workspace->k);
    const svmp_peers *peers = u->own->grid.peers;
    peers->sum(peers, u->own->all_tiles, (int64_t *)(void *)u->workspace->k);
    share(u, u->own->tile_count, finish_tile);
    grid_recount again = recount_of(u);
    for (size_t t = 0; t < u->own->tile_count; t++)
        if (u->own->near[t]) note_near(u, &u->own->tiles[t], tile_numbers(u, &u->own->tiles[t]), &again);
    svmp_grid_recount(&again);
}

/* A tile's distances, which are stored or computed now. */
static double *distances_of(const radial *u, const tile *t) {
    double *numbers = tile_numbers(u, t);
    if (u->stored) return numbers;
    measure(u, t, numbers);
    if (u->grid && finish(u, t, numbers)) {
        grid_recount again = recount_of(u);
        note_near(u, t, numbers, &again);
        svmp_grid_recount(&again);
    }
    return numbers;
}

/* ---- bandwidth --------------------------------------------------------------------------------------------------- */

static void count_tile(const radial *u, size_t t) {
    const tile *here = &u->own->tiles[t];
    u->own->lanes->count(here, distances_of(u, here), &find_workspace(u)->counts);
}

/* Adds the counts of a thread to those of its team. */
static void add_counts(const tally *part, tally *all) {
    const size_t listed = all->inside < all->capacity ? all->inside : all->capacity, left = all->capacity - listed;
    const size_t here = part->inside < part->capacity ? part->inside : part->capacity;
    memcpy(all->list + listed, part->list, (here < left ? here : left) * sizeof *all->list);
    all->below += part->below;
    all->inside += part->inside;
}

static void count_all(void *user_data, tally *counts) {
    const radial *u = user_data;
    stein_workspace *workspaces = u->threads > 1 ? u->own->workspaces : u->workspace;
    for (int t = 0; t < u->threads; t++) {
        workspaces[t].counts = *counts;
        workspaces[t].counts.list = workspaces[t].list;
    }
    share(u, u->own->tile_count, count_tile);
    *counts = workspaces[0].counts;
    for (int t = 1; t < u->threads; t++) add_counts(&workspaces[t].counts, counts);
}

static double choose_bandwidth(radial *u, middle *last) {
    const bandwidth *rule = &u->term->bandwidth;
    size_t lower, upper;
    double at_lower, at_upper;
    if (!svmp_bandwidth_ranks(rule, u->n, &lower, &upper)) return svmp_bandwidth_value(rule, u->n, 0, 0);
    const int zero = lower == SIZE_MAX; /* the lower middle is a particle's distance to itself */
    svmp_median_find(count_all, u, zero ? upper : lower, upper, u->workspace->list, u->own->list_capacity, last,
                     &at_lower, &at_upper);
    return svmp_bandwidth_value(rule, u->n, zero ? 0 : at_lower, at_upper);
}

/* ---- velocities -------------------------------------------------------------------------------------------------- */

static double *tile_repulsion(const radial *u, const tile *t) {
    return u->how.by_number ? u->workspace->repulsion + (u->stored ? t->offset : 0) : NULL;
}

/* Turns a tile's distances into the kernel and, unless it is proportional to that, the repulsion. */
static void evaluate(const radial *u, const tile *t, double *k) {
    const size_t count = t->vectors * TILE_ROWS * u->own->lanes->width;
    if (u->how.h == 0)
        for (size_t p = 0; p < count; p++) k[p] = k[p] == 0; /* the limit: 1 for coincident particles */
    else if (!isfinite(u->how.h))
        for (size_t p = 0; p < count; p++) k[p] = NAN; /* the particles diverged; the step reports it */
    else if (u->term->shape->kind == SVMP_SHAPE_IMQ)
        u->own->lanes->imq(t, u->how.h, k, tile_repulsion(u, t));
    else if (u->term->shape->kind == SVMP_SHAPE_RBF)
        u->own->lanes->rbf(t, u->how.h, k);
    else {
        u->term->shape->value(count, k, u->how.h, k);
        if (u->how.by_number) u->term->shape->repulsion(count, k, u->how.h, tile_repulsion(u, t));
    }
}

/* Positions are relative to the first particle, so that the sums of attraction and repulsion do not cancel for distant
 * particles. */
static double origin(const radial *u, size_t i) { return u->x[i * u->n]; }

/* row[l] = a s[l] + b (z[l] - origin) dz/dx, padded with 0. */
static void combine(const radial *u, size_t i, double a, double b, double *row) {
    const double *x = u->x + i * u->n, *s = u->b->score + i * u->n, from = origin(u, i);
    b *= svmp_cpu_slope(u->b, u->term, i);
    for (size_t l = 0; l < u->n; l++) row[l] = a * s[l] + b * (x[l] - from);
    memset(row + u->n, 0, PADDING * sizeof *row);
}

/* phi += weight/n ( sum + (z - origin) dz/dx total + s ): all other particles, and the particle itself, whose kernel
 * is 1. */
static void add_velocity(const radial *u, size_t i, const double *sum) {
    const double scale = u->term->weight / (double)u->n, *total = u->workspace->total;
    const double ratio = (u->how.by_number ? 1 : u->how.ratio) * svmp_cpu_slope(u->b, u->term, i);
    const double *x = u->x + i * u->n, *s = u->b->score + i * u->n, from = origin(u, i);
    double *phi = u->b->phi + i * u->n;
    for (size_t m = 0; m < u->n; m++) phi[m] += scale * (sum[m] + ratio * (x[m] - from) * total[m] + s[m]);
}

/* A tile that still holds distances: from them the kernel, the sum of the first member, and the total repulsion in
 * workspace->total. The usual case in one sweep over the tile. */
static void begin_tile(const radial *u, const tile *t, const double *weight, double *sum) {
    const lane_ops *lanes = u->own->lanes;
    double *k = distances_of(u, t), *total = u->workspace->total;
    if (u->how.h > 0 && isfinite(u->how.h) && u->term->shape->kind == SVMP_SHAPE_RBF) {
        lanes->rbf_and_weigh(t, u->how.h, k, weight, sum, total);
        return;
    }
    evaluate(u, t, k);
    lanes->weigh(t, k, 1, weight, sum, u->stride);
    lanes->weigh(t, u->how.by_number ? tile_repulsion(u, t) : k, 1, u->own->ones, total, u->stride);
}

/* The velocities of a few members, in one sweep over all tiles; `fresh` ones still hold distances. */
static void sweep(const radial *u, size_t piece, int fresh) {
    const lane_ops *lanes = u->own->lanes;
    const size_t left = u->member_count - piece * WEIGHED_VARIABLES;
    const size_t count = left < WEIGHED_VARIABLES ? left : WEIGHED_VARIABLES;
    const uint32_t *variable = u->members + piece * WEIGHED_VARIABLES;
    double *weight = find_workspace(u)->weight, *negated = weight + WEIGHED_VARIABLES * u->stride;
    double *sum = find_workspace(u)->sum;
    memset(sum, 0, count * u->stride * sizeof *sum);
    for (size_t v = 0; v < count; v++) {
        combine(u, variable[v], 1, -u->how.ratio, weight + v * u->stride);
        if (u->how.by_number) combine(u, variable[v], 0, -1, negated + v * u->stride);
    }
    for (size_t a = 0; a < u->own->tile_count; a++) {
        const tile *t = &u->own->tiles[a];
        if (fresh) begin_tile(u, t, weight, sum);
        const double *k = tile_numbers(u, t), *r = tile_repulsion(u, t);
        const size_t begun = fresh ? 1 : 0;
        if (count > begun)
            lanes->weigh(t, k, count - begun, weight + begun * u->stride, sum + begun * u->stride, u->stride);
        if (r) lanes->weigh(t, r, count, negated, sum, u->stride);
    }
    for (size_t v = 0; v < count; v++) add_velocity(u, variable[v], sum + v * u->stride);
}

static void sweep_on(const radial *u, size_t piece) { sweep(u, piece, u->threads == 1 && piece == 0); }

static void evaluate_tile(const radial *u, size_t t) {
    evaluate(u, &u->own->tiles[t], tile_numbers(u, &u->own->tiles[t]));
}

/* A team first shares the tiles, then the members. */
static void prepare_together(const radial *u) {
    share(u, u->own->tile_count, evaluate_tile);
    for (size_t a = 0; a < u->own->tile_count; a++) {
        const tile *t = &u->own->tiles[a];
        u->own->lanes->weigh(t, u->how.by_number ? tile_repulsion(u, t) : tile_numbers(u, t), 1, u->own->ones,
                             u->workspace->total, u->stride);
    }
}

void svmp_cpu_radial(backend *b, const kernel_term *term, const stein_unit *unit, stein_workspace *workspace,
                     middle *last, int threads) {
    radial u = {.b = b,
                .own = b->local_state,
                .term = term,
                .workspace = workspace,
                .n = b->n,
                .stride = svmp_lanes_stride(b->n)};
    u.threads = threads;
    u.x = term->metric == METRIC_SD ? b->z : b->x;
    u.domain_variables = svmp_unit_rows(b->model->graph, unit, b->n, u.x, svmp_cpu_messages(b), workspace->rows);
    u.member_count = svmp_cpu_members(b, unit, workspace);
    u.members = workspace->members;
    u.stored = svmp_cpu_among_processes(b, term) || threads > 1 || svmp_cpu_stores(b, u.member_count);

    if (term->domain == DOMAIN_ALL) {
        svmp_grid_find(&u.own->grid, u.domain_variables, workspace->rows, GRID_SQUARES, threads);
        u.grid = u.own->grid.of;
    }
    if (u.stored)
        store_distances(&u);
    else
        pack(&u, workspace->packed, 0, u.domain_variables);
    u.how.h = choose_bandwidth(&u, last);
    if (u.how.h > 0 && isfinite(u.how.h)) {
        u.how.by_number = term->shape->repulsion != NULL;
        if (term->shape->ratio) u.how.ratio = term->shape->ratio(u.how.h);
    }
    memset(workspace->total, 0, u.stride * sizeof *workspace->total);
    if (threads > 1) prepare_together(&u);
    share(&u, (u.member_count + WEIGHED_VARIABLES - 1) / WEIGHED_VARIABLES, sweep_on);
}
