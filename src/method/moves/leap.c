#include "method/moves/leap.h"
#include "base/notes.h"

#include <math.h>

#include "model/evaluator.h"

/* Numbers 0 and 1 of the stream are uniform, normal ones follow. */
static void draw(const model_modes *modes, random_stream stream, double u, double *room, size_t stride, double *x) {
    for (size_t i = 0; i < modes->variables; i++) room[i] = svmp_random_normal(stream, 2 + i);
    svmp_modes_place(modes, svmp_modes_at(modes, u), room, stride, x);
}

void svmp_leap_offer(const model_modes *modes, random_stream stream, double *room, size_t stride, double *x) {
    draw(modes, stream, svmp_random_uniform(stream, 0), room, stride, x);
}

double svmp_leap_chance(const model_modes *modes, random_stream stream, double *room, size_t stride, const double *x,
                        const double *y) {
    return svmp_modes_log_density(modes, x, stride, room, NULL) - svmp_modes_log_density(modes, y, stride, room, NULL) -
           log(svmp_random_uniform(stream, 1));
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

struct leaper {
    const svmp_model *model;
    const model_modes *modes;
    evaluator *evaluator;
    size_t n;
    uint64_t seed;
    double *offered;     /* particles */
    double *here, *then; /* log densities of a particle as it is and as it would be */
    double *room;        /* variables */
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
    SVMP_CHECK(SVMP_NEW(context, l->room, variables));
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

/* NULL: all are finite */
static const double *find_outside(const leaper *l) {
    for (size_t k = 0; k < l->n; k++)
        if (!isfinite(l->here[k])) return &l->here[k];
    return NULL;
}

svmp_status svmp_leaper_start(leaper *l, double *x) {
    enum { HALVINGS = 30 };
    const double *outside = NULL;
    int known;
    for (size_t k = 0; k < l->n; k++)
        draw(l->modes, stream_of(l, SIZE_MAX, k), ((double)k + 0.5) / (double)l->n, l->room, l->n, x + k);
    for (size_t turn = 0; turn <= HALVINGS; turn++) {
        SVMP_TRY(svmp_evaluate_log_density(l->evaluator, x, l->here, &known));
        outside = find_outside(l);
        if (outside == NULL) return SVMP_OK;
        for (size_t k = 0; k < l->n; k++) {
            if (isfinite(l->here[k])) continue;
            const posterior_mode *mode = &l->modes->mode[svmp_modes_at(l->modes, ((double)k + 0.5) / (double)l->n)];
            for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = (x[i * l->n + k] + mode->mean[i]) / 2;
        }
    }
    return svmp_fail_notes(l->model->context, SVMP_NOT_FINITE, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                           "Particle %zu cannot start: the log density is %g at the mean of its mode.",
                           (size_t)(outside - l->here) + 1, *outside);
}

svmp_status svmp_leap(leaper *l, backend *b, size_t t) {
    double *x;
    int known;
    if (l == NULL) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < l->n; k++) svmp_leap_offer(l->modes, stream_of(l, t, k), l->room, l->n, l->offered + k);
    SVMP_TRY(svmp_evaluate_log_density(l->evaluator, x, l->here, &known));
    SVMP_TRY(svmp_evaluate_log_density(l->evaluator, l->offered, l->then, &known));
    for (size_t k = 0; k < l->n; k++) {
        const double chance = svmp_leap_chance(l->modes, stream_of(l, t, k), l->room, l->n, x + k, l->offered + k);
        if (!(l->then[k] - l->here[k] + chance > 0)) continue;
        for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = l->offered[i * l->n + k];
    }
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
