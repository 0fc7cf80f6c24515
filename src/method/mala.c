/* The Metropolis-adjusted Langevin algorithm: a Langevin step is a proposal for the whole particle, which is accepted
 * or rejected. Every particle is an independent chain, and the last states are the result. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "method/method.h"

typedef struct mala {
    evaluator *evaluator;
    double *x, *score, *proposed;               /* the backend's: particles, score, and phi for the proposal */
    double *log_density, *proposed_log_density; /* n each */
    double *proposed_score;                     /* like the score */
    double *log_ratio;                          /* n */
    double *acceptance;                         /* n: the sum of min(1, ratio) over the iterations */
} mala;

static svmp_status alloc(svmp_run *run) {
    const size_t n = run->own->n;
    mala *state = NULL;
    SVMP_TRY(svmp_langevin_check_step(run));
    SVMP_TRY(svmp_method_refuse_boxes(run));
    SVMP_TRY(SVMP_NEW(run->context, state, 1));
    run->state = state;
    SVMP_TRY(svmp_backend_evaluator(run->own, &state->evaluator));
    SVMP_TRY(SVMP_NEW(run->context, state->log_density, n));
    SVMP_TRY(SVMP_NEW(run->context, state->proposed_log_density, n));
    SVMP_TRY(SVMP_NEW(run->context, state->log_ratio, n));
    SVMP_TRY(SVMP_NEW(run->context, state->acceptance, n));
    return svmp_allocate(run->context, run->model->graph->variables, n * sizeof(double),
                         (void **)&state->proposed_score);
}

static void free_mala(svmp_run *run) {
    mala *state = run->state;
    svmp_evaluator_free(state->evaluator);
    svmp_release(run->context, state->log_density);
    svmp_release(run->context, state->proposed_log_density);
    svmp_release(run->context, state->proposed_score);
    svmp_release(run->context, state->log_ratio);
    svmp_release(run->context, state->acceptance);
    svmp_release(run->context, state);
}

/* Log density and score of the start, which must be finite: a chain never leaves a point of density 0. */
static svmp_status start(svmp_run *run) {
    mala *state = run->state;
    const size_t n = run->own->n;
    char name[128];
    SVMP_TRY(svmp_evaluate(state->evaluator, state->x, state->log_density, state->score));
    for (size_t l = 0; l < n; l++)
        if (!isfinite(state->log_density[l]))
            return svmp_fail(run->context, SVMP_NOT_FINITE, "The log density is %g at the start of particle %zu.",
                             state->log_density[l], run->own->columns.first + l + 1);
    for (size_t k = 0; k < run->model->graph->variables * n; k++)
        if (!isfinite(state->score[k]))
            return svmp_fail(run->context, SVMP_NOT_FINITE, "The score of %s is %g at the start of particle %zu.",
                             svmp_model_variable_name(run->model, k / n, name, sizeof name), state->score[k],
                             run->own->columns.first + k % n + 1);
    return SVMP_OK;
}

/* x' = x + epsilon s + sqrt(2 epsilon) noise, of variable i */
static void propose(void *work, size_t i) {
    const svmp_run *run = work;
    const mala *state = run->state;
    const size_t n = run->own->n;
    const double rate = run->rate, spread = sqrt(2 * rate);
    const double *x = state->x + i * n, *score = state->score + i * n;
    double *to = state->proposed + i * n;
    const random_stream noise = {.seed = run->own->seed,
                                 .a = run->iteration,
                                 .b = i,
                                 .purpose = RANDOM_LANGEVIN,
                                 .first = run->own->columns.first};
    svmp_random_normals(noise, n, to);
    for (size_t l = 0; l < n; l++) to[l] = x[l] + rate * score[l] + spread * to[l];
}

/* log of  p(x') q(x | x') / ( p(x) q(x' | x) ),  log q(y | x) = -|y - x - epsilon s(x)|^2 / (4 epsilon),  for the
 * particles `first` ... `last` - 1. */
static void weigh(const svmp_run *run, double rate, size_t first, size_t last) {
    const size_t n = run->own->n;
    mala *state = run->state;
    for (size_t l = first; l < last; l++) state->log_ratio[l] = 0;
    for (size_t i = 0; i < run->model->graph->variables; i++) {
        const double *x = state->x + i * n, *to = state->proposed + i * n;
        const double *score = state->score + i * n, *score_there = state->proposed_score + i * n;
        for (size_t l = first; l < last; l++) {
            const double back = x[l] - to[l] - rate * score_there[l], forth = to[l] - x[l] - rate * score[l];
            state->log_ratio[l] += (forth * forth - back * back) / (4 * rate);
        }
    }
    for (size_t l = first; l < last; l++) state->log_ratio[l] += state->proposed_log_density[l] - state->log_density[l];
}

/* Moves the particles whose ratio exceeds a uniform number; NaN rejects. */
static void decide(const svmp_run *run, size_t first, size_t last) {
    const backend *b = run->own;
    mala *state = run->state;
    const random_stream stream = {
        .seed = b->seed, .a = run->iteration, .purpose = RANDOM_ACCEPT, .first = b->columns.first};
    for (size_t l = first; l < last; l++) {
        const double ratio = exp(state->log_ratio[l]);
        const int accepted = svmp_random_uniform(stream, l) < ratio && isfinite(state->proposed_log_density[l]);
        state->acceptance[l] += isnan(ratio) ? 0 : fmin(1, ratio);
        state->log_ratio[l] = accepted;
        if (accepted) state->log_density[l] = state->proposed_log_density[l];
    }
    for (size_t i = 0; i < run->model->graph->variables; i++)
        for (size_t l = first, k = i * b->n + first; l < last; l++, k++) {
            state->x[k] = state->log_ratio[l] > 0 ? state->proposed[k] : state->x[k];
            state->score[k] = state->log_ratio[l] > 0 ? state->proposed_score[k] : state->score[k];
        }
}

static double largest_score(const svmp_run *run) {
    const double *score = ((const mala *)run->state)->score;
    const svmp_peers *peers = run->own->columns.peers;
    double largest = 0;
    for (size_t k = 0; k < run->model->graph->variables * run->own->n; k++)
        largest = fabs(score[k]) > largest ? fabs(score[k]) : largest;
    peers->max(peers, 1, &largest);
    return largest;
}

enum { BLOCK = 64 }; /* particles per task */

static void decide_block(void *work, size_t block) {
    const svmp_run *run = work;
    const size_t n = run->own->n, first = block * BLOCK, last = first + BLOCK < n ? first + BLOCK : n;
    weigh(run, run->rate, first, last);
    decide(run, first, last);
}

static svmp_status iterate(svmp_run *run) {
    mala *state = run->state;
    backend *b = run->own;
    const size_t n = b->n;
    if (run->iteration == 0) SVMP_TRY(svmp_backend_take(b, run->backend));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &state->x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_SCORE, &state->score));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &state->proposed));
    if (run->iteration == 0) SVMP_TRY(svmp_agree(run->context, b->columns.peers, start(run)));
    run->rate = svmp_step_rate(&run->step, run->iteration, run->iterations);
    const size_t variables = run->model->graph->variables;
    const double numbers = (double)variables * (double)n;
    svmp_parallel_for(svmp_threads_for(b->threads, 100 * numbers), variables, 0, propose, run);
    SVMP_TRY(svmp_agree(
        run->context, b->columns.peers,
        svmp_evaluate(state->evaluator, state->proposed, state->proposed_log_density, state->proposed_score)));
    svmp_parallel_for(svmp_threads_for(b->threads, 10 * numbers), (n + BLOCK - 1) / BLOCK, 0, decide_block, run);
    run->backend->largest = largest_score(run);
    SVMP_TRY(svmp_backend_commit(b, ARRAY_SCORE));
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

/* accept_stat__ is the mean acceptance of a particle's chain. */
static svmp_status set_statistics(const svmp_run *run, double *rows, svmp_particles *p) {
    const mala *state = run->state;
    const peer_columns *own = &run->own->columns;
    double *acceptance = rows + own->whole;
    svmp_shared_gather(own, 1, state->log_density, rows);
    svmp_shared_gather(own, 1, state->acceptance, acceptance);
    for (size_t l = 0; l < own->whole; l++) acceptance[l] /= (double)run->iteration;
    SVMP_TRY(svmp_particles_set_statistic(p, "lp__", rows));
    return svmp_particles_set_statistic(p, "accept_stat__", acceptance);
}

static svmp_status result(const svmp_run *run, svmp_particles **particles) {
    const double *x;
    double *rows = NULL;
    svmp_particles *p = NULL;
    svmp_status status;
    SVMP_TRY(svmp_backend_view(run->backend, ARRAY_PARTICLES, &x));
    status = svmp_particles_create(run->context, run->model->graph->variables, run->backend->n, x, &p);
    if (status == SVMP_OK) status = SVMP_NEW(run->context, rows, 2 * run->backend->n);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    if (run->iteration > 0) SVMP_CHECK(set_statistics(run, rows, p));
    *particles = p;
    p = NULL;
done:
    svmp_release(run->context, rows);
    svmp_particles_free(p);
    return status;
}

static svmp_status archive_state(svmp_run *run, archive *a) {
    mala *state = run->state;
    const peer_columns *own = &run->own->columns;
    double *score;
    SVMP_TRY(svmp_backend_edit(run->own, ARRAY_SCORE, &score));
    SVMP_TRY(svmp_shared_archive(own, a, "score", run->model->graph->variables, score));
    SVMP_TRY(svmp_backend_commit(run->own, ARRAY_SCORE));
    SVMP_TRY(svmp_shared_archive(own, a, "log density", 1, state->log_density));
    return svmp_shared_archive(own, a, "acceptance", 1, state->acceptance);
}

const method svmp_method_mala = {.name = "mala",
                                 .step = "fixed:0.01",
                                 .largest = "|score|",
                                 .on_host = 1,
                                 .shared = 1,
                                 .alloc = alloc,
                                 .iterate = iterate,
                                 .free = free_mala,
                                 .result = result,
                                 .state = archive_state};
