/* The terms of a kernel on the device. Units that fit in a multiprocessor are one part of a term, and larger ones, hubs
 * and many that share a domain, are another one, with matrices in memory. */
#include "backend/node_messages.h"
#include "base/notes.h"
#include "cuda/cuda_backend.h"
#include "stein/kernel_units.h"

/* Lists on the host, for one term. */
typedef struct term_lists {
    size_t *begin, *end;
    uint32_t *domain, *variable, *unit_of;
    size_t domain_count, domain_capacity, member_count, longest, most_members;
} term_lists;

static void free_lists(svmp_context *context, term_lists *l) {
    svmp_release(context, l->begin);
    svmp_release(context, l->end);
    svmp_release(context, l->domain);
    svmp_release(context, l->variable);
    svmp_release(context, l->unit_of);
}

/* The domain of a unit, as rows: variables, and messages behind all of them. */
static svmp_status add_domain(const backend *b, const stein_unit *unit, size_t u, term_lists *l) {
    const svmp_graph *graph = b->model->graph;
    l->begin[u] = l->domain_count;
    for (size_t v = 0; v < unit->domain_count + (unit->message ? 1 : 0); v++) {
        const int message = v == unit->domain_count;
        const size_t node = message ? unit->members[0] : unit->domain[v], shift = message ? graph->variables : 0;
        for (size_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            SVMP_TRY(SVMP_GROW(b->context, l->domain, l->domain_capacity, l->domain_count + 1));
            l->domain[l->domain_count++] = (uint32_t)(i + shift);
        }
    }
    l->end[u] = l->domain_count;
    if (l->end[u] - l->begin[u] > l->longest) l->longest = l->end[u] - l->begin[u];
    return SVMP_OK;
}

/* Whether a unit is in the part of large ones. Random domains and linear terms have one part. */
static int is_large(const backend *b, const kernel_term *asked, const cuda_term *term, const stein_unit *unit) {
    const cuda *own = b->local_state;
    const svmp_graph *graph = b->model->graph;
    pair_args probe = term->all;
    if (asked->domain == DOMAIN_RANDOM || asked->shape->value == NULL || own->ops->fuses == NULL) return 0;
    probe.longest = probe.most_members = 0;
    for (size_t v = 0; v < unit->domain_count; v++) probe.longest += svmp_graph_node_dimension(graph, unit->domain[v]);
    for (size_t v = 0; v < unit->member_count; v++)
        probe.most_members += svmp_graph_node_dimension(graph, unit->members[v]);
    if (unit->message) probe.longest += probe.most_members;
    return !own->ops->fuses(own->device, own->bits, &probe);
}

static void add_members(const backend *b, const stein_unit *unit, size_t u, term_lists *l) {
    const size_t *first = b->model->graph->first;
    for (size_t v = 0; v < unit->member_count; v++)
        for (size_t i = first[unit->members[v]]; i < first[unit->members[v] + 1]; i++) {
            l->variable[l->member_count] = (uint32_t)i;
            l->unit_of[l->member_count++] = (uint32_t)u;
        }
}

/* The units of a part: small ones, or large ones. */
static svmp_status list_units(const backend *b, const kernel *k, size_t a, const uint32_t *nodes, int large,
                              cuda_term *term, term_lists *l) {
    const svmp_graph *graph = b->model->graph;
    const unit_source from = {graph, nodes, b->messages ? b->messages->hubs : NULL};
    const size_t all = svmp_unit_count(graph, k->terms[a].domain);
    SVMP_TRY(SVMP_NEW(b->context, l->begin, all));
    SVMP_TRY(SVMP_NEW(b->context, l->end, all));
    SVMP_TRY(SVMP_NEW(b->context, l->variable, graph->variables));
    SVMP_TRY(SVMP_NEW(b->context, l->unit_of, graph->variables));
    SVMP_TRY(SVMP_NEW(b->context, term->member_start, all + 1));
    for (size_t each = 0; each < all; each++) {
        const stein_unit unit = svmp_unit_find(&from, k, a, each);
        if (is_large(b, &k->terms[a], term, &unit) != large) continue;
        const size_t u = term->units++;
        SVMP_TRY(add_domain(b, &unit, u, l));
        add_members(b, &unit, u, l);
        term->member_start[u + 1] = l->member_count;
        const size_t members = l->member_count - term->member_start[u];
        l->most_members = members > l->most_members ? members : l->most_members;
    }
    return SVMP_OK;
}

/* A random domain is drawn on the device: what it is drawn from, and room. */
static svmp_status plan_draw(backend *b, const kernel_term *asked, cuda_term *term) {
    const cuda *own = b->local_state;
    const svmp_graph *graph = b->model->graph;
    draw_args *d = &term->draw;
    size_t widest = 0, most = 0;
    for (size_t v = 0; v < graph->nodes; v++) {
        const size_t here = graph->first[v + 1] - graph->first[v];
        widest = here > widest ? here : widest;
    }
    for (size_t k = 0; k < graph->distinct; k++) { /* the node itself is none of them */
        const size_t blanket = graph->neighbourhoods.start[k + 1] - graph->neighbourhoods.start[k] - 1;
        most = blanket > most ? blanket : most;
    }
    const size_t neighbours = asked->neighbours < most ? asked->neighbours : most;
    *d = (draw_args){
        .neighbours = neighbours, .width = (neighbours + 1) * widest, .seed = b->seed, .whole = own->node_key};
    SVMP_TRY(CUDA_PUT(b, d->first, graph->nodes + 1, graph->first));
    SVMP_TRY(CUDA_PUT(b, d->start, graph->distinct + 1, graph->neighbourhoods.start));
    SVMP_TRY(CUDA_PUT(b, d->item, graph->neighbourhoods.start[graph->distinct], graph->neighbourhoods.item));
    SVMP_TRY(CUDA_PUT(b, d->neighbourhood_of, graph->moved, graph->neighbourhood_of));
    SVMP_TRY(CUDA_TAKE(b, d->drawn, term->units * (d->neighbours + 1)));
    SVMP_TRY(CUDA_TAKE(b, d->domain, term->units * d->width));
    SVMP_TRY(CUDA_TAKE(b, d->begin, term->units));
    SVMP_TRY(CUDA_TAKE(b, d->end, term->units));
    term->all.begin = d->begin;
    term->all.end = d->end;
    term->all.domain = d->domain;
    return SVMP_OK;
}

/* A domain of many rows is cut where there are too few pairs to keep a device busy. */
static size_t choose_pieces(size_t numbers, size_t longest) {
    enum { BUSY = 1 << 20, ROWS = 32, MOST = 512 };
    size_t pieces = BUSY / (numbers + 1), whole = (longest + ROWS - 1) / ROWS;
    if (pieces > whole) pieces = whole;
    if (pieces > MOST) pieces = MOST;
    return pieces < 1 ? 1 : pieces;
}

/* `entries`: of all domains. One kernel counts them in 32 bits. */
static cuda_way choose_way(const backend *b, const kernel_term *asked, const cuda_term *term, size_t entries) {
    const cuda *own = b->local_state;
    if (asked->shape->value == NULL)
        return svmp_term_multiplies(asked, b->n, b->model->graph->variables) ? WAY_MATRIX : WAY_MOMENTS;
    if (entries > UINT32_MAX) return WAY_MATRIX;
    return own->ops->fuses && own->ops->fuses(own->device, own->bits, &term->all) ? WAY_FUSED : WAY_MATRIX;
}

/* As many matrices at once as have room in a share of the memory; at least one. */
static svmp_status plan_batch(backend *b, size_t longest, cuda_term *term) {
    const cuda *own = b->local_state;
    if (term->way != WAY_MATRIX) {
        term->batch = term->units;
        SVMP_TRY(CUDA_TAKE(b, term->all.guess, 3 * term->units));
        return CUDA_TAKE(b, term->all.middle, 2 * term->units);
    }
    const size_t real = (size_t)own->bits / 8, matrix = b->n * b->n * real, most = (size_t)4 << 30;
    size_t share = own->ops->room(own->device) / 4;
    if (share > most) share = most;
    term->batch = share / matrix < 1 ? 1 : share / matrix;
    if (term->batch > term->units) term->batch = term->units;
    term->all.pieces = choose_pieces(term->units * b->n * b->n, longest);
    char *bytes = NULL;
    SVMP_TRY(CUDA_TAKE(b, bytes, matrix * term->batch * term->all.pieces));
    term->all.matrix = bytes;
    SVMP_TRY(CUDA_TAKE(b, term->all.middle, 2 * term->batch));
    return CUDA_TAKE(b, term->all.scale, term->batch);
}

/* Headers of units whose domains stay as they are. */
static svmp_status plan_headers(backend *b, const term_lists *l, cuda_term *term) {
    const size_t *start = b->model->quadratic.start, variables = b->model->graph->variables;
    unit_header *made = NULL;
    svmp_status status;
    if (start[variables] > UINT32_MAX) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(b->context, made, term->units));
    for (size_t u = 0; u < term->units; u++) {
        const size_t first = term->member_start[u], members = term->member_start[u + 1] - first;
        const size_t i = members ? l->variable[first] : 0;
        made[u] = (unit_header){.begin = (uint32_t)l->begin[u],
                                .rows = (uint32_t)(l->end[u] - l->begin[u]),
                                .variable = (uint32_t)i,
                                .members = (uint32_t)members,
                                .from = (uint32_t)start[i],
                                .entries = (uint32_t)(start[i + 1] - start[i])};
    }
    SVMP_CHECK(CUDA_PUT(b, term->all.header, term->units, made));
done:
    svmp_release(b->context, made);
    return status;
}

/* The record of a unit, whose domain is known unless it is drawn. `sums`: whether scores are row sums. */
static unit_record record_of(const backend *b, const cuda_term *term, const term_lists *l, size_t u, int sums) {
    const quadratic *q = &b->model->quadratic;
    const size_t i = l->variable[u];
    unit_record r = {.variable = (uint32_t)i,
                     .self = term->draw.begin ? 0 : UINT32_MAX,
                     .constant = q->linear[i],
                     .lower = b->model->lower[i],
                     .upper = b->model->upper[i]};
    if (sums) r.entries = (uint32_t)(q->start[i + 1] - q->start[i]);
    for (size_t e = 0; e < r.entries; e++) {
        r.column[e] = q->column[q->start[i] + e];
        r.weight[e] = -q->value[q->start[i] + e];
    }
    if (term->draw.begin) return r;
    r.rows = (uint32_t)(l->end[u] - l->begin[u]);
    for (size_t e = 0; e < r.rows; e++) {
        r.row[e] = l->domain[l->begin[u] + e];
        if (r.row[e] == i) r.self = (uint32_t)e;
    }
    return r;
}

/* Records, if every unit has one member and fits in one. */
static svmp_status plan_records(backend *b, const term_lists *l, cuda_term *term) {
    const cuda *own = b->local_state;
    const size_t *start = b->model->quadratic.start, variables = b->model->graph->variables;
    const int sums = !own->gathers && own->quadratic.piece_count == 0;
    unit_record *made = NULL;
    svmp_status status;
    if (b->n > tile_places(b->n) || term->all.longest > UNIT_ENTRIES || l->most_members > 1) return SVMP_OK;
    if (l->member_count != term->units) return SVMP_OK;
    for (size_t i = 0; i < variables && sums; i++)
        if (start[i + 1] - start[i] > UNIT_ENTRIES) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(b->context, made, term->units));
    for (size_t u = 0; u < term->units; u++) {
        made[u] = record_of(b, term, l, u, sums);
        if (made[u].self == UINT32_MAX) goto done;
    }
    SVMP_CHECK(CUDA_PUT(b, term->record, term->units, made));
    term->all.recorded = 1;
done:
    svmp_release(b->context, made);
    return status;
}

static svmp_status plan_part(backend *b, const kernel *k, size_t a, const uint32_t *nodes, int large) {
    cuda *own = b->local_state;
    const kernel_term *asked = &k->terms[a];
    const centre_args *c = &own->centre;
    cuda_term *term = &own->terms[own->term_count];
    term_lists l = {0};
    svmp_status status;
    if (asked->shape->kind == SHAPE_OTHER)
        return svmp_fail(b->context, SVMP_UNSUPPORTED, "The backend '%s' does not support the kernel '%s'.",
                         b->local->name, asked->shape->name);
    if (asked->domain == DOMAIN_ALL && b->model->graph->halo)
        return svmp_fail_notes(b->context, SVMP_UNSUPPORTED, NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu")),
                               "The backend '%s' does not support kernels on 'all' in several processes.",
                               b->local->name);
    const int in_sd = asked->metric == METRIC_SD;
    const void *z =
        own->bits == 64 ? (const void *)(in_sd ? c->scaled64 : c->z64) : (const void *)(in_sd ? c->scaled32 : c->z32);
    term->all = (pair_args){.n = b->n,
                            .z = z,
                            .shape = asked->shape->kind,
                            .rule = (int)asked->bandwidth.rule,
                            .in_sd = in_sd,
                            .fixed = asked->bandwidth.fixed,
                            .weight = asked->weight,
                            .share = asked->weight / (double)b->n,
                            .variance = c->variance,
                            .score = own->score,
                            .inverse = c->inverse,
                            .adds = a > 0};
    term->ranked = asked->shape->value != NULL &&
                   svmp_bandwidth_ranks(&asked->bandwidth, b->n, &term->all.lower, &term->all.upper);
    SVMP_CHECK(list_units(b, k, a, nodes, large, term, &l));
    if (term->units == 0) goto done;
    own->term_count++;
    SVMP_CHECK(CUDA_PUT(b, term->all.variable, l.member_count, l.variable));
    SVMP_CHECK(CUDA_PUT(b, term->all.unit_of, l.member_count, l.unit_of));
    if (asked->domain == DOMAIN_RANDOM) {
        SVMP_CHECK(plan_draw(b, asked, term));
    } else {
        SVMP_CHECK(CUDA_PUT(b, term->all.begin, term->units, l.begin));
        SVMP_CHECK(CUDA_PUT(b, term->all.end, term->units, l.end));
        SVMP_CHECK(CUDA_PUT(b, term->all.domain, l.domain_count, l.domain));
    }
    SVMP_CHECK(CUDA_PUT(b, term->all.member_start, term->units + 1, term->member_start));
    term->all.term_variable = term->all.variable;
    term->all.longest = asked->domain == DOMAIN_RANDOM ? term->draw.width : l.longest;
    term->all.most_members = l.most_members;
    term->way =
        choose_way(b, asked, term, asked->domain == DOMAIN_RANDOM ? term->units * term->draw.width : l.domain_count);
    if (term->way == WAY_FUSED && asked->domain != DOMAIN_RANDOM) SVMP_CHECK(plan_headers(b, &l, term));
    if (term->way == WAY_FUSED && own->ops->iterate) SVMP_CHECK(plan_records(b, &l, term));
    SVMP_CHECK(plan_batch(b, l.longest, term));
done:
    free_lists(b->context, &l);
    if (term->units == 0) {
        svmp_release(b->context, term->member_start);
        *term = (cuda_term){0};
    }
    return status;
}

svmp_status svmp_cuda_plan_terms(backend *b, const kernel *k) {
    const svmp_graph *graph = b->model->graph;
    uint32_t *nodes = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, nodes, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++) nodes[v] = (uint32_t)v;
    for (size_t a = 0; a < k->count; a++)
        for (int large = 0; large < 2; large++) SVMP_CHECK(plan_part(b, k, a, nodes, large));
done:
    svmp_release(b->context, nodes);
    return status;
}

/* Whether an iteration is one launch: a kernel of one term that the device can join to the step, of particles that are
 * not in units of their sd, which is kept from iteration to iteration. */
svmp_status svmp_cuda_plan_whole(backend *b) {
    cuda *own = b->local_state;
    cuda_term *term = &own->terms[0];
    const size_t variables = b->model->graph->variables;
    if (own->term_count != 1 || term->way != WAY_FUSED || own->ops->iterate == NULL || b->messages || b->sd)
        return SVMP_OK;
    if (term->member_start[term->units] != b->model->graph->moved_variables) return SVMP_OK;
    pair_args all = term->all;
    all.units = term->units;
    const int iterates = own->ops->iterates(own->device, own->bits, &all);
    const size_t pieces = own->quadratic.piece_count + own->gather.piece_count;
    own->whole = iterates > 0;
    own->whole_score = own->whole && (!own->gathers || iterates == ITERATES_GATHERS) && pieces == 0 &&
                       b->model->quadratic.start[variables] <= UINT32_MAX &&
                       b->model->group_row[b->model->group_count] <= INT32_MAX && variables <= INT32_MAX;
    if (!own->whole) return SVMP_OK;
    if (iterates != ITERATES_RECORDS) term->record = NULL;
    own->placed = term->record || iterates == ITERATES_PLACES;
    if (!own->placed) return CUDA_TAKE(b, own->z_next, variables * b->n);
    SVMP_TRY(CUDA_TAKE(b, own->centre.placed, variables * tile_places(b->n)));
    return CUDA_TAKE(b, own->placed_next, variables * tile_places(b->n));
}
