/* Steps of the backend on a device, and what came of them. The device tells that when it is done; the host may launch
 * the next iterations meanwhile, and then goes back if a step was wrong: the device has changed nothing since. */
#include "cuda/cuda_backend.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/notes.h"

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* A finite score that single precision does not have, or not the sum of n of them: the number of it, or SIZE_MAX. */
static size_t find_beyond(const backend *b) {
    const size_t total = b->model->graph->moved_variables * b->n;
    const double most = (double)FLT_MAX / (double)b->n;
    size_t beyond = SIZE_MAX;
    for (size_t at = 0; at < total; at++) {
        if (!isfinite(b->score[at])) return SIZE_MAX;
        if (fabs(b->score[at]) > most && beyond == SIZE_MAX) beyond = at;
    }
    return beyond;
}

/* What is needed to say which number is wrong. */
static svmp_status say_wrong(backend *b, size_t t) {
    cuda *own = b->local_state;
    char name[128];
    const backend_array read[] = {ARRAY_PARTICLES, ARRAY_SCORE, ARRAY_PHI};
    for (size_t k = 0; k < 3; k++) {
        svmp_cuda_forget(own, read[k]);
        SVMP_TRY(svmp_cuda_fetch(b, read[k]));
    }
    const size_t beyond = own->bits == 32 ? find_beyond(b) : SIZE_MAX;
    if (beyond != SIZE_MAX)
        return svmp_fail_notes(
            b->context, SVMP_NOT_FINITE,
            NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_SMALLER_STEPS, "step", NULL)),
                  svmp_either(1, svmp_advice(SVMP_NOTE_CLOSER_START, "init", NULL)),
                  svmp_either(1, svmp_advice(SVMP_NOTE_USE, "backend", "cuda-f64"))),
            "The score of %s is %g in particle %zu at iteration %zu, too large for single precision.",
            svmp_model_variable_name(b->model, beyond / b->n, name, sizeof name), b->score[beyond], beyond % b->n + 1,
            t + 1);
    if (b->evaluator == NULL) SVMP_TRY(svmp_evaluator_create(b->model, b->n, b->threads, &b->evaluator));
    return svmp_host_not_finite(b, t);
}

/* x and phi trade places: the new particles are in phi. */
static void trade(cuda *own) {
    double *x = own->x;
    own->x = own->phi;
    own->phi = x;
}

/* The oldest of the steps that are ahead. Those after one that was wrong did nothing, and are forgotten with it.
 * `current`: whether the last step is still that of the caller. */
static svmp_status take_outcome(backend *b, size_t current) {
    cuda *own = b->local_state;
    step_result result = {0};
    SVMP_TRY(svmp_cuda_check(b, own->ops->outcome(own->device, &result)));
    const size_t t = own->last_t - (b->queued - 1);
    memcpy(&b->largest, &result.largest, sizeof b->largest);
    b->past[t % BACKEND_MOST_QUEUED] = b->largest;
    if (!result.wrong) return b->queued--, SVMP_OK;
    if (b->queued % 2 == 1) trade(own);
    b->rolled_back += b->queued - current;
    b->queued = 0;
    b->moved = 0;
    own->due = 0;
    own->centred = 0;
    own->score_lacks = 1;
    return say_wrong(b, t);
}

svmp_status svmp_cuda_await(backend *b) {
    while (b->queued > 0) SVMP_TRY(take_outcome(b, 0));
    return SVMP_OK;
}

void svmp_cuda_take_back(backend *b) {
    cuda *own = b->local_state;
    const backend_array changed[] = {ARRAY_PARTICLES, ARRAY_PHI, ARRAY_STEP_FIRST, ARRAY_STEP_SECOND};
    for (size_t k = 0; k < 4; k++) svmp_cuda_forget(own, changed[k]);
    trade(own);
    own->centred = 0;
    own->score_lacks = 1;
}

/* Small models are launched many iterations at a time; those of large ones take so long that a few are enough. */
static size_t most_ahead(const backend *b) {
    enum { FEW = 8, SMALL = 100000 };
    return b->model->graph->variables * b->n <= SMALL ? BACKEND_MOST_QUEUED : FEW;
}

/* A step was launched, the new particles will be in phi. */
static svmp_status finish(backend *b, size_t t) {
    cuda *own = b->local_state;
    svmp_cuda_forget(own, ARRAY_STEP_FIRST);
    svmp_cuda_forget(own, ARRAY_STEP_SECOND);
    svmp_cuda_forget(own, ARRAY_PARTICLES);
    svmp_cuda_forget(own, ARRAY_PHI);
    trade(own);
    own->last_t = t;
    b->moved = 1;
    b->queued++;
    while (b->queued > b->most_queued || b->queued > most_ahead(b)) SVMP_TRY(take_outcome(b, 1));
    return SVMP_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static svmp_status move(backend *b, device_kernel which, const step_args *args, size_t t) {
    cuda *own = b->local_state;
    SVMP_TRY(svmp_cuda_settle(b));
    SVMP_TRY(svmp_cuda_check(b, own->ops->step(own->device, which, args, b->model->graph->moved_variables * b->n)));
    own->centred = 0;
    return finish(b, t);
}

/* All that is due, and the step, in one launch. */
static svmp_status iterate(backend *b, const step_args *by, size_t t) {
    cuda *own = b->local_state;
    cuda_term *term = &own->terms[0];
    iteration_args args = {.pair = term->all,
                           .step = *by,
                           .z = own->z_next,
                           .record = term->record,
                           .drawn = term->draw.begin != NULL,
                           .placed = own->centre.placed,
                           .placed_next = own->placed_next};
    if (!own->centred) SVMP_TRY(svmp_cuda_centre(b, 0));
    if (own->halo_moved) SVMP_TRY(svmp_cuda_centre(b, b->model->graph->moved_variables));
    SVMP_TRY(svmp_cuda_draw(b, term, own->due_t));
    args.pair.units = term->units;
    args.pair.z = own->centre.z32;
    if (own->whole_score) args.score = own->quadratic.whole;
    args.score.rows = own->x;
    args.scored = !(own->due & DUE_SCORE);
    if (!args.scored && own->gathers) {
        args.gather = own->gather.whole;
        SVMP_TRY(svmp_cuda_launch_programs(b, own->x));
    }
    own->score_lacks = !args.scored;
    own->due = 0;
    SVMP_TRY(svmp_cuda_check(b, own->ops->iterate(own->device, own->bits, &args)));
    own->centred = 1;
    if (own->placed) {
        own->placed_next = own->centre.placed;
        own->centre.placed = args.placed_next;
    } else {
        own->z_next = own->centre.z32;
        own->centre.z32 = args.z;
        term->all.z = args.z;
    }
    return finish(b, t);
}

static step_args arguments(const backend *b, double rate, size_t t) {
    const cuda *own = b->local_state;
    return (step_args){.n = b->n,
                       .x = own->x,
                       .score = own->score,
                       .lower = own->lower,
                       .upper = own->upper,
                       .phi = own->phi,
                       .first = own->state[0],
                       .second = own->state[1],
                       .rate = rate,
                       .seed = b->seed,
                       .whole = own->variable_key,
                       .awaited = b->most_queued == 0,
                       .quick = own->bits == 32,
                       .iteration = t};
}

/* The numbers of a rule (step/). */
static svmp_status set_rule(const backend *b, const step *s, size_t t, step_args *args) {
    const step_rule *rule = s->rule;
    if (rule->kind == STEP_OTHER)
        return svmp_fail(b->context, SVMP_UNSUPPORTED, "The backend '%s' does not support the step '%s'.",
                         b->local->name, rule->name);
    args->rule = rule->kind;
    args->delta = rule->delta;
    args->decay1 = rule->decay1;
    args->decay2 = rule->decay2;
    args->correct1 = 1 / (1 - pow(rule->decay1, (double)t + 1));
    args->correct2 = 1 / (1 - pow(rule->decay2, (double)t + 1));
    return SVMP_OK;
}

svmp_status svmp_cuda_step(backend *b, const step *s, double rate, size_t t) {
    const cuda *own = b->local_state;
    step_args args = arguments(b, rate, t);
    SVMP_TRY(set_rule(b, s, t, &args));
    if (s->rule->in_sd) args.unit = own->centre.sd;
    return own->due & DUE_STEIN ? iterate(b, &args, t) : move(b, KERNEL_STEP, &args, t);
}

svmp_status svmp_cuda_diffuse(backend *b, double rate, size_t t) {
    const step_args args = arguments(b, rate, t);
    return move(b, KERNEL_DIFFUSE, &args, t);
}
