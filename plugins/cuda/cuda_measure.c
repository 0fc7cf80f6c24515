/* The sums of the Stein discrepancy on the device, in double precision whatever the backend's: the kernel's terms with
 * matrices of distances, as `cuda-f64` has them where a unit is large. A plan of its own, made when it is first asked
 * for, that shares the particles and the programs of the backend. */
#include "cuda/cuda_backend.h"

#include <math.h>
#include <stdio.h>

struct cuda_measure {
    device_ops plain; /* the device's, without kernels that need no matrices */
    cuda own;
    size_t n;
    double *score;         /* of all particles, variables * run->n */
    double *x_few, *s_few; /* variables * n, where n is less; NULL: it is not */
    stein_measure *there;  /* own variables, on the device */
};

/* The backend as the plan sees it: its own arrays, and n particles. */
static cuda_run seen_by(const cuda_run *run, cuda_measure *m) {
    cuda_run seen = *run;
    seen.own = &m->own;
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
    m->own.score = m->s_few ? m->s_few : m->score;
    CUDA_TRY(svmp_cuda_take_places(&seen, k));
    if (seen.has_messages) CUDA_TRY(svmp_cuda_plan_messages(&seen, k));
    CUDA_TRY(svmp_cuda_plan_registers(&seen));
    return svmp_cuda_plan_terms(&seen, k);
}

static svmp_status make(cuda_run *run, const svmp_kernel_view *k, size_t n, cuda_measure **made) {
    cuda *own = run->own;
    cuda_measure *m = NULL;
    CUDA_TRY(CUDA_NEW(&run->host, m, 1));
    *made = own->measure = m;
    m->plain = *own->ops;
    m->plain.fuses = NULL;
    m->n = n;
    m->own = (cuda){.ops = &m->plain,
                    .device = own->device,
                    .bits = 64,
                    .variable_key = own->variable_key,
                    .node_key = own->node_key};
    snprintf(m->own.describe, sizeof m->own.describe, "%s", own->describe);
    const svmp_status status = plan(run, k, m);
    if (status != SVMP_OK) svmp_cuda_free_measure(run);
    own->unmeasured = status != SVMP_OK;
    return status;
}

void svmp_cuda_free_measure(cuda_run *run) {
    cuda *own = run->own;
    if (own->measure == NULL) return;
    svmp_cuda_release(&run->host, &own->measure->own);
    svmp_host_release(&run->host, own->measure);
    own->measure = NULL;
}

static svmp_status launch(cuda_run *run, device_kernel which, const void *args, size_t count) {
    const cuda *own = run->own;
    return svmp_cuda_check(run, own->ops->launch(own->device, which, 64, args, count));
}

/* The particles as they are, their scores and places. */
static svmp_status survey(cuda_run *run, cuda_run *seen, cuda_measure *m) {
    const cuda *own = run->own;
    const size_t variables = run->model->variables, n = m->n;
    m->own.x = m->x_few ? m->x_few : own->x;
    CUDA_TRY(svmp_cuda_launch_score(run, own->x, m->score));
    const first_args particles = {own->x, m->x_few, run->n, n}, scores = {m->score, m->s_few, run->n, n};
    if (m->x_few) CUDA_TRY(launch(run, KERNEL_FIRST, &particles, variables * n));
    if (m->s_few) CUDA_TRY(launch(run, KERNEL_FIRST, &scores, run->model->moved_variables * n));
    double *sd = m->own.centre.sd; /* as the particles are, and not smoothed */
    if (sd) CUDA_TRY(svmp_cuda_check(run, own->ops->clear(own->device, sd, variables * sizeof *sd)));
    CUDA_TRY(svmp_cuda_centre(seen, 0));
    if (seen->has_messages) CUDA_TRY(svmp_cuda_find_messages(seen));
    const survey_args args = {n, m->own.x, m->own.score, m->there};
    return launch(run, KERNEL_SURVEY, &args, run->model->moved_variables);
}

static svmp_status add_batch(cuda_run *seen, const cuda_measure *m, const cuda_term *term, size_t from, size_t to) {
    const kappa_args a = {svmp_cuda_batch(term, from, to), m->own.centre.sd, m->there};
    if (term->way == WAY_MATRIX) CUDA_TRY(svmp_cuda_matrices(seen, term, &a.pair));
    return launch(seen, KERNEL_KAPPA, &a, a.pair.members);
}

/* Scores that are not finite, or sums that overflow: nothing can be said of the particles here. */
static int all_finite(size_t count, const stein_measure *measured) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(measured[i].moments.square + measured[i].sums.pairs + measured[i].sums.spread)) return 0;
    return 1;
}

int svmp_cuda_measure(void *of, const svmp_kernel_view *k, size_t count, size_t t, stein_measure *measured) {
    cuda_run *run = of;
    cuda *own = run->own;
    const size_t variables = run->model->moved_variables;
    if (own->unmeasured) return SVMP_UNSUPPORTED;
    cuda_measure *m = own->measure;
    if (m == NULL) CUDA_TRY(make(run, k, count, &m));
    cuda_run seen = seen_by(run, m);
    CUDA_TRY(survey(run, &seen, m));
    for (size_t a = 0; a < m->own.term_count; a++) {
        cuda_term *term = &m->own.terms[a];
        CUDA_TRY(svmp_cuda_draw(&seen, term, t));
        for (size_t u = 0; u < term->units; u += term->batch)
            CUDA_TRY(add_batch(&seen, m, term, u, u + term->batch < term->units ? u + term->batch : term->units));
    }
    CUDA_TRY(svmp_cuda_check(run, own->ops->to_host(own->device, measured, m->there, variables * sizeof *measured)));
    return all_finite(variables, measured) ? SVMP_OK : SVMP_NOT_FINITE;
}
