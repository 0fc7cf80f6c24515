/* Exact moves from a Gaussian on the graph, followed by Stein's transport; the default method.
 *
 *   - The Gaussian on the graph, q, gives the start and the metric of global moves.
 *   - Every particle is a Markov chain. An iteration moves each node given its neighbours (sweep.h), and then the whole
 *     particle along a trajectory in the metric of q (trajectory.h). The means and sds of all variables are averaged
 *     over windows of 25, 50, 100, ... iterations, with their standard errors (averages.h), until these are small and
 *     nothing drifts.
 *   - By themselves the particles are as noisy as that many independent draws. Stein's transport removes the noise: its
 *     kernel, linear on the variables that a node reads and rbf on the node itself, moves them until Stein's identities
 *     hold. If it leads particles astray in some variable, it is undone.
 *   - Then every variable is shifted and stretched to its average mean and sd, and few variables to their correlations
 *     (covariance.h). A node that moves in other coordinates is held to those on the scale of the model text.
 *
 * Where the density may jump, Stein's identities do not hold: they are not asked of such variables, and no particle is
 * carried. Nor is one where modes are known that are far apart (model/posterior_modes.h): particles start in all of
 * them, and each iteration offers them a leap to another one (leap.h).
 *
 * So 100 particles carry the information of thousands of draws. */
#include <math.h>
#include <string.h>

#include "base/notes.h"
#include "base/row_sums.h"
#include "maths/order_statistics.h"
#include "method/method.h"
#include "method/moves/leap.h"
#include "method/moves/sweep.h"
#include "method/moves/trajectory.h"
#include "method/transport/averages.h"
#include "method/transport/covariance.h"
#include "method/transport/held_moments.h"
#include "method/transport/held_text_moments.h"
#include "method/transport/settled.h"
#include "method/transport/transport_failure.h"
#include "model/density_jumps.h"
#include "model/sorted_variables.h"
#include "model/text_scale.h"

enum { FIRST_WINDOW = 25, ADAPTS = 3 * FIRST_WINDOW, CARRIES = 100 };

static const double stalled = 0.9;            /* of the unrest before, after twice as many iterations */
static const double hopeless = 15;            /* below the median log density: e^-15 */
static const double off = 1.2, far_off = 1.5; /* of an sd, as a ratio: after and before it is held */
static const double dense = 200; /* entries of the factor per variable with which global moves cost too much */

typedef enum transport_stage { STAGE_MOVES, STAGE_CARRIES, STAGE_DONE } transport_stage;

typedef struct transport {
    gaussian *q;
    sweeper *sweeper;
    trajectory *global;
    leaper *leaper; /* between modes that are known; NULL: there are none */
    int local;      /* trajectories would cost too much: local moves alone */
    bool *jumps;    /* of each variable: the density may jump in it, or it is ordered; NULL: nowhere */
    int broken;     /* it may jump somewhere: no particle is carried */
    averages *averages;
    covariance *covariance; /* NULL: of too many variables, or one */
    double *metric;        /* the diagonal of the matrix of Stein's identities (averages.h): A^-1, or, if `apart`, 1: */
    int apart;             /* a solve costs too much, or the density may jump in some variable */
    double *moved;         /* the particles as the moves left them */
    double *ordered;       /* particles, with what the text sorts in the order of q's mean; NULL: it sorts nothing */
    double *log_densities; /* of each particle */

    /* The same for nodes that move in other coordinates, on the scale of the text: NULL where there are none. */
    text_scale *text;
    averages *text_averages;
    double *values;

    transport_stage stage;
    size_t window, length;   /* iterations of the open window, and how many it shall have */
    size_t carried, carries; /* iterations of the transport: done, and to do */
    size_t settled;
    double unrest;      /* of the last window that was closed */
    double error, fell; /* the largest in its averages, and what that is of the one before; 0: unknown */
    size_t limit;       /* of iterations, where it ended the moves or cut the transport; else 0 */
} transport;

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static svmp_status alloc_text(svmp_run *run) {
    transport *own = run->own;
    const backend *b = run->backend;
    SVMP_TRY(svmp_text_scale_create(run->model, b->n, &own->text));
    if (own->text == NULL) return SVMP_OK;
    const size_t rows = svmp_text_scale_rows(own->text);
    SVMP_TRY(svmp_averages_create(run->context, rows, b->n, b->threads, &own->text_averages));
    return svmp_allocate(run->context, rows, b->n * sizeof(double), (void **)&own->values);
}

/* Where the text sorts unknowns whose order makes no difference, chains exchange them rarely, and averages of each
 * would not settle. So they are taken of ordered particles, which are draws of the ordered unknowns. Their density ends
 * where two are equal, as at a jump. */
static svmp_status find_order(svmp_run *run) {
    transport *own = run->own;
    const backend *b = run->backend;
    const size_t variables = run->model->graph->variables;
    int exchangeable;
    SVMP_TRY(svmp_gaussian_draw(own->q, b->seed, b->n, own->moved)); /* somewhere to look; overwritten by the moves */
    SVMP_TRY(svmp_model_is_exchangeable(run->model, b->n, own->moved, &exchangeable));
    if (!exchangeable) return SVMP_OK;
    if (own->jumps == NULL) SVMP_TRY(SVMP_NEW(run->context, own->jumps, variables));
    svmp_model_mark_sorted(run->model, own->jumps);
    return svmp_allocate(run->context, variables, b->n * sizeof(double), (void **)&own->ordered);
}

/* The matrix of Stein's identities: A^-1. Where the density may jump in a variable its score has no mean of 0, and then
 * A^-1 s has it in no variable: each has its own score, but those. */
static svmp_status find_metric(svmp_run *run) {
    transport *own = run->own;
    const size_t variables = run->model->graph->variables;
    SVMP_TRY(SVMP_NEW(run->context, own->metric, variables));
    svmp_averages_control(own->averages, own->metric);
    own->apart = own->local || own->jumps != NULL;
    if (!own->apart) return svmp_gaussian_variance(own->q, own->metric);
    for (size_t i = 0; i < variables; i++) own->metric[i] = own->jumps && own->jumps[i] ? 0 : 1;
    return SVMP_OK;
}

static svmp_status alloc(svmp_run *run) {
    backend *b = run->backend;
    const size_t variables = run->model->graph->variables;
    transport *own = NULL;
    SVMP_TRY(svmp_method_refuse_boxes(run));
    if (run->options.tolerance > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL,
                         "The method 'transport' does not take a tolerance: it stops when "
                         "its averages have settled.");
    SVMP_TRY(SVMP_NEW(run->context, own, 1));
    run->own = own;
    own->length = FIRST_WINDOW;
    svmp_gaussian_note_functions(run->model);
    SVMP_TRY(svmp_gaussian_create_from(run->model, b->seed, run->start.point, &own->q));
    SVMP_TRY(svmp_sweeper_create(b, &own->sweeper));
    SVMP_TRY(svmp_trajectory_create(b, own->q, &own->global));
    SVMP_TRY(svmp_leaper_create(b, &own->leaper));
    own->local = (double)svmp_gaussian_entries(own->q) > dense * (double)variables;
    SVMP_TRY(svmp_averages_create(run->context, variables, b->n, b->threads, &own->averages));
    SVMP_TRY(svmp_allocate(run->context, variables, b->n * sizeof(double), (void **)&own->moved));
    SVMP_TRY(svmp_model_jumps(run->model, &own->jumps));
    own->broken = own->jumps != NULL;
    if (!own->broken) SVMP_TRY(svmp_covariance_create(run->context, variables, b->n, b->threads, &own->covariance));
    SVMP_TRY(find_order(run));
    SVMP_TRY(find_metric(run));
    SVMP_TRY(alloc_text(run));
    return SVMP_NEW(run->context, own->log_densities, b->n);
}

static void free_transport(svmp_run *run) {
    transport *own = run->own;
    svmp_trajectory_free(own->global);
    svmp_leaper_free(own->leaper);
    svmp_sweeper_free(own->sweeper);
    svmp_gaussian_free(own->q);
    svmp_averages_free(own->averages);
    svmp_covariance_free(own->covariance);
    svmp_averages_free(own->text_averages);
    svmp_text_scale_free(own->text);
    svmp_release(run->context, own->jumps);
    svmp_release(run->context, own->metric);
    svmp_release(run->context, own->values);
    svmp_release(run->context, own->moved);
    svmp_release(run->context, own->ordered);
    svmp_release(run->context, own->log_densities);
    svmp_release(run->context, own);
}

static gaussian *own_gaussian(const svmp_run *run) { return ((const transport *)run->own)->q; }

static svmp_status draw_start(svmp_run *run, double *x) {
    const transport *own = run->own;
    if (own->leaper) return svmp_leaper_start(own->leaper, x);
    return svmp_gaussian_draw(own->q, run->backend->seed, run->backend->n, x);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static double largest_unrest(const svmp_run *run, error_limits allowed) {
    const transport *own = run->own;
    const double moved =
        svmp_averages_unrest_of_moved(svmp_averages_rows(own->averages), run->model->graph->variables, allowed);
    if (own->text == NULL) return moved;
    return fmax(moved,
                svmp_averages_unrest(svmp_averages_rows(own->text_averages), svmp_text_scale_rows(own->text), allowed));
}

/* Whether there is one Gaussian shape to carry particles to. */
static int have_met(const svmp_run *run) {
    const average *rows = svmp_averages_rows(((const transport *)run->own)->averages);
    return rows && svmp_chains_have_met(rows, run->model->graph->variables);
}

/* A particle that was carried to where the density is 0, beyond an edge, is again where the moves left it. */
static svmp_status bring_back(svmp_run *run, double *x) {
    transport *own = run->own;
    const size_t n = run->backend->n;
    SVMP_TRY(svmp_model_evaluate(run->model, n, x, own->log_densities, NULL));
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; !isfinite(own->log_densities[l]) && i < run->model->graph->variables; i++)
            x[i * n + l] = own->moved[i * n + l];
    return SVMP_OK;
}

/* Holds the particles to the averages: those that were carried, or else those that the moves left, or else as they were
 * left. Moments that were carried far away could be brought back, but not how variables depend on each other. */
static svmp_status hold(svmp_run *run, double *x, double *room) {
    transport *own = run->own;
    const average *rows = svmp_averages_rows(own->averages);
    const size_t variables = run->model->graph->variables, n = run->backend->n, bytes = variables * n * sizeof *x;
    if (svmp_led_astray(rows, variables, n, x, own->moved, far_off)) memcpy(x, own->moved, bytes);
    for (int back = 0; back < 2; back++) {
        svmp_covariance_hold(own->covariance, rows, x);
        SVMP_TRY(svmp_hold(own->q, rows, variables, n, x, room));
        if (!svmp_led_astray(rows, variables, n, x, own->moved, off)) return SVMP_OK;
        memcpy(x, own->moved, bytes);
    }
    return SVMP_OK;
}

static svmp_status end_carries(svmp_run *run) {
    transport *own = run->own;
    backend *b = run->backend;
    double *x, *room;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &room)); /* needed no more */
    SVMP_TRY(hold(run, x, room));
    for (size_t i = 0; own->text && i < svmp_text_scale_rows(own->text); i++) {
        const text_row row = svmp_text_scale_row(own->text, i, x); /* parents are held already */
        svmp_hold_text(b->n, &svmp_averages_rows(own->text_averages)[i], &row, x + row.variable * b->n);
    }
    SVMP_TRY(bring_back(run, x));
    own->stage = STAGE_DONE;
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static svmp_status go_back(svmp_run *run) {
    double *x;
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    memcpy(x, ((transport *)run->own)->moved, run->model->graph->variables * run->backend->n * sizeof *x);
    return svmp_backend_commit(run->backend, ARRAY_PARTICLES);
}

static svmp_status end_moves(svmp_run *run, int by_itself) {
    transport *own = run->own;
    const size_t left = run->iterations - run->iteration - 1;
    double *x;
    const int apart = own->broken || own->leaper; /* nothing is carried, or held to moments, across a gap */
    const size_t wanted = own->ordered || apart ? 0 : CARRIES; /* what is ordered is only held */
    own->limit = by_itself && left >= wanted ? 0 : run->iterations;
    own->carries = left < wanted ? left : wanted;
    own->stage = have_met(run) && !apart ? STAGE_CARRIES : STAGE_DONE;
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    if (own->ordered) svmp_model_sort(run->model, svmp_gaussian_mean(own->q), run->backend->n, x);
    SVMP_TRY(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
    memcpy(own->moved, x, run->model->graph->variables * run->backend->n * sizeof *x);
    return own->stage == STAGE_CARRIES && own->carries == 0 ? end_carries(run) : SVMP_OK;
}

/* Ends the moves when the averages are good, or fair and no longer getting better: the sd of a variable with heavy
 * tails does not. A window in which the steps adapted does not count. */
static svmp_status close_window(svmp_run *run) {
    transport *own = run->own;
    const size_t passed = run->iteration + 1;
    svmp_averages_close(own->averages);
    svmp_covariance_close(own->covariance);
    if (own->text) svmp_averages_close(own->text_averages);
    const double before = own->settled ? own->unrest : INFINITY, now = largest_unrest(run, svmp_small_errors);
    const double error = svmp_largest_error(svmp_averages_rows(own->averages), run->model->graph->variables);
    own->fell = own->error > 0 ? error / own->error : 0;
    own->error = error;
    run->backend->largest = own->unrest = now;
    own->settled = passed >= own->length + ADAPTS && have_met(run) && largest_unrest(run, svmp_fair_errors) <= 1;
    own->window = 0;
    own->length *= 2;
    if (own->settled && (now <= 1 || now > stalled * before)) return end_moves(run, 1);
    if (own->length + CARRIES > run->iterations - passed) return end_moves(run, 0);
    return SVMP_OK;
}

/* Adds the particles to the averages. */
static svmp_status follow(svmp_run *run, const double *x, const double *score) {
    transport *own = run->own;
    const double *force = score;
    if (own->ordered) {
        memcpy(own->ordered, x, run->model->graph->variables * run->backend->n * sizeof *x);
        svmp_model_sort(run->model, svmp_gaussian_mean(own->q), run->backend->n, own->ordered);
        x = own->ordered;
    }
    if (!own->apart) SVMP_TRY(svmp_trajectory_force(own->global, &force));
    svmp_averages_add(own->averages, x, force);
    svmp_covariance_add(own->covariance, x);
    if (own->text) {
        svmp_text_scale_find(own->text, x, own->values);
        svmp_averages_add(own->text_averages, own->values, NULL);
    }
    return SVMP_OK;
}

/* Where the density jumps, moves are blind: a particle that started far away may stay there. When the steps have
 * adapted, and before any average counts, those whose log density is far below the median start again, from where
 * others are. A mode that is `hopeless` lower, and a log density's own spread more, has no weight. */
static svmp_status gather_strays(svmp_run *run) {
    transport *own = run->own;
    backend *b = run->backend;
    const size_t n = b->n, variables = run->model->graph->variables;
    double *x, *sorted, *f = own->log_densities;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_model_evaluate(run->model, n, x, f, NULL));
    SVMP_TRY(SVMP_NEW(run->context, sorted, n));
    for (size_t l = 0; l < n; l++) sorted[l] = isnan(f[l]) ? -INFINITY : f[l];
    const double least = svmp_select(sorted, n, n / 2) - hopeless - 3 * sqrt(0.5 * (double)variables);
    svmp_release(run->context, sorted);
    for (size_t l = 0, from = 0; l < n; l++) {
        if (f[l] >= least) continue;
        do from = (from + 1) % n;
        while (!(f[from] >= least)); /* half of them are */
        for (size_t i = 0; i < variables; i++) x[i * n + l] = x[i * n + from];
    }
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static svmp_status move(svmp_run *run) {
    transport *own = run->own;
    backend *b = run->backend;
    const size_t t = run->iteration;
    const double *x, *score, gain = t < ADAPTS ? 2 / sqrt(1 + (double)t) : 2 / (1 + (double)t);
    if (t == 0) SVMP_TRY(svmp_sweeper_measure(own->sweeper, b, 0));
    if (t == ADAPTS && own->broken) SVMP_TRY(gather_strays(run));
    SVMP_TRY(svmp_leap(own->leaper, b, t));
    SVMP_TRY(svmp_sweep(own->sweeper, b, t, gain));
    SVMP_TRY(svmp_trajectory_look(own->global, b, &score));
    SVMP_TRY(svmp_trajectory_check(own->global, b, t));
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(follow(run, x, score));
    if (!own->local) SVMP_TRY(svmp_trajectory_move(own->global, b, t, gain));
    run->rate = svmp_trajectory_step(own->global);
    b->largest = NAN;
    if (++own->window == own->length) return close_window(run);
    return run->iterations == t + 1 ? end_moves(run, 0) : SVMP_OK;
}

/* ---- carries ----------------------------------------------------------------------------------------------------- */

/* The largest displacement of a variable's particles, root mean square in units of their sd. */
static double largest_push(const svmp_run *run, const double *x, const double *push) {
    const size_t n = run->backend->n;
    double largest = 0;
    for (size_t i = 0; i < run->model->graph->variables; i++) {
        const double *row = x + i * n, *by = push + i * n, mean = svmp_sum(n, row) / (double)n;
        double squares = 0;
        for (size_t l = 0; l < n; l++) squares += (row[l] - mean) * (row[l] - mean);
        const double share = sqrt(svmp_dot(n, by, by) / squares);
        largest = share > largest || isnan(share) ? share : largest;
    }
    return largest;
}

/* x <- x + rate A^-1 phi: in the metric of q correlated variables move together. The rate falls from 0.3 to 0.015,
 * which is stable while the correlation matrix of what a node reads has no eigenvalue far above 60. */
static svmp_status push(svmp_run *run, int *finite) {
    transport *own = run->own;
    backend *b = run->backend;
    const size_t numbers = run->model->graph->variables * b->n;
    double *x, *phi;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &phi));
    SVMP_TRY(svmp_gaussian_solve(own->q, b->n, phi));
    const double largest = largest_push(run, x, phi), fallen = (double)own->carried / (double)own->carries;
    *finite = isfinite(largest) != 0;
    if (!*finite) return SVMP_OK;
    run->rate = fmin(0.3 * pow(0.05, fallen), 0.1 / largest);
    for (size_t k = 0; k < numbers; k++) x[k] += run->rate * phi[k];
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static svmp_status carry(svmp_run *run) {
    transport *own = run->own;
    backend *b = run->backend;
    int finite = 0;
    SVMP_TRY(b->kind->score(b));
    SVMP_TRY(b->kind->stein(b, &run->kernel, own->carried));
    SVMP_TRY(push(run, &finite));
    if (!finite) { /* the particles ran away */
        SVMP_TRY(go_back(run));
        return end_carries(run);
    }
    return ++own->carried == own->carries ? end_carries(run) : SVMP_OK;
}

static method_unrest find_unrest(const svmp_run *run) {
    const average *rows = svmp_averages_rows(((const transport *)run->own)->averages);
    return rows ? svmp_worst_unrest(rows, run->model->graph->variables) : (method_unrest){.why = SVMP_NOTE_NONE};
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

static void tell_end(svmp_run *run) {
    const transport *own = run->own;
    run->ended = own->stage != STAGE_DONE ? RUN_GOES_ON : own->settled ? RUN_SETTLED : RUN_DONE;
}

static svmp_status iterate(svmp_run *run) {
    transport *own = run->own;
    SVMP_TRY((own->stage == STAGE_MOVES ? move : carry)(run));
    tell_end(run);
    return SVMP_OK;
}

/* The iterations until the moves end, and the transport, if the largest error after the open window is `next` small
 * ones and falls so with every window. */
static size_t foresee(const svmp_run *run, double next, double falls) {
    const transport *own = run->own;
    const double fair = svmp_fair_errors.mean / svmp_small_errors.mean;
    size_t length = own->length, end = run->iteration - own->window + length;
    for (;; next *= falls) {
        const int settled = end >= length + ADAPTS && next <= fair;
        if (settled && (next <= 1 || falls > stalled)) break;
        if (end + 2 * length + CARRIES > run->iterations) break;
        length *= 2;
        end += length;
    }
    return end + CARRIES < run->iterations ? end + CARRIES : run->iterations;
}

/* Every window halves the variance of the errors, unless the last has shown that it does not: that of a heavy tail. A
 * third of the draws are supposed to be worth an independent one; while steps adapt, errors say half of it. The largest
 * of many errors is known to a fifth, and a window more is twice as many iterations: the mean of what either end would
 * give. */
static size_t expect(const svmp_run *run) {
    const transport *own = run->own;
    if (own->stage == STAGE_DONE) return run->iteration;
    if (own->stage == STAGE_CARRIES) return run->iteration + own->carries - own->carried;
    const double half = sqrt(0.5), falls = own->fell > half ? fmin(own->fell, 1) : half,
                 supposed = sqrt(3.0 / (double)(own->length * run->backend->n)),
                 told = own->error > 0 ? own->error * falls : supposed,
                 next = run->iteration - own->window > ADAPTS ? told : sqrt(told * supposed),
                 unit = svmp_small_errors.mean;
    const double low = (double)foresee(run, 0.8 * next / unit, falls),
                 high = (double)foresee(run, 1.25 * next / unit, falls);
    return (size_t)sqrt(low * high);
}

/* A longer run is this one as long as the limit has ended nothing. */
static svmp_status refuse_other_limit(const svmp_run *run) {
    const size_t limit = ((const transport *)run->own)->limit;
    if (limit == 0 || limit == run->iterations) return SVMP_OK;
    return svmp_fail_notes(run->context, SVMP_BAD_INPUT, NOTES(svmp_advice(SVMP_NOTE_START_NEW, "init", "FILE")),
                           "The saved run finished its moves at its limit of %zu iterations and cannot be extended to "
                           "%zu.",
                           limit, run->iterations);
}

static svmp_status state(svmp_run *run, archive *a) {
    transport *own = run->own;
    size_t stage = own->stage;
    SVMP_TRY(svmp_archive_count(a, "stage", &stage));
    own->stage = stage < STAGE_DONE ? (transport_stage)stage : STAGE_DONE;
    SVMP_TRY(svmp_archive_count(a, "in the window", &own->window));
    SVMP_TRY(svmp_archive_count(a, "length", &own->length));
    SVMP_TRY(svmp_archive_count(a, "carried", &own->carried));
    SVMP_TRY(svmp_archive_count(a, "carries", &own->carries));
    SVMP_TRY(svmp_archive_count(a, "settled", &own->settled));
    SVMP_TRY(svmp_archive_real(a, "unrest", &own->unrest));
    SVMP_TRY(svmp_archive_count(a, "limit", &own->limit));
    SVMP_TRY(refuse_other_limit(run));
    SVMP_TRY(svmp_archive_rows(a, "moved", run->backend->n, own->moved));
    SVMP_TRY(svmp_sweeper_state(own->sweeper, a));
    SVMP_TRY(svmp_trajectory_state(own->global, a));
    SVMP_TRY(svmp_averages_state(own->averages, a));
    SVMP_TRY(svmp_covariance_state(own->covariance, a));
    const average *rows = svmp_averages_rows(own->averages);
    own->error = rows ? svmp_largest_error(rows, run->model->graph->variables) : 0;
    if (own->text) SVMP_TRY(svmp_averages_state(own->text_averages, a));
    tell_end(run);
    return SVMP_OK;
}

const method svmp_method_transport = {.name = "transport",
                                      .kernel = "rbf/sd@self + linear/sd@near",
                                      .init = "gaussian",
                                      .coordinates = "auto",
                                      .iterations = 2000,
                                      .largest = "error",
                                      .fits = 1,
                                      .arrays = 10,           /* averages 4, trajectories 4, as moved, solves */
                                      .examination = 1.0 / 6, /* whose moves are like its own */
                                      .alloc = alloc,
                                      .start = draw_start,
                                      .iterate = iterate,
                                      .expect = expect,
                                      .free = free_transport,
                                      .gaussian = own_gaussian,
                                      .unrest = find_unrest,
                                      .state = state};
