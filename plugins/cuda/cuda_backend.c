/* The backend whose particles live on a device. */
#include "cuda/cuda_backend.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the device -------------------------------------------------------------------------------------------------- */

svmp_status svmp_cuda_check(const cuda_run *run, int failure) {
    const cuda *state = run->state;
    if (failure == 0) return SVMP_OK;
    return svmp_host_fail(&run->host, SVMP_DEVICE_FAILED, "The device %s failed: %s.", state->describe,
                          state->ops->error(state->device));
}

svmp_status svmp_cuda_take(cuda_run *run, size_t count, size_t size, void **pointer) {
    cuda *state = run->state;
    const size_t room = state->ops->room(state->device);
    void *made = NULL;
    CUDA_TRY(CUDA_GROW(&run->host, state->taken, state->taken_capacity, state->taken_count + 1));
    const int failure =
        count > room / size ? DEVICE_FULL : state->ops->allocate(state->device, count > 0 ? count * size : 1, &made);
    if (failure == DEVICE_FULL) {
        state->lacks = (double)count * (double)size;
        state->free = (double)room;
        return SVMP_NO_MEMORY;
    }
    CUDA_TRY(svmp_cuda_check(run, failure));
    state->taken[state->taken_count++] = made;
    memcpy(pointer, &made, sizeof made); /* *pointer may be a pointer of any type: no store through a void ** */
    return svmp_cuda_check(run, state->ops->clear(state->device, made, count > 0 ? count * size : 1));
}

svmp_status svmp_cuda_put(cuda_run *run, size_t count, size_t size, const void *from, void **pointer) {
    const cuda *state = run->state;
    CUDA_TRY(svmp_cuda_take(run, count, size, pointer));
    return count ? svmp_cuda_check(run, state->ops->to_device(state->device, state->taken[state->taken_count - 1], from,
                                                              count * size))
                 : SVMP_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static svmp_status take_arrays(cuda_run *run) {
    cuda *state = run->state;
    const size_t variables = run->model->variables, numbers = variables * run->n;
    CUDA_TRY(CUDA_TAKE(run, state->x, numbers));
    CUDA_TRY(CUDA_TAKE(run, state->score, numbers));
    CUDA_TRY(CUDA_TAKE(run, state->phi, numbers));
    for (size_t s = 0; s < run->step.states; s++) CUDA_TRY(CUDA_TAKE(run, state->step_state[s], numbers));
    const svmp_model_view *model = run->model;
    if (model->variable_key) CUDA_TRY(CUDA_PUT(run, state->variable_key, variables, model->variable_key));
    if (model->node_key) CUDA_TRY(CUDA_PUT(run, state->node_key, model->nodes, model->node_key));
    CUDA_TRY(CUDA_PUT(run, state->lower, variables, model->lower));
    return CUDA_PUT(run, state->upper, variables, model->upper);
}

/* `messages`: rows behind those of the variables. */
svmp_status svmp_cuda_take_places(cuda_run *run, const svmp_kernel_view *k) {
    cuda *state = run->state;
    const size_t variables = run->model->variables, rows = variables * (run->has_messages ? 2 : 1);
    centre_args *c = &state->centre;
    int plain = 0, scaled = 0;
    for (size_t a = 0; k && a < k->count; a++) *(k->terms[a].in_sd ? &scaled : &plain) = 1;
    c->n = run->n;
    CUDA_TRY(CUDA_TAKE(run, c->variance, rows));
    CUDA_TRY(CUDA_TAKE(run, c->mean, variables));
    if (run->keeps_sd || scaled) CUDA_TRY(CUDA_TAKE(run, c->sd, variables));
    if (run->keeps_sd || scaled) CUDA_TRY(CUDA_TAKE(run, c->inverse, variables));
    c->brief = state->bits == 32 && run->n <= TILE_PARTICLES && !scaled && !run->keeps_sd && !run->has_messages;
    for (size_t a = 0; k && a < k->count; a++) c->brief &= k->terms[a].shape != SVMP_SHAPE_LINEAR;
    c->brief &= plain;
    if (plain && state->bits == 64) CUDA_TRY(CUDA_TAKE(run, c->z64, rows * run->n));
    if (plain && state->bits == 32) CUDA_TRY(CUDA_TAKE(run, c->z32, rows * run->n));
    if (scaled && state->bits == 64) CUDA_TRY(CUDA_TAKE(run, c->scaled64, rows * run->n));
    if (scaled && state->bits == 32) CUDA_TRY(CUDA_TAKE(run, c->scaled32, rows * run->n));
    return SVMP_OK;
}

static svmp_status plan(cuda_run *run, const svmp_kernel_view *k) {
    CUDA_TRY(take_arrays(run));
    CUDA_TRY(svmp_cuda_take_places(run, k));
    CUDA_TRY(svmp_cuda_plan_score(run));
    if (run->has_messages) CUDA_TRY(svmp_cuda_plan_messages(run, k));
    CUDA_TRY(svmp_cuda_plan_registers(run));
    if (k) CUDA_TRY(svmp_cuda_plan_terms(run, k));
    return svmp_cuda_plan_whole(run);
}

/* Small models are launched many iterations at a time; those of large ones take so long that a few are enough. */
static size_t choose_queue(const svmp_device_request *request) {
    enum { FEW = 8, MANY = 32, SMALL = 100000 };
    return request->model->variables * request->n <= SMALL ? MANY : FEW;
}

static svmp_status open_device(const svmp_device_request *request, const device_ops *ops, int bits, cuda_run *run) {
    char text[512] = "";
    *run = (cuda_run){.host = request->host,
                      .backend = request->backend,
                      .model = request->model,
                      .step = request->step,
                      .n = request->n,
                      .seed = request->seed,
                      .keeps_sd = request->keeps_sd,
                      .has_messages = request->kernel && request->kernel->has_message};
    CUDA_TRY(CUDA_NEW(&run->host, run->state, 1));
    run->state->ops = ops;
    run->state->bits = bits;
    if (ops->open(&run->state->device, request->process, text, sizeof text) != 0)
        return svmp_host_fail(&run->host, SVMP_UNSUPPORTED, "%s", text);
    snprintf(run->state->describe, sizeof run->state->describe, "%s", ops->describe(run->state->device));
    return plan(run, request->kernel);
}

int svmp_cuda_open(const svmp_device_request *request, const device_ops *ops, int bits, svmp_device_particles *made) {
    cuda_run *run = NULL;
    CUDA_TRY(CUDA_NEW(&request->host, run, 1));
    const svmp_status status = open_device(request, ops, bits, run);
    *made = (svmp_device_particles){.state = run,
                                    .most_queued = choose_queue(request),
                                    .largest_score = bits == 32 ? (double)FLT_MAX / (double)request->n : INFINITY};
    if (run->state) {
        made->lacks = run->state->lacks;
        made->free = run->state->free;
        snprintf(made->device, sizeof made->device, "%s", run->state->describe);
    }
    if (status == SVMP_OK) return SVMP_OK;
    svmp_cuda_close(run);
    made->state = NULL;
    return status;
}

void svmp_cuda_release(const svmp_host *host, cuda *state) {
    for (size_t k = 0; k < state->taken_count; k++) state->ops->release(state->device, state->taken[k]);
    svmp_host_release(host, state->taken);
    for (size_t a = 0; a < 2 * CUDA_TERMS; a++) svmp_host_release(host, state->terms[a].member_start);
    svmp_host_release_all(host, state->programs, state->generated, state->messages.programs,
                          state->messages.evaluations);
}

void svmp_cuda_close(void *opened) {
    cuda_run *run = opened;
    const svmp_host host = run->host;
    cuda *state = run->state;
    if (state) {
        svmp_cuda_free_measure(run);
        svmp_cuda_release(&host, state);
        if (state->device) state->ops->close(state->device);
    }
    svmp_host_release_all(&host, state, run);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static double *array_of(const cuda *state, svmp_device_array array) {
    switch (array) {
    case SVMP_ARRAY_PARTICLES: return state->x;
    case SVMP_ARRAY_SCORE: return state->score;
    case SVMP_ARRAY_PHI: return state->phi;
    case SVMP_ARRAY_STEP_FIRST: return state->step_state[0];
    case SVMP_ARRAY_STEP_SECOND: return state->step_state[1];
    case SVMP_ARRAY_SD: break;
    }
    return state->centre.sd;
}

/* Numbers of a row. */
static size_t row_of(const cuda_run *run, svmp_device_array array) { return array == SVMP_ARRAY_SD ? 1 : run->n; }

/* ---- an iteration ------------------------------------------------------------------------------------------------ */

static int launch_long(const cuda *state, const sum_args *sums, size_t count) {
    return count ? state->ops->launch(state->device, KERNEL_LONG_SUM, 64, sums, count * sums->n) : 0;
}

svmp_status svmp_cuda_launch_sums(cuda_run *run, const row_sums *sums) {
    const cuda *state = run->state;
    const size_t threads = sums->count * sums->whole.n;
    CUDA_TRY(svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_SUM, 64, &sums->whole, threads)));
    CUDA_TRY(svmp_cuda_check(run, launch_long(state, &sums->pieces, sums->piece_count)));
    return svmp_cuda_check(run, launch_long(state, &sums->last, sums->last_count));
}

/* The programs of particles x: they and phi trade places every step, so that arguments take them as they are. */
svmp_status svmp_cuda_launch_programs(cuda_run *run, const double *x) {
    const cuda *state = run->state;
    const size_t n = run->n;
    for (size_t g = 0; g < state->program_alone; g++) {
        program_args args = state->programs[g];
        args.x = x;
        CUDA_TRY(
            svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_PROGRAM, 64, &args, args.instances * n)));
    }
    for (size_t k = 0; k < 2; k++) {
        programs_args args = state->together[k];
        args.x = x;
        CUDA_TRY(svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_PROGRAMS, 64, &args, state->blocks[k])));
    }
    for (size_t s = 0; s < state->generated_count; s++) {
        state->generated[s].x = x;
        const size_t blocks = state->generated[s].first[state->generated[s].count];
        CUDA_TRY(svmp_cuda_check(
            run, state->ops->launch(state->device, KERNEL_GENERATED, 64, &state->generated[s], blocks)));
    }
    return SVMP_OK;
}

svmp_status svmp_cuda_launch_score(cuda_run *run, const double *x, double *to) {
    const cuda *state = run->state;
    const size_t n = run->n;
    CUDA_TRY(svmp_cuda_launch_programs(run, x));
    row_sums sums = state->quadratic, gather = state->gather;
    sums.whole.rows = sums.pieces.rows = x;
    sums.whole.out = sums.last.out = gather.last.out = to;
    const score_args args = {sums.whole, gather.whole, gather.pieces, gather.piece_count};
    CUDA_TRY(svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_SCORE, 64, &args, sums.count * n)));
    CUDA_TRY(svmp_cuda_check(run, launch_long(state, &sums.pieces, sums.piece_count)));
    CUDA_TRY(svmp_cuda_check(run, launch_long(state, &sums.last, sums.last_count)));
    return svmp_cuda_check(run, launch_long(state, &gather.last, gather.last_count));
}

static svmp_status launch_score(cuda_run *run, const double *x) {
    cuda *state = run->state;
    state->score_lacks = 0;
    return svmp_cuda_launch_score(run, x, state->score);
}

int svmp_cuda_score(void *of) {
    cuda_run *run = of;
    cuda *state = run->state;
    state->due = state->whole_score ? DUE_SCORE : 0;
    return state->due ? SVMP_OK : launch_score(run, state->x);
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

static svmp_status launch_steps(cuda_run *run, const pair_args *a, size_t count, const launch_step *steps) {
    const cuda *state = run->state;
    for (size_t k = 0; k < count; k++)
        if (steps[k].count)
            CUDA_TRY(svmp_cuda_check(
                run, state->ops->launch(state->device, steps[k].which, state->bits, a, steps[k].count)));
    return SVMP_OK;
}

/* All that comes of matrices in one kernel. */
static svmp_status finish_matrices(cuda_run *run, const pair_args *a) {
    const size_t matrices = a->units * run->n * run->n;
    const launch_step steps[] = {{KERNEL_MATRIX, a->pieces * matrices},
                                 {KERNEL_ADD_PIECES, a->pieces > 1 ? matrices : 0},
                                 {KERNEL_FINISH, a->units}};
    return launch_steps(run, a, sizeof steps / sizeof *steps, steps);
}

svmp_status svmp_cuda_matrices(cuda_run *run, const cuda_term *term, const pair_args *a) {
    const size_t matrices = a->units * run->n * run->n;
    const launch_step steps[] = {{KERNEL_MATRIX, a->pieces * matrices},
                                 {KERNEL_ADD_PIECES, a->pieces > 1 ? matrices : 0},
                                 {KERNEL_MIDDLE, term->ranked ? a->units : 0},
                                 {KERNEL_SCALE, a->units}};
    return launch_steps(run, a, sizeof steps / sizeof *steps, steps);
}

static svmp_status run_batch(cuda_run *run, const cuda_term *term, size_t from, size_t to) {
    const cuda *state = run->state;
    const pair_args a = svmp_cuda_batch(term, from, to);
    if (term->way == WAY_FUSED) return svmp_cuda_check(run, state->ops->fused(state->device, state->bits, &a));
    if (term->way == WAY_MOMENTS)
        return svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_MOMENTS, state->bits, &a, a.members));
    if (state->ops->finishes && state->ops->finishes(state->device, state->bits, &a)) return finish_matrices(run, &a);
    CUDA_TRY(svmp_cuda_matrices(run, term, &a));
    const launch_step steps[] = {{KERNEL_VALUE, a.units * run->n * run->n}, {KERNEL_VELOCITY, a.members * run->n}};
    return launch_steps(run, &a, sizeof steps / sizeof *steps, steps);
}

svmp_status svmp_cuda_centre(cuda_run *run, size_t first) {
    cuda *state = run->state;
    centre_args c = state->centre;
    const size_t at = first * run->n, count = run->model->variables - first;
    c.x = state->x + at;
    c.variance += first;
    c.mean += first;
    if (c.sd) c.sd += first, c.inverse += first;
    if (c.z64) c.z64 += at;
    if (c.z32) c.z32 += at;
    if (c.scaled64) c.scaled64 += at;
    if (c.scaled32) c.scaled32 += at;
    if (c.placed) c.placed += first * tile_places(run->n);
    state->centred = 1;
    state->halo_moved = 0;
    return svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_CENTRE, 64, &c, count));
}

svmp_status svmp_cuda_draw(cuda_run *run, cuda_term *term, size_t t) {
    const cuda *state = run->state;
    if (term->draw.begin == NULL) return SVMP_OK;
    term->draw.iteration = t;
    return svmp_cuda_check(run, state->ops->launch(state->device, KERNEL_DRAW, 64, &term->draw, term->units));
}

static svmp_status launch_stein(cuda_run *run, size_t t) {
    cuda *state = run->state;
    CUDA_TRY(svmp_cuda_centre(run, 0));
    if (run->has_messages) CUDA_TRY(svmp_cuda_find_messages(run));
    for (size_t a = 0; a < state->term_count; a++) {
        cuda_term *term = &state->terms[a];
        term->all.phi = state->phi;
        CUDA_TRY(svmp_cuda_draw(run, term, t));
        for (size_t u = 0; u < term->units; u += term->batch)
            CUDA_TRY(run_batch(run, term, u, u + term->batch < term->units ? u + term->batch : term->units));
    }
    return SVMP_OK;
}

int svmp_cuda_stein(void *of, size_t t) {
    cuda_run *run = of;
    cuda *state = run->state;
    state->due_t = t;
    state->due |= state->whole ? DUE_STEIN : 0;
    return state->whole ? SVMP_OK : launch_stein(run, t);
}

svmp_status svmp_cuda_settle(cuda_run *run) {
    cuda *state = run->state;
    const unsigned due = state->due;
    state->due = 0;
    if (due & DUE_SCORE) CUDA_TRY(launch_score(run, state->x));
    return due & DUE_STEIN ? launch_stein(run, state->due_t) : SVMP_OK;
}

int svmp_cuda_fetch(void *of, svmp_device_array array, size_t first, size_t last, double *to) {
    cuda_run *run = of;
    const cuda *state = run->state;
    const size_t row = row_of(run, array);
    if (array == SVMP_ARRAY_SCORE || array == SVMP_ARRAY_PHI) CUDA_TRY(svmp_cuda_settle(run));
    if (array == SVMP_ARRAY_SCORE && state->score_lacks)
        CUDA_TRY(launch_score(run, state->moved ? state->phi : state->x));
    return svmp_cuda_check(run, state->ops->to_host(state->device, to, array_of(state, array) + first * row,
                                                    (last - first) * row * sizeof *to));
}

int svmp_cuda_store(void *of, svmp_device_array array, size_t first, size_t last, const double *from) {
    cuda_run *run = of;
    cuda *state = run->state;
    const size_t row = row_of(run, array);
    const int halo = array == SVMP_ARRAY_PARTICLES && first > 0;
    if (!halo) CUDA_TRY(svmp_cuda_settle(run));
    if (halo) state->halo_moved = 1;
    if (array == SVMP_ARRAY_PARTICLES && !halo) state->centred = 0;
    if (array == SVMP_ARRAY_SCORE) state->score_lacks = 0;
    return svmp_cuda_check(run, state->ops->to_device(state->device, array_of(state, array) + first * row, from,
                                                      (last - first) * row * sizeof *from));
}
