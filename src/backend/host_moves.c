#include <math.h>

#include "backend/backend.h"
#include "base/random.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "model/natural_values.h"

svmp_status svmp_host_not_finite(backend *b, size_t t) {
    char name[128];
    const size_t n = b->n, total = b->model->graph->moved_variables * n;
    size_t at = 0;
    while (at < total && isfinite(b->score[at])) at++;
    if (at == total) {
        for (at = 0; at + 1 < total && isfinite(b->phi[at]); at++) {
        }
        return svmp_fail(b->context, SVMP_NOT_FINITE,
                         "The particles diverged: %s becomes %g in particle %zu at iteration %zu. Try a smaller step.",
                         svmp_model_variable_name(b->model, at / n, name, sizeof name), b->phi[at], at % n + 1, t + 1);
    }
    return svmp_evaluator_fail_score(b->evaluator, b->model, n, b->x, b->score, at, t);
}

static double largest_of(size_t n, const double *row) {
    double largest = 0;
    for (size_t l = 0; l < n; l++) largest = fabs(row[l]) > largest ? fabs(row[l]) : largest;
    return largest;
}

/* The new place of variable i, phi = x + phi, projected onto its box; values that are not finite stay so. Returns
 * whether all are finite. */
static int move(backend *b, size_t i) {
    const double low = b->model->lower[i], high = b->model->upper[i], *x = b->x + i * b->n;
    double *phi = b->phi + i * b->n;
    int finite = 1;
    for (size_t l = 0; l < b->n; l++) {
        double to = x[l] + phi[l];
        finite &= isfinite(to) != 0;
        phi[l] = !isfinite(to) ? to : to < low ? low : to > high ? high : to;
    }
    return finite;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

variable_span svmp_host_fresh(const backend *b) {
    const svmp_graph *graph = b->model->graph;
    return (variable_span){b->span.first == 0 ? 0 : graph->moved_variables,
                           b->span.last == graph->moved ? graph->variables : graph->moved_variables};
}

static void scale(size_t n, double by, double *row) {
#pragma omp simd
    for (size_t l = 0; l < n; l++) row[l] *= by;
}

typedef struct unit_work {
    backend *b;
    size_t first; /* variable */
} unit_work;

static void update_unit(void *work, size_t k) {
    const double kept = 0.95;
    const unit_work *w = work;
    backend *b = w->b;
    const size_t n = b->n, i = w->first + k;
    const double now = svmp_centre(n, b->x + i * n, b->z + i * n);
    b->sd[i] = b->sd[i] > 0 ? kept * b->sd[i] + (1 - kept) * now : now;
    scale(n, b->sd[i] > 0 ? 1 / b->sd[i] : 0, b->z + i * n);
}

void svmp_host_units(backend *b) {
    const variable_span fresh = svmp_host_fresh(b);
    const size_t count = fresh.last - fresh.first;
    if (b->sd == NULL) return;
    const int threads = svmp_threads_for(b->threads, 6 * (double)count * (double)b->n);
    svmp_parallel_for(threads, count, 0, update_unit, &(unit_work){b, fresh.first});
}

/* The unit of a step in units of the sd: without an sd, as for a single particle, that of the model. */
static double unit_of(const backend *b, const step *s, size_t i) {
    return s->rule->in_sd && b->sd[i] > 0 ? b->sd[i] : 1;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* The new particles overwrite phi, then the two are swapped, so that a failed step leaves the old ones unchanged. */
static svmp_status accept(backend *b, int finite, size_t t) {
    b->moved = finite;
    if (!finite) return svmp_host_not_finite(b, t);
    double *x = b->x;
    b->x = b->phi;
    b->phi = x;
    return SVMP_OK;
}

typedef struct move_work {
    backend *b;
    const step *s; /* of a step */
    double rate;
    size_t t;
    _Atomic double largest;
    atomic_bool finite;
} move_work;

static svmp_status move_all(backend *b, double operations, void (*move_one)(void *work, size_t i), move_work *work) {
    const size_t variables = b->model->graph->moved_variables;
    const int threads = svmp_threads_for(b->threads, operations * (double)variables * (double)b->n);
    svmp_parallel_for(threads, variables, 0, move_one, work);
    b->largest = work->largest;
    return accept(b, work->finite, work->t);
}

static void step_one(void *work, size_t i) {
    move_work *w = work;
    backend *b = w->b;
    const step *s = w->s;
    const size_t n = b->n;
    const double unit = unit_of(b, s, i);
    if (s->rule->in_sd) scale(n, unit, b->phi + i * n);
    svmp_keep_largest(&w->largest, largest_of(n, b->phi + i * n));
    s->rule->apply(s->rule, n, w->rate, w->t, b->phi + i * n, b->state[0] ? b->state[0] + i * n : NULL,
                   b->state[1] ? b->state[1] + i * n : NULL);
    if (s->rule->in_sd) scale(n, unit, b->phi + i * n);
    if (!move(b, i)) w->finite = false;
}

svmp_status svmp_host_step(backend *b, const step *s, double rate, size_t t) {
    return move_all(b, 10, step_one, &(move_work){.b = b, .s = s, .rate = rate, .t = t, .finite = true});
}

static void diffuse_one(void *work, size_t i) {
    move_work *w = work;
    backend *b = w->b;
    const size_t n = b->n, whole = svmp_variable_key(b->model->graph, i);
    const double *score = b->score + i * n, spread = sqrt(2 * w->rate);
    double *phi = b->phi + i * n;
    svmp_keep_largest(&w->largest, largest_of(n, score));
    svmp_random_normals((random_stream){.seed = b->seed, .purpose = RANDOM_LANGEVIN, .a = w->t, .b = whole}, n, phi);
    for (size_t l = 0; l < n; l++) phi[l] = w->rate * score[l] + spread * phi[l];
    if (!move(b, i)) w->finite = false;
}

svmp_status svmp_host_diffuse(backend *b, double rate, size_t t) {
    return move_all(b, 100, diffuse_one, &(move_work){.b = b, .rate = rate, .t = t, .finite = true});
}
