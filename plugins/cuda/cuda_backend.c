/* The backend whose particles live on a device. */
#include "cuda/cuda_backend.h"

#include <stdio.h>
#include <string.h>

#include "base/notes.h"
#include "base/peers.h"
#include "model/program_factors.h"

/* ---- the device -------------------------------------------------------------------------------------------------- */

svmp_status svmp_cuda_check(backend *b, int failure) {
    const cuda *own = b->local_state;
    if (failure == 0) return SVMP_OK;
    return svmp_fail(b->context, SVMP_DEVICE_FAILED, "The device %s failed: %s.", own->describe,
                     own->ops->error(own->device));
}

svmp_status svmp_cuda_take(backend *b, size_t count, size_t size, void **pointer) {
    cuda *own = b->local_state;
    const double gib = 1024.0 * 1024 * 1024;
    const size_t room = own->ops->room(own->device);
    void *made = NULL;
    SVMP_TRY(SVMP_GROW(b->context, own->taken, own->taken_capacity, own->taken_count + 1));
    const int failure =
        count > room / size ? DEVICE_FULL : own->ops->allocate(own->device, count > 0 ? count * size : 1, &made);
    own->full = failure == DEVICE_FULL;
    if (own->full)
        return svmp_fail_notes(
            b->context, SVMP_NO_MEMORY,
            NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_FEWER_PARTICLES, "particles", NULL)),
                  svmp_either(1, svmp_advice(SVMP_NOTE_USE, "backend", "cpu"))),
            "Out of memory on %s: this run needs at least %.3g GiB more, but only %.3g GiB are free.", own->describe,
            (double)count * (double)size / gib, (double)room / gib);
    SVMP_TRY(svmp_cuda_check(b, failure));
    own->taken[own->taken_count++] = made;
    memcpy(pointer, &made, sizeof made); /* *pointer may be a pointer of any type: no store through a void ** */
    return svmp_cuda_check(b, own->ops->clear(own->device, made, count > 0 ? count * size : 1));
}

svmp_status svmp_cuda_put(backend *b, size_t count, size_t size, const void *from, void **pointer) {
    const cuda *own = b->local_state;
    SVMP_TRY(svmp_cuda_take(b, count, size, pointer));
    return count ? svmp_cuda_check(
                       b, own->ops->to_device(own->device, own->taken[own->taken_count - 1], from, count * size))
                 : SVMP_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static svmp_status refuse(const backend *b) {
    const svmp_model *model = b->model;
    for (size_t g = 0; g < model->group_count; g++)
        if (svmp_program_group_bound(&model->groups[g]) == NULL)
            return svmp_fail_notes(b->context, SVMP_UNSUPPORTED, NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu")),
                                   "The backend '%s' cannot run factor %zu, which is a C function.", b->local->name,
                                   svmp_model_factor(model, g, 0));
    return SVMP_OK;
}

static svmp_status take_arrays(backend *b) {
    cuda *own = b->local_state;
    const size_t variables = b->model->graph->variables, numbers = variables * b->n;
    SVMP_TRY(CUDA_TAKE(b, own->x, numbers));
    SVMP_TRY(CUDA_TAKE(b, own->score, numbers));
    SVMP_TRY(CUDA_TAKE(b, own->phi, numbers));
    for (size_t s = 0; s < 2; s++)
        if (b->state[s]) SVMP_TRY(CUDA_TAKE(b, own->state[s], numbers));
    const svmp_graph *graph = b->model->graph;
    if (graph->variable_key) SVMP_TRY(CUDA_PUT(b, own->variable_key, variables, graph->variable_key));
    if (graph->node_key) SVMP_TRY(CUDA_PUT(b, own->node_key, graph->nodes, graph->node_key));
    SVMP_TRY(CUDA_PUT(b, own->lower, variables, b->model->lower));
    return CUDA_PUT(b, own->upper, variables, b->model->upper);
}

/* `messages`: rows behind those of the variables. */
svmp_status svmp_cuda_take_places(backend *b, const kernel *k) {
    cuda *own = b->local_state;
    const size_t variables = b->model->graph->variables, rows = variables * (b->messages ? 2 : 1);
    centre_args *c = &own->centre;
    int plain = 0, scaled = 0;
    for (size_t a = 0; k && a < k->count; a++) *(k->terms[a].metric == METRIC_SD ? &scaled : &plain) = 1;
    c->n = b->n;
    SVMP_TRY(CUDA_TAKE(b, c->variance, rows));
    SVMP_TRY(CUDA_TAKE(b, c->mean, variables));
    if (b->sd || scaled) SVMP_TRY(CUDA_TAKE(b, c->sd, variables));
    if (b->sd || scaled) SVMP_TRY(CUDA_TAKE(b, c->inverse, variables));
    c->brief = own->bits == 32 && b->n <= TILE_PARTICLES && !scaled && !b->sd && !b->messages;
    for (size_t a = 0; k && a < k->count; a++) c->brief &= k->terms[a].shape->value != NULL;
    c->brief &= plain;
    if (plain && own->bits == 64) SVMP_TRY(CUDA_TAKE(b, c->z64, rows * b->n));
    if (plain && own->bits == 32) SVMP_TRY(CUDA_TAKE(b, c->z32, rows * b->n));
    if (scaled && own->bits == 64) SVMP_TRY(CUDA_TAKE(b, c->scaled64, rows * b->n));
    if (scaled && own->bits == 32) SVMP_TRY(CUDA_TAKE(b, c->scaled32, rows * b->n));
    return SVMP_OK;
}

svmp_status svmp_cuda_alloc(backend *b, const kernel *k, const device_ops *ops, int bits) {
    char text[512] = "";
    cuda *own = NULL;
    SVMP_TRY(refuse(b));
    SVMP_TRY(SVMP_NEW(b->context, own, 1));
    own->ops = ops;
    own->bits = bits;
    if (ops->open(&own->device, b->model->graph->peers->local, text, sizeof text) != 0) { /* they share devices */
        svmp_release(b->context, own);
        return svmp_fail_notes(b->context, SVMP_UNSUPPORTED, NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu")), "%s",
                               text);
    }
    b->local_state = own;
    snprintf(own->describe, sizeof own->describe, "%s", ops->describe(own->device));
    SVMP_TRY(take_arrays(b));
    SVMP_TRY(svmp_cuda_take_places(b, k));
    SVMP_TRY(svmp_cuda_plan_score(b));
    if (b->messages) SVMP_TRY(svmp_cuda_plan_messages(b));
    SVMP_TRY(svmp_cuda_plan_registers(b));
    if (k) SVMP_TRY(svmp_cuda_plan_terms(b, k));
    return svmp_cuda_plan_whole(b);
}

void svmp_cuda_release(svmp_context *context, cuda *own) {
    for (size_t k = 0; k < own->taken_count; k++) own->ops->release(own->device, own->taken[k]);
    svmp_release(context, own->taken);
    for (size_t a = 0; a < 2 * KERNEL_TERMS_MAX; a++) svmp_release(context, own->terms[a].member_start);
    svmp_release(context, own->programs);
    svmp_release(context, own->generated);
    svmp_release(context, own->messages.programs);
    svmp_release(context, own->messages.evaluations);
}

void svmp_cuda_free(backend *b) {
    cuda *own = b->local_state;
    svmp_cuda_free_measure(b);
    svmp_cuda_release(b->context, own);
    if (own->device) own->ops->close(own->device);
    svmp_release(b->context, own);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

typedef struct mirror {
    double *host, *there;
    size_t bytes;
} mirror;

static mirror mirror_of(const backend *b, backend_array which) {
    const cuda *own = b->local_state;
    const size_t variables = b->model->graph->variables, bytes = variables * b->n * sizeof(double);
    switch (which) {
    case ARRAY_PARTICLES: return (mirror){b->x, own->x, bytes};
    case ARRAY_SCORE: return (mirror){b->score, own->score, bytes};
    case ARRAY_PHI: return (mirror){b->phi, own->phi, bytes};
    case ARRAY_STEP_FIRST: return (mirror){b->state[0], own->state[0], bytes};
    case ARRAY_STEP_SECOND: return (mirror){b->state[1], own->state[1], bytes};
    case ARRAY_SD: break;
    }
    return (mirror){b->sd, own->centre.sd, variables * sizeof(double)};
}

void svmp_cuda_forget(cuda *own, backend_array which) { own->fresh &= ~(1u << which); }

/* ---- an iteration ------------------------------------------------------------------------------------------------ */

static int launch_long(const cuda *own, const sum_args *sums, size_t count) {
    return count ? own->ops->launch(own->device, KERNEL_LONG_SUM, 64, sums, count * sums->n) : 0;
}

svmp_status svmp_cuda_launch_sums(backend *b, const row_sums *sums) {
    const cuda *own = b->local_state;
    const size_t threads = sums->count * sums->whole.n;
    SVMP_TRY(svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_SUM, 64, &sums->whole, threads)));
    SVMP_TRY(svmp_cuda_check(b, launch_long(own, &sums->pieces, sums->piece_count)));
    return svmp_cuda_check(b, launch_long(own, &sums->last, sums->last_count));
}

/* The programs of particles x: they and phi trade places every step, so that arguments take them as they are. */
svmp_status svmp_cuda_launch_programs(backend *b, const double *x) {
    const cuda *own = b->local_state;
    const size_t n = b->n;
    for (size_t g = 0; g < own->program_alone; g++) {
        program_args args = own->programs[g];
        args.x = x;
        SVMP_TRY(svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_PROGRAM, 64, &args, args.instances * n)));
    }
    for (size_t k = 0; k < 2; k++) {
        programs_args args = own->together[k];
        args.x = x;
        SVMP_TRY(svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_PROGRAMS, 64, &args, own->blocks[k])));
    }
    for (size_t s = 0; s < own->generated_count; s++) {
        own->generated[s].x = x;
        const size_t blocks = own->generated[s].first[own->generated[s].count];
        SVMP_TRY(svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_GENERATED, 64, &own->generated[s], blocks)));
    }
    return SVMP_OK;
}

svmp_status svmp_cuda_launch_score(backend *b, const double *x, double *to) {
    const cuda *own = b->local_state;
    const size_t n = b->n;
    SVMP_TRY(svmp_cuda_launch_programs(b, x));
    row_sums sums = own->quadratic, gather = own->gather;
    sums.whole.rows = sums.pieces.rows = x;
    sums.whole.out = sums.last.out = gather.last.out = to;
    const score_args args = {sums.whole, gather.whole, gather.pieces, gather.piece_count};
    SVMP_TRY(svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_SCORE, 64, &args, sums.count * n)));
    SVMP_TRY(svmp_cuda_check(b, launch_long(own, &sums.pieces, sums.piece_count)));
    SVMP_TRY(svmp_cuda_check(b, launch_long(own, &sums.last, sums.last_count)));
    return svmp_cuda_check(b, launch_long(own, &gather.last, gather.last_count));
}

static svmp_status launch_score(backend *b, const double *x) {
    cuda *own = b->local_state;
    own->score_lacks = 0;
    return svmp_cuda_launch_score(b, x, own->score);
}

svmp_status svmp_cuda_score(backend *b) {
    cuda *own = b->local_state;
    svmp_cuda_forget(own, ARRAY_SCORE);
    own->due = own->whole_score ? DUE_SCORE : 0;
    return own->due ? SVMP_OK : launch_score(b, own->x);
}

pair_args svmp_cuda_batch(const cuda_term *term, size_t from, size_t to) {
    pair_args a = term->all;
    a.first = from;
    a.units = to - from;
    a.begin += from;
    a.end += from;
    a.variable += term->member_start[from];
    a.unit_of += term->member_start[from];
    a.members = term->member_start[to] - term->member_start[from];
    return a;
}

typedef struct launch_step {
    device_kernel which;
    size_t count;
} launch_step;

static svmp_status launch_steps(backend *b, const pair_args *a, size_t count, const launch_step *steps) {
    const cuda *own = b->local_state;
    for (size_t k = 0; k < count; k++)
        if (steps[k].count)
            SVMP_TRY(svmp_cuda_check(b, own->ops->launch(own->device, steps[k].which, own->bits, a, steps[k].count)));
    return SVMP_OK;
}

/* All that comes of matrices in one kernel. */
static svmp_status finish_matrices(backend *b, const pair_args *a) {
    const size_t matrices = a->units * b->n * b->n;
    const launch_step steps[] = {{KERNEL_MATRIX, a->pieces * matrices},
                                 {KERNEL_ADD_PIECES, a->pieces > 1 ? matrices : 0},
                                 {KERNEL_FINISH, a->units}};
    return launch_steps(b, a, sizeof steps / sizeof *steps, steps);
}

svmp_status svmp_cuda_matrices(backend *b, const cuda_term *term, const pair_args *a) {
    const size_t matrices = a->units * b->n * b->n;
    const launch_step steps[] = {{KERNEL_MATRIX, a->pieces * matrices},
                                 {KERNEL_ADD_PIECES, a->pieces > 1 ? matrices : 0},
                                 {KERNEL_MIDDLE, term->ranked ? a->units : 0},
                                 {KERNEL_SCALE, a->units}};
    return launch_steps(b, a, sizeof steps / sizeof *steps, steps);
}

static svmp_status run_batch(backend *b, const cuda_term *term, size_t from, size_t to) {
    const cuda *own = b->local_state;
    const pair_args a = svmp_cuda_batch(term, from, to);
    if (term->way == WAY_FUSED) return svmp_cuda_check(b, own->ops->fused(own->device, own->bits, &a));
    if (term->way == WAY_MOMENTS)
        return svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_MOMENTS, own->bits, &a, a.members));
    if (own->ops->finishes && own->ops->finishes(own->device, own->bits, &a)) return finish_matrices(b, &a);
    SVMP_TRY(svmp_cuda_matrices(b, term, &a));
    const launch_step steps[] = {{KERNEL_VALUE, a.units * b->n * b->n}, {KERNEL_VELOCITY, a.members * b->n}};
    return launch_steps(b, &a, sizeof steps / sizeof *steps, steps);
}

svmp_status svmp_cuda_centre(backend *b, size_t first) {
    cuda *own = b->local_state;
    centre_args c = own->centre;
    const size_t at = first * b->n, count = b->model->graph->variables - first;
    c.x = own->x + at;
    c.variance += first;
    c.mean += first;
    if (c.sd) c.sd += first, c.inverse += first;
    if (c.z64) c.z64 += at;
    if (c.z32) c.z32 += at;
    if (c.scaled64) c.scaled64 += at;
    if (c.scaled32) c.scaled32 += at;
    if (c.placed) c.placed += first * tile_places(b->n);
    own->centred = 1;
    own->halo_moved = 0;
    return svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_CENTRE, 64, &c, count));
}

svmp_status svmp_cuda_draw(backend *b, cuda_term *term, size_t t) {
    const cuda *own = b->local_state;
    if (term->draw.begin == NULL) return SVMP_OK;
    term->draw.iteration = t;
    return svmp_cuda_check(b, own->ops->launch(own->device, KERNEL_DRAW, 64, &term->draw, term->units));
}

static svmp_status launch_stein(backend *b, size_t t) {
    cuda *own = b->local_state;
    SVMP_TRY(svmp_cuda_centre(b, 0));
    if (b->messages) SVMP_TRY(svmp_cuda_find_messages(b));
    for (size_t a = 0; a < own->term_count; a++) {
        cuda_term *term = &own->terms[a];
        term->all.phi = own->phi;
        SVMP_TRY(svmp_cuda_draw(b, term, t));
        for (size_t u = 0; u < term->units; u += term->batch)
            SVMP_TRY(run_batch(b, term, u, u + term->batch < term->units ? u + term->batch : term->units));
    }
    return SVMP_OK;
}

svmp_status svmp_cuda_stein(backend *b, const kernel *k, size_t t) {
    cuda *own = b->local_state;
    (void)k; /* as it was when the backend was made */
    svmp_cuda_forget(own, ARRAY_PHI);
    svmp_cuda_forget(own, ARRAY_SD);
    own->due_t = t;
    own->due |= own->whole ? DUE_STEIN : 0;
    return own->whole ? SVMP_OK : launch_stein(b, t);
}

svmp_status svmp_cuda_settle(backend *b) {
    cuda *own = b->local_state;
    const unsigned due = own->due;
    own->due = 0;
    if (due & DUE_SCORE) SVMP_TRY(launch_score(b, own->x));
    return due & DUE_STEIN ? launch_stein(b, own->due_t) : SVMP_OK;
}

svmp_status svmp_cuda_fetch(backend *b, backend_array which) {
    cuda *own = b->local_state;
    SVMP_TRY(svmp_cuda_await(b));
    const mirror m = mirror_of(b, which);
    if (own->fresh & 1u << which) return SVMP_OK;
    if (which == ARRAY_SCORE || which == ARRAY_PHI) SVMP_TRY(svmp_cuda_settle(b));
    if (which == ARRAY_SCORE && own->score_lacks) SVMP_TRY(launch_score(b, b->moved ? own->phi : own->x));
    own->fresh |= 1u << which;
    return svmp_cuda_check(b, own->ops->to_host(own->device, m.host, m.there, m.bytes));
}

svmp_status svmp_cuda_store(backend *b, backend_array which) {
    cuda *own = b->local_state;
    SVMP_TRY(svmp_cuda_await(b));
    SVMP_TRY(svmp_cuda_settle(b));
    const mirror m = mirror_of(b, which);
    own->fresh |= 1u << which;
    if (which == ARRAY_PARTICLES) own->centred = 0;
    if (which == ARRAY_SCORE) own->score_lacks = 0;
    return svmp_cuda_check(b, own->ops->to_device(own->device, m.there, m.host, m.bytes));
}

/* Rows of the particles, for other processes. */
svmp_status svmp_cuda_fetch_rows(backend *b, size_t first, size_t last) {
    const cuda *own = b->local_state;
    const size_t at = first * b->n, bytes = (last - first) * b->n * sizeof(double);
    SVMP_TRY(svmp_cuda_await(b));
    if (bytes == 0 || own->fresh & 1u << ARRAY_PARTICLES) return SVMP_OK;
    return svmp_cuda_check(b, own->ops->to_host(own->device, b->x + at, own->x + at, bytes));
}

svmp_status svmp_cuda_store_rows(backend *b, size_t first, size_t last) {
    cuda *own = b->local_state;
    const size_t at = first * b->n, bytes = (last - first) * b->n * sizeof(double);
    own->halo_moved = 1;
    return bytes ? svmp_cuda_check(b, own->ops->to_device(own->device, own->x + at, b->x + at, bytes)) : SVMP_OK;
}

/* ---- the kinds --------------------------------------------------------------------------------------------------- */

static svmp_status alloc_bits(backend *b, const kernel *k, int bits) {
    const device_ops *ops = NULL;
    SVMP_TRY(svmp_cuda_load(b->context, &ops));
    return svmp_cuda_alloc(b, k, ops, bits);
}

static svmp_status alloc_mixed(backend *b, const kernel *k) { return alloc_bits(b, k, 32); }
static svmp_status alloc_double(backend *b, const kernel *k) { return alloc_bits(b, k, 64); }

CUDA_KIND(svmp_backend_cuda, "cuda", alloc_mixed); /* pairs of particles in single precision, the rest in double */
CUDA_KIND(svmp_backend_cuda_f64, "cuda-f64", alloc_double);

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* Memory of a device that others use, or that is less than that of the host, is no reason not to run. */
static svmp_status alloc_auto(backend *b, const kernel *k) {
    b->kind = b->local = &svmp_backend_cuda; /* as choice.c would have it */
    const svmp_status status = b->local->alloc(b, k);
    const cuda *own = b->local_state;
    if (status != SVMP_NO_MEMORY || own == NULL || !own->full) return status;
    svmp_log(b->context, SVMP_LOG_WARNING, "There is not enough free memory on %s; the run uses the CPU.",
             own->describe);
    svmp_cuda_free(b);
    b->local_state = NULL;
    b->kind = b->local = &svmp_backend_cpu;
    return b->local->alloc(b, k);
}

const backend_kind svmp_backend_auto = {.name = "auto", .alloc = alloc_auto};
