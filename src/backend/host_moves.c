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

/* The new place of variable i, phi = x + phi, projected onto its box; what is not finite stays so, to be found. Returns
 * whether all of it is finite. */
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

void svmp_host_units(backend *b) {
    const double kept = 0.95;
    const variable_span fresh = svmp_host_fresh(b);
    const size_t n = b->n;
    if (b->sd == NULL) return;
    const int threads = svmp_threads_for(b->threads, 6 * (double)(fresh.last - fresh.first) * (double)n);
#pragma omp parallel for num_threads(threads)
    for (size_t i = fresh.first; i < fresh.last; i++) {
        const double now = svmp_centre(n, b->x + i * n, b->z + i * n);
        b->sd[i] = b->sd[i] > 0 ? kept * b->sd[i] + (1 - kept) * now : now;
        scale(n, b->sd[i] > 0 ? 1 / b->sd[i] : 0, b->z + i * n);
    }
}

/* What a step in units of the sd is counted in: where there is none, as of a single particle, in those of the model. */
static double unit_of(const backend *b, const step *s, size_t i) {
    return s->rule->in_sd && b->sd[i] > 0 ? b->sd[i] : 1;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* The new particles stand where phi was: the two trade places, so that a step that fails leaves the old ones alone. */
static svmp_status accept(backend *b, int finite, size_t t) {
    b->moved = finite;
    if (!finite) return svmp_host_not_finite(b, t);
    double *x = b->x;
    b->x = b->phi;
    b->phi = x;
    return SVMP_OK;
}

svmp_status svmp_host_step(backend *b, const step *s, double rate, size_t t) {
    const size_t n = b->n, variables = b->model->graph->moved_variables;
    const int threads = svmp_threads_for(b->threads, 10 * (double)variables * (double)n);
    double largest = 0;
    int finite = 1;
#pragma omp parallel for num_threads(threads) reduction(max : largest) reduction(& : finite)
    for (size_t i = 0; i < variables; i++) {
        const double unit = unit_of(b, s, i);
        if (s->rule->in_sd) scale(n, unit, b->phi + i * n);
        double here = largest_of(n, b->phi + i * n);
        largest = here > largest ? here : largest;
        s->rule->apply(s->rule, n, rate, t, b->phi + i * n, b->state[0] ? b->state[0] + i * n : NULL,
                       b->state[1] ? b->state[1] + i * n : NULL);
        if (s->rule->in_sd) scale(n, unit, b->phi + i * n);
        finite &= move(b, i);
    }
    b->largest = largest;
    return accept(b, finite, t);
}

svmp_status svmp_host_diffuse(backend *b, double rate, size_t t) {
    const size_t n = b->n, variables = b->model->graph->moved_variables;
    const int threads = svmp_threads_for(b->threads, 100 * (double)variables * (double)n);
    const double spread = sqrt(2 * rate);
    double largest = 0;
    int finite = 1;
#pragma omp parallel for num_threads(threads) reduction(max : largest) reduction(& : finite)
    for (size_t i = 0; i < variables; i++) {
        const double *score = b->score + i * n;
        double *phi = b->phi + i * n, here = largest_of(n, score);
        largest = here > largest ? here : largest;
        const size_t whole = svmp_variable_key(b->model->graph, i);
        svmp_random_normals((random_stream){.seed = b->seed, .purpose = RANDOM_LANGEVIN, .a = t, .b = whole}, n, phi);
        for (size_t l = 0; l < n; l++) phi[l] = rate * score[l] + spread * phi[l];
        finite &= move(b, i);
    }
    b->largest = largest;
    return accept(b, finite, t);
}
