#include "method/nuts_chain.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "method/moves/mode_jump.h"
#include "model/natural_values.h"

svmp_status svmp_chain_create(const svmp_run *run, size_t number, chain *c) {
    const nuts *state = run->state;
    const size_t d = run->model->graph->variables;
    *c = (chain){.number = number, .step = 1, .variance.variables = d};
    c->windows = svmp_windows_of(run->options.warmup);
    SVMP_TRY(svmp_evaluator_create(run->model, 1, 1, &c->h.evaluator));
    SVMP_TRY(svmp_allocate(run->context, svmp_tree_workspace_size(1) + 8 + HAMILTONIAN_VECTORS, d * sizeof(double),
                           (void **)&c->workspace));
    double *workspace = c->workspace;
    svmp_hamiltonian_take(&c->h, d, &workspace);
    svmp_tree_take(&c->tree, &c->h, &workspace);
    svmp_phase_point_take(&c->z, &workspace, d);
    svmp_phase_point_take(&c->trial, &workspace, d);
    c->h.whitening = state->whitening;
    c->variance.mean = svmp_workspace_take(&workspace, d);
    c->variance.squares = svmp_workspace_take(&workspace, d);
    return state->q ? svmp_marginal_move_create(run->model, state->q, &c->marginal) : SVMP_OK;
}

void svmp_chain_free(svmp_context *context, chain *c) {
    svmp_evaluator_free(c->h.evaluator);
    svmp_marginal_move_free(c->marginal);
    svmp_release(context, c->workspace);
}

/* ---- transitions ------------------------------------------------------------------------------------------------- */

size_t svmp_chain_slot(const svmp_run *run, const chain *c, size_t t) {
    const size_t draws = run->options.draws;
    return c->number * draws + (t + draws - run->options.warmup % draws) % draws;
}

static void keep(const svmp_run *run, chain *c, size_t t) {
    const nuts *state = run->state;
    const size_t at = svmp_chain_slot(run, c, t);
    svmp_hamiltonian_leave(&c->h, c->z.q, state->draws + at * c->h.all);
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

/* Trajectories are given the hyperparameters of x, in the coordinates of the Gaussian of the others, or not, in those
 * of the Gaussian of all. Returns whether there are such coordinates. */
static int choose_coordinates(const svmp_run *run, chain *c, int conditional, const double *x) {
    size_t count = c->h.all;
    const uint32_t *moved = conditional ? svmp_marginal_move_variables(c->marginal, &count) : NULL;
    const whitening *coordinates =
        conditional ? svmp_marginal_move_coordinates(c->marginal, x) : ((const nuts *)run->state)->whitening;
    if (conditional && coordinates == NULL) return 0;
    svmp_hamiltonian_restrict(&c->h, count, moved, coordinates, x);
    c->variance.variables = count;
    c->conditional = (size_t)conditional;
    return 1;
}

/* At the end of a window. Jumps between modes change all variables. */
static void adapt_coordinates(const svmp_run *run, chain *c) {
    double *x = c->trial.p;
    if (c->marginal == NULL) return;
    const int conditional = run->model->modes == NULL && svmp_marginal_move_crosses(c->marginal);
    svmp_marginal_move_adapt(c->marginal);
    if ((size_t)conditional == c->conditional) return;
    svmp_hamiltonian_leave(&c->h, c->z.q, x);
    if (!choose_coordinates(run, c, conditional, x)) return;
    svmp_hamiltonian_enter(&c->h, 1, 0, x, c->z.q);
    svmp_hamiltonian_evaluate(&c->h, &c->z);
}

/* Adapts to the transition of iteration t of the warm-up. */
static void adapt(const svmp_run *run, chain *c, size_t t) {
    c->step = svmp_dual_averaging_learn(&c->averaging, c->tree.acceptance / (double)c->tree.leapfrogs);
    if (t >= c->windows.begin && t < c->windows.end) svmp_running_variance_add(&c->variance, c->z.q);
    if (svmp_windows_close(&c->windows, t)) {
        svmp_running_variance_end(&c->variance, c->h.whitening ? 1 : 1e-3, c->h.inverse_metric);
        adapt_coordinates(run, c);
        find_step(run, c);
    }
    if (t + 1 == run->options.warmup) c->step = svmp_dual_averaging_end(&c->averaging);
}

/* The variable whose score is NaN there, and the factor responsible. */
static divergence find_divergence(const svmp_run *run, chain *c) {
    divergence found = {.known = 1, .variable = SIZE_MAX, .factor = SIZE_MAX};
    for (size_t i = 0; i < c->h.all && found.factor == SIZE_MAX; i++) {
        const size_t factor = svmp_evaluator_find_failure(c->h.evaluator, c->h.lost_at, i, 0);
        if (factor != SIZE_MAX)
            found = (divergence){1, i, factor, svmp_model_natural_value(run->model, 1, c->h.lost_at, 0, i)};
    }
    return found;
}

int svmp_chain_has_fault(const chain *c) { return c->h.failed || c->fault != CHAIN_FINE; }

/* Proposes a jump to another mode, if modes are known. The statistics of the draw remain those of the trajectory,
 * except the log density. */
static void jump_between_modes(const svmp_run *run, chain *c, size_t t) {
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

/* Trajectories continue given the hyperparameters of x, with the coordinates that they had. */
static void follow_hyperparameters(chain *c, const double *x) {
    c->h.whitening = svmp_marginal_move_coordinates(c->marginal, x);
    memcpy(c->h.x, x, c->h.all * sizeof *x);
}

/* Moves hyperparameters together with the variables below them. Where trajectories are given the hyperparameters, their
 * coordinates stay what they were. */
static void move_hyperparameters(const svmp_run *run, chain *c, size_t t) {
    enum { MOVES = 5, EARLY = 50 };
    const double gain = t < run->options.warmup ? 3 / sqrt((double)(EARLY + t)) : 0;
    double *x = c->trial.p;
    int moved = 0;
    if (c->marginal == NULL) return;
    if (gain == 0 && !c->conditional && svmp_marginal_move_is_useless(c->marginal)) return;
    svmp_hamiltonian_leave(&c->h, c->z.q, x);
    for (size_t k = 0; k < MOVES; k++)
        moved |= svmp_marginal_move(c->marginal, run->options.seed, t * MOVES + k, c->number, gain, x);
    if (t >= c->windows.begin && t < c->windows.end) svmp_marginal_move_learn(c->marginal, x);
    if (!moved) return;
    if (c->conditional)
        follow_hyperparameters(c, x);
    else
        svmp_hamiltonian_enter(&c->h, 1, 0, x, c->z.q);
    svmp_hamiltonian_evaluate(&c->h, &c->z);
}

static void transition(const svmp_run *run, chain *c) {
    const size_t t = c->iteration;
    if (t == 0) start(run, c);
    if (svmp_chain_has_fault(c)) return;
    c->h.lost = 0;
    svmp_tree_transition(&c->tree, &c->z, c->step, run->options.seed, t, c->number);
    if (c->tree.divergent && c->h.lost && !c->divergence.known && t >= run->options.warmup)
        c->divergence = find_divergence(run, c);
    jump_between_modes(run, c, t);
    move_hyperparameters(run, c, t);
    keep(run, c, t);
    if (t < run->options.warmup) adapt(run, c, t);
    if (!svmp_chain_has_fault(c)) c->iteration++;
}

void svmp_chain_advance(const svmp_run *run, chain *c) {
    const double share = 0.02, until = svmp_clock_seconds() + share;
    const size_t most = run->iteration + (run->options.draws > 1 ? run->options.draws - 1 : 1);
    while (c->iteration < most && c->iteration < run->iterations && !svmp_chain_has_fault(c)) {
        transition(run, c);
        if (svmp_clock_seconds() > until) break;
    }
}
/* ---- saved and loaded -------------------------------------------------------------------------------------------- */

/* The coordinates, and what adapts the marginal moves. They follow from a point. */
static svmp_status coordinates_state(const svmp_run *run, chain *c, archive *a) {
    double *x = c->trial.p;
    size_t conditional = c->conditional;
    if (c->marginal == NULL) return SVMP_OK;
    SVMP_TRY(svmp_marginal_move_state(c->marginal, a));
    SVMP_TRY(svmp_archive_count(a, "conditional", &conditional));
    memcpy(x, c->h.x, c->h.all * sizeof *x);
    SVMP_TRY(svmp_archive_reals(a, "point", c->h.all, x));
    if (a->loading && (conditional > 1 || !choose_coordinates(run, c, (int)conditional, x)))
        return svmp_fail(run->context, SVMP_BAD_INPUT, "In the checkpoint, chain %zu is where it cannot be.",
                         c->number + 1);
    return SVMP_OK;
}

svmp_status svmp_chain_state(const svmp_run *run, chain *c, archive *a) {
    const size_t d = c->h.all;
    SVMP_TRY(svmp_archive_count(a, "chain iteration", &c->iteration));
    SVMP_TRY(coordinates_state(run, c, a));
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
    return svmp_archive_reals(a, "variance squares", d, c->variance.squares);
}
