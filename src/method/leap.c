#include "method/leap.h"

#include <math.h>

#include "base/random.h"
#include "model/evaluate.h"
#include "model/modes.h"

struct leaper {
    const svmp_model *model;
    const model_modes *modes;
    evaluator *evaluator;
    size_t n;
    uint64_t seed;
    double *offered;     /* particles */
    double *here, *then; /* log densities of a particle as it is and as it would be */
    double *room;        /* 2 * variables */
};

svmp_status svmp_leaper_create(const backend *b, leaper **made) {
    svmp_context *context = b->model->context;
    const size_t variables = b->model->graph->variables;
    svmp_status status;
    leaper *l = NULL;
    if (b->model->modes == NULL) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, l, 1));
    *l = (leaper){.model = b->model, .modes = b->model->modes, .n = b->n, .seed = b->seed};
    SVMP_CHECK(svmp_evaluator_create(b->model, b->n, b->threads, &l->evaluator));
    SVMP_CHECK(SVMP_NEW(context, l->offered, variables * b->n));
    SVMP_CHECK(SVMP_NEW(context, l->here, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->then, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->room, 2 * variables));
    *made = l;
    return SVMP_OK;
done:
    svmp_leaper_free(l);
    return status;
}

void svmp_leaper_free(leaper *l) {
    if (l == NULL) return;
    svmp_context *context = l->model->context;
    svmp_evaluator_free(l->evaluator);
    svmp_release(context, l->offered);
    svmp_release(context, l->here);
    svmp_release(context, l->then);
    svmp_release(context, l->room);
    svmp_release(context, l);
}

static random_stream stream_of(const leaper *l, size_t t, size_t particle) {
    return (random_stream){.seed = l->seed, .purpose = RANDOM_LEAP, .a = t, .b = particle};
}

/* A draw of the mixture; numbers 0 and 1 of the stream are uniform, normal ones follow. */
static void offer(const leaper *l, size_t t, size_t particle, double u, double *x) {
    const size_t d = l->modes->variables;
    for (size_t i = 0; i < d; i++) l->room[i] = svmp_random_normal(stream_of(l, t, particle), 2 + i);
    svmp_modes_place(l->modes, svmp_modes_at(l->modes, u), l->room, l->n, x);
}

svmp_status svmp_leaper_start(leaper *l, double *x) {
    enum { HALVINGS = 30 };
    int known, outside = 1;
    for (size_t k = 0; k < l->n; k++) offer(l, SIZE_MAX, k, ((double)k + 0.5) / (double)l->n, x + k);
    for (size_t turn = 0; turn < HALVINGS && outside; turn++) {
        SVMP_TRY(svmp_evaluate_log_density(l->evaluator, x, l->here, &known));
        outside = 0;
        for (size_t k = 0; k < l->n; k++) {
            if (isfinite(l->here[k])) continue;
            const posterior_mode *mode = &l->modes->mode[svmp_modes_at(l->modes, ((double)k + 0.5) / (double)l->n)];
            outside = 1;
            for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = (x[i * l->n + k] + mode->mean[i]) / 2;
        }
    }
    return SVMP_OK;
}

svmp_status svmp_leap(leaper *l, backend *b, size_t t) {
    double *x;
    int known;
    if (l == NULL) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < l->n; k++) offer(l, t, k, svmp_random_uniform(stream_of(l, t, k), 0), l->offered + k);
    SVMP_TRY(svmp_evaluate_log_density(l->evaluator, x, l->here, &known));
    SVMP_TRY(svmp_evaluate_log_density(l->evaluator, l->offered, l->then, &known));
    for (size_t k = 0; k < l->n; k++) {
        const double ratio = l->then[k] - l->here[k] + svmp_modes_log_density(l->modes, x + k, l->n, l->room, NULL) -
                             svmp_modes_log_density(l->modes, l->offered + k, l->n, l->room, NULL);
        if (!(log(svmp_random_uniform(stream_of(l, t, k), 1)) < ratio)) continue;
        for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = l->offered[i * l->n + k];
    }
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
