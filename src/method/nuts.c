/* The No-U-Turn sampler: --chains chains, each adapts for --warmup iterations and then keeps --draws draws. What a
 * chain does depends on its number and the seed alone: the chains run in parallel, one per thread, and some
 * milliseconds ahead of the run's iteration, so that threads do not synchronise after every iteration. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/notes.h"
#include "base/threads.h"
#include "method/method.h"
#include "method/moves/adaptation.h"
#include "method/moves/marginal_move.h"
#include "method/moves/mode_jump.h"
#include "method/moves/trajectory.h"
#include "method/nuts_tree.h"
#include "model/natural_values.h"
#include "prepare/hush.h"

/* Statistics of a draw, in the order of Stan's columns. */
#define STATISTICS(X)                                                                                                  \
    X(lp)                                                                                                              \
    X(accept_stat)                                                                                                     \
    X(stepsize)                                                                                                        \
    X(treedepth)                                                                                                       \
    X(n_leapfrog)                                                                                                      \
    X(divergent)                                                                                                       \
    X(energy)

enum {
#define STATISTIC_INDEX(name) STATISTIC_##name,
    STATISTICS(STATISTIC_INDEX) STATISTIC_COUNT
#undef STATISTIC_INDEX
};

/* An impossible step size or start, or a factor whose function failed. */
typedef enum chain_fault { CHAIN_FINE, CHAIN_FAILED, CHAIN_NO_START, CHAIN_NO_STEP, CHAIN_IMPROPER } chain_fault;

/* Why a trajectory diverged: the first position where the density is NaN. */
typedef struct divergence {
    int known;
    size_t variable, factor; /* SIZE_MAX: not found */
    double value;            /* of the variable */
} divergence;

typedef struct chain {
    size_t number;    /* 0, 1, ... */
    size_t iteration; /* iterations done: as many as the run or more */
    hamiltonian h;
    tree tree;
    phase_point z, trial;
    marginal_move *marginal; /* NULL: there is none */
    double step;
    dual_averaging averaging;
    windows windows;
    running_variance variance;
    double *workspace;
    chain_fault fault;
    divergence divergence;
} chain;

typedef struct nuts {
    gaussian *q;          /* on the graph; NULL: the model has none */
    whitening *whitening; /* its coordinates, in which the chains move; NULL without it */
    size_t chains;
    chain *chain;
    double *draws;           /* draws[(c*draws + k)*variables + i], k the slot of an iteration */
    double *statistics;      /* statistics[(c*draws + k)*STATISTIC_COUNT + s] */
    double *start;           /* only in the first iteration: the backend's particles */
    int divergence_reported; /* report_divergence has reported it */
} nuts;

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static svmp_status create_chain(const svmp_run *run, size_t number, const whitening *coordinates, chain *c) {
    const size_t d = run->model->graph->variables;
    *c = (chain){.number = number, .step = 1, .h.variables = d, .h.whitening = coordinates, .variance.variables = d};
    c->windows = svmp_windows_of(run->options.warmup);
    SVMP_TRY(svmp_evaluator_create(run->model, 1, 1, &c->h.evaluator));
    SVMP_TRY(svmp_allocate(run->context, svmp_tree_workspace_size(1) + 8 + HAMILTONIAN_VECTORS, d * sizeof(double),
                           (void **)&c->workspace));
    double *workspace = c->workspace;
    svmp_tree_take(&c->tree, &c->h, &workspace);
    svmp_phase_point_take(&c->z, &workspace, d);
    svmp_phase_point_take(&c->trial, &workspace, d);
    svmp_hamiltonian_take(&c->h, &workspace);
    c->variance.mean = svmp_workspace_take(&workspace, d);
    c->variance.squares = svmp_workspace_take(&workspace, d);
    return SVMP_OK;
}

/* A start that was not asked for is replaced if there is no Gaussian on the graph. */
static svmp_status do_without(svmp_run *run) {
    svmp_log(run->context, SVMP_LOG_INFO, "The chains start at %s and adapt a diagonal metric: %s", METHOD_INIT,
             svmp_context_error(run->context));
    if (run->options.init) return SVMP_OK;
    SVMP_TRY(svmp_duplicate(run->context, METHOD_INIT, (char **)&run->options.init));
    return svmp_init_parse(run->context, METHOD_INIT, &run->start);
}

/* The Gaussian on the graph, and its coordinates: with its correlations if the triangular solves of a leapfrog step are
 * cheap. */
static svmp_status fit(svmp_run *run, nuts *state) {
    const int required = run->options.init && run->start.kind == INIT_GAUSSIAN;
    hushed h;
    svmp_gaussian_log_functions(run->model);
    if (!required) svmp_hush(run->context, false, &h);
    const svmp_status status = svmp_gaussian_create_from(run->model, run->backend->seed, run->start.point, &state->q);
    if (!required) svmp_unhush(&h, status);
    if (status == SVMP_NO_MEMORY || (status != SVMP_OK && required)) return status;
    if (status != SVMP_OK) return do_without(run);
    const int expensive = svmp_trajectory_is_expensive(state->q, run->model->graph->variables);
    return svmp_gaussian_whitening(state->q, expensive, &state->whitening);
}

static svmp_status create_interweaving(svmp_run *run, nuts *state) {
    if (state->q == NULL) return SVMP_OK;
    for (size_t c = 0; c < state->chains; c++)
        SVMP_TRY(svmp_marginal_move_create(run->model, state->q, &state->chain[c].marginal));
    return SVMP_OK;
}

static svmp_status alloc(svmp_run *run) {
    const run_options *options = &run->options;
    const size_t d = run->model->graph->variables;
    nuts *state = NULL;
    SVMP_TRY(svmp_method_refuse_boxes(run));
    const double bytes = (double)options->chains * sizeof(double) *
                         ((double)options->draws * (double)(d + STATISTIC_COUNT) + (double)svmp_tree_workspace_size(d));
    SVMP_TRY(svmp_require_memory(run->context, bytes, "these draws need"));
    SVMP_TRY(SVMP_NEW(run->context, state, 1));
    run->state = state;
    SVMP_TRY(fit(run, state));
    SVMP_TRY(SVMP_NEW(run->context, state->chain, options->chains));
    state->chains = options->chains;
    for (size_t c = 0; c < state->chains; c++) SVMP_TRY(create_chain(run, c, state->whitening, &state->chain[c]));
    SVMP_TRY(create_interweaving(run, state));
    const size_t count = options->chains * options->draws;
    SVMP_TRY(svmp_allocate(run->context, count, d * sizeof(double), (void **)&state->draws));
    return svmp_allocate(run->context, count, STATISTIC_COUNT * sizeof(double), (void **)&state->statistics);
}

static void free_nuts(svmp_run *run) {
    nuts *state = run->state;
    for (size_t c = 0; c < state->chains; c++) {
        svmp_evaluator_free(state->chain[c].h.evaluator);
        svmp_release(run->context, state->chain[c].workspace);
        svmp_marginal_move_free(state->chain[c].marginal);
    }
    svmp_whitening_free(run->context, state->whitening);
    svmp_gaussian_free(state->q);
    svmp_release(run->context, state->chain);
    svmp_release(run->context, state->draws);
    svmp_release(run->context, state->statistics);
    svmp_release(run->context, state);
}

static gaussian *fitted(const svmp_run *run) { return ((const nuts *)run->state)->q; }

static svmp_status draw_start(svmp_run *run, double *x) {
    return svmp_gaussian_draw(((const nuts *)run->state)->q, run->backend->seed, run->backend->n, x);
}

/* ---- a chain ----------------------------------------------------------------------------------------------------- */

/* The slot of the state after iteration t. Draw k, t = warmup + k, has slot k permanently; warm-up iterations use the
 * same slots before. */
static size_t slot(const svmp_run *run, const chain *c, size_t t) {
    const size_t draws = run->options.draws;
    return c->number * draws + (t + draws - run->options.warmup % draws) % draws;
}

static void keep(const svmp_run *run, chain *c, size_t t) {
    const nuts *state = run->state;
    const size_t at = slot(run, c, t);
    svmp_hamiltonian_leave(&c->h, c->z.q, state->draws + at * c->h.variables);
    double *row = state->statistics + at * STATISTIC_COUNT;
    row[STATISTIC_lp] = c->z.log_density;
    row[STATISTIC_accept_stat] = c->tree.acceptance / (double)c->tree.leapfrogs;
    row[STATISTIC_stepsize] = c->tree.step;
    row[STATISTIC_treedepth] = (double)c->tree.depth;
    row[STATISTIC_n_leapfrog] = (double)c->tree.leapfrogs;
    row[STATISTIC_divergent] = c->tree.divergent;
    row[STATISTIC_energy] = c->tree.energy;
}

static void find_step(const svmp_run *run, chain *c) {
    random_stream stream = {.seed = run->options.seed, .purpose = RANDOM_STEP_SIZE, .a = c->iteration, .b = c->number};
    c->step = svmp_hamiltonian_find_step(&c->h, &c->z, c->step, stream, &c->trial);
    if (c->step == 0 || c->step == INFINITY) c->fault = c->step == 0 ? CHAIN_NO_STEP : CHAIN_IMPROPER;
    svmp_dual_averaging_start(&c->averaging, c->step, run->options.accept);
}

/* Begins at the run's start; if the density is not finite there, a start that was drawn is redrawn. */
static void start(const svmp_run *run, chain *c) {
    enum { ATTEMPTS = 100 };
    const backend *b = run->backend;
    const init_target target = svmp_start_target(run->backend);
    double *x = ((const nuts *)run->state)->start;
    for (size_t attempt = 0; attempt < (run->started_from ? 1 : ATTEMPTS); attempt++) {
        if (attempt > 0) svmp_init_draw_again(&run->start, &target, x, c->number, attempt);
        svmp_hamiltonian_enter(&c->h, b->n, c->number, x, c->z.q);
        svmp_hamiltonian_evaluate(&c->h, &c->z);
        if (c->h.failed) return;
        if (!svmp_hamiltonian_is_finite(&c->h, &c->z)) continue;
        find_step(run, c);
        return;
    }
    c->fault = CHAIN_NO_START;
}

/* Adapts to the transition of iteration t of the warm-up. */
static void adapt(const svmp_run *run, chain *c, size_t t) {
    c->step = svmp_dual_averaging_learn(&c->averaging, c->tree.acceptance / (double)c->tree.leapfrogs);
    if (t >= c->windows.begin && t < c->windows.end) svmp_running_variance_add(&c->variance, c->z.q);
    if (svmp_windows_close(&c->windows, t)) {
        if (c->marginal) svmp_marginal_move_adapt(c->marginal);
        svmp_running_variance_end(&c->variance, c->h.whitening ? 1 : 1e-3, c->h.inverse_metric);
        find_step(run, c);
    }
    if (t + 1 == run->options.warmup) c->step = svmp_dual_averaging_end(&c->averaging);
}

/* The variable whose score is NaN there, and the factor responsible. */
static divergence find_divergence(const svmp_run *run, chain *c) {
    divergence found = {.known = 1, .variable = SIZE_MAX, .factor = SIZE_MAX};
    for (size_t i = 0; i < c->h.variables && found.factor == SIZE_MAX; i++) {
        const size_t factor = svmp_evaluator_find_failure(c->h.evaluator, c->h.lost_at, i, 0);
        if (factor != SIZE_MAX)
            found = (divergence){1, i, factor, svmp_model_natural_value(run->model, 1, c->h.lost_at, 0, i)};
    }
    return found;
}

static int has_fault(const chain *c) { return c->h.failed || c->fault != CHAIN_FINE; }

/* Proposes a jump to another mode, if modes are known. The statistics of the draw remain those of the trajectory,
 * except the log density. */
static void leap(const svmp_run *run, chain *c, size_t t) {
    const model_modes *modes = run->model->modes;
    const random_stream stream = {.seed = run->options.seed, .purpose = RANDOM_MODE_JUMP, .a = t, .b = c->number};
    const phase_point before = c->z;
    if (modes == NULL) return;
    svmp_hamiltonian_leave(&c->h, c->z.q, c->trial.score);
    svmp_mode_jump_propose(modes, stream, c->trial.p, 1, c->trial.q);
    const double chance = svmp_mode_jump_log_ratio(modes, stream, c->trial.p, 1, c->trial.score, c->trial.q);
    svmp_hamiltonian_enter(&c->h, 1, 0, c->trial.q, c->trial.q);
    svmp_hamiltonian_evaluate(&c->h, &c->trial);
    if (c->h.failed || !svmp_hamiltonian_is_finite(&c->h, &c->trial)) return;
    if (!(c->trial.log_density - c->z.log_density + chance > 0)) return;
    c->z = c->trial;
    c->trial = before;
}

static void interweave(const svmp_run *run, chain *c, size_t t) {
    enum { EARLY = 50 };
    double *x = c->trial.p;
    if (c->marginal == NULL) return;
    svmp_hamiltonian_leave(&c->h, c->z.q, x);
    const double gain = t < run->options.warmup ? 3 / sqrt((double)(EARLY + t)) : 0;
    const int moved = svmp_marginal_move(c->marginal, run->options.seed, t, c->number, gain, x);
    if (t >= c->windows.begin && t < c->windows.end) svmp_marginal_move_learn(c->marginal, x);
    if (!moved) return;
    svmp_hamiltonian_enter(&c->h, 1, 0, x, c->z.q);
    svmp_hamiltonian_evaluate(&c->h, &c->z);
}

static void transition(const svmp_run *run, chain *c) {
    const size_t t = c->iteration;
    if (t == 0) start(run, c);
    if (has_fault(c)) return;
    c->h.lost = 0;
    svmp_tree_transition(&c->tree, &c->z, c->step, run->options.seed, t, c->number);
    if (c->tree.divergent && c->h.lost && !c->divergence.known && t >= run->options.warmup)
        c->divergence = find_divergence(run, c);
    leap(run, c, t);
    interweave(run, c, t);
    keep(run, c, t);
    if (t < run->options.warmup) adapt(run, c, t);
    if (!has_fault(c)) c->iteration++;
}

/* Makes one iteration if the chain has no lead, then more for some time, but never overwrites a slot that the run may
 * still read. */
static void advance(const svmp_run *run, chain *c) {
    const double share = 0.02, until = svmp_clock_seconds() + share;
    const size_t most = run->iteration + (run->options.draws > 1 ? run->options.draws - 1 : 1);
    while (c->iteration < most && c->iteration < run->iterations && !has_fault(c)) {
        transition(run, c);
        if (svmp_clock_seconds() > until) break;
    }
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

static svmp_status explain_start(const svmp_run *run, const chain *c) {
    char name[128] = "";
    size_t i = 0;
    const double *score = c->h.whitening ? c->h.score : c->z.score;
    while (i < c->h.variables && isfinite(score[i])) i++;
    if (i < c->h.variables)
        snprintf(name, sizeof name, ", and the score of %.80s is %g there",
                 svmp_model_variable_name(run->model, i, (char[96]){0}, 96), score[i]);
    const char *where = run->started_from     ? "its start"
                        : run->model->lowered ? "the last of 100 random starts and of 100 draws of the priors"
                                              : "the last of 100 random starts";
    return svmp_fail_notes(run->context, SVMP_NOT_FINITE, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                           "Chain %zu cannot start: the log density is %g at %s%s.", c->number + 1, c->z.log_density,
                           where, name);
}

static svmp_status explain(const svmp_run *run, const chain *c) {
    if (c->h.failed) return svmp_evaluator_fail(c->h.evaluator);
    switch (c->fault) {
    case CHAIN_NO_START: return explain_start(run, c);
    case CHAIN_NO_STEP:
        return svmp_fail(
            run->context, SVMP_NOT_FINITE,
            "Chain %zu finds no step size small enough at iteration %zu: the log density may be discontinuous.",
            c->number + 1, c->iteration + 1);
    case CHAIN_IMPROPER:
        return svmp_fail(run->context, SVMP_NOT_FINITE,
                         "Chain %zu accepts steps of any size at iteration %zu: the posterior may be improper.",
                         c->number + 1, c->iteration + 1);
    default: return SVMP_OK;
    }
}

/* Whether the chain's density is finite at particle l of x, which then becomes its start. */
static int starts_at(const svmp_run *run, chain *c, size_t n, const double *x, size_t l) {
    const nuts *state = run->state;
    svmp_hamiltonian_enter(&c->h, n, l, x, c->z.q);
    svmp_hamiltonian_evaluate(&c->h, &c->z);
    if (c->h.failed || !svmp_hamiltonian_is_finite(&c->h, &c->z)) return 0;
    for (size_t i = 0; i < c->h.variables; i++) state->start[i * run->backend->n + c->number] = x[i * n + l];
    c->fault = CHAIN_FINE;
    return 1;
}

/* Chains without a possible start begin at draws from the priors where these have a finite density, for example with
 * ascending thresholds. *found: whether any start was found. */
static svmp_status start_from_priors(const svmp_run *run, int *found) {
    enum { ATTEMPTS = 100 };
    const nuts *state = run->state;
    double *x = NULL;
    size_t without = 0;
    *found = 0;
    for (size_t c = 0; c < state->chains; c++) without += state->chain[c].fault == CHAIN_NO_START;
    if (without == 0 || run->started_from || run->model->lowered == NULL) return SVMP_OK;
    SVMP_TRY(svmp_allocate(run->context, state->chains, run->model->graph->variables * sizeof *x, (void **)&x));
    svmp_status status = SVMP_OK;
    for (size_t k = 1; k <= ATTEMPTS && without > 0 && status == SVMP_OK; k++) {
        status = svmp_model_draw_priors(run->model, run->options.seed + k, state->chains, x);
        for (size_t c = 0; c < state->chains && status == SVMP_OK; c++)
            if (state->chain[c].fault == CHAIN_NO_START && starts_at(run, &state->chain[c], state->chains, x, c)) {
                without--;
                *found = 1;
            }
    }
    svmp_release(run->context, x);
    return status;
}

static void advance_chain(void *work, size_t c) {
    const svmp_run *run = work;
    advance(run, &((const nuts *)run->state)->chain[c]);
}

static void advance_all(svmp_run *run) {
    svmp_parallel_for(run->backend->threads, ((const nuts *)run->state)->chains, 1, advance_chain, run);
}

/* The error of a chain counts when the run reaches its iteration. */
static svmp_status iterate(svmp_run *run) {
    nuts *state = run->state;
    const size_t t = run->iteration;
    int lead = 1, found = 0;
    if (t == 0) SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &state->start));
    for (size_t c = 0; c < state->chains; c++) lead &= state->chain[c].iteration > t;
    if (!lead) advance_all(run);
    if (t == 0) SVMP_TRY(start_from_priors(run, &found));
    if (found) advance_all(run);
    run->rate = 0;
    for (size_t c = 0; c < state->chains; c++) {
        const chain *here = &state->chain[c];
        if (here->iteration == t) return explain(run, here);
        const double *row = state->statistics + slot(run, here, t) * STATISTIC_COUNT;
        run->rate += row[STATISTIC_stepsize] / (double)state->chains;
        if (t >= run->options.warmup) run->divergences += row[STATISTIC_divergent] != 0;
    }
    return SVMP_OK;
}

static const char *const statistic_names[] = {
#define STATISTIC_NAME(name) #name "__",
    STATISTICS(STATISTIC_NAME)
#undef STATISTIC_NAME
};

/* Copies the states of every chain from iteration `first` on, as many as p has particles; `column` likewise. */
static svmp_status fill(const svmp_run *run, size_t first, double *column, svmp_particles *p) {
    const nuts *state = run->state;
    const size_t d = run->model->graph->variables, count = svmp_particles_count(p), each = count / state->chains;
    double *values = svmp_particles_values(p);
    for (size_t l = 0; l < count; l++) {
        const double *draw = state->draws + slot(run, &state->chain[l / each], first + l % each) * d;
        for (size_t i = 0; i < d; i++) values[i * count + l] = draw[i];
    }
    for (size_t s = 0; s < STATISTIC_COUNT; s++) {
        for (size_t l = 0; l < count; l++)
            column[l] = state->statistics[slot(run, &state->chain[l / each], first + l % each) * STATISTIC_COUNT + s];
        SVMP_TRY(svmp_particles_set_statistic(p, statistic_names[s], column));
    }
    return SVMP_OK;
}

/* A factor that is evaluated outside its domain looks like a divergent trajectory: reports where, once per run. */
static void report_divergence(const svmp_run *run) {
    nuts *state = run->state;
    char name[128];
    for (size_t k = 0; k < state->chains && !state->divergence_reported; k++) {
        const divergence *b = &state->chain[k].divergence;
        if (!b->known || b->factor == SIZE_MAX) continue;
        const size_t line = svmp_model_factor_line(run->model, b->factor);
        state->divergence_reported = 1;
        svmp_log(run->context, SVMP_LOG_WARNING,
                 "Trajectories diverged where the density is undefined: first at %s = %g, in %s %zu.",
                 svmp_model_variable_name(run->model, b->variable, name, sizeof name), b->value,
                 line ? "the statement on line" : "factor", line ? line : b->factor);
    }
}

/* The draws so far; before the first one, the current states. */
static svmp_status result(const svmp_run *run, svmp_particles **particles) {
    const nuts *state = run->state;
    const size_t d = run->model->graph->variables, t = run->iteration, warmup = run->options.warmup;
    const size_t each = t > warmup ? t - warmup : 1, count = state->chains * each;
    svmp_status status = SVMP_OK;
    svmp_particles *p = NULL;
    double *column = NULL;
    const double *start = NULL;
    if (t == 0) SVMP_CHECK(svmp_backend_view(run->backend, ARRAY_PARTICLES, &start));
    SVMP_CHECK(svmp_particles_create(run->context, d, count, start, &p));
    SVMP_CHECK(svmp_particles_set_chains(p, state->chains));
    SVMP_CHECK(SVMP_NEW(run->context, column, count));
    if (t > 0) SVMP_CHECK(fill(run, t - each, column, p));
    report_divergence(run);
    *particles = p;
    p = NULL;
done:
    svmp_release(run->context, column);
    svmp_particles_free(p);
    return status;
}

/* Saves or loads the state of a chain after its last iteration. */
static svmp_status chain_state(chain *c, archive *a) {
    const size_t d = c->h.variables;
    SVMP_TRY(svmp_archive_count(a, "chain iteration", &c->iteration));
    SVMP_TRY(svmp_archive_reals(a, "place", d, c->z.q));
    SVMP_TRY(svmp_archive_reals(a, "score", d, c->z.score));
    SVMP_TRY(svmp_archive_real(a, "log density", &c->z.log_density));
    SVMP_TRY(svmp_archive_real(a, "step", &c->step));
    SVMP_TRY(svmp_archive_reals(a, "inverse metric", d, c->h.inverse_metric));
    SVMP_TRY(svmp_archive_real(a, "averaging centre", &c->averaging.centre));
    SVMP_TRY(svmp_archive_real(a, "averaging target", &c->averaging.target));
    SVMP_TRY(svmp_archive_real(a, "averaging excess", &c->averaging.excess));
    SVMP_TRY(svmp_archive_real(a, "averaging mean", &c->averaging.mean));
    SVMP_TRY(svmp_archive_count(a, "averaging count", &c->averaging.count));
    SVMP_TRY(svmp_archive_count(a, "window last", &c->windows.last));
    SVMP_TRY(svmp_archive_count(a, "window length", &c->windows.length));
    SVMP_TRY(svmp_archive_count(a, "variance count", &c->variance.count));
    SVMP_TRY(svmp_archive_reals(a, "variance mean", d, c->variance.mean));
    if (c->marginal) SVMP_TRY(svmp_marginal_move_state(c->marginal, a));
    return svmp_archive_reals(a, "variance squares", d, c->variance.squares);
}

/* The states that may still be needed: the draws, the last state, and the lead of a chain. They are identified by
 * iteration, because a run with more draws has other slots. */
static svmp_status kept_states(const svmp_run *run, const chain *c, archive *a) {
    const nuts *state = run->state;
    const size_t d = c->h.variables, t = run->iteration, warmup = run->options.warmup;
    const size_t first = t > warmup ? warmup : t > 0 ? t - 1 : 0;
    if (c->iteration < t || c->iteration > run->iterations || c->iteration - first > run->options.draws)
        return svmp_fail(run->context, SVMP_BAD_INPUT,
                         "In the checkpoint, chain %zu is at iteration %zu, but the run is at %zu.", c->number + 1,
                         c->iteration, t);
    for (size_t k = first; k < c->iteration; k++) {
        const size_t at = slot(run, c, k);
        SVMP_TRY(svmp_archive_reals(a, "draw", d, state->draws + at * d));
        SVMP_TRY(svmp_archive_reals(a, "told", STATISTIC_COUNT, state->statistics + at * STATISTIC_COUNT));
    }
    return SVMP_OK;
}

/* A chain whose error will end the run has no state to continue from. */
static svmp_status archive_state(svmp_run *run, archive *a) {
    nuts *state = run->state;
    SVMP_TRY(svmp_archive_count(a, "divergences", &run->divergences));
    for (size_t k = 0; k < state->chains; k++) {
        chain *c = &state->chain[k];
        if (!a->loading && has_fault(c)) return explain(run, c);
        SVMP_TRY(chain_state(c, a));
        SVMP_TRY(kept_states(run, c, a));
    }
    return SVMP_OK;
}

const method svmp_method_nuts = {.name = "nuts",
                                 .init = "gaussian",
                                 .coordinates = "auto",
                                 .on_host = 1,
                                 .fits = 1,
                                 .yield = SVMP_YIELD_CHAINS,
                                 .draws = 1000,
                                 .alloc = alloc,
                                 .start = draw_start,
                                 .gaussian = fitted,
                                 .iterate = iterate,
                                 .free = free_nuts,
                                 .result = result,
                                 .state = archive_state};
