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
    return svmp_modes_log_density(modes, x, stride, workspace) - svmp_modes_log_density(modes, y, stride, workspace) -
           log(svmp_random_uniform(stream, 1));
}

/* ---- maps between modes ------------------------------------------------------------------------------------------ */

/* The log of r_k(x) = share_k t_k(x) / (the sum of these), t_k Student's t of five freedoms with the mean and the root
 * of mode k, for all k. */
static void find_labels(const model_modes *modes, const double *x, size_t stride, double *workspace, double *labels) {
    static const double freedoms = 5;
    const size_t d = modes->variables;
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < modes->count; k++) {
        const double square = svmp_modes_square(&modes->mode[k], d, x, stride, workspace);
        labels[k] = modes->mode[k].log_factor - 0.5 * (freedoms + (double)d) * log1p(square / freedoms);
        most = fmax(most, labels[k]);
    }
    for (size_t k = 0; k < modes->count; k++) sum += exp(labels[k] - most);
    for (size_t k = 0; k < modes->count; k++) labels[k] -= most + log(sum);
}

/* How often mode k is proposed: light ones often enough to be found. */
static double weight_of(const model_modes *modes, size_t k) { return fmax(modes->mode[k].share, least_proposed); }

static double weigh_others(const model_modes *modes, size_t mode) {
    double sum = 0;
    for (size_t k = 0; k < modes->count; k++) sum += k == mode ? 0 : weight_of(modes, k);
    return sum;
}

static size_t choose_label(const model_modes *modes, const double *labels, double u) {
    size_t k = 0;
    while (k + 1 < modes->count && u >= exp(labels[k])) u -= exp(labels[k++]);
    return k;
}

static size_t choose_other(const model_modes *modes, size_t mode, double u) {
    double left = u * weigh_others(modes, mode);
    size_t last = mode;
    for (size_t k = 0; k < modes->count; k++) {
        if (k == mode) continue;
        last = k;
        left -= weight_of(modes, k);
        if (left < 0) break;
    }
    return last;
}

double svmp_mode_map_propose(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                             const double *x, double *y) {
    double *labels = workspace + modes->variables;
    find_labels(modes, x, stride, workspace, labels);
    const size_t from = choose_label(modes, labels, svmp_random_uniform(stream, 0));
    const size_t to = choose_other(modes, from, svmp_random_uniform(stream, 2));
    const double here = labels[from];
    svmp_modes_square(&modes->mode[from], modes->variables, x, stride, workspace);
    svmp_modes_place(modes, to, workspace, stride, y);
    find_labels(modes, y, stride, workspace, labels);
    const posterior_mode *a = &modes->mode[from], *b = &modes->mode[to];
    const double log_sizes = log(b->share) - b->log_factor - (log(a->share) - a->log_factor); /* of the roots */
    const double back = weight_of(modes, from) / weigh_others(modes, to),
                 there = weight_of(modes, to) / weigh_others(modes, from);
    return labels[to] - here + log_sizes + log(back / there) - log(svmp_random_uniform(stream, 1));
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

struct mode_jump {
    const svmp_model *model;
    const model_modes *modes;
    evaluator *evaluator;
    peer_columns columns; /* the backend's */
    size_t n;
    uint64_t seed;
    double *proposed; /* particles */
    double *log_density,
        *log_density_proposed; /* log densities of the particles at their positions and at the proposals */
    double *log_ratio;         /* of the proposals */
    double *workspace;         /* variables, and modes */
};

svmp_status svmp_mode_jump_create(const backend *b, const model_modes *modes, mode_jump **made) {
    svmp_context *context = b->model->context;
    const size_t variables = b->model->graph->variables;
    svmp_status status;
    mode_jump *l = NULL;
    if (modes == NULL) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, l, 1));
    *l = (mode_jump){.model = b->model, .modes = modes, .columns = b->columns, .n = b->n, .seed = b->seed};
    SVMP_CHECK(svmp_backend_evaluator(b, &l->evaluator));
    SVMP_CHECK(SVMP_NEW(context, l->proposed, variables * b->n));
    SVMP_CHECK(SVMP_NEW(context, l->log_density, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->log_density_proposed, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->log_ratio, b->n));
    SVMP_CHECK(SVMP_NEW(context, l->workspace, variables + modes->count));
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
    svmp_release(context, l->log_ratio);
    svmp_release(context, l->workspace);
    svmp_release(context, l);
}

static random_stream stream_of(const mode_jump *l, size_t t, size_t particle) {
    return (random_stream){.seed = l->seed, .purpose = RANDOM_MODE_JUMP, .a = t, .b = l->columns.first + particle};
}

/* NULL if all are finite */
static const double *find_not_finite(const mode_jump *l) {
    for (size_t k = 0; k < l->n; k++)
        if (!isfinite(l->log_density[k])) return &l->log_density[k];
    return NULL;
}

/* The stratum of a particle among the modes. */
static double stratum_of(const mode_jump *l, size_t k) {
    return ((double)(l->columns.first + k) + 0.5) / (double)l->columns.whole;
}

svmp_status svmp_mode_jump_start(mode_jump *l, double *x) {
    const double *failed = NULL;
    int known;
    for (size_t k = 0; k < l->n; k++)
        draw(l->modes, stream_of(l, SIZE_MAX, k), stratum_of(l, k), l->workspace, l->n, x + k);
    for (size_t turn = 0; turn <= MODE_HALVINGS; turn++) {
        SVMP_TRY(svmp_agree(l->model->context, l->columns.peers,
                            svmp_evaluate_log_density(l->evaluator, x, l->log_density, &known)));
        failed = find_not_finite(l);
        if (!svmp_peers_any(l->columns.peers, failed != NULL)) return SVMP_OK;
        for (size_t k = 0; k < l->n; k++) {
            if (isfinite(l->log_density[k])) continue;
            const posterior_mode *mode = &l->modes->mode[svmp_modes_at(l->modes, stratum_of(l, k))];
            for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = (x[i * l->n + k] + mode->mean[i]) / 2;
        }
    }
    svmp_status status = SVMP_OK;
    if (failed)
        status =
            svmp_fail_notes(l->model->context, SVMP_NOT_FINITE, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                            "Particle %zu cannot start: the log density is %g at the mean of its mode.",
                            l->columns.first + (size_t)(failed - l->log_density) + 1, *failed);
    return svmp_agree(l->model->context, l->columns.peers, status);
}

void svmp_mode_jump_labels(const mode_jump *l, const double *x, double *rows) {
    double *labels = l->workspace + l->modes->variables;
    for (size_t p = 0; p < l->n; p++) {
        find_labels(l->modes, x + p, l->n, l->workspace, labels);
        for (size_t k = 0; k < l->modes->count; k++) rows[k * l->n + p] = exp(labels[k]);
    }
}

/* Draws of the mixture, and maps, in turn. */
static void propose(const mode_jump *l, size_t t, const double *x) {
    for (size_t k = 0; k < l->n; k++) {
        const random_stream stream = stream_of(l, t, k);
        double *y = l->proposed + k;
        if (t % 2) {
            l->log_ratio[k] = svmp_mode_map_propose(l->modes, stream, l->workspace, l->n, x + k, y);
        } else {
            svmp_mode_jump_propose(l->modes, stream, l->workspace, l->n, y);
            l->log_ratio[k] = svmp_mode_jump_log_ratio(l->modes, stream, l->workspace, l->n, x + k, y);
        }
    }
}

svmp_status svmp_mode_jump_move(mode_jump *l, backend *b, size_t t) {
    double *x;
    int known;
    if (l == NULL) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    propose(l, t, x);
    svmp_status status = svmp_evaluate_log_density(l->evaluator, x, l->log_density, &known);
    if (status == SVMP_OK)
        status = svmp_evaluate_log_density(l->evaluator, l->proposed, l->log_density_proposed, &known);
    SVMP_TRY(svmp_agree(l->model->context, l->columns.peers, status));
    for (size_t k = 0; k < l->n; k++) {
        if (!(l->log_density_proposed[k] - l->log_density[k] + l->log_ratio[k] > 0)) continue;
        for (size_t i = 0; i < l->modes->variables; i++) x[i * l->n + k] = l->proposed[i * l->n + k];
    }
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
