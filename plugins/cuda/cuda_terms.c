/* The terms of a kernel on the device. Units that fit in a multiprocessor are one part of a term, and larger ones, hubs
 * and many that share a domain, are another one, with matrices in memory. */
#include "cuda/cuda_backend.h"

/* Lists on the host, for one term. */
typedef struct term_lists {
    size_t *begin, *end;
    uint32_t *domain, *variable, *unit_of;
    size_t domain_count, domain_capacity, member_count, longest, most_members;
} term_lists;

static void free_lists(const svmp_host *host, term_lists *l) {
    svmp_host_release_all(host, l->begin, l->end, l->domain, l->variable, l->unit_of);
}

static size_t domain_of(const svmp_term_view *view, size_t u) {
    return view->domain_start[u + 1] - view->domain_start[u];
}

static size_t members_of(const svmp_term_view *view, size_t u) {
    return view->member_start[u + 1] - view->member_start[u];
}

/* Whether a unit is in the part of large ones. Random domains and linear terms have one part. */
static int is_large(const cuda_run *run, const svmp_term_view *view, const cuda_term *term, size_t u) {
    const cuda *state = run->state;
    pair_args probe = term->all;
    if (view->random || view->shape == SVMP_SHAPE_LINEAR || state->ops->fuses == NULL) return 0;
    probe.longest = domain_of(view, u);
    probe.most_members = members_of(view, u);
    return !state->ops->fuses(state->device, state->bits, &probe);
}

static svmp_status add_domain(const cuda_run *run, const svmp_term_view *view, size_t each, size_t u, term_lists *l) {
    const size_t count = domain_of(view, each);
    CUDA_TRY(CUDA_GROW(&run->host, l->domain, l->domain_capacity, l->domain_count + count));
    l->begin[u] = l->domain_count;
    for (size_t e = view->domain_start[each]; e < view->domain_start[each + 1]; e++)
        l->domain[l->domain_count++] = view->domain[e];
    l->end[u] = l->domain_count;
    if (count > l->longest) l->longest = count;
    return SVMP_OK;
}

/* The units of a part: small ones, or large ones. */
static svmp_status list_units(const cuda_run *run, const svmp_term_view *view, int large, cuda_term *term,
                              term_lists *l) {
    CUDA_TRY(CUDA_NEW(&run->host, l->begin, view->units));
    CUDA_TRY(CUDA_NEW(&run->host, l->end, view->units));
    CUDA_TRY(CUDA_NEW(&run->host, l->variable, run->model->variables));
    CUDA_TRY(CUDA_NEW(&run->host, l->unit_of, run->model->variables));
    CUDA_TRY(CUDA_NEW(&run->host, term->member_start, view->units + 1));
    for (size_t each = 0; each < view->units; each++) {
        if (is_large(run, view, term, each) != large) continue;
        const size_t u = term->units++, members = members_of(view, each);
        CUDA_TRY(add_domain(run, view, each, u, l));
        for (size_t e = view->member_start[each]; e < view->member_start[each + 1]; e++) {
            l->variable[l->member_count] = view->member[e];
            l->unit_of[l->member_count++] = (uint32_t)u;
        }
        term->member_start[u + 1] = l->member_count;
        l->most_members = members > l->most_members ? members : l->most_members;
    }
    return SVMP_OK;
}

/* A random domain is drawn on the device: what it is drawn from, and room. */
static svmp_status plan_draw(cuda_run *run, const svmp_term_view *view, cuda_term *term) {
    const cuda *state = run->state;
    const svmp_model_view *model = run->model;
    draw_args *d = &term->draw;
    size_t widest = 0, most = 0;
    for (size_t v = 0; v < model->nodes; v++) {
        const size_t here = model->first[v + 1] - model->first[v];
        widest = here > widest ? here : widest;
    }
    for (size_t k = 0; k < model->neighbourhoods; k++) { /* the node itself is none of them */
        const size_t blanket = model->neighbourhood_start[k + 1] - model->neighbourhood_start[k] - 1;
        most = blanket > most ? blanket : most;
    }
    const size_t neighbours = view->neighbours < most ? view->neighbours : most;
    *d = (draw_args){
        .neighbours = neighbours, .width = (neighbours + 1) * widest, .seed = run->seed, .whole = state->node_key};
    CUDA_TRY(CUDA_PUT(run, d->first, model->nodes + 1, model->first));
    CUDA_TRY(CUDA_PUT(run, d->start, model->neighbourhoods + 1, model->neighbourhood_start));
    CUDA_TRY(CUDA_PUT(run, d->item, model->neighbourhood_start[model->neighbourhoods], model->neighbourhood_node));
    CUDA_TRY(CUDA_PUT(run, d->neighbourhood_of, model->moved, model->neighbourhood_of));
    CUDA_TRY(CUDA_TAKE(run, d->drawn, term->units * (d->neighbours + 1)));
    CUDA_TRY(CUDA_TAKE(run, d->domain, term->units * d->width));
    CUDA_TRY(CUDA_TAKE(run, d->begin, term->units));
    CUDA_TRY(CUDA_TAKE(run, d->end, term->units));
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
static cuda_way choose_way(const cuda_run *run, const svmp_term_view *view, const cuda_term *term, size_t entries) {
    const cuda *state = run->state;
    if (view->shape == SVMP_SHAPE_LINEAR) return view->multiplies ? WAY_MATRIX : WAY_MOMENTS;
    if (entries > UINT32_MAX) return WAY_MATRIX;
    return state->ops->fuses && state->ops->fuses(state->device, state->bits, &term->all) ? WAY_FUSED : WAY_MATRIX;
}

/* As many matrices at once as have room in a share of the memory; at least one. */
static svmp_status plan_batch(cuda_run *run, size_t longest, cuda_term *term) {
    const cuda *state = run->state;
    if (term->way != WAY_MATRIX) {
        term->batch = term->units;
        CUDA_TRY(CUDA_TAKE(run, term->all.guess, 3 * term->units));
        return CUDA_TAKE(run, term->all.middle, 2 * term->units);
    }
    const size_t real = (size_t)state->bits / 8, matrix = run->n * run->n * real, most = (size_t)4 << 30;
    size_t share = state->ops->room(state->device) / 4;
    if (share > most) share = most;
    term->batch = share / matrix < 1 ? 1 : share / matrix;
    if (term->batch > term->units) term->batch = term->units;
    term->all.pieces = choose_pieces(term->units * run->n * run->n, longest);
    char *bytes = NULL;
    CUDA_TRY(CUDA_TAKE(run, bytes, matrix * term->batch * term->all.pieces));
    term->all.matrix = bytes;
    CUDA_TRY(CUDA_TAKE(run, term->all.middle, 2 * term->batch));
    return CUDA_TAKE(run, term->all.scale, term->batch);
}

/* Headers of units whose domains stay as they are. */
static svmp_status plan_headers(cuda_run *run, const term_lists *l, cuda_term *term) {
    const size_t *start = run->model->start, variables = run->model->variables;
    unit_header *made = NULL;
    svmp_status status;
    if (start[variables] > UINT32_MAX) return SVMP_OK;
    CUDA_CHECK(CUDA_NEW(&run->host, made, term->units));
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
    CUDA_CHECK(CUDA_PUT(run, term->all.header, term->units, made));
done:
    svmp_host_release(&run->host, made);
    return status;
}

/* The record of a unit, whose domain is known unless it is drawn. `sums`: whether scores are row sums. */
static unit_record record_of(const cuda_run *run, const cuda_term *term, const term_lists *l, size_t u, int sums) {
    const svmp_model_view *q = run->model;
    const size_t i = l->variable[u];
    unit_record r = {.variable = (uint32_t)i,
                     .self = term->draw.begin ? 0 : UINT32_MAX,
                     .constant = q->linear[i],
                     .lower = run->model->lower[i],
                     .upper = run->model->upper[i]};
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
static svmp_status plan_records(cuda_run *run, const term_lists *l, cuda_term *term) {
    const cuda *state = run->state;
    const size_t *start = run->model->start, variables = run->model->variables;
    const int sums = !state->gathers && state->quadratic.piece_count == 0;
    unit_record *made = NULL;
    svmp_status status;
    if (run->n > tile_places(run->n) || term->all.longest > UNIT_ENTRIES || l->most_members > 1) return SVMP_OK;
    if (l->member_count != term->units) return SVMP_OK;
    for (size_t i = 0; i < variables && sums; i++)
        if (start[i + 1] - start[i] > UNIT_ENTRIES) return SVMP_OK;
    CUDA_CHECK(CUDA_NEW(&run->host, made, term->units));
    for (size_t u = 0; u < term->units; u++) {
        made[u] = record_of(run, term, l, u, sums);
        if (made[u].self == UINT32_MAX) goto done;
    }
    CUDA_CHECK(CUDA_PUT(run, term->record, term->units, made));
    term->all.recorded = 1;
done:
    svmp_host_release(&run->host, made);
    return status;
}

static svmp_status plan_part(cuda_run *run, const svmp_kernel_view *k, size_t a, int large) {
    cuda *state = run->state;
    const svmp_term_view *view = &k->terms[a];
    const centre_args *c = &state->centre;
    cuda_term *term = &state->terms[state->term_count];
    term_lists l = {0};
    svmp_status status;
    if (view->all && run->model->part)
        return svmp_host_fail(&run->host, SVMP_UNSUPPORTED,
                              "The backend '%s' does not support kernels on 'all' in several processes.", run->backend);
    const void *z = state->bits == 64 ? (const void *)(view->in_sd ? c->scaled64 : c->z64)
                                      : (const void *)(view->in_sd ? c->scaled32 : c->z32);
    term->all = (pair_args){.n = run->n,
                            .z = z,
                            .shape = view->shape,
                            .rule = view->bandwidth,
                            .in_sd = view->in_sd,
                            .fixed = view->fixed,
                            .weight = view->weight,
                            .share = view->weight / (double)run->n,
                            .lower = view->lower,
                            .upper = view->upper,
                            .variance = c->variance,
                            .score = state->score,
                            .inverse = c->inverse,
                            .adds = a > 0};
    term->ranked = view->ranked;
    CUDA_CHECK(list_units(run, view, large, term, &l));
    if (term->units == 0) goto done;
    state->term_count++;
    CUDA_CHECK(CUDA_PUT(run, term->all.variable, l.member_count, l.variable));
    CUDA_CHECK(CUDA_PUT(run, term->all.unit_of, l.member_count, l.unit_of));
    if (view->random) {
        CUDA_CHECK(plan_draw(run, view, term));
    } else {
        CUDA_CHECK(CUDA_PUT(run, term->all.begin, term->units, l.begin));
        CUDA_CHECK(CUDA_PUT(run, term->all.end, term->units, l.end));
        CUDA_CHECK(CUDA_PUT(run, term->all.domain, l.domain_count, l.domain));
    }
    CUDA_CHECK(CUDA_PUT(run, term->all.member_start, term->units + 1, term->member_start));
    term->all.term_variable = term->all.variable;
    term->all.longest = view->random ? term->draw.width : l.longest;
    term->all.most_members = l.most_members;
    term->way = choose_way(run, view, term, view->random ? term->units * term->draw.width : l.domain_count);
    if (term->way == WAY_FUSED && !view->random) CUDA_CHECK(plan_headers(run, &l, term));
    if (term->way == WAY_FUSED && state->ops->iterate) CUDA_CHECK(plan_records(run, &l, term));
    CUDA_CHECK(plan_batch(run, l.longest, term));
done:
    free_lists(&run->host, &l);
    if (term->units == 0) {
        svmp_host_release(&run->host, term->member_start);
        *term = (cuda_term){0};
    }
    return status;
}

svmp_status svmp_cuda_plan_terms(cuda_run *run, const svmp_kernel_view *k) {
    for (size_t a = 0; a < k->count; a++)
        for (int large = 0; large < 2; large++) CUDA_TRY(plan_part(run, k, a, large));
    return SVMP_OK;
}

/* Whether an iteration is one launch: a kernel of one term that the device can join to the step, of particles that are
 * not in units of their sd, which is kept from iteration to iteration. */
svmp_status svmp_cuda_plan_whole(cuda_run *run) {
    cuda *state = run->state;
    cuda_term *term = &state->terms[0];
    const size_t variables = run->model->variables;
    if (state->term_count != 1 || term->way != WAY_FUSED || state->ops->iterate == NULL || run->has_messages ||
        run->keeps_sd)
        return SVMP_OK;
    if (term->member_start[term->units] != run->model->moved_variables) return SVMP_OK;
    pair_args all = term->all;
    all.units = term->units;
    const int iterates = state->ops->iterates(state->device, state->bits, &all);
    const size_t pieces = state->quadratic.piece_count + state->gather.piece_count;
    state->whole = iterates > 0;
    state->whole_score = state->whole && (!state->gathers || iterates == ITERATES_GATHERS) && pieces == 0 &&
                         run->model->start[variables] <= UINT32_MAX && run->model->rows <= INT32_MAX &&
                         variables <= INT32_MAX;
    if (!state->whole) return SVMP_OK;
    if (iterates != ITERATES_RECORDS) term->record = NULL;
    state->placed = term->record || iterates == ITERATES_PLACES;
    if (!state->placed) return CUDA_TAKE(run, state->z_next, variables * run->n);
    CUDA_TRY(CUDA_TAKE(run, state->centre.placed, variables * tile_places(run->n)));
    return CUDA_TAKE(run, state->placed_next, variables * tile_places(run->n));
}
