/* Exact moves from a Gaussian on the graph, followed by Stein's transport; the default method.
 *
 *   - The Gaussian on the graph, q, gives the start and the metric of global moves.
 *   - Every particle is a Markov chain. An iteration moves each node given its neighbours (sweep.h), and then the whole
 *     particle along a trajectory in the metric of q (trajectory.h). The means and sds of all variables are averaged
 *     over about the last two thirds of the iterations, with their standard errors (averages.h), until these are small
 *     and nothing drifts (stopping_rule.h).
 *   - By themselves the particles are as noisy as that many independent draws. Stein's transport removes the noise: its
 *     kernel, linear on the variables that a node reads and rbf on the node itself, moves them until Stein's identities
 *     hold. If the transport fails in some variable, it is undone.
 *   - Then every variable is shifted and stretched to its average mean and sd, and few variables to their correlations
 *     (covariance.h). A node that moves in other coordinates is matched on the scale of the model text.
 *
 * Where the density may be discontinuous, Stein's identities do not hold: they are not required of such variables, and
 * there is no transport. Nor is there any if distant modes are known (model/posterior_modes.h): particles start in all
 * of them, and each iteration proposes jumps to other modes (mode_jump.h).
 *
 * So 100 particles carry the information of thousands of draws. */
#include <math.h>
#include <string.h>

#include "base/attempt.h"
#include "base/notes.h"
#include "maths/order_statistics.h"
#include "method/method.h"
#include "method/moves/marginal_moves.h"
#include "method/moves/mode_jump.h"
#include "method/moves/move_constants.h"
#include "method/moves/sweep.h"
#include "method/moves/trajectory.h"
#include "method/transport/averages.h"
#include "method/transport/covariance.h"
#include "method/transport/kept_states.h"
#include "method/transport/matched_draws.h"
#include "method/transport/matched_moments.h"
#include "method/transport/stein_transport.h"
#include "method/transport/stopping_rule.h"
#include "method/transport/transport_constants.h"
#include "method/transport/transport_convergence.h"
#include "method/transport/transport_failure.h"
#include "model/density_discontinuities.h"
#include "model/sorted_variables.h"
#include "model/text_scale.h"
#include "prepare/modes_by_mass.h"
#include "sample/particles.h"

typedef enum transport_stage { STAGE_MOVES, STAGE_TRANSPORT, STAGE_DONE } transport_stage;

typedef struct transport {
    gaussian *q;
    sweeper *sweeper;
    trajectory *global;
    found_modes *found;      /* by the search; NULL: it failed, or modes were known */
    model_modes *modes;      /* of them, if they are several and far apart; else NULL */
    mode_jump *mode_jump;    /* between known modes; NULL if there are none */
    int local;               /* trajectories would cost too much: local moves alone */
    bool *discontinuous;     /* variable -> the density may be discontinuous in it, or it is ordered; NULL: none is */
    int has_discontinuities; /* somewhere: there is no transport */
    averages *mode_shares;   /* of the probabilities of the modes, and room for these: `labels` */
    double *labels;
    marginal_moves *marginal; /* NULL: there are none, or chains mix without them */
    averages *averages;
    covariance *covariance; /* NULL: too many variables, or only one */
    kept_states *kept;      /* for the draws of the answer; NULL: it has none */
    svmp_particles *answer; /* these draws, matched, when the run is done; NULL: not yet asked for */
    double *metric;  /* the diagonal of the matrix of Stein's identities (averages.h): A^-1 or, if `unit_metric`, 1: */
    int unit_metric; /* a solve is too expensive, or the density may be discontinuous */
    double *moved;   /* the particles as the moves left them */
    double *ordered; /* the particles with sorted variables in the order of q's mean; NULL: the text sorts nothing */
    double *log_densities; /* of each particle */

    /* The same on the scale of the text, for nodes that move in other coordinates; NULL if there are none. */
    text_scale *text;
    averages *text_averages;
    double *values;

    transport_stage stage;
    double sweep_budget;                    /* in scores of the model */
    stopping_rule stopping;                 /* of the moves */
    size_t transport_step, transport_steps; /* iterations of the transport: done, and to do */
    size_t moves;                           /* iterations of exact moves */
    size_t limit; /* the limit on iterations, if it ended the moves or shortened the transport; else 0 */
} transport;

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static svmp_status alloc_text(svmp_run *run) {
    transport *state = run->state;
    const backend *b = run->own;
    SVMP_TRY(svmp_text_scale_create(run->model, b->n, &state->text));
    if (state->text == NULL) return SVMP_OK;
    const size_t rows = svmp_text_scale_rows(state->text);
    SVMP_TRY(svmp_averages_create(run->context, rows, &b->columns, b->threads, &state->text_averages));
    return svmp_allocate(run->context, rows, b->n * sizeof(double), (void **)&state->values);
}

/* If the text sorts exchangeable unknowns, chains rarely exchange them, and averages of each would not converge. So
 * averages are taken over ordered particles, which are draws of the ordered unknowns. Their density ends where two are
 * equal, which is a discontinuity. */
static svmp_status find_order(svmp_run *run) {
    transport *state = run->state;
    const backend *b = run->backend;
    const size_t variables = run->model->graph->variables;
    int exchangeable;
    SVMP_TRY(svmp_gaussian_draw(state->q, b->seed, b->n,
                                state->moved)); /* any positions will do; overwritten by the moves */
    SVMP_TRY(svmp_model_is_exchangeable(run->model, b->n, state->moved, &exchangeable));
    if (!exchangeable) return SVMP_OK;
    if (state->discontinuous == NULL) SVMP_TRY(SVMP_NEW(run->context, state->discontinuous, variables));
    svmp_model_mark_sorted(run->model, state->discontinuous);
    return svmp_allocate(run->context, variables, run->own->n * sizeof(double), (void **)&state->ordered);
}

/* The matrix of Stein's identities: A^-1. If the density may be discontinuous in a variable, the mean of its score need
 * not be 0, and then that of A^-1 s is 0 in no variable: the identity is used instead, with 0 for such variables. */
static svmp_status find_metric(svmp_run *run) {
    transport *state = run->state;
    const size_t variables = run->model->graph->variables;
    SVMP_TRY(SVMP_NEW(run->context, state->metric, variables));
    svmp_averages_control(state->averages, state->metric);
    state->unit_metric = state->local || state->discontinuous != NULL;
    if (!state->unit_metric) return svmp_gaussian_variance(state->q, state->metric);
    for (size_t i = 0; i < variables; i++) state->metric[i] = state->discontinuous && state->discontinuous[i] ? 0 : 1;
    return SVMP_OK;
}

/* A start that was given says which mode is meant. Where factors have no value far out, the search fails, which is no
 * error. */
static svmp_status find_modes(svmp_run *run) {
    transport *state = run->state;
    svmp_context *context = run->context;
    if (run->model->modes || run->start.point) return SVMP_OK;
    const svmp_error_function on_error = svmp_attempt_begin(context);
    svmp_status status = svmp_modes_by_mass(run->model, state->q, run->backend->seed, &state->found);
    if (status == SVMP_OK)
        status = svmp_found_modes_mixture(state->found, svmp_gaussian_pattern(state->q), &state->modes);
    svmp_attempt_end(context, on_error, status);
    if (status == SVMP_NO_MEMORY) return status;
    context->error[0] = '\0';
    for (size_t k = 0; state->found && k < state->found->count; k++)
        svmp_log(context, SVMP_LOG_INFO, "Mode %zu: share %.3g, log density %.6g, %zu of %zu starts%s.", k + 1,
                 state->found->mode[k].share, state->found->mode[k].height, state->found->mode[k].ends,
                 state->found->starts, state->found->mode[k].fitted ? ", fitted" : "");
    if (state->found)
        svmp_log(context, SVMP_LOG_INFO, "The search for modes took %zu evaluations.", state->found->evaluations);
    return SVMP_OK;
}

static svmp_status alloc_shares(svmp_run *run, size_t modes) {
    transport *state = run->state;
    const backend *b = run->own;
    SVMP_TRY(SVMP_NEW(run->context, state->labels, modes * b->n));
    return svmp_averages_create(run->context, modes, &b->columns, b->threads, &state->mode_shares);
}

static svmp_status alloc(svmp_run *run) {
    const backend *b = run->own;
    const size_t variables = run->model->graph->variables, all = run->backend->n;
    transport *state = NULL;
    SVMP_TRY(svmp_method_refuse_boxes(run));
    if (run->options.tolerance > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL,
                         "The method 'transport' does not take a tolerance: it stops when "
                         "its averages have settled.");
    SVMP_TRY(SVMP_NEW(run->context, state, 1));
    run->state = state;
    state->stopping = svmp_stopping_rule(run->options.precision);
    state->sweep_budget = first_sweep_budget;
    svmp_gaussian_log_functions(run->model);
    SVMP_TRY(svmp_gaussian_create_from(run->model, b->seed, run->start.point, &state->q));
    SVMP_TRY(svmp_sweeper_create(b, &state->sweeper));
    SVMP_TRY(svmp_sweeper_add_cauchy(state->sweeper, state->q));
    SVMP_TRY(svmp_trajectory_create(b, state->q, &state->global));
    SVMP_TRY(find_modes(run));
    SVMP_TRY(svmp_mode_jump_create(b, svmp_run_modes(run), &state->mode_jump));
    if (state->mode_jump) SVMP_TRY(alloc_shares(run, svmp_run_modes(run)->count));
    state->local = svmp_trajectory_is_expensive(state->q, variables);
    SVMP_TRY(svmp_averages_create(run->context, variables, &b->columns, b->threads, &state->averages));
    SVMP_TRY(svmp_allocate(run->context, variables, all * sizeof(double), (void **)&state->moved));
    SVMP_TRY(svmp_model_discontinuities(run->model, &state->discontinuous));
    state->has_discontinuities = state->discontinuous != NULL;
    if (!state->has_discontinuities)
        SVMP_TRY(svmp_covariance_create(run->context, variables, &b->columns, b->threads, &state->covariance));
    SVMP_TRY(svmp_kept_states_create(run->context, variables, &b->columns, run->draws_each, run->draws_most, ADAPTATION,
                                     &state->kept));
    SVMP_TRY(find_order(run));
    SVMP_TRY(find_metric(run));
    SVMP_TRY(alloc_text(run));
    return SVMP_NEW(run->context, state->log_densities, all);
}

static void free_transport(svmp_run *run) {
    transport *state = run->state;
    svmp_trajectory_free(state->global);
    svmp_marginal_moves_free(state->marginal);
    svmp_mode_jump_free(state->mode_jump);
    svmp_modes_free(run->context, state->modes);
    svmp_found_modes_free(state->found);
    svmp_sweeper_free(state->sweeper);
    svmp_gaussian_free(state->q);
    svmp_averages_free(state->mode_shares);
    svmp_release(run->context, state->labels);
    svmp_averages_free(state->averages);
    svmp_covariance_free(state->covariance);
    svmp_kept_states_free(state->kept);
    svmp_particles_free(state->answer);
    svmp_averages_free(state->text_averages);
    svmp_text_scale_free(state->text);
    svmp_release(run->context, state->discontinuous);
    svmp_release(run->context, state->metric);
    svmp_release(run->context, state->values);
    svmp_release(run->context, state->moved);
    svmp_release(run->context, state->ordered);
    svmp_release(run->context, state->log_densities);
    svmp_release(run->context, state);
}

static gaussian *fitted(const svmp_run *run) { return ((const transport *)run->state)->q; }
static const model_modes *modes_of(const svmp_run *run) { return ((const transport *)run->state)->modes; }

static mode_share share_of(const svmp_run *run, size_t k) {
    const transport *state = run->state;
    const average *rows = state->mode_shares ? svmp_averages_rows(state->mode_shares) : NULL;
    return rows ? (mode_share){rows[k].plain, rows[k].plain_error} : (mode_share){NAN, NAN};
}

static svmp_status draw_start(svmp_run *run, double *x) {
    const transport *state = run->state;
    backend *own = run->own;
    double *here;
    if (state->mode_jump) {
        SVMP_TRY(svmp_backend_edit(own, ARRAY_PARTICLES, &here));
        SVMP_TRY(svmp_mode_jump_start(state->mode_jump, here));
        svmp_shared_gather(&own->columns, run->model->graph->variables, here, x);
        return SVMP_OK;
    }
    return svmp_gaussian_draw(state->q, run->backend->seed, run->backend->n, x);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static double largest_convergence(const svmp_run *run, error_limits allowed) {
    const transport *state = run->state;
    const double moved =
        svmp_averages_convergence_of_moved(svmp_averages_rows(state->averages), run->model->graph->variables, allowed);
    if (state->text == NULL) return moved;
    return fmax(moved, svmp_averages_convergence(svmp_averages_rows(state->text_averages),
                                                 svmp_text_scale_rows(state->text), allowed));
}

/* Whether the chains have mixed, so that there is one Gaussian shape to transport particles to. */
static int have_mixed(const svmp_run *run) {
    const average *rows = svmp_averages_rows(((const transport *)run->state)->averages);
    return rows && svmp_chains_have_mixed(rows, run->model->graph->variables);
}

/* A particle that was transported to where the density is 0 goes back to where the moves left it. */
static svmp_status restore_impossible(svmp_run *run, double *x) {
    transport *state = run->state;
    const size_t n = run->backend->n;
    SVMP_TRY(svmp_model_evaluate(run->model, n, x, state->log_densities, NULL));
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; !isfinite(state->log_densities[l]) && i < run->model->graph->variables; i++)
            x[i * n + l] = state->moved[i * n + l];
    return SVMP_OK;
}

/* Matches the particles to the averages: the transported ones or, if that fails, those that the moves left, or else
 * leaves those unchanged. After a failed transport moments could be restored, but not the dependence between
 * variables. */
static svmp_status match_averages(svmp_run *run, double *x, double *workspace) {
    transport *state = run->state;
    const average *rows = svmp_averages_rows(state->averages);
    const size_t variables = run->model->graph->variables, n = run->backend->n, bytes = variables * n * sizeof *x;
    if (svmp_transport_failed(rows, variables, n, x, state->moved, far_off)) memcpy(x, state->moved, bytes);
    for (int back = 0; back < 2; back++) {
        svmp_covariance_match(state->covariance, rows, n, x);
        SVMP_TRY(svmp_match_moments(state->q, rows, variables, n, x, workspace));
        if (!svmp_transport_failed(rows, variables, n, x, state->moved, off)) return SVMP_OK;
        memcpy(x, state->moved, bytes);
    }
    return SVMP_OK;
}

static svmp_status end_transport(svmp_run *run) {
    transport *state = run->state;
    backend *b = run->backend;
    double *x, *workspace;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &workspace)); /* no longer needed */
    SVMP_TRY(match_averages(run, x, workspace));
    if (state->text) SVMP_TRY(svmp_match_text(run->model, svmp_averages_rows(state->text_averages), b->n, x));
    SVMP_TRY(restore_impossible(run, x));
    state->stage = STAGE_DONE;
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static svmp_status restore_moved(svmp_run *run) {
    double *x;
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    memcpy(x, ((transport *)run->state)->moved, run->model->graph->variables * run->backend->n * sizeof *x);
    return svmp_backend_commit(run->backend, ARRAY_PARTICLES);
}

/* Whether there are modes that neither transport nor moment matching leaves in shape. */
static int has_gaps(const svmp_run *run) {
    const transport *state = run->state;
    return (state->found && state->found->exhausted) || svmp_modes_least_width(svmp_run_modes(run)) < narrow_mode;
}

static svmp_status end_moves(svmp_run *run, int by_itself) {
    transport *state = run->state;
    const size_t left = run->iterations - run->iteration - 1;
    double *x;
    const int separated = state->has_discontinuities || has_gaps(run);
    const size_t wanted = state->ordered || separated ? 0 : TRANSPORT_STEPS; /* ordered particles are only matched */
    state->limit = by_itself && left >= wanted ? 0 : run->iterations;
    const size_t each = svmp_kept_states_count(state->kept, state->moves);
    if (each < run->draws_each && state->stopping.converged)
        svmp_log(run->context, SVMP_LOG_WARNING,
                 "The answer has %zu draws, not %zu: the moves ended after %zu iterations; %zu of them count.",
                 each * run->backend->n, run->draws_each * run->backend->n, state->moves, each);
    if (each > 0 && state->stopping.converged) {
        run->draws_each = each;
        svmp_kept_states_want(state->kept, each);
    }
    if (state->stopping.converged && state->stopping.convergence[0] > 1 && run->options.precision < usual_precision)
        svmp_log(run->context, SVMP_LOG_WARNING, "The moves ended with standard errors of up to %.2g sd, not %g%s.",
                 state->stopping.error, run->options.precision,
                 by_itself ? ": more of them no longer help" : "; more iterations may help");
    state->transport_steps = left < wanted ? left : wanted;
    state->stage = have_mixed(run) && !separated ? STAGE_TRANSPORT : STAGE_DONE;
    SVMP_TRY(svmp_backend_gather(run->own, run->backend));
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    if (state->ordered) svmp_model_sort(run->model, svmp_gaussian_mean(state->q), run->backend->n, x);
    SVMP_TRY(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
    memcpy(state->moved, x, run->model->graph->variables * run->backend->n * sizeof *x);
    return state->stage == STAGE_TRANSPORT && state->transport_steps == 0 ? end_transport(run) : SVMP_OK;
}

static void close_block(const transport *state) {
    svmp_averages_close(state->averages);
    svmp_covariance_close(state->covariance);
    if (state->text) svmp_averages_close(state->text_averages);
    if (state->mode_shares) svmp_averages_close(state->mode_shares);
}

static void clear_blocks(const transport *state) {
    svmp_averages_clear(state->averages);
    svmp_covariance_clear(state->covariance);
    if (state->text) svmp_averages_clear(state->text_averages);
    if (state->mode_shares) svmp_averages_clear(state->mode_shares);
}

static void estimate(const transport *state) {
    svmp_averages_estimate(state->averages);
    svmp_covariance_estimate(state->covariance);
    if (state->text) svmp_averages_estimate(state->text_averages);
    if (state->mode_shares) svmp_averages_estimate(state->mode_shares);
}

/* Blocks of averages end at every other inspection, so that the open one and two closed ones are 2/3 to 3/4 of all
 * iterations; iterations in which the steps adapted are in none that counts. */
static void end_block(const transport *state, size_t passed) {
    if (passed <= ADAPTATION)
        clear_blocks(state);
    else if (passed < FIRST_INSPECTION || state->stopping.inspections % 2 == 0)
        close_block(state);
}

/* Where hyperparameters hardly move given the nodes below them, as near a standard deviation of 0, all move together.
 */
static svmp_status help_mixing(svmp_run *run) {
    transport *state = run->state;
    if (state->marginal || run->iteration + 1 < MARGINAL_FROM || have_mixed(run)) return SVMP_OK;
    return svmp_model_agree_all(run->model, svmp_marginal_moves_create(run->backend, state->q, &state->marginal));
}

/* Whether the answer needs more states than there are: as many as its draws are to be, or as leave no number uncertain
 * that the moves have not averaged, such as moments on the natural scale, derived quantities and quantiles. */
static svmp_status needs_more(svmp_run *run, int *needs) {
    transport *state = run->state;
    const size_t count = svmp_kept_states_count(state->kept, state->moves);
    double more = 1;
    *needs = count < run->draws_each;
    if (*needs || count == 0 || run->draws_most <= count) return SVMP_OK;
    SVMP_TRY(svmp_model_agree_all(run->model, run->more_draws(run, &more)));
    const double wanted = ceil(more * (double)count);
    if (!(wanted > (double)count) || wanted > (double)run->draws_most) return SVMP_OK;
    run->draws_each = (size_t)wanted;
    svmp_kept_states_want(state->kept, run->draws_each);
    *needs = svmp_kept_states_count(state->kept, state->moves) < run->draws_each;
    return SVMP_OK;
}

static svmp_status inspect(svmp_run *run) {
    transport *state = run->state;
    const size_t passed = run->iteration + 1;
    estimate(state);
    if (passed == ADAPTATION && !state->local)
        state->sweep_budget = svmp_sweeper_match_trajectories(state->sweeper, state->global);
    const inspection found = {
        .error = svmp_largest_error(svmp_averages_rows(state->averages), run->model->graph->variables),
        .small = largest_convergence(run, (error_limits){run->options.precision, run->options.precision}),
        .fair = largest_convergence(run, svmp_fair_errors),
        .mixed = have_mixed(run)};
    run->backend->largest = found.small;
    const moves_end end = svmp_stopping_inspect(&state->stopping, passed, run->iterations, &found);
    int needs = 0;
    const size_t asked = run->draws_each;
    if (end == MOVES_CONVERGED) SVMP_TRY(needs_more(run, &needs));
    const int extended = needs && svmp_stopping_has_time(&state->stopping, run->iterations);
    if (needs && !extended && run->draws_each > asked) {
        run->draws_each = asked;
        svmp_kept_states_want(state->kept, asked);
    }
    if (end != MOVES_CONTINUE && !extended) return end_moves(run, end == MOVES_CONVERGED && !needs);
    end_block(state, passed);
    return help_mixing(run);
}

/* Adds the particles to the averages. */
static svmp_status follow(svmp_run *run, const double *x, const double *score) {
    transport *state = run->state;
    const double *force = score;
    if (state->ordered) {
        memcpy(state->ordered, x, run->model->graph->variables * run->own->n * sizeof *x);
        svmp_model_sort(run->model, svmp_gaussian_mean(state->q), run->own->n, state->ordered);
        x = state->ordered;
    }
    if (!state->unit_metric) SVMP_TRY(svmp_model_agree_all(run->model, svmp_trajectory_force(state->global, &force)));
    svmp_averages_add(state->averages, x, force);
    svmp_covariance_add(state->covariance, x);
    if (state->mode_shares) {
        svmp_mode_jump_labels(state->mode_jump, x, state->labels);
        svmp_averages_add(state->mode_shares, state->labels, NULL);
    }
    svmp_kept_states_offer(state->kept, run->iteration + 1, x);
    if (state->text) {
        svmp_text_scale_find(state->text, x, state->values);
        svmp_averages_add(state->text_averages, state->values, NULL);
    }
    return SVMP_OK;
}

/* Where the density is discontinuous, moves have no direction, and a particle that starts far away may stay there.
 * After the steps have adapted, and before any average counts, particles whose log density is far below the median
 * restart at others. A mode lower by `far_below_median` plus the spread of the log density has negligible weight. */
static svmp_status replace_strays(svmp_run *run) {
    transport *state = run->state;
    backend *b = run->backend;
    const size_t n = b->n, variables = run->model->graph->variables;
    double *x, *sorted = NULL, *f = state->log_densities;
    SVMP_TRY(svmp_backend_gather(run->own, b));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    svmp_status status = svmp_model_evaluate(run->model, n, x, f, NULL);
    if (status == SVMP_OK) status = SVMP_NEW(run->context, sorted, n);
    status = svmp_model_agree_all(run->model, status);
    if (status != SVMP_OK) {
        svmp_release(run->context, sorted);
        return status;
    }
    for (size_t l = 0; l < n; l++) sorted[l] = isnan(f[l]) ? -INFINITY : f[l];
    const double least = svmp_select(sorted, n, n / 2) - far_below_median - 3 * sqrt(0.5 * (double)variables);
    svmp_release(run->context, sorted);
    for (size_t l = 0, from = 0; l < n; l++) {
        if (f[l] >= least) continue;
        do from = (from + 1) % n;
        while (!(f[from] >= least)); /* at least half of them are */
        for (size_t i = 0; i < variables; i++) x[i * n + l] = x[i * n + from];
    }
    SVMP_TRY(svmp_backend_commit(b, ARRAY_PARTICLES));
    return svmp_backend_take(run->own, b);
}

static svmp_status begin_moves(svmp_run *run) {
    const transport *state = run->state;
    SVMP_TRY(svmp_backend_take(run->own, run->backend));
    return svmp_model_agree_all(run->model, svmp_sweeper_measure_curvature(state->sweeper, run->backend, 0));
}

static svmp_status move(svmp_run *run) {
    transport *state = run->state;
    backend *b = run->own;
    const size_t t = run->iteration;
    const double *x, *score, gain = t < ADAPTATION ? 2 / sqrt(1 + (double)t) : 2 / (1 + (double)t);
    if (t == 0 && !state->local) svmp_sweeper_set_budget(state->sweeper, state->sweep_budget);
    if (t == 0) SVMP_TRY(begin_moves(run));
    if (t == ADAPTATION && state->has_discontinuities) SVMP_TRY(replace_strays(run));
    SVMP_TRY(svmp_mode_jump_move(state->mode_jump, b, t));
    if (t % MARGINAL_EACH == 0) SVMP_TRY(svmp_marginal_moves_turn(state->marginal, b, t / MARGINAL_EACH));
    SVMP_TRY(svmp_sweep(state->sweeper, b, t, gain));
    SVMP_TRY(svmp_trajectory_evaluate(state->global, b, &score));
    SVMP_TRY(svmp_trajectory_check(state->global, b, t));
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(follow(run, x, score));
    if (!state->local) SVMP_TRY(svmp_trajectory_move(state->global, b, t, gain));
    run->rate = svmp_trajectory_step(state->global);
    run->backend->largest = NAN;
    state->moves = t + 1;
    if (t + 1 == state->stopping.next) return inspect(run);
    return run->iterations == t + 1 ? end_moves(run, 0) : SVMP_OK;
}

/* ---- transport --------------------------------------------------------------------------------------------------- */

static svmp_status transport_move(svmp_run *run) {
    transport *state = run->state;
    int finite = 0;
    SVMP_TRY(svmp_stein_transport(run->own, run->backend, state->q, &run->kernel, state->transport_step,
                                  state->transport_steps, &run->rate, &finite));
    if (!finite) { /* the particles diverged */
        SVMP_TRY(restore_moved(run));
        return end_transport(run);
    }
    return ++state->transport_step == state->transport_steps ? end_transport(run) : SVMP_OK;
}

static nonconvergence find_nonconvergence(const svmp_run *run) {
    const average *rows = svmp_averages_rows(((const transport *)run->state)->averages);
    return rows ? svmp_find_nonconvergence(rows, run->model->graph->variables)
                : (nonconvergence){.why = SVMP_NOTE_NONE};
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Averages that have not settled are no target, nor do moments describe what has gaps. */
static int are_matched(const svmp_run *run) {
    const transport *state = run->state;
    return state->stopping.converged && state->stage != STAGE_MOVES && have_mixed(run) && !state->has_discontinuities &&
           !has_gaps(run);
}

/* States of the exact moves, as many of each particle, which is a chain; matched if the moves have converged. If
 * processes share the particles, each gets all draws. */
static svmp_status take_draws(const svmp_run *run, size_t each, svmp_particles **draws) {
    const transport *state = run->state;
    const size_t n = run->backend->n;
    svmp_particles *made = NULL;
    svmp_status status = svmp_particles_create(run->context, run->model->graph->variables, n * each, NULL, &made);
    if (status == SVMP_OK) status = svmp_particles_set_chains(made, n);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    SVMP_CHECK(svmp_kept_states_take(state->kept, state->moves, made->values));
    if (are_matched(run)) {
        const match_targets to = {state->q, state->covariance, svmp_averages_rows(state->averages),
                                  state->text ? svmp_averages_rows(state->text_averages) : NULL};
        SVMP_CHECK(svmp_match_draws(run->model, &to, n * each, n, made->values));
    }
    *draws = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}

/* Matching takes time, and the verdict asks for the draws, too: they are kept when the run is done. */
static svmp_status make_draws(const svmp_run *run, svmp_particles **draws) {
    transport *state = run->state;
    const size_t each = svmp_kept_states_count(state->kept, state->moves);
    if (each == 0) return SVMP_OK;
    if (state->stage != STAGE_DONE) return take_draws(run, each, draws);
    if (state->answer == NULL) SVMP_TRY(take_draws(run, each, &state->answer));
    svmp_status status = svmp_particles_create(run->context, state->answer->variables, state->answer->count,
                                               state->answer->values, draws);
    if (status == SVMP_OK) status = svmp_particles_set_chains(*draws, run->backend->n);
    return svmp_model_agree_all(run->model, status);
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

static void report_end(svmp_run *run) {
    const transport *state = run->state;
    run->ended = state->stage != STAGE_DONE ? RUN_CONTINUES : state->stopping.converged ? RUN_CONVERGED : RUN_DONE;
}

static svmp_status iterate(svmp_run *run) {
    transport *state = run->state;
    SVMP_TRY((state->stage == STAGE_MOVES ? move : transport_move)(run));
    report_end(run);
    return SVMP_OK;
}

static size_t expect(const svmp_run *run) {
    const transport *state = run->state;
    if (state->stage == STAGE_DONE) return run->iteration;
    if (state->stage == STAGE_TRANSPORT) return run->iteration + state->transport_steps - state->transport_step;
    return svmp_stopping_expect(&state->stopping, run->iteration, run->iterations, run->backend->n);
}

/* A run can be extended unless its limit has ended the moves or shortened the transport. */
static svmp_status refuse_other_limit(const svmp_run *run) {
    const size_t limit = ((const transport *)run->state)->limit;
    if (limit == 0 || limit == run->iterations) return SVMP_OK;
    return svmp_fail_notes(run->context, SVMP_BAD_INPUT, NOTES(svmp_advice(SVMP_NOTE_START_NEW, "init", "FILE")),
                           "The saved run finished its moves at its limit of %zu iterations and cannot be extended to "
                           "%zu.",
                           limit, run->iterations);
}

static svmp_status archive_state(svmp_run *run, archive *a) {
    transport *state = run->state;
    size_t stage = state->stage;
    if (a->loading) svmp_particles_free(state->answer), state->answer = NULL;
    SVMP_TRY(svmp_archive_count(a, "stage", &stage));
    state->stage = stage < STAGE_DONE ? (transport_stage)stage : STAGE_DONE;
    SVMP_TRY(svmp_stopping_state(&state->stopping, a));
    SVMP_TRY(svmp_archive_count(a, "transport step", &state->transport_step));
    SVMP_TRY(svmp_archive_count(a, "transport steps", &state->transport_steps));
    SVMP_TRY(svmp_archive_count(a, "limit", &state->limit));
    SVMP_TRY(refuse_other_limit(run));
    SVMP_TRY(svmp_archive_rows(a, "moved", run->backend->n, state->moved));
    SVMP_TRY(svmp_sweeper_state(state->sweeper, a));
    SVMP_TRY(svmp_trajectory_state(state->global, a));
    SVMP_TRY(svmp_archive_real(a, "sweep budget", &state->sweep_budget));
    if (a->loading && !state->local) svmp_sweeper_set_budget(state->sweeper, first_sweep_budget);
    if (a->loading && !state->local) svmp_sweeper_set_budget(state->sweeper, state->sweep_budget);
    size_t marginal = state->marginal != NULL;
    SVMP_TRY(svmp_archive_count(a, "marginal moves", &marginal));
    if (a->loading && marginal)
        SVMP_TRY(
            svmp_model_agree_all(run->model, svmp_marginal_moves_create(run->backend, state->q, &state->marginal)));
    SVMP_TRY(svmp_averages_state(state->averages, a));
    SVMP_TRY(svmp_covariance_state(state->covariance, a));
    SVMP_TRY(svmp_archive_count(a, "moves", &state->moves));
    SVMP_TRY(svmp_kept_states_state(state->kept, a));
    if (a->loading && state->kept) run->draws_each = svmp_kept_states_wanted(state->kept);
    if (state->text) SVMP_TRY(svmp_averages_state(state->text_averages, a));
    if (state->mode_shares) SVMP_TRY(svmp_averages_state(state->mode_shares, a));
    report_end(run);
    return SVMP_OK;
}

const method svmp_method_transport = {.name = "transport",
                                      .kernel = "rbf/sd@self + linear/sd@near",
                                      .init = "gaussian",
                                      .coordinates = "auto",
                                      .iterations = 2000,
                                      .largest = "error",
                                      .fits = 1,
                                      .shared = 1,
                                      .answers = 4000,
                                      .arrays = 18,           /* averages 12, trajectories 4, `moved` 1, solves 1 */
                                      .examination = 1.0 / 6, /* its moves cost as much as those of the method */
                                      .alloc = alloc,
                                      .start = draw_start,
                                      .iterate = iterate,
                                      .expect = expect,
                                      .free = free_transport,
                                      .gaussian = fitted,
                                      .modes = modes_of,
                                      .mode_share = share_of,
                                      .make_draws = make_draws,
                                      .nonconvergence = find_nonconvergence,
                                      .state = archive_state};
