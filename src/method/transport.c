/* Exact moves from a Gaussian on the graph, followed by Stein's transport; the default method.
 *
 *   - The Gaussian on the graph, q, gives the start and the metric of global moves.
 *   - Every particle is a Markov chain. An iteration moves each node given its neighbours (sweep.h), and then the whole
 *     particle along a trajectory in the metric of q (trajectory.h). The means and sds of all variables are averaged
 *     over windows of 25, 50, 100, ... iterations, with their standard errors (averages.h), until these are small and
 *     nothing drifts.
 *   - The last particles by themselves are as noisy as that many independent draws. Stein's transport removes the
 *     noise: its kernel, linear on the variables that a node reads and rbf on the node itself, moves them until Stein's
 *     identities hold.
 *   - Then every variable is shifted and stretched to its average mean and sd. A node that moves in other coordinates
 * is held to those on the scale of the model text.
 *
 * So 100 particles carry the information of thousands of draws. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "method/averages.h"
#include "method/hold.h"
#include "method/method.h"
#include "method/sweep.h"
#include "method/trajectory.h"
#include "model/text_scale.h"

enum { FIRST_WINDOW = 25, ADAPTS = 3 * FIRST_WINDOW, CARRIES = 100 };

static const double small_error = 0.015;  /* of an average, in units of the sd: the moves end */
static const double fair_error = 0.05;    /* the same: good enough at the limit of iterations */
static const double small_drift = 0.05;   /* the same, between windows */
static const double small_identity = 0.1; /* a residual of Stein's identities that does not matter */
static const double chance = 4.5;         /* standard errors that chance does not exceed, even among many variables */
static const double together = 0.5;       /* average.apart below which chains have come to where the others are */
static const double dense = 200;          /* entries of the factor per variable with which global moves cost too much */

typedef enum transport_stage { STAGE_MOVES, STAGE_CARRIES, STAGE_DONE } transport_stage;

typedef struct transport {
    gaussian *q;
    sweeper *sweeper;
    trajectory *global;
    int local; /* trajectories would cost too much: local moves alone */
    averages *averages;
    double *moved; /* the particles when the moves ended */

    /* The same for nodes that move in other coordinates, on the scale of the text: NULL where there are none. */
    text_scale *text;
    averages *text_averages;
    double *values;

    transport_stage stage;
    size_t window, length;   /* iterations of the open window, and how many it shall have */
    size_t carried, carries; /* iterations of the transport: done, and to do */
    size_t settled;
    double error; /* the largest of an average, in units of small_error, when the last window closed; 0: none has */
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
    SVMP_TRY(svmp_gaussian_create_from(run->model, b->seed, run->start.point, &own->q));
    SVMP_TRY(svmp_sweeper_create(b, &own->sweeper));
    SVMP_TRY(svmp_trajectory_create(b, own->q, &own->global));
    own->local = (double)svmp_gaussian_entries(own->q) > dense * (double)variables;
    SVMP_TRY(svmp_averages_create(run->context, variables, b->n, b->threads, &own->averages));
    SVMP_TRY(alloc_text(run));
    return svmp_allocate(run->context, variables, b->n * sizeof(double), (void **)&own->moved);
}

static void free_transport(svmp_run *run) {
    transport *own = run->own;
    svmp_trajectory_free(own->global);
    svmp_sweeper_free(own->sweeper);
    svmp_gaussian_free(own->q);
    svmp_averages_free(own->averages);
    svmp_averages_free(own->text_averages);
    svmp_text_scale_free(own->text);
    svmp_release(run->context, own->values);
    svmp_release(run->context, own->moved);
    svmp_release(run->context, own);
}

static svmp_status draw_start(svmp_run *run, double *x) {
    const transport *own = run->own;
    return svmp_gaussian_draw(own->q, run->backend->seed, run->backend->n, x);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* How far a variable's averages are from settled, with standard errors of at most `allowed` sd: at most 1 when they
 * are. */
static double unrest(const average *a, double allowed) {
    if (!(a->sd > 0)) return INFINITY;
    const double error = fmax(a->mean_error, a->sd_error) / (a->sd * allowed);
    const double drift = fabs(a->drift) / fmax(small_drift * a->sd, chance * a->drift_error);
    return isnan(error + drift) ? INFINITY : fmax(error, drift);
}

/* The same for what moves, for which Stein's identities hold. */
static double unrest_of_moved(const average *a, double allowed) {
    const double push = fabs(a->push) / fmax(small_identity, chance * a->push_error);
    const double pull = fabs(a->pull) / fmax(small_identity, chance * a->pull_error);
    return isnan(push + pull) ? INFINITY : fmax(unrest(a, allowed), fmax(push, pull));
}

static double largest_unrest(const svmp_run *run, double allowed) {
    const transport *own = run->own;
    const average *rows = svmp_averages_rows(own->averages);
    double largest = 0;
    for (size_t i = 0; i < run->model->graph->variables; i++)
        largest = fmax(largest, unrest_of_moved(&rows[i], allowed));
    if (own->text) rows = svmp_averages_rows(own->text_averages);
    for (size_t i = 0; i < svmp_text_scale_rows(own->text); i++) largest = fmax(largest, unrest(&rows[i], allowed));
    return largest;
}

/* The largest standard error alone, which falls with the root of the length of a window. */
static double largest_error(const svmp_run *run) {
    const transport *own = run->own;
    const average *rows = svmp_averages_rows(own->averages);
    double largest = 0;
    for (size_t i = 0; i < run->model->graph->variables; i++)
        if (rows[i].sd > 0) largest = fmax(largest, fmax(rows[i].mean_error, rows[i].sd_error) / rows[i].sd);
    return largest / small_error;
}

/* Whether every chain has come to where the others are: then there is one Gaussian shape to carry particles to. */
static int have_met(const svmp_run *run) {
    const average *rows = svmp_averages_rows(((const transport *)run->own)->averages);
    if (rows == NULL) return 0;
    for (size_t i = 0; i < run->model->graph->variables; i++)
        if (!(rows[i].apart < together)) return 0;
    return 1;
}

/* Holds a variable on the scale of the text, u = o + w x: what moves is shifted and stretched, x <- a + b x, so that a
 * particle is shifted in units of its own width. The mean M and the sd S of u are those of the average for
 *
 *     a = (M - mean o - b mean(w x)) / mean w,
 *     u = c + b d,   c = o + w (M - mean o)/mean w,   d = w (x - mean(w x)/mean w),
 *     var c + 2 b cov(c, d) + b^2 var d = S^2.
 *
 * Of its two solutions the positive one is taken, if there is one. */
static void hold_text(size_t n, const average *to, const text_row *row, double *x) {
    const double *o = row->origin, *w = row->width, each = 1 / (double)n;
    if (!(to->sd > 0)) return;
    const double width = each * svmp_sum(n, w), origin = each * svmp_sum(n, o), product = each * svmp_dot(n, w, x);
    const double shift = (to->mean - origin) / width, centre = product / width;
    double cc = 0, cd = 0, dd = 0;
    for (size_t l = 0; l < n; l++) {
        const double c = o[l] + w[l] * shift - to->mean, d = w[l] * (x[l] - centre); /* of means 0 */
        cc += c * c;
        cd += c * d;
        dd += d * d;
    }
    const double root = cd * cd + dd * (to->sd * to->sd * (double)(n - 1) - cc), b = (sqrt(root) - cd) / dd;
    if (!(root >= 0 && b > 0 && isfinite(b))) return;
    for (size_t l = 0; l < n; l++) x[l] = shift + b * (x[l] - centre);
}

static svmp_status end_carries(svmp_run *run) {
    transport *own = run->own;
    backend *b = run->backend;
    const average *rows = svmp_averages_rows(own->averages);
    double *x;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_hold(own->q, rows, run->model->graph->variables, b->n, x, own->moved)); /* needed no more */
    if (own->text) rows = svmp_averages_rows(own->text_averages);
    for (size_t i = 0; i < svmp_text_scale_rows(own->text); i++) {
        const text_row row = svmp_text_scale_row(own->text, i, x); /* parents are held already */
        hold_text(b->n, &rows[i], &row, x + row.variable * b->n);
    }
    own->stage = STAGE_DONE;
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static svmp_status end_moves(svmp_run *run, const double *x) {
    transport *own = run->own;
    const size_t left = run->iterations - run->iteration - 1;
    memcpy(own->moved, x, run->model->graph->variables * run->backend->n * sizeof *x);
    own->carries = left < CARRIES ? left : CARRIES;
    own->stage = have_met(run) ? STAGE_CARRIES : STAGE_DONE;
    return own->stage == STAGE_CARRIES && own->carries == 0 ? end_carries(run) : SVMP_OK;
}

static svmp_status move(svmp_run *run) {
    transport *own = run->own;
    backend *b = run->backend;
    const size_t t = run->iteration;
    const double *x, *score, gain = t < ADAPTS ? 2 / sqrt(1 + (double)t) : 2 / (1 + (double)t);
    if (t == 0) SVMP_TRY(svmp_sweeper_measure(own->sweeper, b, 0));
    SVMP_TRY(svmp_sweep(own->sweeper, b, t, gain));
    SVMP_TRY(svmp_trajectory_look(own->global, b, &score));
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    svmp_averages_add(own->averages, x, score);
    if (own->text) {
        svmp_text_scale_find(own->text, x, own->values);
        svmp_averages_add(own->text_averages, own->values, NULL);
    }
    if (!own->local) SVMP_TRY(svmp_trajectory_move(own->global, b, t, gain));
    run->rate = svmp_trajectory_step(own->global);
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    b->largest = NAN;
    own->window++;
    const size_t left = run->iterations - t - 1;
    if (own->window == own->length) {
        svmp_averages_close(own->averages);
        if (own->text) svmp_averages_close(own->text_averages);
        b->largest = largest_unrest(run, small_error);
        own->error = largest_error(run);
        own->settled = have_met(run) && largest_unrest(run, fair_error) <= 1;
        own->window = 0;
        own->length *= 2;
        if ((b->largest <= 1 && own->settled) || own->length + CARRIES > left) return end_moves(run, x);
    }
    return left == 0 ? end_moves(run, x) : SVMP_OK;
}

/* ---- carries ----------------------------------------------------------------------------------------------------- */

/* The particles ran away: they are again where the moves left them. */
static svmp_status give_up(svmp_run *run) {
    transport *own = run->own;
    double *x;
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    memcpy(x, own->moved, run->model->graph->variables * run->backend->n * sizeof *x);
    SVMP_TRY(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
    return end_carries(run);
}

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
    if (!finite) return give_up(run);
    return ++own->carried == own->carries ? end_carries(run) : SVMP_OK;
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

/* Every window halves the variance of the errors. Before the first has closed, a third of the draws are supposed to be
 * worth an independent one. */
static size_t expect(const svmp_run *run) {
    const transport *own = run->own;
    if (own->stage == STAGE_DONE) return run->iteration;
    if (own->stage == STAGE_CARRIES) return run->iteration + own->carries - own->carried;
    const double first = sqrt(3.0 / (double)(FIRST_WINDOW * run->backend->n)) / small_error;
    double error = (own->error > 0 ? own->error : first) * (own->length > FIRST_WINDOW ? sqrt(0.5) : 1);
    size_t length = own->length, end = run->iteration - own->window + length;
    for (; error > 1 && end + 2 * length + CARRIES <= run->iterations; error *= sqrt(0.5)) length *= 2, end += length;
    return end + CARRIES < run->iterations ? end + CARRIES : run->iterations;
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
    SVMP_TRY(svmp_archive_real(a, "error", &own->error));
    SVMP_TRY(svmp_archive_rows(a, "moved", run->backend->n, own->moved));
    SVMP_TRY(svmp_sweeper_state(own->sweeper, a));
    SVMP_TRY(svmp_trajectory_state(own->global, a));
    SVMP_TRY(svmp_averages_state(own->averages, a));
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
                                      .alloc = alloc,
                                      .start = draw_start,
                                      .iterate = iterate,
                                      .expect = expect,
                                      .free = free_transport,
                                      .state = state};
