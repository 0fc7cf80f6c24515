/* Exact local moves: every particle is a chain whose nodes move one by one, given their neighbours (sweep.h). Of the
 * sweeps the first --warmup adapt; of the rest at most --draws are kept, evenly spaced. */
#include <math.h>
#include <string.h>

#include "base/exact_sum.h"
#include "base/notes.h"
#include "base/peers.h"
#include "method/method.h"
#include "method/moves/move_constants.h"
#include "method/moves/sweep.h"
#include "sample/particles.h"

typedef struct walk {
    sweeper *sweeper;
    evaluator *evaluator;
    size_t stride, capacity, kept; /* every stride-th sweep is kept; the capacity; the number kept so far */
    double *draws;                 /* kept states: own variables * n numbers each */
    double *log_density, *moves;   /* n each per state; moves: accepted moves of all nodes since the previous state */
    int64_t *since;                /* n: moves accepted by this process since the last kept state */
    double *wrong;                 /* n: whether the start of a particle is impossible */
} walk;

/* ---- setting up -------------------------------------------------------------------------------------------------- */

/* The smallest power of two that keeps at most `draws` of the sweeps; the stride of a longer run is a multiple of
 * it. */
static size_t stride_of(size_t sweeps, size_t draws) {
    size_t stride = 1;
    while (sweeps / stride > draws) stride *= 2;
    return stride;
}

static void warn_if_expensive(const svmp_run *run, const sweeper *s) {
    const size_t rounds = svmp_sweeper_rounds(s), nodes = run->model->graph->whole_nodes;
    const double scores = svmp_sweeper_scores(s);
    if (rounds <= MANY_ROUNDS && (rounds < 3 || scores <= MANY_SCORES)) return;
    svmp_log(run->context, SVMP_LOG_WARNING,
             "The graph is dense: %s, and a sweep takes %zu rounds, one after another, and about as many operations as "
             "%.3g scores of the whole model. Threads help little. The method 'nuts' may be faster.",
             rounds == nodes ? "all nodes are neighbours of each other" : "many nodes share factors", rounds,
             fmax(scores, 1));
}

static svmp_status alloc(svmp_run *run) {
    const size_t n = run->backend->n, warmup = run->options.warmup;
    const svmp_graph *graph = run->model->graph;
    svmp_context *context = run->context;
    walk *w = NULL;
    svmp_status status = svmp_method_refuse_boxes(run);
    if (status == SVMP_OK && run->iterations > 0 && warmup >= run->iterations)
        status = svmp_fail_notes(context, SVMP_BAD_CALL,
                                 NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_LOWER, "warmup", NULL)),
                                       svmp_either(1, svmp_advice(SVMP_NOTE_RAISE, "iterations", NULL))),
                                 "The method '%s' would discard all of its %zu sweeps, because its warm-up takes %zu.",
                                 run->method->name, run->iterations, warmup);
    if (status == SVMP_OK) status = SVMP_NEW(context, w, 1);
    run->state = w;
    SVMP_TRY(svmp_model_agree(run->model, status));
    const size_t sweeps = run->iterations > warmup ? run->iterations - warmup : 0;
    w->stride = stride_of(sweeps, run->options.draws);
    w->capacity = sweeps / w->stride;
    const double bytes = sizeof(double) * (double)w->capacity * (double)n * (double)(graph->moved_variables + 2);
    status = svmp_require_memory(context, bytes, "these draws need");
    SVMP_TRY(svmp_model_agree(run->model, status));
    SVMP_TRY(svmp_sweeper_create(run->backend, &w->sweeper));
    warn_if_expensive(run, w->sweeper);
    SVMP_TRY(svmp_evaluator_create(run->model, n, run->backend->threads, &w->evaluator));
    SVMP_TRY(SVMP_NEW(context, w->since, n));
    SVMP_TRY(SVMP_NEW(context, w->wrong, n));
    SVMP_TRY(SVMP_NEW(context, w->log_density, w->capacity * n));
    SVMP_TRY(SVMP_NEW(context, w->moves, w->capacity * n));
    return svmp_allocate(context, w->capacity * graph->moved_variables, n * sizeof(double), (void **)&w->draws);
}

static void free_walk(svmp_run *run) {
    walk *w = run->state;
    svmp_sweeper_free(w->sweeper);
    svmp_evaluator_free(w->evaluator);
    void *const arrays[] = {w->draws, w->log_density, w->moves, w->since, w->wrong, w};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(run->context, arrays[k]);
}

/* ---- the start --------------------------------------------------------------------------------------------------- */

/* wrong[l]: whether the log density or a score of particle l is not finite; *count is their number. log_density and
 * score are those of all particles. */
static svmp_status inspect(const svmp_run *run, const double *x, double *score, double *log_density, size_t *count) {
    walk *w = run->state;
    const size_t n = run->backend->n;
    const svmp_peers *peers = run->model->graph->peers;
    int known;
    SVMP_TRY(svmp_model_agree(run->model, svmp_evaluate(w->evaluator, x, NULL, score)));
    SVMP_TRY(svmp_evaluate_log_density(w->evaluator, x, log_density, &known));
    memset(w->wrong, 0, n * sizeof *w->wrong);
    for (size_t k = 0; k < run->model->graph->moved_variables * n; k++)
        if (!isfinite(score[k])) w->wrong[k % n] = 1;
    peers->max(peers, n, w->wrong);
    *count = 0;
    for (size_t l = 0; l < n; l++) {
        if (!isfinite(log_density[l])) w->wrong[l] = 1;
        *count += w->wrong[l] > 0;
    }
    return SVMP_OK;
}

static svmp_status explain(const svmp_run *run, const double *score, const double *log_density) {
    const walk *w = run->state;
    const size_t n = run->backend->n, numbers = run->model->graph->moved_variables * n;
    char name[128] = "";
    size_t l = 0, k = 0;
    while (w->wrong[l] == 0) l++;
    while (k < numbers && (k % n != l || isfinite(score[k]))) k++;
    if (k < numbers)
        snprintf(name, sizeof name, ", and the score of %.80s is %g there",
                 svmp_model_variable_name(run->model, k / n, (char[96]){0}, 96), score[k]);
    return svmp_fail_notes(run->context, SVMP_NOT_FINITE, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                           "Particle %zu cannot start: the log density is %g at %s%s.", l + 1, log_density[l],
                           run->started_from ? "its start" : "the last of 100 random starts", name);
}

/* A chain never leaves a point of density 0, so such a start is redrawn. */
static svmp_status start(svmp_run *run) {
    enum { ATTEMPTS = 100 };
    const walk *w = run->state;
    backend *b = run->backend;
    const init_target target = svmp_start_target(b);
    double *x, *score, *log_density = NULL;
    size_t wrong = 1;
    svmp_status status = SVMP_NEW(run->context, log_density, b->n);
    SVMP_CHECK(svmp_model_agree(run->model, status));
    SVMP_CHECK(svmp_backend_edit(b, ARRAY_SCORE, &score));
    for (size_t attempt = 0; wrong > 0; attempt++) {
        SVMP_CHECK(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        for (size_t l = 0; attempt > 0 && l < b->n; l++)
            if (w->wrong[l] > 0) svmp_init_draw_again(&run->start, &target, x, l, attempt);
        SVMP_CHECK(svmp_backend_commit(b, ARRAY_PARTICLES));
        SVMP_CHECK(svmp_backend_refresh(b));
        SVMP_CHECK(inspect(run, x, score, log_density, &wrong));
        if (wrong > 0 && (run->started_from || attempt + 1 == ATTEMPTS))
            SVMP_CHECK(svmp_model_agree(run->model, explain(run, score, log_density)));
    }
    SVMP_CHECK(svmp_sweeper_measure_curvature(w->sweeper, b, 0));
done:
    svmp_release(run->context, log_density);
    return status;
}

/* ---- sweeping ---------------------------------------------------------------------------------------------------- */

/* The mean epsilon of all nodes, the same on all processes. */
static double mean_step(const svmp_run *run) {
    const walk *w = run->state;
    exact_sum sum = svmp_sweeper_steps(w->sweeper);
    svmp_peers_sum_exactly(run->model->graph->peers, 1, &sum);
    return svmp_exact_value(&sum) / (double)run->model->graph->whole_nodes;
}

static svmp_status keep(const svmp_run *run) {
    walk *w = run->state;
    backend *b = run->backend;
    const size_t n = b->n, numbers = run->model->graph->moved_variables * n;
    const svmp_peers *peers = run->model->graph->peers;
    const double *x;
    int known;
    SVMP_TRY(svmp_backend_refresh(b));
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    memcpy(w->draws + w->kept * numbers, x, numbers * sizeof *x);
    SVMP_TRY(svmp_evaluate_log_density(w->evaluator, x, w->log_density + w->kept * n, &known));
    peers->sum(peers, n, w->since);
    for (size_t l = 0; l < n; l++) w->moves[w->kept * n + l] = (double)w->since[l];
    memset(w->since, 0, n * sizeof *w->since);
    w->kept++;
    return SVMP_OK;
}

/* The shape of nodes of several variables is measured again after 8, 16, 32, ... sweeps of the first half of the
 * warm-up. */
static int is_measured(const svmp_run *run) {
    const size_t t = run->iteration;
    return t >= 8 && t <= run->options.warmup / 2 && (t & (t - 1)) == 0;
}

static svmp_status iterate(svmp_run *run) {
    walk *w = run->state;
    const size_t t = run->iteration, warmup = run->options.warmup;
    if (t == 0) SVMP_TRY(start(run));
    if (is_measured(run)) SVMP_TRY(svmp_sweeper_measure_curvature(w->sweeper, run->backend, 1));
    SVMP_TRY(svmp_sweep(w->sweeper, run->backend, t, t < warmup ? 2 / sqrt(1 + (double)t) : 0));
    svmp_sweeper_add_moves(w->sweeper, w->since);
    if (t < warmup) memset(w->since, 0, run->backend->n * sizeof *w->since);
    run->rate = mean_step(run);
    return t >= warmup && (t + 1 - warmup) % w->stride == 0 && w->kept < w->capacity ? keep(run) : SVMP_OK;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

/* The kept states; before the first one, the current state. */
static const double *kept(const svmp_run *run, size_t k, size_t *count) {
    const walk *w = run->state;
    const double *x = NULL;
    *count = w->kept ? w->kept : 1;
    if (w->kept) return w->draws + k * run->model->graph->moved_variables * run->backend->n;
    return svmp_backend_view(run->backend, ARRAY_PARTICLES, &x) == SVMP_OK ? x : NULL;
}

/* accept_stat__ is the share of moves accepted since the previous draw, n_sweeps__ sweeps ago. */
static svmp_status set_statistics(const svmp_run *run, double *column, svmp_particles *p) {
    const walk *w = run->state;
    const size_t n = run->backend->n;
    const double moves = (double)run->model->graph->whole_nodes * (double)w->stride;
    if (w->kept == 0) return SVMP_OK;
    for (size_t k = 0; k < w->kept; k++)
        for (size_t l = 0; l < n; l++) column[l * w->kept + k] = w->log_density[k * n + l];
    SVMP_TRY(svmp_particles_set_statistic(p, "lp__", column));
    for (size_t k = 0; k < w->kept; k++)
        for (size_t l = 0; l < n; l++) column[l * w->kept + k] = w->moves[k * n + l] / moves;
    SVMP_TRY(svmp_particles_set_statistic(p, "accept_stat__", column));
    for (size_t k = 0; k < n * w->kept; k++) column[k] = (double)w->stride;
    return svmp_particles_set_statistic(p, "n_sweeps__", column);
}

static svmp_status create_particles(const svmp_run *run, size_t count, svmp_particles **p) {
    const svmp_graph *graph = run->model->graph;
    return svmp_particles_create_part(run->context, graph->peers, graph->whole_variables, graph->moved_variables,
                                      graph->variable_key, count, NULL, p);
}

static svmp_status result(const svmp_run *run, svmp_particles **particles) {
    const size_t n = run->backend->n, variables = run->model->graph->moved_variables;
    size_t each;
    svmp_status status;
    svmp_particles *p = NULL;
    double *column = NULL;
    if (kept(run, 0, &each) == NULL) return SVMP_NO_MEMORY;
    SVMP_CHECK(create_particles(run, n * each, &p));
    double *values = svmp_particles_values(p);
    for (size_t k = 0; k < each; k++) {
        const double *x = kept(run, k, &each);
        for (size_t i = 0; i < variables; i++)
            for (size_t l = 0; l < n; l++) values[(i * n + l) * each + k] = x[i * n + l];
    }
    SVMP_CHECK(svmp_particles_set_chains(p, n));
    SVMP_CHECK(SVMP_NEW(run->context, column, n * each));
    SVMP_CHECK(set_statistics(run, column, p));
    *particles = p;
    p = NULL;
done:
    svmp_release(run->context, column);
    svmp_particles_free(p);
    return status;
}

/* ---- saved and loaded -------------------------------------------------------------------------------------------- */

/* Saves or loads one kept state. */
typedef struct kept_state {
    double *x, *log_density, *moves;
} kept_state;

static svmp_status archive_state(archive *a, size_t n, const kept_state *state) {
    SVMP_TRY(svmp_archive_rows(a, "draw", n, state->x));
    SVMP_TRY(svmp_archive_reals(a, "log density", n, state->log_density));
    return svmp_archive_reals(a, "moves", n, state->moves);
}

/* Loads the states of a run that kept every stride-th sweep, of which this run keeps every w->stride-th. The moves of a
 * dropped state count for the next kept one. */
static svmp_status load_states(const svmp_run *run, archive *a, size_t count, size_t stride,
                               const kept_state *workspace) {
    walk *w = run->state;
    const size_t n = run->backend->n, numbers = run->model->graph->moved_variables * n;
    for (size_t k = 0; k < count; k++) {
        SVMP_TRY(archive_state(a, n, workspace));
        for (size_t l = 0; l < n; l++) w->since[l] += (int64_t)workspace->moves[l];
        if ((k + 1) * stride % w->stride != 0 || w->kept == w->capacity) continue;
        memcpy(w->draws + w->kept * numbers, workspace->x, numbers * sizeof *workspace->x);
        memcpy(w->log_density + w->kept * n, workspace->log_density, n * sizeof *workspace->log_density);
        for (size_t l = 0; l < n; l++) w->moves[w->kept * n + l] = (double)w->since[l];
        memset(w->since, 0, n * sizeof *w->since);
        w->kept++;
    }
    return SVMP_OK;
}

static svmp_status save_states(const svmp_run *run, archive *a) {
    walk *w = run->state;
    const size_t n = run->backend->n, numbers = run->model->graph->moved_variables * n;
    for (size_t k = 0; k < w->kept; k++) {
        const kept_state state = {w->draws + k * numbers, w->log_density + k * n, w->moves + k * n};
        SVMP_TRY(archive_state(a, n, &state));
    }
    return SVMP_OK;
}

/* Accepted moves since the last kept state: saves the sum over all processes; after loading, the first process has all
 * of them. */
static svmp_status archive_moves(const svmp_run *run, archive *a, int64_t *all) {
    const walk *w = run->state;
    const size_t n = run->backend->n;
    const svmp_peers *peers = run->model->graph->peers;
    memcpy(all, w->since, n * sizeof *all);
    peers->sum(peers, n, all);
    SVMP_TRY(a->numbers(a, "moves since", ARCHIVE_COUNTS, n, all));
    for (size_t l = 0; a->loading && l < n; l++) w->since[l] = peers->rank == 0 ? w->since[l] + all[l] : 0;
    return SVMP_OK;
}

static svmp_status check_stride(const svmp_run *run, size_t stride) {
    const walk *w = run->state;
    if (stride > 0 && w->stride % stride == 0) return SVMP_OK;
    return svmp_fail(run->context, SVMP_BAD_INPUT,
                     "The checkpoint keeps one sweep in %zu, but this run would keep one in %zu: increase the number "
                     "of draws only together with the number of iterations.",
                     stride, w->stride);
}

static svmp_status archive_walk(svmp_run *run, archive *a) {
    walk *w = run->state;
    const size_t n = run->backend->n;
    size_t count = w->kept, stride = w->stride;
    int64_t *all = NULL;
    kept_state workspace = {0};
    svmp_status status = SVMP_NEW(run->context, workspace.log_density, 2 * n);
    if (status == SVMP_OK) status = SVMP_NEW(run->context, all, n);
    SVMP_CHECK(svmp_model_agree(run->model, status));
    workspace.moves = workspace.log_density + n;
    SVMP_CHECK(svmp_backend_edit(run->backend, ARRAY_PHI, &workspace.x));
    SVMP_CHECK(svmp_archive_count(a, "kept", &count));
    SVMP_CHECK(svmp_archive_count(a, "stride", &stride));
    SVMP_CHECK(check_stride(run, stride));
    SVMP_CHECK(a->loading ? load_states(run, a, count, stride, &workspace) : save_states(run, a));
    SVMP_CHECK(archive_moves(run, a, all));
    SVMP_CHECK(svmp_sweeper_state(w->sweeper, a));
done:
    svmp_release(run->context, workspace.log_density);
    svmp_release(run->context, all);
    return status;
}

const method svmp_method_local = {.name = "local",
                                  .coordinates = "auto",
                                  .yield = SVMP_YIELD_CHAINS,
                                  .sweeps = 1,
                                  .on_host = 1,
                                  .draws = 64,
                                  .local = 1,
                                  .alloc = alloc,
                                  .iterate = iterate,
                                  .free = free_walk,
                                  .result = result,
                                  .kept = kept,
                                  .state = archive_walk};
