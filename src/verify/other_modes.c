/* Modes that no particle has found leave no trace in the particles. A search for modes by mass with random numbers of
 * its own (prepare/modes_by_mass.h) may find them. A mode in which there are fewer particles than chance explains fails
 * them, if it is one: particles that start in it and are moved stay there. */
#include <math.h>
#include <string.h>

#include "base/attempt.h"
#include "base/random.h"
#include "model/natural_values.h"
#include "prepare/modes_by_mass.h"
#include "verify/examination.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

typedef struct look {
    examination *e;
    const sparsity *pattern;
    const found_modes *found;
    double *x, *workspace; /* the particles as they were examined: variables * n; variables */
    size_t *here;          /* mode -> particles in it */
} look;

/* The mode with the largest part of the density of all at a particle. */
static size_t label(const look *s, const double *x, size_t particle) {
    size_t best = 0;
    double most = -INFINITY;
    for (size_t k = 0; k < s->found->count; k++) {
        const double part = log(s->found->mode[k].share) +
                            svmp_found_mode_log_t(s->found, s->pattern, k, x + particle, s->e->b->n, s->workspace);
        if (!(part > most)) continue;
        most = part;
        best = k;
    }
    return best;
}

static void count_particles(const look *s, const double *x) {
    memset(s->here, 0, s->found->count * sizeof *s->here);
    for (size_t l = 0; l < s->e->b->n; l++) s->here[label(s, x, l)]++;
}

/* Whether so few of n independent draws are in one of some modes by chance, if it has this share: their number is
 * nearly Poisson's. */
static int is_chance(size_t n, double share, size_t modes, size_t count) {
    const double expected = fmax(0, share) * (double)n;
    double term = exp(-expected), sum = term;
    for (size_t k = 1; k <= count; k++) sum += term *= expected / (double)k;
    return sum > missed_by_chance / (double)modes;
}

/* Whether the method looked for modes, and jumps to one that is about where this one is. */
static int is_known(const look *s, const found_mode *mode) {
    const model_modes *known = svmp_run_modes(s->e->run);
    for (size_t k = 0; known && k < known->count; k++)
        if (svmp_modes_square(&known->mode[k], known->variables, mode->mean, 1, s->workspace) <
            near_known * near_known * (double)known->variables)
            return 1;
    return 0;
}

/* ---- whether it is a mode ---------------------------------------------------------------------------------------- */

/* All particles start in it, those without a density nearer to its top. */
static svmp_status start_in(const look *s, size_t k) {
    enum { HALVINGS = 12 };
    const size_t n = s->e->b->n, variables = s->found->variables;
    const double *top = s->found->mode[k].top;
    double *x;
    int outside = 1;
    SVMP_TRY(svmp_backend_edit(s->e->b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_found_mode_draw(s->found, s->pattern, k, s->e->b->seed, n, x));
    for (size_t turn = 0; turn < HALVINGS && outside; turn++) {
        SVMP_TRY(svmp_backend_commit(s->e->b, ARRAY_PARTICLES));
        SVMP_TRY(svmp_examination_log_density(s->e, s->e->density));
        outside = 0;
        for (size_t l = 0; l < n; l++) {
            if (isfinite(s->e->density[l])) continue;
            outside = 1;
            for (size_t i = 0; i < variables; i++) x[i * n + l] = (x[i * n + l] + top[i]) / 2;
        }
    }
    return svmp_backend_commit(s->e->b, ARRAY_PARTICLES);
}

/* By moves that do not jump. Without time for them nothing is said. */
static svmp_status find_whether_particles_stay(const look *s, size_t k, int *stay) {
    examination *e = s->e;
    mode_jump *const jump = e->mode_jump;
    const int fixed = e->fixed;
    const double *x;
    size_t moved, count = 0;
    *stay = 0;
    SVMP_TRY(start_in(s, k));
    e->mode_jump = NULL;
    e->fixed = 1;
    const svmp_status status = svmp_examination_move(e, STAY_MOVES, 0, &moved);
    e->mode_jump = jump;
    e->fixed = fixed;
    SVMP_TRY(status);
    if (moved < STAY_MOVES) return SVMP_OK;
    SVMP_TRY(svmp_backend_view(e->b, ARRAY_PARTICLES, &x));
    for (size_t l = 0; l < e->b->n; l++) count += label(s, x, l) == k;
    *stay = 2 * count > e->b->n;
    return SVMP_OK;
}

/* The particles as they were at the start. */
static svmp_status restore(const look *s) {
    double *x;
    SVMP_TRY(svmp_backend_edit(s->e->b, ARRAY_PARTICLES, &x));
    memcpy(x, s->x, s->found->variables * s->e->b->n * sizeof *x);
    return svmp_backend_commit(s->e->b, ARRAY_PARTICLES);
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

/* The variable in which a mode is farthest from the particles, in sd of these; *away: how far. */
static size_t find_farthest(const look *s, size_t k, double *away) {
    const size_t n = s->e->b->n;
    size_t variable = 0;
    *away = 0;
    for (size_t i = 0; i < s->found->variables; i++) {
        double mean = 0, square = 0;
        for (size_t l = 0; l < n; l++) mean += s->x[i * n + l] / (double)n;
        for (size_t l = 0; l < n; l++) square += (s->x[i * n + l] - mean) * (s->x[i * n + l] - mean) / (double)n;
        const double here = fabs(s->found->mode[k].mean[i] - mean) / sqrt(square);
        if (isfinite(here) && here > *away) *away = here, variable = i;
    }
    return variable;
}

static void add_drift(const look *s, size_t k, svmp_verdict *v) {
    svmp_drift d = {.aspect = SVMP_ASPECT_ELSEWHERE, .level = s->found->mode[k].share};
    d.variable = find_farthest(s, k, &d.effect);
    d.z = d.effect;
    svmp_verdict_variable_name(s->e->model, d.variable, d.name, sizeof d.name);
    svmp_verdict_list(v, &d);
    v->drifting = 1;
    v->finding = SVMP_FINDING_FAILED;
}

static void add_guessed(const look *s, size_t k, svmp_verdict *v) {
    double away;
    const size_t variable = find_farthest(s, k, &away);
    v->guessed++;
    svmp_verdict_variable_name(s->e->model, variable, v->guessed_name, sizeof v->guessed_name);
}

/* Where the method knows of no modes, they have the shares of the particles. */
static svmp_status describe(const look *s, svmp_verdict *v) {
    svmp_context *context = s->e->context;
    const double n = (double)s->e->b->n;
    model_modes *modes = NULL;
    mode_share *share = NULL;
    svmp_status status;
    if (v->modes > 0) return SVMP_OK;
    SVMP_TRY(svmp_found_modes_mixture(s->found, s->pattern, &modes));
    if (modes == NULL) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, share, modes->count));
    for (size_t k = 0; k < modes->count; k++) {
        const double part = (double)s->here[k] / n;
        share[k] = (mode_share){part, sqrt(part * (1 - part) / n)};
    }
    svmp_verdict_set_modes(s->e->model, modes, share, v);
done:
    svmp_release(context, share);
    svmp_modes_free(context, modes);
    return status;
}

/* Of the particles and of the mass, in modes whose mass is not a guess: their shares are compared among these. */
static size_t count_weighed(const look *s, double *share) {
    size_t n = 0;
    *share = 0;
    for (size_t k = 0; k < s->found->count; k++) {
        if (!s->found->mode[k].weighed) continue;
        n += s->here[k];
        *share += s->found->mode[k].share;
    }
    return n;
}

/* Where there are too few particles in a mode, particles that start in it tell whether it is one. Of one whose mass is
 * a guess, as on a curved ridge, only that there are none is told: it may have any mass. */
static svmp_status judge(const look *s, svmp_verdict *v) {
    const size_t n = s->e->b->n, count = s->found->count;
    const int knows = svmp_examination_knows_modes(s->e);
    double all;
    const size_t weighed = count_weighed(s, &all);
    for (size_t k = 0; k < count; k++) {
        const found_mode *mode = &s->found->mode[k];
        const int empty = s->here[k] == 0, known = is_known(s, mode);
        const double least = mode->weighed ? mode->share / all - share_errors * mode->share_error : mode->share;
        int lacks = !is_chance(mode->weighed ? weighed : n, least, count, s->here[k]);
        int stay;
        lacks = !known && (lacks || (knows && empty && mode->share >= least_missed)); /* jumps show what it weighs */
        if (mode->weighed ? !lacks : !empty) continue;
        const svmp_status status = find_whether_particles_stay(s, k, &stay);
        SVMP_TRY(restore(s));
        SVMP_TRY(status);
        if (stay && lacks) add_drift(s, k, v);
        if (stay && !lacks) add_guessed(s, k, v);
    }
    return SVMP_OK;
}

int svmp_examination_knows_modes(const examination *e) {
    return e->model->modes != NULL || (e->run->method->modes != NULL && e->run->state != NULL);
}

static svmp_status find(look *s, svmp_verdict *v) {
    examination *e = s->e;
    const size_t n = e->b->n, variables = e->model->graph->variables;
    s->pattern = svmp_gaussian_pattern(e->q);
    SVMP_TRY(svmp_modes_by_mass(e->model, e->q, e->b->seed, &e->found));
    s->found = e->found;
    v->starts = s->found->starts;
    v->ways = s->found->ways;
    v->ends = s->found->count;
    if (s->found->exhausted || s->found->count < 2) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(e->context, s->x, variables * n));
    SVMP_TRY(SVMP_NEW(e->context, s->workspace, variables));
    SVMP_TRY(SVMP_NEW(e->context, s->here, s->found->count));
    for (size_t i = 0; i < variables; i++)
        memcpy(s->x + i * n, svmp_before_after_start(e->before_after, i), n * sizeof *s->x);
    count_particles(s, s->x);
    SVMP_TRY(describe(s, v));
    SVMP_TRY(judge(s, v));
    if (svmp_examination_knows_modes(e)) return SVMP_OK;
    SVMP_TRY(svmp_found_modes_mixture(e->found, s->pattern, &e->modes));
    return svmp_model_agree_all(e->own->model, svmp_mode_jump_create(e->own, e->modes, &e->mode_jump));
}

/* Far out a factor may have no value at all: then nothing was found. */
svmp_status svmp_examination_find_other_modes(examination *e, svmp_verdict *verdict) {
    look s = {.e = e};
    if (e->q == NULL) return SVMP_OK;
    const svmp_error_function on_error = svmp_attempt_begin(e->context);
    const svmp_status status = find(&s, verdict);
    verdict->searched = status == SVMP_OK;
    svmp_attempt_end(e->context, on_error, status);
    svmp_release(e->context, s.x);
    svmp_release(e->context, s.workspace);
    svmp_release(e->context, s.here);
    if (status == SVMP_NO_MEMORY) return status;
    e->context->error[0] = '\0';
    return SVMP_OK;
}
