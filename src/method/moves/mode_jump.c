#include "method/moves/mode_jump.h"

#include <math.h>

#include "base/notes.h"
#include "method/moves/move_constants.h"
#include "model/evaluator.h"

/* Numbers 0 and 1 of the stream are uniform, normal ones follow. */
static void draw(const model_modes *modes, random_stream stream, double u, double *workspace, size_t stride,
                 double *x) {
    for (size_t i = 0; i < modes->variables; i++) workspace[i] = svmp_random_normal(stream, 2 + i);
    svmp_modes_place(modes, svmp_modes_at(modes, u), workspace, stride, x);
}

void svmp_mode_jump_propose(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                            double *x) {
    draw(modes, stream, svmp_random_uniform(stream, 0), workspace, stride, x);
}

double svmp_mode_jump_log_ratio(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                                const double *x, const double *y) {
    return svmp_modes_log_density(modes, x, stride, workspace, NULL) -
           svmp_modes_log_density(modes, y, stride, workspace, NULL) - log(svmp_random_uniform(stream, 1));
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

struct mode_jump {
    const svmp_model *model;
    const model_modes *modes;
    evaluator *evaluator;
    size_t n;
    uint64_t seed;
    double *proposed; /* particles */
    double *log_density,
        *log_density_proposed; /* log densities of the particles at their positions and at the proposals */
    double *workspace;         /* variables */
};

svmp_status svmp_mode_jump_create(const backend *b, mode_jump **made) {
    svmp_context *context = b->model->context;
    const size_t variables = b->model->graph->variables;
    svmp_status status;
    mode_jump *l = NULL;
    if (b->model->modes == NULL) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, l, 1));
    *l = (mode_jump){.model = b->model, .modes = b->model->modes, .n = b->n, .seed = b->seed};
    SVMP_CHECK(svmp_evaluator_create(b->model, b->n, b->threads, &l->evaluator));
    SVMP_CHECK(SVMP_NEW(context, l->proposed, variables * b->n));
    SVMP_CHECK(SVMP_NEW(context, l->log_density, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->log_density_proposed, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->workspace, variables));
    *made = l;
    return SVMP_OK;
done:
    svmp_mode_jump_free(l);
    return status;
}

void svmp_mode_jump_free(mode_jump *l) {
    if (l == NULL) return;
    svmp_context *context = l->model->context;
    svmp_evaluator_free(l->evaluator);
    svmp_release(context, l->proposed);
    svmp_release(context, l->log_density);
    svmp_release(context, l->log_density_proposed);
    svmp_release(context, l->workspace);
    svmp_release(context, l);
}

static random_stream stream_of(const mode_jump *l, size_t t, size_t particle) {
    return (random_stream){.seed = l->seed, .purpose = RANDOM_MODE_JUMP, .a = t, .b = particle};
}

/* NULL if all are finite */
static const double *find_not_finite(const mode_jump *l) {
    for (size_t k = 0; k < l->n; k++)
        if (!isfinite(l->log_density[k])) return &l->log_density[k];
    return NULL;
}

svmp_status svmp_mode_jump_start(mode_jump *l, double *x) {
    const double *failed = NULL;
    int known;
    for (size_t k = 0; k < l->n; k++)
        draw(l->modes, stream_of(l, SIZE_MAX, k), ((double)k + 0.5) / (double)l->n, l->workspace, l->n, x + k);
    for (size_t turn = 0; turn <= MODE_HALVINGS; turn++) {
        SVMP_TRY(svmp_evaluate_log_density(l->evaluator, x, l->log_density, &known));
        failed = find_not_finite(l);
        if (failed == NULL) return SVMP_OK;
        for (size_t k = 0; k < l->n; k++) {
            if (isfinite(l->log_density[k])) continue;
            const posterior_mode *mode = &l->modes->mode[svmp_modes_at(l->modes, ((double)k + 0.5) / (double)l->n)];
            for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = (x[i * l->n + k] + mode->mean[i]) / 2;
        }
    }
    return svmp_fail_notes(l->model->context, SVMP_NOT_FINITE, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                           "Particle %zu cannot start: the log density is %g at the mean of its mode.",
                           (size_t)(failed - l->log_density) + 1, *failed);
}

svmp_status svmp_mode_jump_move(mode_jump *l, backend *b, size_t t) {
    double *x;
    int known;
    if (l == NULL) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < l->n; k++)
        svmp_mode_jump_propose(l->modes, stream_of(l, t, k), l->workspace, l->n, l->proposed + k);
    SVMP_TRY(svmp_evaluate_log_density(l->evaluator, x, l->log_density, &known));
    SVMP_TRY(svmp_evaluate_log_density(l->evaluator, l->proposed, l->log_density_proposed, &known));
    for (size_t k = 0; k < l->n; k++) {
        const double log_ratio =
            svmp_mode_jump_log_ratio(l->modes, stream_of(l, t, k), l->workspace, l->n, x + k, l->proposed + k);
        if (!(l->log_density_proposed[k] - l->log_density[k] + log_ratio > 0)) continue;
        for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = l->proposed[i * l->n + k];
    }
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
