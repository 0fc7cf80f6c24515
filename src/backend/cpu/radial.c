/* Kernels that are functions of the distance, for one unit: distances and their median, then kernel and velocities,
 * tile by tile (lanes.h). */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/thread.h"

/* A unit at work. */
typedef struct radial {
    backend *b;
    const cpu *own;
    const kernel_term *term;
    stein_room *room;
    size_t n, stride, domain_variables;
    int threads, stored;
    packed_rows packed; /* the variables that are in room->packed now */
} radial;

int svmp_cpu_stores(const backend *b, size_t domain_variables, size_t member_variables) {
    enum { NEAR = 512 * 1024 / sizeof(double) }; /* numbers that stay in a core's own cache */
    const cpu *own = b->own;
    return own->all_tiles <= NEAR || domain_variables > PACKED_VARIABLES || member_variables > WEIGHED_VARIABLES;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

static void pack(radial *u, size_t first, size_t count) {
    for (size_t j = 0; j < count; j++) {
        double *to = u->room->packed + j * u->stride;
        memcpy(to, u->room->rows[first + j], u->n * sizeof *to);
        for (size_t k = 0; k < PADDING; k++) to[u->n + k] = FAR * (double)(k + 1); /* far from each other, too */
    }
    u->packed = (packed_rows){u->room->packed, count, u->stride};
}

static double *tile_numbers(const radial *u, const tile *t) { return u->room->k + (u->stored ? t->offset : 0); }

static size_t count_numbers(const radial *u, const tile *t) { return t->vectors * TILE_ROWS * u->own->lanes->width; }

/* All tiles of a stored unit, some variables of the domain after the others. */
static void store_distances(radial *u) {
    for (size_t first = 0; first < u->domain_variables; first += PACKED_VARIABLES) {
        const size_t left = u->domain_variables - first;
        pack(u, first, left < PACKED_VARIABLES ? left : PACKED_VARIABLES);
#pragma omp parallel for schedule(dynamic) if (u->threads > 1) num_threads(u->threads)
        for (size_t t = 0; t < u->own->tile_count; t++)
            u->own->lanes->distances(&u->packed, &u->own->tiles[t], first > 0, tile_numbers(u, &u->own->tiles[t]));
    }
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
    svmp_median_find(count_all, u, zero ? upper : lower, upper, u->room->list, last, &at_lower, &at_upper);
    return svmp_bandwidth_value(rule, u->n, zero ? 0 : at_lower, at_upper);
}

/* ---- velocities -------------------------------------------------------------------------------------------------- */

/* How the repulsion follows from k: as ratio * k (0 in the limits), or number by number in room->repulsion. */
typedef struct repelling {
    double h, ratio;
    int by_number;
} repelling;

static double *tile_repulsion(const radial *u, const repelling *how, const tile *t) {
    return how->by_number ? u->room->repulsion + (u->stored ? t->offset : 0) : NULL;
}

/* Turns a tile's distances into the kernel, and into the repulsion where it is not proportional. */
static void evaluate(const radial *u, const repelling *how, size_t count, double *k, double *repulsion) {
    if (how->h == 0)
        for (size_t p = 0; p < count; p++) k[p] = k[p] == 0; /* the limit: who coincides */
    else if (!isfinite(how->h))
        for (size_t p = 0; p < count; p++) k[p] = NAN; /* the particles ran away; the step will say so */
    else if (how->by_number)
        u->own->lanes->imq(count, how->h, k, repulsion);
    else
        u->own->lanes->rbf(count, how->h, k);
}

/* row[l] = a s[l] + b x[l], and 0 behind the last particle. */
static void combine(const radial *u, size_t i, double a, double b, double *row) {
    const double *x = u->b->x + i * u->n, *s = u->b->score + i * u->n;
    for (size_t l = 0; l < u->n; l++) row[l] = a * s[l] + b * x[l];
    memset(row + u->n, 0, PADDING * sizeof *row);
}

/* phi += weight/n ( sum + x total + s ): all other particles, and the particle itself, whose kernel is 1. */
static void add_velocity(const radial *u, double ratio, size_t i, const double *sum) {
    const double scale = u->term->weight / (double)u->n, *total = u->room->total;
    const double *x = u->b->x + i * u->n, *s = u->b->score + i * u->n;
    double *phi = u->b->phi + i * u->n;
    for (size_t m = 0; m < u->n; m++) phi[m] += scale * (sum[m] + ratio * x[m] * total[m] + s[m]);
}

/* The velocities of a few variables, in one sweep over all tiles. `first`: the tiles still hold distances, and
 * room->total is to be summed on the way. */
static void sweep(const radial *u, const repelling *how, const uint32_t *variables, size_t count, int first,
                  int thread) {
    const lane_ops *lanes = u->own->lanes;
    double *weight = u->room->weight[thread], *negated = weight + WEIGHED_VARIABLES * u->stride;
    double *sum = u->room->sum[thread], *total = u->room->total;
    const int fused = first && !how->by_number;
    memset(sum, 0, count * u->stride * sizeof *sum);
    for (size_t v = 0; v < count; v++) {
        combine(u, variables[v], 1, -how->ratio, weight + v * u->stride);
        if (how->by_number) combine(u, variables[v], 0, -1, negated + v * u->stride);
    }
    for (size_t a = 0; a < u->own->tile_count; a++) {
        const tile *t = &u->own->tiles[a];
        double *k = first ? distances_of(u, t) : tile_numbers(u, t), *r = tile_repulsion(u, how, t);
        if (first) evaluate(u, how, count_numbers(u, t), k, r);
        if (fused) lanes->weigh_and_total(t, k, weight, sum, total);
        for (size_t v = fused; v < count; v++) lanes->weigh(t, k, weight + v * u->stride, sum + v * u->stride);
        for (size_t v = 0; r && v < count; v++) lanes->weigh(t, r, negated + v * u->stride, sum + v * u->stride);
        if (first && r) lanes->weigh(t, r, u->own->ones, total);
    }
    for (size_t v = 0; v < count; v++)
        add_velocity(u, how->by_number ? 1 : how->ratio, variables[v], sum + v * u->stride);
}

/* A team works on one unit: first it shares the tiles, then the variables. */
static void evaluate_together(const radial *u, const repelling *how) {
#pragma omp parallel for schedule(dynamic) num_threads(u->threads)
    for (size_t a = 0; a < u->own->tile_count; a++) {
        const tile *t = &u->own->tiles[a];
        evaluate(u, how, count_numbers(u, t), tile_numbers(u, t), tile_repulsion(u, how, t));
    }
    for (size_t a = 0; a < u->own->tile_count; a++) {
        const tile *t = &u->own->tiles[a];
        const double *repelling_ = how->by_number ? tile_repulsion(u, how, t) : tile_numbers(u, t);
        u->own->lanes->weigh(t, repelling_, u->own->ones, u->room->total);
    }
}

void svmp_cpu_radial(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, middle *last,
                     int threads) {
    const cpu *own = b->own;
    radial u = {
        .b = b, .own = own, .term = term, .room = room, .n = b->n, .stride = b->n + PADDING, .threads = threads};
    u.domain_variables = svmp_unit_rows(b->model->graph, unit, b->n, b->x, room->rows);
    const size_t count = svmp_cpu_members(b, unit, room);
    u.stored = threads > 1 || svmp_cpu_stores(b, u.domain_variables, count);

    if (u.stored)
        store_distances(&u);
    else
        pack(&u, 0, u.domain_variables);
    const double h = choose_bandwidth(&u, last);
    const int repels = h > 0 && isfinite(h);
    const repelling how = {.h = h,
                           .ratio = repels && term->shape->ratio ? term->shape->ratio(h) : 0,
                           .by_number = repels && term->shape->repulsion};
    memset(room->total, 0, u.stride * sizeof *room->total);
    if (threads > 1) evaluate_together(&u, &how);

#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t first = 0; first < count; first += WEIGHED_VARIABLES) {
        const size_t left = count - first, few = left < WEIGHED_VARIABLES ? left : WEIGHED_VARIABLES;
        sweep(&u, &how, room->members + first, few, threads == 1 && first == 0, threads > 1 ? svmp_thread_number() : 0);
    }
}
