#include "maths/lbfgs.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 10, ITERATIONS = 5000, TRIALS = 60 };

static const double sufficient = 1e-4, curvature = 0.9; /* Wolfe's conditions */
static const double farthest = 1e15;

/* The remaining gain is about slope/2, with slope = g'Hg. For a log density, 1e-18 means that x is within 1e-9 standard
 * deviations of the mode. A search that ends with more than 1e-6 has not converged. */
static const double arrived = 1e-18, near_enough = 1e-6;

typedef struct search {
    const lbfgs_problem *problem;
    size_t d;
    double value, *x, *gradient, *direction;
    double trial_value, *trial, *trial_gradient;
    double slope;                            /* gradient'direction */
    double *s[PAIRS], *y[PAIRS], rho[PAIRS]; /* s = x' - x, y = g - g', rho = 1/s'y: a ring, the newest at pairs - 1 */
    size_t pairs;
} search;

static double dot(size_t d, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += a[i] * b[i];
    return sum;
}

/* Whether x is at a bound of its box and the direction points outside. */
static int held(const search *f, size_t i) {
    const lbfgs_problem *p = f->problem;
    return p->lower &&
           ((f->x[i] <= p->lower[i] && f->gradient[i] < 0) || (f->x[i] >= p->upper[i] && f->gradient[i] > 0));
}

/* direction = H gradient, by the two-loop recursion over the stored pairs. */
static void find_direction(search *f) {
    const size_t d = f->d, kept = f->pairs < PAIRS ? f->pairs : PAIRS;
    double *q = f->direction, alpha[PAIRS];
    for (size_t i = 0; i < d; i++) q[i] = held(f, i) ? 0 : f->gradient[i];
    double norm = sqrt(dot(d, q, q)), scale = norm > 1 ? 1 / norm : 1;
    for (size_t k = f->pairs; k-- > f->pairs - kept;) {
        const double *s = f->s[k % PAIRS], *y = f->y[k % PAIRS];
        alpha[k % PAIRS] = f->rho[k % PAIRS] * dot(d, s, q);
        for (size_t i = 0; i < d; i++) q[i] -= alpha[k % PAIRS] * y[i];
        if (k + 1 == f->pairs) scale = 1 / (f->rho[k % PAIRS] * dot(d, y, y));
    }
    for (size_t i = 0; i < d; i++) q[i] *= scale;
    for (size_t k = f->pairs - kept; k < f->pairs; k++) {
        const double *s = f->s[k % PAIRS], *y = f->y[k % PAIRS];
        const double beta = f->rho[k % PAIRS] * dot(d, y, q);
        for (size_t i = 0; i < d; i++) q[i] += (alpha[k % PAIRS] - beta) * s[i];
    }
    for (size_t i = 0; i < d; i++)
        if (held(f, i)) q[i] = 0;
    f->slope = dot(d, f->gradient, q);
}

/* trial = x + t direction, in the box. Returns the largest |trial|. */
static double move(search *f, double t) {
    const lbfgs_problem *p = f->problem;
    double largest = 0;
    for (size_t i = 0; i < f->d; i++) {
        double to = f->x[i] + t * f->direction[i];
        if (p->lower) to = to < p->lower[i] ? p->lower[i] : to > p->upper[i] ? p->upper[i] : to;
        f->trial[i] = to;
        if (!(fabs(to) <= largest)) largest = fabs(to);
    }
    return largest;
}

/* Whether the trial increases the value sufficiently: by Armijo's condition or, where differences of values are
 * rounding errors, by a condition on the gradient (Hager and Zhang 2005). */
static int is_higher(const search *f, double slope) {
    double predicted = 0;
    for (size_t i = 0; i < f->d; i++) predicted += f->gradient[i] * (f->trial[i] - f->x[i]);
    if (f->trial_value >= f->value + sufficient * predicted) return 1;
    return f->problem->lower == NULL && f->trial_value >= f->value - 1e-10 * fabs(f->value) &&
           fabs(slope) <= 0.8 * f->slope;
}

typedef enum step { STEP_TAKEN, STEP_NONE, STEP_AWAY } step;

/* Finds a step that satisfies Wolfe's conditions by bisection (Lewis and Overton 2013); in a box, only the first
 * condition. */
static svmp_status find_step(search *f, step *found) {
    const lbfgs_problem *p = f->problem;
    double low = 0, high = INFINITY, t = 1;
    *found = STEP_NONE;
    for (int k = 0; k < TRIALS; k++) {
        if (move(f, t) > farthest && low > 0) {
            *found = STEP_AWAY;
            return SVMP_OK;
        }
        SVMP_TRY(p->evaluate(p->user_data, f->trial, &f->trial_value, f->trial_gradient));
        const double slope = dot(f->d, f->trial_gradient, f->direction);
        if (!isfinite(f->trial_value) || !isfinite(slope) || !is_higher(f, slope))
            high = t;
        else if (p->lower == NULL && slope > curvature * f->slope)
            low = t;
        else {
            *found = STEP_TAKEN;
            return SVMP_OK;
        }
        t = isfinite(high) ? 0.5 * (low + high) : 2 * t;
    }
    if (low == 0) return SVMP_OK;
    move(f, low); /* a kink: accept a step that at least increases the value */
    *found = STEP_TAKEN;
    return p->evaluate(p->user_data, f->trial, &f->trial_value, f->trial_gradient);
}

static void take_step(search *f) {
    double *s = f->s[f->pairs % PAIRS], *y = f->y[f->pairs % PAIRS];
    for (size_t i = 0; i < f->d; i++) {
        s[i] = f->trial[i] - f->x[i];
        y[i] = f->gradient[i] - f->trial_gradient[i];
    }
    const double sy = dot(f->d, s, y);
    if (sy > 1e-12 * sqrt(dot(f->d, s, s) * dot(f->d, y, y))) f->rho[f->pairs++ % PAIRS] = 1 / sy;
    memcpy(f->x, f->trial, f->d * sizeof *f->x);
    memcpy(f->gradient, f->trial_gradient, f->d * sizeof *f->x);
    f->value = f->trial_value;
}

static svmp_status climb(search *f, lbfgs_result *end) {
    const lbfgs_problem *p = f->problem;
    end->outcome = LBFGS_FAILED;
    SVMP_TRY(p->evaluate(p->user_data, f->x, &f->value, f->gradient));
    end->value = f->value;
    if (!isfinite(f->value) || !isfinite(dot(f->d, f->gradient, f->gradient))) return SVMP_OK;
    for (end->iterations = 0; end->iterations < ITERATIONS; end->iterations++) {
        step found;
        find_direction(f);
        if (f->slope <= arrived) break;
        SVMP_TRY(find_step(f, &found));
        if (found == STEP_AWAY) {
            end->outcome = LBFGS_DIVERGED;
            return SVMP_OK;
        }
        if (found == STEP_TAKEN)
            take_step(f);
        else if (f->pairs == 0 || f->slope <= near_enough)
            break;
        else
            f->pairs = 0; /* the pairs may be misleading: try once more along the gradient */
        end->value = f->value;
    }
    if (f->slope <= near_enough) end->outcome = LBFGS_CONVERGED;
    return SVMP_OK;
}

svmp_status svmp_lbfgs_maximise(svmp_context *context, const lbfgs_problem *problem, double *x, lbfgs_result *end) {
    const size_t d = problem->dimension;
    search f = {.problem = problem, .d = d, .x = x};
    double *workspace;
    *end = (lbfgs_result){LBFGS_FAILED, -INFINITY, 0};
    SVMP_TRY(svmp_allocate(context, d, (4 + 2 * PAIRS) * sizeof *workspace, (void **)&workspace));
    f.gradient = workspace;
    f.direction = workspace + d;
    f.trial = workspace + 2 * d;
    f.trial_gradient = workspace + 3 * d;
    for (size_t k = 0; k < PAIRS; k++) {
        f.s[k] = workspace + (4 + 2 * k) * d;
        f.y[k] = workspace + (5 + 2 * k) * d;
    }
    svmp_status status = climb(&f, end);
    svmp_release(context, workspace);
    return status;
}
