/* The sums of the Stein discrepancy on the device, in double precision whatever the backend's: the kernel's terms with
 * matrices of distances, as `cuda-f64` has them where a unit is large. A plan of its state, made for the first
 * discrepancy, that shares the particles and the programs of the backend. */
#include "cuda/cuda_backend.h"

#include <math.h>
#include <stdio.h>

struct cuda_measure {
    device_ops plain; /* the device's, without kernels that need no matrices */
    cuda state;
    size_t n;
    double *score;             /* of all particles, variables * run->n */
    double *x_few, *s_few;     /* variables * n, where n is less; NULL: it is not */
    svmp_stein_measure *there; /* own variables, on the device */
};

/* The backend as the plan sees it: its own arrays, and n particles. */
static cuda_run seen_by(const cuda_run *run, cuda_measure *m) {
    cuda_run seen = *run;
    seen.state = &m->state;
    seen.n = m->n;
    seen.keeps_sd = 0;
    return seen;
}

static svmp_status plan(cuda_run *run, const svmp_kernel_view *k, cuda_measure *m) {
    const svmp_model_view *model = run->model;
    cuda_run seen = seen_by(run, m);
    CUDA_TRY(CUDA_TAKE(&seen, m->score, model->variables * run->n));
    CUDA_TRY(CUDA_TAKE(&seen, m->there, model->moved_variables));
    if (m->n < run->n) CUDA_TRY(CUDA_TAKE(&seen, m->x_few, model->variables * m->n));
    if (m->n < run->n) CUDA_TRY(CUDA_TAKE(&seen, m->s_few, model->variables * m->n));
    m->state.score = m->s_few ? m->s_few : m->score;
    CUDA_TRY(svmp_cuda_take_places(&seen, k));
    if (seen.has_messages) CUDA_TRY(svmp_cuda_plan_messages(&seen, k));
    CUDA_TRY(svmp_cuda_plan_registers(&seen));
    return svmp_cuda_plan_terms(&seen, k);
}

static svmp_status make(cuda_run *run, const svmp_kernel_view *k, size_t n, cuda_measure **made) {
    cuda *state = run->state;
    cuda_measure *m = NULL;
    CUDA_TRY(CUDA_NEW(&run->host, m, 1));
    *made = state->measure = m;
    m->plain = *state->ops;
    m->plain.fuses = NULL;
    m->n = n;
    m->state = (cuda){.ops = &m->plain,
                      .device = state->device,
                      .bits = 64,
                      .variable_key = state->variable_key,
                      .node_key = state->node_key};
    snprintf(m->state.describe, sizeof m->state.describe, "%s", state->describe);
    const svmp_status status = plan(run, k, m);
    if (status != SVMP_OK) svmp_cuda_free_measure(run);
    state->unmeasured = status != SVMP_OK;
    return status;
}

void svmp_cuda_free_measure(cuda_run *run) {
    cuda *state = run->state;
    if (state->measure == NULL) return;
    svmp_cuda_release(&run->host, &state->measure->state);
    svmp_host_release(&run->host, state->measure);
    state->measure = NULL;
}

static svmp_status launch(cuda_run *run, device_kernel which, const void *args, size_t count) {
    const cuda *state = run->state;
    return svmp_cuda_check(run, state->ops->launch(state->device, which, 64, args, count));
}

/* The particles as they are, their scores and places. */
static svmp_status survey(cuda_run *run, cuda_run *seen, cuda_measure *m) {
    const cuda *state = run->state;
    const size_t variables = run->model->variables, n = m->n;
    m->state.x = m->x_few ? m->x_few : state->x;
    CUDA_TRY(svmp_cuda_launch_score(run, state->x, m->score));
    const first_args particles = {state->x, m->x_few, run->n, n}, scores = {m->score, m->s_few, run->n, n};
    if (m->x_few) CUDA_TRY(launch(run, KERNEL_FIRST, &particles, variables * n));
    if (m->s_few) CUDA_TRY(launch(run, KERNEL_FIRST, &scores, run->model->moved_variables * n));
    double *sd = m->state.centre.sd; /* as the particles are, and not smoothed */
    if (sd) CUDA_TRY(svmp_cuda_check(run, state->ops->clear(state->device, sd, variables * sizeof *sd)));
    CUDA_TRY(svmp_cuda_centre(seen, 0));
    if (seen->has_messages) CUDA_TRY(svmp_cuda_find_messages(seen));
    const survey_args args = {n, m->state.x, m->state.score, m->there};
    return launch(run, KERNEL_SURVEY, &args, run->model->moved_variables);
}

static svmp_status add_batch(cuda_run *seen, const cuda_measure *m, const cuda_term *term, size_t from, size_t to) {
    const kappa_args a = {svmp_cuda_batch(term, from, to), m->state.centre.sd, m->there};
    if (term->way == WAY_MATRIX) CUDA_TRY(svmp_cuda_matrices(seen, term, &a.pair));
    return launch(seen, KERNEL_KAPPA, &a, a.pair.members);
}

/* Scores that are not finite, or sums that overflow: nothing can be said of the particles here. */
static int all_finite(size_t count, const svmp_stein_measure *measured) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(measured[i].moments.square + measured[i].sums.pairs + measured[i].sums.spread)) return 0;
    return 1;
}

int svmp_cuda_measure(void *of, const svmp_kernel_view *k, size_t count, size_t t, svmp_stein_measure *measured) {
    cuda_run *run = of;
    cuda *state = run->state;
    const size_t variables = run->model->moved_variables;
    if (state->unmeasured) return SVMP_UNSUPPORTED;
    cuda_measure *m = state->measure;
    if (m == NULL) CUDA_TRY(make(run, k, count, &m));
    cuda_run seen = seen_by(run, m);
    CUDA_TRY(survey(run, &seen, m));
    for (size_t a = 0; a < m->state.term_count; a++) {
        cuda_term *term = &m->state.terms[a];
        CUDA_TRY(svmp_cuda_draw(&seen, term, t));
        for (size_t u = 0; u < term->units; u += term->batch)
            CUDA_TRY(add_batch(&seen, m, term, u, u + term->batch < term->units ? u + term->batch : term->units));
    }
    CUDA_TRY(
        svmp_cuda_check(run, state->ops->to_host(state->device, measured, m->there, variables * sizeof *measured)));
    return all_finite(variables, measured) ? SVMP_OK : SVMP_NOT_FINITE;
}
