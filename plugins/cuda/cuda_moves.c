/* Steps of the backend on a device, and what came of them. The device tells that when it is done; the host may launch
 * the next iterations meanwhile, and then goes back if a step was wrong: the device has changed nothing since. */
#include "cuda/cuda_backend.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* x and phi trade places: the new particles are in phi. */
static void trade(cuda *own) {
    double *x = own->x;
    own->x = own->phi;
    own->phi = x;
}

int svmp_cuda_outcome(void *of, double *largest, int *wrong) {
    const cuda_run *run = of;
    step_result result = {0};
    CUDA_TRY(svmp_cuda_check(run, run->own->ops->outcome(run->own->device, &result)));
    memcpy(largest, &result.largest, sizeof *largest);
    *wrong = result.wrong != 0;
    return SVMP_OK;
}

void svmp_cuda_take_back(void *of, size_t steps) {
    const cuda_run *run = of;
    cuda *own = run->own;
    if (steps % 2 == 1) trade(own);
    own->due = 0;
    own->moved = 0;
    own->centred = 0;
    own->score_lacks = 1;
}

/* A step was launched: the new particles will be in phi. */
static svmp_status finish(cuda *own) {
    trade(own);
    own->moved = 1;
    return SVMP_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static svmp_status move(cuda_run *run, device_kernel which, const step_args *args) {
    cuda *own = run->own;
    CUDA_TRY(svmp_cuda_settle(run));
    CUDA_TRY(svmp_cuda_check(run, own->ops->step(own->device, which, args, run->model->moved_variables * run->n)));
    own->centred = 0;
    return finish(own);
}

/* All that is due, and the step, in one launch. */
static svmp_status iterate(cuda_run *run, const step_args *by) {
    cuda *own = run->own;
    cuda_term *term = &own->terms[0];
    iteration_args args = {.pair = term->all,
                           .step = *by,
                           .z = own->z_next,
                           .record = term->record,
                           .drawn = term->draw.begin != NULL,
                           .placed = own->centre.placed,
                           .placed_next = own->placed_next};
    if (!own->centred) CUDA_TRY(svmp_cuda_centre(run, 0));
    if (own->halo_moved) CUDA_TRY(svmp_cuda_centre(run, run->model->moved_variables));
    CUDA_TRY(svmp_cuda_draw(run, term, own->due_t));
    args.pair.units = term->units;
    args.pair.z = own->centre.z32;
    if (own->whole_score) args.score = own->quadratic.whole;
    args.score.rows = own->x;
    args.scored = !(own->due & DUE_SCORE);
    if (!args.scored && own->gathers) {
        args.gather = own->gather.whole;
        CUDA_TRY(svmp_cuda_launch_programs(run, own->x));
    }
    own->score_lacks = !args.scored;
    own->due = 0;
    CUDA_TRY(svmp_cuda_check(run, own->ops->iterate(own->device, own->bits, &args)));
    own->centred = 1;
    if (own->placed) {
        own->placed_next = own->centre.placed;
        own->centre.placed = args.placed_next;
    } else {
        own->z_next = own->centre.z32;
        own->centre.z32 = args.z;
        term->all.z = args.z;
    }
    return finish(own);
}

static step_args arguments(const cuda_run *run, double rate, size_t t, int awaited) {
    const cuda *own = run->own;
    return (step_args){.n = run->n,
                       .x = own->x,
                       .score = own->score,
                       .lower = own->lower,
                       .upper = own->upper,
                       .phi = own->phi,
                       .first = own->state[0],
                       .second = own->state[1],
                       .rate = rate,
                       .seed = run->seed,
                       .whole = own->variable_key,
                       .awaited = awaited,
                       .quick = own->bits == 32,
                       .iteration = t};
}

int svmp_cuda_step(void *of, double rate, size_t t, int awaited) {
    cuda_run *run = of;
    const cuda *own = run->own;
    const svmp_step_view *rule = &run->step;
    step_args args = arguments(run, rate, t, awaited);
    args.rule = rule->kind;
    args.delta = rule->delta;
    args.decay1 = rule->decay1;
    args.decay2 = rule->decay2;
    args.correct1 = 1 / (1 - pow(rule->decay1, (double)t + 1));
    args.correct2 = 1 / (1 - pow(rule->decay2, (double)t + 1));
    if (rule->in_sd) args.unit = own->centre.sd;
    return own->due & DUE_STEIN ? iterate(run, &args) : move(run, KERNEL_STEP, &args);
}

int svmp_cuda_diffuse(void *of, double rate, size_t t, int awaited) {
    cuda_run *run = of;
    const step_args args = arguments(run, rate, t, awaited);
    return move(run, KERNEL_DIFFUSE, &args);
}
