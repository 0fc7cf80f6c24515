#include "method/moves/trajectory.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "method/moves/move_constants.h"
#include "model/evaluator.h"

enum { BLOCK = 64 };

bool svmp_trajectory_is_expensive(const gaussian *q, size_t variables) {
    return (double)svmp_gaussian_entries(q) > EXPENSIVE_ENTRIES * (double)variables;
}

struct trajectory {
    svmp_context *context;
    gaussian *q;
    evaluator *evaluator;
    peer_columns columns; /* the backend's */
    size_t n, variables, iteration;
    uint64_t seed;
    int threads;
    double steps[2];                      /* of the leapfrog, and turning */
    size_t moves;                         /* so far: the first TRIED_TRAJECTORIES alternate between both */
    size_t evaluations;                   /* so far, in these moves */
    int solved;                           /* `kick` is A^-1 times the score */
    double *score, *velocity, *kick, *to; /* variables * n */
    double *log_density, *log_density_proposed, *kinetic, *kinetic_proposed, *accepted; /* n */
};

svmp_status svmp_trajectory_create(const backend *b, gaussian *q, trajectory **made) {
    svmp_context *context = b->context;
    const size_t n = b->n, variables = b->model->graph->variables;
    svmp_status status;
    trajectory *t = NULL;
    SVMP_TRY(SVMP_NEW(context, t, 1));
    *t = (trajectory){.context = context,
                      .q = q,
                      .columns = b->columns,
                      .n = n,
                      .variables = variables,
                      .seed = b->seed,
                      .threads = b->threads,
                      .steps = {first_step, first_step}};
    double **const wide[] = {&t->score, &t->velocity, &t->kick, &t->to};
    double **const narrow[] = {&t->log_density, &t->log_density_proposed, &t->kinetic, &t->kinetic_proposed,
                               &t->accepted};
    SVMP_CHECK(svmp_backend_evaluator(b, &t->evaluator));
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)wide[k]));
    for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) SVMP_CHECK(SVMP_NEW(context, *narrow[k], n));
    *made = t;
    return SVMP_OK;
done:
    svmp_trajectory_free(t);
    return status;
}

void svmp_trajectory_free(trajectory *t) {
    if (t == NULL) return;
    void *const arrays[] = {
        t->score,   t->velocity,         t->kick,     t->to, t->log_density, t->log_density_proposed,
        t->kinetic, t->kinetic_proposed, t->accepted, t};
    svmp_context *context = t->context;
    svmp_evaluator_free(t->evaluator);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
}

static size_t blocks_of(const trajectory *t) { return (t->n + BLOCK - 1) / BLOCK; }

static void draw_normals(void *work, size_t i) {
    const trajectory *t = work;
    const random_stream stream = {
        .seed = t->seed, .a = t->iteration, .b = i, .purpose = RANDOM_VELOCITY, .first = t->columns.first};
    svmp_random_normals(stream, t->n, t->velocity + i * t->n);
}

static void sum_squares(void *work, size_t block) {
    const trajectory *t = work;
    const size_t n = t->n;
    for (size_t l = block * BLOCK; l < n && l < (block + 1) * BLOCK; l++) {
        double sum = 0;
        for (size_t i = 0; i < t->variables; i++) sum += t->velocity[i * n + l] * t->velocity[i * n + l];
        t->kinetic[l] = sum / 2;
    }
}

/* Velocities from N(0, A^-1), and their kinetic energy z'z/2 from the standard normal numbers that they are made of. */
static svmp_status draw_velocity(trajectory *t, size_t iteration) {
    const int threads = svmp_threads_for(t->threads, 100 * (double)t->variables * (double)t->n);
    t->iteration = iteration;
    svmp_parallel_for(threads, t->variables, 0, draw_normals, t);
    svmp_parallel_for(threads, blocks_of(t), 0, sum_squares, t);
    return svmp_gaussian_correlate(t->q, t->n, t->velocity);
}

/* w'Aw/2, of the particles of a block. */
static void measure_block(void *work, size_t block) {
    const trajectory *t = work;
    const sparsity *pattern = svmp_gaussian_pattern(t->q);
    const double *A = svmp_gaussian_precision(t->q), *w = t->velocity;
    const size_t n = t->n, first = block * BLOCK, last = first + BLOCK < n ? first + BLOCK : n;
    for (size_t l = first; l < last; l++) t->kinetic_proposed[l] = 0;
    for (size_t j = 0; j < pattern->order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
            const size_t i = pattern->row[e];
            const double factor = i == j ? A[e] / 2 : A[e];
            for (size_t l = first; l < last; l++) t->kinetic_proposed[l] += factor * w[i * n + l] * w[j * n + l];
        }
}

static void measure_velocity(trajectory *t) {
    const double work = 4 * (double)svmp_gaussian_pattern(t->q)->entries * (double)t->n;
    svmp_parallel_for(svmp_threads_for(t->threads, work), blocks_of(t), 0, measure_block, t);
}

/* Computes A^-1 s unless it is known. */
static svmp_status solve(trajectory *t) {
    if (t->solved) return SVMP_OK;
    memcpy(t->kick, t->score, t->variables * t->n * sizeof *t->score);
    t->solved = 1;
    return svmp_gaussian_solve(t->q, t->n, t->kick);
}

static svmp_status evaluate(trajectory *t, const double *x, double *log_density) {
    t->solved = 0;
    return svmp_evaluate(t->evaluator, x, log_density, t->score);
}

typedef struct variable_work {
    const trajectory *t;
    const double *mean;
    int turning;
    double scale, c, s; /* of a kick; of a drift */
    double *x;          /* the particles, updated where moves are accepted */
} variable_work;

static void for_variables(const trajectory *t, void (*body)(void *work, size_t i), variable_work *work) {
    const int threads = svmp_threads_for(t->threads, 4 * (double)t->variables * (double)t->n);
    svmp_parallel_for(threads, t->variables, 0, body, work);
}

static void kick_variable(void *work, size_t i) {
    const variable_work *v = work;
    const size_t n = v->t->n;
    const double *kick = v->t->kick + i * n, *x = v->t->to + i * n, scale = v->scale, mean = v->mean[i];
    double *w = v->t->velocity + i * n;
    for (size_t l = 0; v->turning && l < n; l++) w[l] += scale * (kick[l] + (x[l] - mean));
    for (size_t l = 0; !v->turning && l < n; l++) w[l] += scale * kick[l];
}

/* w += scale A^-1 s; turning: += scale (A^-1 s + x - m), the part of the score that q does not explain. */
static svmp_status kick(trajectory *t, int turning, double scale) {
    SVMP_TRY(solve(t));
    variable_work work = {.t = t, .mean = svmp_gaussian_mean(t->q), .turning = turning, .scale = scale};
    for_variables(t, kick_variable, &work);
    return SVMP_OK;
}

static void drift_variable(void *work, size_t i) {
    const variable_work *v = work;
    const size_t n = v->t->n;
    const double mean = v->mean[i], c = v->c, s = v->s, time = v->scale;
    double *x = v->t->to + i * n, *w = v->t->velocity + i * n;
    for (size_t l = 0; !v->turning && l < n; l++) x[l] += time * w[l];
    for (size_t l = 0; v->turning && l < n; l++) {
        const double away = x[l] - mean;
        x[l] = mean + (c * away + s * w[l]);
        w[l] = c * w[l] - s * away;
    }
}

/* x += time w; turning, the flow of q: x - m and w turn into each other. */
static void drift(trajectory *t, int turning, double time) {
    variable_work work = {
        .t = t, .mean = svmp_gaussian_mean(t->q), .turning = turning, .scale = time, .c = cos(time), .s = sin(time)};
    for_variables(t, drift_variable, &work);
}

/* Moves x to t->to; afterwards the score is that of the new positions. */
static svmp_status follow(trajectory *t, const double *x, int turning, double time_step, size_t steps) {
    memcpy(t->to, x, t->variables * t->n * sizeof *x);
    SVMP_TRY(kick(t, turning, time_step / 2));
    for (size_t k = 0; k < steps; k++) {
        drift(t, turning, time_step);
        SVMP_TRY(evaluate(t, t->to, k + 1 == steps ? t->log_density_proposed : NULL));
        SVMP_TRY(kick(t, turning, k + 1 == steps ? time_step / 2 : time_step));
    }
    return SVMP_OK;
}

/* Accepts or rejects by the change of the energy; NaN rejects. Returns the mean acceptance of all particles, whichever
 * process has them. */
static double decide(trajectory *t, size_t iteration) {
    const random_stream stream = {
        .seed = t->seed, .a = iteration, .purpose = RANDOM_VELOCITY_ACCEPT, .first = t->columns.first};
    int64_t sum = 0;
    for (size_t l = 0; l < t->n; l++) {
        const double ratio =
            exp(t->log_density_proposed[l] - t->kinetic_proposed[l] - t->log_density[l] + t->kinetic[l]);
        const int possible = isfinite(t->log_density_proposed[l]) && !isnan(ratio);
        t->accepted[l] = possible && svmp_random_uniform(stream, l) < ratio;
        sum += possible ? svmp_share_units(fmin(1, ratio)) : 0;
    }
    svmp_shared_sum(&t->columns, 1, &sum);
    return svmp_units_share(sum) / (double)t->columns.whole;
}

svmp_status svmp_trajectory_evaluate(trajectory *t, backend *b, const double **score) {
    const double *x;
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    *score = t->score;
    return svmp_agree(t->context, t->columns.peers, evaluate(t, x, t->log_density));
}

svmp_status svmp_trajectory_force(trajectory *t, const double **force) {
    *force = t->kick;
    return solve(t);
}

svmp_status svmp_trajectory_check(trajectory *t, backend *b, size_t iteration) {
    const double *x;
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    svmp_status status = SVMP_OK;
    for (size_t k = 0; k < t->variables * t->n && status == SVMP_OK; k++)
        if (!isfinite(t->score[k]) && isfinite(t->log_density[k % t->n]))
            status = svmp_evaluator_fail_score(t->evaluator, b->model, t->n, x, t->score, k, iteration);
    return svmp_agree(t->context, t->columns.peers, status);
}

static int is_turning(const trajectory *t) {
    return t->moves < TRIED_TRAJECTORIES ? t->moves % 2 == 1 : t->steps[1] > turning_gain * t->steps[0];
}

static void take_accepted(void *work, size_t i) {
    const variable_work *v = work;
    const size_t n = v->t->n;
    for (size_t l = 0; l < n; l++)
        if (v->t->accepted[l] > 0) v->x[i * n + l] = v->t->to[i * n + l];
}

svmp_status svmp_trajectory_move(trajectory *t, backend *b, size_t iteration, double gain) {
    const random_stream stream = {.seed = t->seed, .a = iteration, .b = 1, .purpose = RANDOM_VELOCITY_ACCEPT};
    const int turning = is_turning(t);
    double *shared = &t->steps[turning], time_step = *shared * (0.6 + 0.4 * svmp_random_uniform(stream, 0));
    const double length = quarter_period * ((turning ? 0.75 : 0.5) + svmp_random_uniform(stream, 1));
    const double wanted = ceil(length / time_step);
    const size_t steps = wanted < MOST_LEAPS ? (size_t)wanted : MOST_LEAPS;
    if (turning) time_step = fmin(length / (double)steps, time_step); /* more than half a turn would lead back */
    double *x;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    svmp_status status = draw_velocity(t, iteration);
    if (status == SVMP_OK) status = follow(t, x, turning, time_step, steps);
    SVMP_TRY(svmp_agree(t->context, t->columns.peers, status));
    measure_velocity(t);
    const double acceptance = decide(t, iteration);
    for_variables(t, take_accepted, &(variable_work){.t = t, .x = x});
    if (gain > 0) *shared = fmin(largest_step, *shared * exp(gain * (acceptance - wanted_acceptance)));
    t->moves++;
    t->evaluations += steps;
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

double svmp_trajectory_operations(const trajectory *t, double score) {
    const double solve = 4 * (double)svmp_gaussian_entries(t->q);
    return t->moves ? (double)t->evaluations / (double)t->moves * (score + solve) : 0;
}

double svmp_trajectory_step(const trajectory *t) { return t->steps[is_turning(t)]; }

svmp_status svmp_trajectory_state(trajectory *t, archive *a) {
    SVMP_TRY(svmp_archive_real(a, "trajectory step", &t->steps[0]));
    SVMP_TRY(svmp_archive_real(a, "turning step", &t->steps[1]));
    SVMP_TRY(svmp_archive_count(a, "trajectory steps", &t->evaluations));
    return svmp_archive_count(a, "trajectories", &t->moves);
}
