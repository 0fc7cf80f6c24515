/* Modes that no particle has found leave no trace in the particles. Others that start elsewhere may find them. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/row_sums.h"
#include "model/natural_values.h"
#include "verify/examination.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

typedef struct search {
    double *mean, *sd; /* variables: where the particles are */
    double usual;      /* the share of them that is as far away as others have to be */
    double *away;      /* n: how far a particle is from there, in sd */
    double *density;   /* n: its own mean log density */
    size_t *variable;  /* n: that is farthest */
} search;

static svmp_status make_search(const examination *e, search *s) {
    SVMP_TRY(SVMP_NEW(e->context, s->mean, e->model->graph->variables));
    SVMP_TRY(SVMP_NEW(e->context, s->sd, e->model->graph->variables));
    SVMP_TRY(SVMP_NEW(e->context, s->away, e->b->n));
    SVMP_TRY(SVMP_NEW(e->context, s->density, e->b->n));
    return SVMP_NEW(e->context, s->variable, e->b->n);
}

static void free_search(const examination *e, search *s) {
    void *const arrays[] = {s->mean, s->sd, s->away, s->density, s->variable};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(e->context, arrays[k]);
}

/* Draws of the priors, where all of them can be drawn; NULL otherwise. */
static svmp_status draw_priors(const examination *e, double **drawn) {
    const size_t n = e->b->n, variables = e->model->graph->variables;
    *drawn = NULL;
    if (e->model->lowered == NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(e->context, *drawn, variables * n));
    const svmp_status status = svmp_model_draw_priors(e->model, e->b->seed, n, *drawn);
    if (status == SVMP_OK) return SVMP_OK;
    svmp_release(e->context, *drawn);
    *drawn = NULL;
    e->context->error[0] = '\0';
    return status == SVMP_NO_MEMORY ? status : SVMP_OK;
}

/* How many places the starts of the Gaussian on the graph came to. */
static size_t count_ends(const examination *e) {
    size_t count = 0;
    while (e->q && svmp_gaussian_local_optimum(e->q, count)) count++;
    return count;
}

/* Of four particles three begin around the mean, 2, 4 and 8 sd wide. The fourth is a draw of the priors, or begins
 * where a start of the Gaussian on the graph has come to. */
static void place(const examination *e, const search *s, const double *drawn, double *x) {
    const size_t n = e->b->n, variables = e->model->graph->variables, ends = count_ends(e);
    for (size_t i = 0; i < variables; i++) {
        svmp_random_normals((random_stream){e->b->seed, 0, i, RANDOM_OTHER_MODES}, n, x + i * n);
        for (size_t l = 0; l < n; l++) {
            const size_t turn = l / 4;
            double *at = &x[i * n + l];
            if (l % 4 < 3)
                *at = s->mean[i] + (double)(2 << l % 4) * s->sd[i] * *at;
            else if (drawn && (turn % 2 || ends == 0))
                *at = drawn[i * n + l];
            else if (ends)
                *at = svmp_gaussian_local_optimum(e->q, turn / (drawn ? 2 : 1) % ends)[i] + s->sd[i] * *at;
            else
                *at = s->mean[i] + 16 * s->sd[i] * *at;
        }
    }
}

/* Where the density is not finite, halfway to the mean, again and again. */
static svmp_status start(examination *e, const search *s) {
    enum { HALVINGS = 12 };
    const size_t n = e->b->n, variables = e->model->graph->variables;
    double *x, *drawn;
    int known, outside = 1;
    SVMP_TRY(draw_priors(e, &drawn));
    const svmp_status begun = svmp_backend_edit(e->b, ARRAY_PARTICLES, &x);
    if (begun == SVMP_OK) place(e, s, drawn, x);
    svmp_release(e->context, drawn);
    SVMP_TRY(begun);
    for (size_t k = 0; k < HALVINGS && outside; k++) {
        SVMP_TRY(svmp_evaluate_log_density(e->evaluator, x, s->density, &known));
        outside = 0;
        for (size_t l = 0; l < n; l++) {
            if (isfinite(s->density[l])) continue;
            outside = 1;
            for (size_t i = 0; i < variables; i++) x[i * n + l] = (x[i * n + l] + s->mean[i]) / 2;
        }
    }
    return svmp_backend_commit(e->b, ARRAY_PARTICLES);
}

/* The mean and the sd of the log density where the particles are. */
static void level_of(const examination *e, search *s, double *mean, double *sd) {
    const size_t n = e->b->n;
    svmp_before_after_find_strays(e->before_after, s->mean, s->sd, s->variable, s->away, s->density);
    *mean = svmp_sum(n, s->density) / (double)n;
    *sd = 0;
    for (size_t l = 0; l < n; l++) *sd += (s->density[l] - *mean) * (s->density[l] - *mean) / (double)n;
    *sd = sqrt(*sd);
}

static void judge(examination *e, search *s, double level, double spread, svmp_verdict *v) {
    const size_t n = e->b->n;
    double count = 0, sum = 0;
    size_t nearest = n;
    svmp_before_after_find_strays(e->before_after, s->mean, s->sd, s->variable, s->away, s->density);
    for (size_t l = 0; l < n; l++) {
        if (!(s->away[l] > elsewhere && s->density[l] > level - lower_density - 3 * spread)) continue;
        count++;
        sum += s->density[l];
        if (nearest == n || s->away[l] < s->away[nearest]) nearest = l;
    }
    if (count < fmax(elsewhere_fewest, fmax(elsewhere_share, elsewhere_excess * s->usual) * (double)n)) return;
    if (sum / count < level - lower_density - 3 * spread / sqrt(count)) return;
    svmp_drift d = {.variable = s->variable[nearest],
                    .aspect = SVMP_ASPECT_ELSEWHERE,
                    .effect = s->away[nearest],
                    .z = s->away[nearest]};
    svmp_verdict_variable_name(e->model, d.variable, d.name, sizeof d.name);
    svmp_verdict_list(v, &d);
    v->drifting = 1;
    v->finding = SVMP_FINDING_FAILED;
}

static svmp_status look(examination *e, search *s, svmp_verdict *v) {
    const size_t length =
        e->length; /* as many moves on the way as the particles had in all, if that many are allowed */
    const size_t approach = e->done + length <= e->most ? e->done : e->done - length;
    double level, spread;
    size_t moved;
    SVMP_TRY(make_search(e, s));
    svmp_before_after_moments(e->before_after, s->mean, s->sd);
    s->usual = svmp_before_after_share_beyond(e->before_after, s->mean, s->sd, elsewhere);
    level_of(e, s, &level, &spread);
    SVMP_TRY(start(e, s));
    e->fixed = 1;
    SVMP_TRY(svmp_examination_move(e, approach, 0, &moved));
    if (moved < approach) return SVMP_OK;
    svmp_before_after_open(e->before_after, length);
    SVMP_TRY(svmp_examination_move(e, length, 1, &moved));
    if (moved < length) return SVMP_OK;
    v->searched = 1;
    judge(e, s, level, spread, v);
    return SVMP_OK;
}

/* Far out a factor may have no value at all: then nothing was found. */
svmp_status svmp_examination_find_other_modes(examination *e, svmp_verdict *verdict) {
    const svmp_error_function tell = e->context->on_error;
    search s = {0};
    e->context->on_error = NULL;
    const svmp_status status = look(e, &s, verdict);
    e->context->on_error = tell;
    free_search(e, &s);
    if (status == SVMP_NO_MEMORY) return status;
    if (status != SVMP_OK) e->context->error[0] = '\0';
    return SVMP_OK;
}
