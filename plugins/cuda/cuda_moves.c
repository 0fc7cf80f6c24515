/* Steps of the backend on a device, and their outcomes, which the device reports when a step is complete. The host may
 * launch further iterations meanwhile; after a step that failed the device changes nothing, so that these can be taken
 * back. */
#include "cuda/cuda_backend.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* Exchanges x and phi: the new particles are in phi. */
static void trade(cuda *state) {
    double *x = state->x;
    state->x = state->phi;
    state->phi = x;
}

int svmp_cuda_outcome(void *of, double *largest, int *wrong) {
    const cuda_run *run = of;
    step_result result = {0};
    CUDA_TRY(svmp_cuda_check(run, run->state->ops->outcome(run->state->device, &result)));
    memcpy(largest, &result.largest, sizeof *largest);
    *wrong = result.wrong != 0;
    return SVMP_OK;
}

void svmp_cuda_take_back(void *of, size_t steps) {
    const cuda_run *run = of;
    cuda *state = run->state;
    if (steps % 2 == 1) trade(state);
    state->due = 0;
    state->moved = 0;
    state->centred = 0;
    state->score_lacks = 1;
}

/* A step was launched: the new particles will be in phi. */
static svmp_status finish(cuda *state) {
    trade(state);
    state->moved = 1;
    return SVMP_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static svmp_status move(cuda_run *run, device_kernel which, const step_args *args) {
    cuda *state = run->state;
    CUDA_TRY(svmp_cuda_settle(run));
    CUDA_TRY(svmp_cuda_check(run, state->ops->step(state->device, which, args, run->model->moved_variables * run->n)));
    state->centred = 0;
    return finish(state);
}

/* The deferred operations and the step in one launch. */
static svmp_status iterate(cuda_run *run, const step_args *by) {
    cuda *state = run->state;
    cuda_term *term = &state->terms[0];
    iteration_args args = {.pair = term->all,
                           .step = *by,
                           .z = state->z_next,
                           .record = term->record,
                           .drawn = term->draw.begin != NULL,
                           .placed = state->centre.placed,
                           .placed_next = state->placed_next};
    if (!state->centred) CUDA_TRY(svmp_cuda_centre(run, 0));
    if (state->halo_moved) CUDA_TRY(svmp_cuda_centre(run, run->model->moved_variables));
    CUDA_TRY(svmp_cuda_draw(run, term, state->due_t));
    args.pair.units = term->units;
    args.pair.z = state->centre.z32;
    if (state->whole_score) args.score = state->quadratic.whole;
    args.score.rows = state->x;
    args.scored = !(state->due & DUE_SCORE);
    if (!args.scored && state->gathers) {
        args.gather = state->gather.whole;
        CUDA_TRY(svmp_cuda_launch_programs(run, state->x));
    }
    state->score_lacks = !args.scored;
    state->due = 0;
    CUDA_TRY(svmp_cuda_check(run, state->ops->iterate(state->device, state->bits, &args)));
    state->centred = 1;
    if (state->placed) {
        state->placed_next = state->centre.placed;
        state->centre.placed = args.placed_next;
    } else {
        state->z_next = state->centre.z32;
        state->centre.z32 = args.z;
        term->all.z = args.z;
    }
    return finish(state);
}

static step_args arguments(const cuda_run *run, double rate, size_t t, int awaited) {
    const cuda *state = run->state;
    return (step_args){.n = run->n,
                       .x = state->x,
                       .score = state->score,
                       .lower = state->lower,
                       .upper = state->upper,
                       .phi = state->phi,
                       .first = state->step_state[0],
                       .second = state->step_state[1],
                       .rate = rate,
                       .seed = run->seed,
                       .whole = state->variable_key,
                       .awaited = awaited,
                       .quick = state->bits == 32,
                       .iteration = t};
}

int svmp_cuda_step(void *of, double rate, size_t t, int awaited) {
    cuda_run *run = of;
    const cuda *state = run->state;
    const svmp_step_view *rule = &run->step;
    step_args args = arguments(run, rate, t, awaited);
    args.rule = rule->kind;
    args.delta = rule->delta;
    args.decay1 = rule->decay1;
    args.decay2 = rule->decay2;
    args.correct1 = 1 / (1 - pow(rule->decay1, (double)t + 1));
    args.correct2 = 1 / (1 - pow(rule->decay2, (double)t + 1));
    if (rule->in_sd) args.unit = state->centre.sd;
    return state->due & DUE_STEIN ? iterate(run, &args) : move(run, KERNEL_STEP, &args);
}

int svmp_cuda_diffuse(void *of, double rate, size_t t, int awaited) {
    cuda_run *run = of;
    const step_args args = arguments(run, rate, t, awaited);
    return move(run, KERNEL_DIFFUSE, &args);
}
