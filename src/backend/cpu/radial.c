/* Kernels that are functions of the distance, for one unit: distances and their median, then kernel and velocities,
 * tile by tile (lanes.h). */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/thread.h"

/* How the repulsion follows from k: as ratio * k (0 in the limits), or number by number in room->repulsion. */
typedef struct repelling {
    double h, ratio;
    int by_number;
} repelling;

/* A unit at work. */
typedef struct radial {
    backend *b;
    const cpu *own;
    const kernel_term *term;
    stein_room *room;
    size_t n, stride, domain_variables;
    int threads, stored;
    packed_rows packed;   /* the variables that are in room->packed now */
    size_t packed_before; /* how many stand before them in the domain */
    repelling how;
    const uint32_t *members;
    size_t member_count;
} radial;

int svmp_cpu_stores(const backend *b, size_t domain_variables, size_t member_variables) {
    enum { NEAR = 8 * 1024 * 1024 / sizeof(double) }; /* numbers that stay in the caches */
    const cpu *own = b->own;
    return own->all_tiles <= NEAR || domain_variables > PACKED_VARIABLES || member_variables > WEIGHED_VARIABLES;
}

/* Does `count` pieces of work: alone, or as a team. (A parallel region of one thread is not free: hence the plain
 * loop.) */
static void share(const radial *u, size_t count, void (*work)(const radial *u, size_t piece)) {
    if (u->threads == 1)
        for (size_t piece = 0; piece < count; piece++) work(u, piece);
    else {
#pragma omp parallel for schedule(dynamic) num_threads(u->threads)
        for (size_t piece = 0; piece < count; piece++) work(u, piece);
    }
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

static void pack(radial *u, size_t first, size_t count) {
    for (size_t j = 0; j < count; j++) {
        double *to = u->room->packed + j * u->stride;
        memcpy(to, u->room->rows[first + j], u->n * sizeof *to);
        for (size_t k = 0; k < PADDING; k++) to[u->n + k] = FAR * (double)(k + 1); /* far from each other, too */
    }
    u->packed = (packed_rows){u->room->packed, count, u->stride};
    u->packed_before = first;
}

static double *tile_numbers(const radial *u, const tile *t) { return u->room->k + (u->stored ? t->offset : 0); }

static size_t count_numbers(const radial *u, const tile *t) { return t->vectors * TILE_ROWS * u->own->lanes->width; }

static void store_tile(const radial *u, size_t t) {
    u->own->lanes->distances(&u->packed, &u->own->tiles[t], u->packed_before > 0, tile_numbers(u, &u->own->tiles[t]));
}

/* Whether others have variables of the domain, too. */
static int among_processes(const backend *b, const kernel_term *term) {
    return term->domain == DOMAIN_ALL && b->kind->sum != NULL;
}

/* All tiles of a stored unit, some variables of the domain after the others. */
static void store_distances(radial *u) {
    for (size_t first = 0; first < u->domain_variables; first += PACKED_VARIABLES) {
        const size_t left = u->domain_variables - first;
        pack(u, first, left < PACKED_VARIABLES ? left : PACKED_VARIABLES);
        share(u, u->own->tile_count, store_tile);
    }
    if (!among_processes(u->b, u->term)) return;
    if (u->domain_variables == 0) memset(u->room->k, 0, u->own->all_tiles * sizeof *u->room->k);
    u->b->kind->sum(u->b, u->own->all_tiles, u->room->k);
}

/* A tile's distances: they stand there already, or are computed now. */
static double *distances_of(const radial *u, const tile *t) {
    double *numbers = tile_numbers(u, t);
    if (!u->stored) u->own->lanes->distances(&u->packed, t, 0, numbers);
    return numbers;
}

static void count_all(void *user_data, tally *counts) {
    const radial *u = user_data;
    for (size_t t = 0; t < u->own->tile_count; t++)
        u->own->lanes->count(count_numbers(u, &u->own->tiles[t]), distances_of(u, &u->own->tiles[t]), counts);
}

static double choose_bandwidth(radial *u, middle *last) {
    const bandwidth *rule = &u->term->bandwidth;
    size_t lower, upper;
    double at_lower, at_upper;
    if (!svmp_bandwidth_ranks(rule, u->n, &lower, &upper)) return svmp_bandwidth_value(rule, u->n, 0, 0);
    const int zero = lower == SIZE_MAX; /* the lower middle is a particle's distance to itself */
    svmp_median_find(count_all, u, zero ? upper : lower, upper, u->room->list, u->own->list_capacity, last, &at_lower,
                     &at_upper);
    return svmp_bandwidth_value(rule, u->n, zero ? 0 : at_lower, at_upper);
}

/* ---- velocities -------------------------------------------------------------------------------------------------- */

static double *tile_repulsion(const radial *u, const tile *t) {
    return u->how.by_number ? u->room->repulsion + (u->stored ? t->offset : 0) : NULL;
}

/* Turns a tile's distances into the kernel, and into the repulsion where it is not proportional. */
static void evaluate(const radial *u, const tile *t, double *k) {
    const size_t count = count_numbers(u, t);
    if (u->how.h == 0)
        for (size_t p = 0; p < count; p++) k[p] = k[p] == 0; /* the limit: who coincides */
    else if (!isfinite(u->how.h))
        for (size_t p = 0; p < count; p++) k[p] = NAN; /* the particles ran away; the step will say so */
    else if (u->how.by_number)
        u->own->lanes->imq(count, u->how.h, k, tile_repulsion(u, t));
    else
        u->own->lanes->rbf(count, u->how.h, k);
}

/* row[l] = a s[l] + b x[l], and 0 behind the last particle. */
static void combine(const radial *u, size_t i, double a, double b, double *row) {
    const double *x = u->b->x + i * u->n, *s = u->b->score + i * u->n;
    for (size_t l = 0; l < u->n; l++) row[l] = a * s[l] + b * x[l];
    memset(row + u->n, 0, PADDING * sizeof *row);
}

/* phi += weight/n ( sum + x total + s ): all other particles, and the particle itself, whose kernel is 1. */
static void add_velocity(const radial *u, size_t i, const double *sum) {
    const double scale = u->term->weight / (double)u->n, *total = u->room->total;
    const double ratio = u->how.by_number ? 1 : u->how.ratio;
    const double *x = u->b->x + i * u->n, *s = u->b->score + i * u->n;
    double *phi = u->b->phi + i * u->n;
    for (size_t m = 0; m < u->n; m++) phi[m] += scale * (sum[m] + ratio * x[m] * total[m] + s[m]);
}

/* The velocities of a few members, in one sweep over all tiles. With `fresh` these still hold distances, and
 * room->total is to be summed on the way. */
static void sweep(const radial *u, size_t piece, int fresh) {
    const lane_ops *lanes = u->own->lanes;
    const int thread = u->threads > 1 ? svmp_thread_number() : 0, fused = fresh && !u->how.by_number;
    const size_t left = u->member_count - piece * WEIGHED_VARIABLES;
    const size_t count = left < WEIGHED_VARIABLES ? left : WEIGHED_VARIABLES;
    const uint32_t *variable = u->members + piece * WEIGHED_VARIABLES;
    double *weight = u->room->weight[thread], *negated = weight + WEIGHED_VARIABLES * u->stride;
    double *sum = u->room->sum[thread], *total = u->room->total;
    memset(sum, 0, count * u->stride * sizeof *sum);
    for (size_t v = 0; v < count; v++) {
        combine(u, variable[v], 1, -u->how.ratio, weight + v * u->stride);
        if (u->how.by_number) combine(u, variable[v], 0, -1, negated + v * u->stride);
    }
    for (size_t a = 0; a < u->own->tile_count; a++) {
        const tile *t = &u->own->tiles[a];
        double *k = fresh ? distances_of(u, t) : tile_numbers(u, t), *r = tile_repulsion(u, t);
        if (fresh) evaluate(u, t, k);
        if (fused) lanes->weigh_and_total(t, k, weight, sum, total);
        for (size_t v = fused; v < count; v++) lanes->weigh(t, k, weight + v * u->stride, sum + v * u->stride);
        for (size_t v = 0; r && v < count; v++) lanes->weigh(t, r, negated + v * u->stride, sum + v * u->stride);
        if (fresh && r) lanes->weigh(t, r, u->own->ones, total);
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
        u->own->lanes->weigh(t, u->how.by_number ? tile_repulsion(u, t) : tile_numbers(u, t), u->own->ones,
                             u->room->total);
    }
}

void svmp_cpu_radial(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, middle *last,
                     int threads) {
    radial u = {.b = b, .own = b->own, .term = term, .room = room, .n = b->n, .stride = b->n + PADDING};
    u.threads = threads;
    u.domain_variables = svmp_unit_rows(b->model->graph, unit, b->n, b->x, room->rows);
    u.member_count = svmp_cpu_members(b, unit, room);
    u.members = room->members;
    u.stored = threads > 1 || among_processes(b, term) || svmp_cpu_stores(b, u.domain_variables, u.member_count);

    if (u.stored)
        store_distances(&u);
    else
        pack(&u, 0, u.domain_variables);
    u.how.h = choose_bandwidth(&u, last);
    if (u.how.h > 0 && isfinite(u.how.h)) {
        u.how.by_number = term->shape->repulsion != NULL;
        if (term->shape->ratio) u.how.ratio = term->shape->ratio(u.how.h);
    }
    memset(room->total, 0, u.stride * sizeof *room->total);
    if (threads > 1) prepare_together(&u);
    share(&u, (u.member_count + WEIGHED_VARIABLES - 1) / WEIGHED_VARIABLES, sweep_on);
}
