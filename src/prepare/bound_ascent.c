#include "prepare/bound_ascent.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "prepare/prepare_constants.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

static svmp_status allocate_point(svmp_context *context, size_t order, size_t entries, size_t draws, ascent_point *p) {
    SVMP_TRY(SVMP_NEW(context, p->mean, order));
    SVMP_TRY(SVMP_NEW(context, p->A, entries));
    SVMP_TRY(SVMP_NEW(context, p->x, order * draws));
    return SVMP_NEW(context, p->score, order * draws);
}

static svmp_status prepare(ascent *a) {
    svmp_context *context = a->model->context;
    const size_t order = a->model->graph->variables;
    SVMP_TRY(svmp_curvature_create(a->model, a->threads, &a->curve));
    a->pattern = svmp_curvature_pattern(a->curve);
    SVMP_TRY(svmp_factorisation_create(context, a->pattern, &a->factor));
    SVMP_TRY(allocate_point(context, order, a->pattern->entries, a->most, &a->here));
    SVMP_TRY(allocate_point(context, order, a->pattern->entries, a->most, &a->next));
    SVMP_TRY(SVMP_NEW(context, a->z, order * a->most));
    SVMP_TRY(SVMP_NEW(context, a->H, a->pattern->entries));
    SVMP_TRY(SVMP_NEW(context, a->slope, order));
    SVMP_TRY(SVMP_NEW(context, a->unit, order));
    return SVMP_NEW(context, a->log_density, a->most);
}

svmp_status svmp_ascent_create(const svmp_model *model, size_t most, ascent **made) {
    ascent *a = NULL;
    SVMP_TRY(SVMP_NEW(model->context, a, 1));
    a->model = model;
    a->most = most;
    a->threads = svmp_context_threads(model->context);
    svmp_status status = prepare(a);
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
    double *arrays[] = {a->here.mean,  a->here.A, a->here.x, a->here.score, a->next.mean, a->next.A,     a->next.x,
                        a->next.score, a->z,      a->H,      a->slope,      a->unit,      a->log_density};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    svmp_release(context, a);
}

typedef struct draw_work {
    ascent *a;
    uint64_t seed;
} draw_work;

/* Standardised draws of variable i: half of them, scaled to a second moment of 1, and their mirror images. */
static void draw_variable(void *work, size_t i) {
    const draw_work *w = work;
    const size_t draws = w->a->draws, half = draws / 2;
    double *z = w->a->z + i * draws;
    svmp_random_normals((random_stream){.seed = w->seed, .purpose = RANDOM_GAUSSIAN, .b = i}, half, z + half);
    const double unit = sqrt(svmp_dot(half, z + half, z + half) / (double)half);
    for (size_t l = 0; l < half; l++) {
        z[2 * l] = z[half + l] / unit; /* never before z[half + l] is read */
        z[2 * l + 1] = -z[2 * l];
    }
}

svmp_status svmp_ascent_set_draws(ascent *a, uint64_t seed, size_t draws) {
    svmp_evaluator_free(a->evaluate);
    a->evaluate = NULL;
    a->draws = draws;
    SVMP_TRY(svmp_evaluator_create(a->model, draws, a->threads, &a->evaluate));
    svmp_parallel_for(a->threads, a->pattern->order, 0, draw_variable, &(draw_work){a, seed});
    return SVMP_OK;
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* F at (next.mean, next.A) with its draws and their scores; -INFINITY if A is not positive definite, which also sets
 * *bad, or the density of a draw is not finite. Unless `rho` is 0, first sets next.mean = mean + rho A^-1 slope. */
static svmp_status evaluate_next(ascent *a, double rho, int *bad) {
    const size_t order = a->pattern->order, n = a->draws;
    ascent_point *next = &a->next;
    size_t row;
    next->bound = -INFINITY;
    SVMP_TRY(svmp_factorise(a->factor, next->A, &row));
    *bad = row != SIZE_MAX;
    if (*bad) return SVMP_OK;
    if (rho > 0) {
        memcpy(next->mean, a->slope, order * sizeof *a->slope);
        SVMP_TRY(svmp_factorisation_solve(a->factor, 1, 1, next->mean));
        for (size_t i = 0; i < order; i++) next->mean[i] = a->here.mean[i] + rho * next->mean[i];
    }
    memcpy(next->x, a->z, order * n * sizeof *a->z);
    SVMP_TRY(svmp_factorisation_correlate(a->factor, a->threads, n, next->x));
    for (size_t i = 0; i < order; i++)
        for (size_t l = 0; l < n; l++) next->x[i * n + l] += next->mean[i];
    SVMP_TRY(svmp_evaluate(a->evaluate, next->x, a->log_density, next->score));
    const double mean = svmp_sum(n, a->log_density) / (double)n;
    if (isfinite(mean)) next->bound = mean - 0.5 * svmp_factorisation_log_determinant(a->factor);
    return SVMP_OK;
}

static void accept(ascent *a) {
    const ascent_point kept = a->here;
    a->here = a->next;
    a->next = kept;
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

svmp_status svmp_ascent_begin(ascent *a, int *found) {
    const sparsity *pattern = a->pattern;
    ascent_point *next = &a->next;
    int bad;
    *found = 0;
    for (int pull = 0; pull < PULLS && !*found; pull++) {
        SVMP_TRY(svmp_curvature_evaluate(a->curve, 1, a->here.mean, NULL, a->H));
        memset(next->A, 0, pattern->entries * sizeof *next->A);
        for (size_t i = 0; i < pattern->order; i++) {
            const double h = fabs(a->H[pattern->start[i]]);
            next->A[pattern->start[i]] = ldexp(isfinite(h) && h > 100 ? h : 100, 2 * pull);
            next->mean[i] = a->here.mean[i];
        }
        SVMP_TRY(evaluate_next(a, 0, &bad));
        *found = isfinite(next->bound);
        for (size_t i = 0; !*found && i < pattern->order; i++) a->here.mean[i] *= 0.5;
    }
    if (*found) accept(a);
    return SVMP_OK;
}

svmp_status svmp_ascent_resume(ascent *a, int *found) {
    ascent_point *next = &a->next;
    int bad;
    *found = 0;
    for (int pull = 0; pull < PULLS && !*found; pull++) {
        memcpy(next->mean, a->here.mean, a->pattern->order * sizeof *next->mean);
        for (size_t e = 0; e < a->pattern->entries; e++) next->A[e] = ldexp(a->here.A[e], pull);
        SVMP_TRY(evaluate_next(a, 0, &bad));
        *found = isfinite(next->bound);
    }
    if (*found) accept(a);
    return SVMP_OK;
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* *finite: whether the curvature and the slope are finite. */
static svmp_status derive(ascent *a, int *finite) {
    const size_t order = a->pattern->order, n = a->draws;
    double sum = 0;
    for (size_t i = 0; i < order; i++) {
        a->slope[i] = svmp_sum(n, a->here.score + i * n) / (double)n;
        a->unit[i] = 1 / sqrt(a->here.A[a->pattern->start[i]]);
        sum += a->slope[i] * 0;
    }
    SVMP_TRY(svmp_curvature_evaluate(a->curve, n, a->here.x, a->unit, a->H));
    for (size_t e = 0; e < a->pattern->entries; e++) sum += a->H[e] * 0;
    *finite = sum == 0;
    return SVMP_OK;
}

/* H without the negative eigenvalues of its factors, in units of each variable's sd. */
static svmp_status repair(ascent *a) {
    const size_t *start = a->pattern->start, order = a->pattern->order;
    for (size_t i = 0; i < order; i++) a->unit[i] = sqrt(a->here.A[start[i]]);
    SVMP_TRY(svmp_curvature_clip(a->curve, a->unit, a->H));
    for (size_t i = 0; i < order; i++) {
        a->unit[i] = 1 / a->unit[i];
        a->H[start[i]] += ridge * a->here.A[start[i]];
    }
    return SVMP_OK;
}

/* Targets of A, in the order in which they are tried: the curvature; the curvature without its factors' negative
 * eigenvalues; A itself, so that only the mean moves, which increases F for small rho. */
typedef enum direction { DIRECTION_CURVATURE, DIRECTION_REPAIRED, DIRECTION_MEAN, DIRECTIONS } direction;

static svmp_status turn(ascent *a, direction to) {
    if (to == DIRECTION_REPAIRED) return repair(a);
    if (to == DIRECTION_MEAN) memcpy(a->H, a->here.A, a->pattern->entries * sizeof *a->H);
    return SVMP_OK;
}

/* The largest gain of a step shorter than rho, by the parabola through the gains `whole` of rho and `half` of rho/2. It
 * is meaningless if these lose much. */
static double promise(const ascent *a, double whole, double half) {
    const double near = fmax(0.1, 1e-4 * (double)a->pattern->order);
    if (!(whole > -near && half > -near)) return INFINITY;
    const double slope = 4 * half - whole, bend = slope - whole; /* whole = slope - bend */
    return slope <= 0 ? 0 : bend > 0 ? slope * slope / (4 * bend) : INFINITY;
}

/* A' = (1 - rho) A + rho H, m' = m + rho A'^-1 slope, for rho, rho/2, ... until F increases; a full step may lose a
 * little. *way: which H succeeded; DIRECTIONS: none. */
static svmp_status step(ascent *a, ascent_goal goal, double *rho, direction *way) {
    const double first = *rho;
    int taken = 0, bad = 0;
    for (*way = DIRECTION_CURVATURE; *way < DIRECTIONS; ++*way) {
        double gain = -INFINITY, before;
        SVMP_TRY(turn(a, *way));
        *rho = first;
        for (int trial = 0; trial < STEP_TRIALS && !taken; trial++) {
            for (size_t e = 0; e < a->pattern->entries; e++) a->next.A[e] = (1 - *rho) * a->here.A[e] + *rho * a->H[e];
            SVMP_TRY(evaluate_next(a, *rho, &bad));
            before = gain;
            gain = a->next.bound - a->here.bound;
            taken = gain > (*rho == 1 ? -goal.loss : 0);
            if (bad && *way == DIRECTION_CURVATURE) break;
            if (!taken && promise(a, before, gain) < goal.worth) break;
            if (!taken) *rho *= 0.5;
        }
        if (taken) break;
    }
    if (!taken) return SVMP_OK;
    accept(a);
    return SVMP_OK;
}

/* ---- the climb --------------------------------------------------------------------------------------------------- */

/* Extrapolation: full steps often converge linearly along one direction, with each pair mu times the previous pair (m
 * and A depend on each other, so single steps alternate). After every fourth step the limit of the series is tried,
 * mu/(1 - mu) times the last pair, with the curvature at the draws there. */
typedef struct pace {
    double *first_mean, *middle_mean; /* before these four steps, and after two of them */
    int steps;
} pace;

static void note_start(const ascent *a, pace *p) {
    memcpy(p->first_mean, a->here.mean, a->pattern->order * sizeof *p->first_mean);
    p->steps = 0;
}

static void note_middle(const ascent *a, pace *p) {
    memcpy(p->middle_mean, a->here.mean, a->pattern->order * sizeof *p->middle_mean);
}

/* The length of the second pair along the first, in units of each variable's sd. */
static double find_ratio(const ascent *a, const pace *p) {
    double along = 0, length = 0;
    for (size_t i = 0; i < a->pattern->order; i++) {
        const double unit = a->here.A[a->pattern->start[i]], moved = p->middle_mean[i] - p->first_mean[i];
        along += unit * moved * (a->here.mean[i] - p->middle_mean[i]);
        length += unit * moved * moved;
    }
    return length > 0 ? along / length : 0;
}

static svmp_status extrapolate(ascent *a, const pace *p) {
    const double mu = find_ratio(a, p);
    if (!(mu > 0.1 && mu < 1)) return SVMP_OK;
    double far = fmin(mu / (1 - mu), 50);
    for (int trial = 0; trial < 2; trial++, far /= 3) {
        const size_t n = a->draws;
        int bad;
        for (size_t i = 0; i < a->pattern->order; i++) {
            const double by = far * (a->here.mean[i] - p->middle_mean[i]);
            a->next.mean[i] = a->here.mean[i] + by;
            for (size_t l = 0; l < n; l++) a->next.x[i * n + l] = a->here.x[i * n + l] + by;
        }
        SVMP_TRY(svmp_curvature_evaluate(a->curve, n, a->next.x, a->unit, a->next.A));
        SVMP_TRY(evaluate_next(a, 0, &bad));
        if (!(a->next.bound > a->here.bound)) continue;
        accept(a);
        break;
    }
    return SVMP_OK;
}

/* After a step, full or not. */
static svmp_status keep_pace(ascent *a, pace *p, int full) {
    p->steps++;
    if (full && p->steps == 2) note_middle(a, p);
    if (full && p->steps == 4) SVMP_TRY(extrapolate(a, p));
    if (!full || p->steps == 4) note_start(a, p);
    return SVMP_OK;
}

static int is_near(const ascent *a, const ascent_point *known, double level) {
    if (!(a->here.bound > known->bound - (level > 0 ? level : 0.5))) return 0;
    if (level > 0) return 1;
    for (size_t i = 0; i < a->pattern->order; i++) {
        const double off = a->here.mean[i] - known->mean[i];
        if (!(off * off * a->here.A[a->pattern->start[i]] < 0.25)) return 0;
    }
    return 1;
}

/* Whether repeating the last gain would not reach the known bound in time. */
static int is_low(const ascent *a, const ascent_point *known) {
    return a->iterations >= 20 &&
           a->here.bound + fmax(a->gain, 0) * (double)(ASCENT_STEPS - a->iterations) < known->bound;
}

static svmp_status climb(ascent *a, ascent_goal goal, const ascent_point *known, pace *p, ascent_outcome *end) {
    double rho = 1, record = a->here.bound;
    int still = 0;
    *end = ASCENT_CONVERGED;
    for (a->iterations = 0; a->iterations < ASCENT_STEPS && still < 3 * goal.steps; a->iterations++) {
        const double before = a->here.bound;
        direction way;
        int finite;
        SVMP_TRY(derive(a, &finite));
        if (!finite) return SVMP_OK;
        rho = rho * 4 > 1 ? 1 : rho * 4;
        SVMP_TRY(step(a, goal, &rho, &way));
        if (way == DIRECTIONS) return SVMP_OK;
        SVMP_TRY(keep_pace(a, p, rho == 1 && way == DIRECTION_CURVATURE));
        a->gain = a->here.bound - before;
        svmp_log(a->model->context, SVMP_LOG_DEBUG, "Gaussian on the graph: iteration %zu, F %.9g.", a->iterations,
                 a->here.bound);
        still = a->here.bound < record + goal.gain ? still + (rho == 1 ? 3 : 1) : 0;
        if (still == 0) record = a->here.bound;
        *end = known && is_near(a, known, goal.level) ? ASCENT_KNOWN
               : known && is_low(a, known)            ? ASCENT_LOW
                                                      : ASCENT_CONVERGED;
        if (*end != ASCENT_CONVERGED) return SVMP_OK;
    }
    if (still < 3 * goal.steps) *end = ASCENT_NOT_CONVERGED;
    return SVMP_OK;
}

svmp_status svmp_ascent_climb(ascent *a, ascent_goal goal, const ascent_point *known, ascent_outcome *end) {
    svmp_context *context = a->model->context;
    svmp_status status;
    pace p = {0};
    SVMP_CHECK(SVMP_NEW(context, p.first_mean, a->pattern->order));
    SVMP_CHECK(SVMP_NEW(context, p.middle_mean, a->pattern->order));
    note_start(a, &p);
    SVMP_CHECK(climb(a, goal, known, &p, end));
done:
    svmp_release(context, p.first_mean);
    svmp_release(context, p.middle_mean);
    return status;
}
