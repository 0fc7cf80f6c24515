#include "start/ascent.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/vector.h"
#include "start/definite.h"

enum { ITERATIONS = 150, TRIALS = 12, PULLS = 12 };

static const double enough = 1e-3; /* two full steps that gain less end the ascent */

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void draw(ascent *a, uint64_t seed) {
    const size_t n = a->draws;
#pragma omp parallel for num_threads(a->threads)
    for (size_t i = 0; i < a->pattern->order; i++) {
        double *z = a->z + i * n, half[ASCENT_DRAWS / 2];
        svmp_random_normals((random_stream){.seed = seed, .purpose = RANDOM_GAUSSIAN, .b = i}, n / 2, half);
        const double unit = sqrt(svmp_dot(n / 2, half, half) / (double)(n / 2));
        for (size_t l = 0; l < n / 2; l++) {
            z[2 * l] = half[l] / unit;
            z[2 * l + 1] = -z[2 * l];
        }
    }
}

static svmp_status prepare(ascent *a, uint64_t seed) {
    svmp_context *context = a->model->context;
    const size_t order = a->model->graph->variables, numbers = order * a->draws;
    SVMP_TRY(svmp_evaluator_create(a->model, a->draws, a->threads, &a->evaluate));
    SVMP_TRY(svmp_curvature_create(a->model, a->draws, a->threads, &a->curve));
    a->pattern = svmp_curvature_pattern(a->curve);
    SVMP_TRY(svmp_factorisation_create(context, a->pattern, &a->factor));
    SVMP_TRY(SVMP_NEW(context, a->z, numbers));
    SVMP_TRY(SVMP_NEW(context, a->x, numbers));
    SVMP_TRY(SVMP_NEW(context, a->score, numbers));
    SVMP_TRY(SVMP_NEW(context, a->next_x, numbers));
    SVMP_TRY(SVMP_NEW(context, a->next_score, numbers));
    SVMP_TRY(SVMP_NEW(context, a->log_density, a->draws));
    SVMP_TRY(SVMP_NEW(context, a->mean, order));
    SVMP_TRY(SVMP_NEW(context, a->next_mean, order));
    SVMP_TRY(SVMP_NEW(context, a->slope, order));
    SVMP_TRY(SVMP_NEW(context, a->width, order));
    SVMP_TRY(SVMP_NEW(context, a->A, a->pattern->entries));
    SVMP_TRY(SVMP_NEW(context, a->next_A, a->pattern->entries));
    SVMP_TRY(SVMP_NEW(context, a->H, a->pattern->entries));
    draw(a, seed);
    return SVMP_OK;
}

svmp_status svmp_ascent_create(const svmp_model *model, uint64_t seed, ascent **made) {
    ascent *a = NULL;
    SVMP_TRY(SVMP_NEW(model->context, a, 1));
    a->model = model;
    a->draws = ASCENT_DRAWS;
    a->threads = svmp_context_threads(model->context);
    svmp_status status = prepare(a, seed);
    if (status == SVMP_OK)
        *made = a;
    else
        svmp_ascent_free(a);
    return status;
}

void svmp_ascent_free(ascent *a) {
    if (a == NULL) return;
    svmp_context *context = a->model->context;
    svmp_evaluator_free(a->evaluate);
    svmp_curvature_free(a->curve);
    svmp_factorisation_free(a->factor);
    double *arrays[] = {a->z,     a->x, a->score, a->next_x, a->next_score, a->log_density, a->mean, a->next_mean,
                        a->slope, a->A, a->width, a->next_A, a->H};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    svmp_release(context, a);
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* F at (next_mean, A), with its draws and their scores in next_x and next_score; -INFINITY where A is not positive
 * definite or a draw's density is not finite. `step`, unless 0, is that of next_mean = mean + step A^-1 slope. */
static svmp_status bound_at(ascent *a, double step, const double *A, double *bound) {
    const size_t order = a->pattern->order, n = a->draws;
    size_t bad;
    *bound = -INFINITY;
    SVMP_TRY(svmp_factorise(a->factor, A, &bad));
    if (bad != SIZE_MAX) return SVMP_OK;
    if (step > 0) {
        memcpy(a->next_mean, a->slope, order * sizeof *a->slope);
        SVMP_TRY(svmp_factorisation_solve(a->factor, 1, 1, a->next_mean));
        for (size_t i = 0; i < order; i++) a->next_mean[i] = a->mean[i] + step * a->next_mean[i];
    }
    memcpy(a->next_x, a->z, order * n * sizeof *a->z);
    SVMP_TRY(svmp_factorisation_spread(a->factor, a->threads, n, a->next_x));
    for (size_t i = 0; i < order; i++)
        for (size_t l = 0; l < n; l++) a->next_x[i * n + l] += a->next_mean[i];
    SVMP_TRY(svmp_evaluate(a->evaluate, a->next_x, a->log_density, a->next_score));
    const double mean = svmp_sum(n, a->log_density) / (double)n;
    if (isfinite(mean)) *bound = mean - 0.5 * svmp_factorisation_log_determinant(a->factor);
    return SVMP_OK;
}

static void exchange(double **a, double **b) {
    double *kept = *a;
    *a = *b;
    *b = kept;
}

static void accept(ascent *a, double bound) {
    exchange(&a->x, &a->next_x);
    exchange(&a->score, &a->next_score);
    exchange(&a->mean, &a->next_mean);
    exchange(&a->A, &a->next_A);
    a->bound = bound;
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

/* A diagonal A from the curvature at the mean; tighter, and the mean nearer to 0, until the bound is finite. */
static svmp_status begin(ascent *a, int *found) {
    const sparsity *pattern = a->pattern;
    const size_t order = pattern->order, n = a->draws;
    double bound = -INFINITY;
    for (int pull = 0; pull < PULLS && !isfinite(bound); pull++) {
        for (size_t i = 0; i < order; i++)
            for (size_t l = 0; l < n; l++) a->next_x[i * n + l] = a->mean[i];
        SVMP_TRY(svmp_curvature_evaluate(a->curve, a->next_x, NULL, a->H));
        memset(a->next_A, 0, pattern->entries * sizeof *a->A);
        for (size_t i = 0; i < order; i++) {
            const double h = fabs(a->H[pattern->start[i]]);
            a->next_A[pattern->start[i]] = ldexp(isfinite(h) && h > 100 ? h : 100, 2 * pull);
            a->next_mean[i] = a->mean[i];
        }
        SVMP_TRY(bound_at(a, 0, a->next_A, &bound));
        if (!isfinite(bound))
            for (size_t i = 0; i < order; i++) a->mean[i] *= 0.5;
    }
    *found = isfinite(bound);
    if (*found) accept(a, bound);
    return SVMP_OK;
}

/* ---- the climb --------------------------------------------------------------------------------------------------- */

static svmp_status derive(ascent *a) {
    const size_t order = a->pattern->order, n = a->draws;
    for (size_t i = 0; i < order; i++) {
        a->slope[i] = svmp_sum(n, a->score + i * n) / (double)n;
        a->width[i] = 1 / sqrt(a->A[a->pattern->start[i]]);
    }
    return svmp_curvature_evaluate(a->curve, a->x, a->width, a->H);
}

static int is_finite(const ascent *a) {
    double sum = 0;
    for (size_t e = 0; e < a->pattern->entries; e++) sum += a->H[e] * 0;
    for (size_t i = 0; i < a->pattern->order; i++) sum += a->slope[i] * 0;
    return sum == 0;
}

/* A' = (1 - rho) A + rho H, m' = m + rho A'^-1 slope, for rho, rho/2, ... until F is higher. */
static svmp_status step(ascent *a, double *rho, int *taken) {
    *taken = 0;
    for (int trial = 0; trial < TRIALS; trial++, *rho *= 0.5) {
        double bound;
        for (size_t e = 0; e < a->pattern->entries; e++) a->next_A[e] = (1 - *rho) * a->A[e] + *rho * a->H[e];
        SVMP_TRY(bound_at(a, *rho, a->next_A, &bound));
        if (!(bound > a->bound - 1e-9 * fabs(a->bound))) continue;
        accept(a, bound);
        *taken = 1;
        break;
    }
    return SVMP_OK;
}

svmp_status svmp_ascent_climb(ascent *a, int *found) {
    double rho = 1;
    int still = 0;
    SVMP_TRY(begin(a, found));
    if (!*found) return SVMP_OK;
    for (a->iterations = 0; a->iterations < ITERATIONS && still < 2; a->iterations++) {
        const double before = a->bound;
        int taken, repaired;
        SVMP_TRY(derive(a));
        if (!is_finite(a)) break;
        SVMP_TRY(svmp_make_definite(a->factor, a->pattern, a->H, &repaired));
        rho = rho * 4 > 1 ? 1 : rho * 4;
        SVMP_TRY(step(a, &rho, &taken));
        svmp_log(a->model->context, SVMP_LOG_DEBUG, "iteration %zu: F %.8g -> %.8g, rho %g%s.", a->iterations, before,
                 a->bound, rho, repaired ? ", repaired" : "");
        if (!taken) break;
        still = a->bound - before < enough && rho == 1 ? still + 1 : 0;
    }
    return SVMP_OK;
}
