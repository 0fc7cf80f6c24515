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
    double *score;         /* of all particles, variables * b->n */
    double *x_few, *s_few; /* variables * n, where n is less; NULL: it is not */
    stein_measure *there;  /* own variables, on the device */
};

/* The backend as the plan sees it: its own arrays, and n particles. */
static backend seen_by(const backend *b, cuda_measure *m) {
    backend seen = *b;
    seen.local_state = &m->own;
    seen.n = m->n;
    seen.sd = NULL;
    return seen;
}

static svmp_status plan(backend *b, const kernel *k, cuda_measure *m) {
    const svmp_graph *graph = b->model->graph;
    backend seen = seen_by(b, m);
    SVMP_TRY(CUDA_TAKE(&seen, m->score, graph->variables * b->n));
    SVMP_TRY(CUDA_TAKE(&seen, m->there, graph->moved_variables));
    if (m->n < b->n) SVMP_TRY(CUDA_TAKE(&seen, m->x_few, graph->variables * m->n));
    if (m->n < b->n) SVMP_TRY(CUDA_TAKE(&seen, m->s_few, graph->variables * m->n));
    m->own.score = m->s_few ? m->s_few : m->score;
    SVMP_TRY(svmp_cuda_take_places(&seen, k));
    if (seen.messages) SVMP_TRY(svmp_cuda_plan_messages(&seen));
    SVMP_TRY(svmp_cuda_plan_registers(&seen));
    return svmp_cuda_plan_terms(&seen, k);
}

static svmp_status make(backend *b, const kernel *k, size_t n, cuda_measure **made) {
    cuda *own = b->local_state;
    cuda_measure *m = NULL;
    SVMP_TRY(SVMP_NEW(b->context, m, 1));
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
    const svmp_status status = plan(b, k, m);
    if (status != SVMP_OK) svmp_cuda_free_measure(b);
    own->unmeasured = status != SVMP_OK;
    return status;
}

void svmp_cuda_free_measure(backend *b) {
    cuda *own = b->local_state;
    if (own->measure == NULL) return;
    svmp_cuda_release(b->context, &own->measure->own);
    svmp_release(b->context, own->measure);
    own->measure = NULL;
}

static svmp_status launch(backend *b, device_kernel which, const void *args, size_t count) {
    const cuda *own = b->local_state;
    return svmp_cuda_check(b, own->ops->launch(own->device, which, 64, args, count));
}

/* The particles as they are, their scores and places. */
static svmp_status survey(backend *b, backend *seen, cuda_measure *m) {
    const cuda *own = b->local_state;
    const size_t variables = b->model->graph->variables, n = m->n;
    m->own.x = m->x_few ? m->x_few : own->x;
    SVMP_TRY(svmp_cuda_launch_score(b, own->x, m->score));
    const first_args particles = {own->x, m->x_few, b->n, n}, scores = {m->score, m->s_few, b->n, n};
    if (m->x_few) SVMP_TRY(launch(b, KERNEL_FIRST, &particles, variables * n));
    if (m->s_few) SVMP_TRY(launch(b, KERNEL_FIRST, &scores, b->model->graph->moved_variables * n));
    double *sd = m->own.centre.sd; /* as the particles are, and not smoothed */
    if (sd) SVMP_TRY(svmp_cuda_check(b, own->ops->clear(own->device, sd, variables * sizeof *sd)));
    SVMP_TRY(svmp_cuda_centre(seen, 0));
    if (seen->messages) SVMP_TRY(svmp_cuda_find_messages(seen));
    const survey_args args = {n, m->own.x, m->own.score, m->there};
    return launch(b, KERNEL_SURVEY, &args, b->model->graph->moved_variables);
}

static svmp_status add_batch(backend *seen, const cuda_measure *m, const cuda_term *term, size_t from, size_t to) {
    const kappa_args a = {svmp_cuda_batch(term, from, to), m->own.centre.sd, m->there};
    if (term->way == WAY_MATRIX) SVMP_TRY(svmp_cuda_matrices(seen, term, &a.pair));
    return launch(seen, KERNEL_KAPPA, &a, a.pair.members);
}

/* Scores that are not finite, or sums that overflow: nothing can be said of the particles here. */
static int all_finite(size_t count, const stein_measure *measured) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(measured[i].moments.square + measured[i].sums.pairs + measured[i].sums.spread)) return 0;
    return 1;
}

svmp_status svmp_cuda_measure(backend *b, const kernel *k, size_t count, size_t t, stein_measure *measured) {
    cuda *own = b->local_state;
    const size_t variables = b->model->graph->moved_variables;
    if (own->unmeasured) return SVMP_UNSUPPORTED;
    SVMP_TRY(svmp_cuda_await(b));
    cuda_measure *m = own->measure;
    if (m == NULL) SVMP_TRY(make(b, k, count, &m));
    backend seen = seen_by(b, m);
    SVMP_TRY(survey(b, &seen, m));
    for (size_t a = 0; a < m->own.term_count; a++) {
        cuda_term *term = &m->own.terms[a];
        SVMP_TRY(svmp_cuda_draw(&seen, term, t));
        for (size_t u = 0; u < term->units; u += term->batch)
            SVMP_TRY(add_batch(&seen, m, term, u, u + term->batch < term->units ? u + term->batch : term->units));
    }
    SVMP_TRY(svmp_cuda_check(b, own->ops->to_host(own->device, measured, m->there, variables * sizeof *measured)));
    return all_finite(variables, measured) ? SVMP_OK : SVMP_NOT_FINITE;
}
