/* Differences between two samples, variable by variable, in units of their standard errors. */
#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "base/threads.h"
#include "maths/order_statistics.h"
#include "maths/test_limits.h"
#include "sample/particles.h"
#include "sample/r_hat_and_ess.h"

/* One side of the comparison: its draws, and a thread's workspace for one variable. */
typedef struct side {
    const svmp_particles *particles;
    const size_t *place;
    int chains;
} side;

typedef struct side_workspace {
    chain_workspace chains;
    double *x, *squares; /* the draws in units, and their (x - mean)^2 */
} side_workspace;

/* The mean of some values, the variance of a value, and the number of independent values. */
typedef struct mean_estimate {
    double mean, variance, draws;
} mean_estimate;

/* In units, which no z depends on. */
typedef struct estimate {
    double square;            /* E[x^2] */
    mean_estimate x, squares; /* the mean of x, and of (x - mean)^2 */
} estimate;

static mean_estimate mean_of(const side *of, side_workspace *workspace, const double *x) {
    const size_t n = of->particles->count;
    const double mean = svmp_sum(n, x) / (double)n;
    double squares = 0;
    for (size_t l = 0; l < n; l++) squares += (x[l] - mean) * (x[l] - mean);
    mean_estimate e = {mean, squares / (double)(n - 1), (double)n}; /* NaN for n = 1 */
    if (of->chains) {
        const double error = svmp_chains_error(&workspace->chains, x);
        e.draws = error == 0 ? (double)n : e.variance / (error * error);
    }
    return e;
}

static const double *draws_of(const side *of, size_t k) {
    return of->particles->values + of->place[k] * of->particles->count;
}

static double unit_of(const side *of, size_t k) { return svmp_unit(of->particles->count, draws_of(of, k)); }

static estimate estimate_of(const side *of, side_workspace *workspace, size_t k, double unit) {
    const size_t n = of->particles->count;
    const double *draws = draws_of(of, k);
    double *x = workspace->x;
    for (size_t l = 0; l < n; l++) x[l] = draws[l] / unit;
    estimate e = {.square = svmp_dot(n, x, x) / (double)n, .x = mean_of(of, workspace, x)};
    for (size_t l = 0; l < n; l++) workspace->squares[l] = (x[l] - e.x.mean) * (x[l] - e.x.mean);
    e.squares = mean_of(of, workspace, workspace->squares);
    return e;
}

/* The difference divided by its standard error is Student's t with Welch's degrees of freedom; Wallace's formula gives
 * the normal z with the same tail probability. a and b are the squared errors of the two sides, n and m their numbers
 * of independent draws. */
static double normal_z(double difference, double a, double b, double n, double m) {
    if (isnan(a + b + n + m)) return NAN;
    if (difference == 0) return 0;
    if (a + b == 0) return copysign(INFINITY, difference);
    const double freedom = (a + b) * (a + b) / (a * a / fmax(n - 1, 1) + b * b / fmax(m - 1, 1));
    return copysign(svmp_normal_z(difference * difference / (a + b), freedom), difference);
}

static double z_of_means(const mean_estimate *a, const mean_estimate *b) {
    return normal_z(a->mean - b->mean, a->variance / a->draws, b->variance / b->draws, a->draws, b->draws);
}

/* log sd = log(variance)/2 has half the relative error of the variance, the mean of (x - mean)^2: its square is
 * (kurtosis - 1)/(4 n). A kurtosis from few particles is inaccurate, so the pooled one of both sides is used. */
static double z_of_sd(const mean_estimate *a, const mean_estimate *b) {
    if (isnan(a->variance) || isnan(b->variance)) return NAN;
    if (a->mean == 0 || b->mean == 0) return a->mean == b->mean ? 0 : a->mean > 0 ? INFINITY : -INFINITY;
    const double shape_a = a->variance / (a->mean * a->mean), shape_b = b->variance / (b->mean * b->mean);
    const double shape = (a->draws * shape_a + b->draws * shape_b) / (a->draws + b->draws);
    return normal_z(log(a->mean / b->mean) / 2, shape / a->draws / 4, shape / b->draws / 4, a->draws, b->draws);
}

/* The share of draws below a point, with those equal to it counted as half, as a mean with its effective number of
 * independent draws. */
static mean_estimate share_below(const side *of, side_workspace *workspace, size_t k, double place) {
    const double *x = draws_of(of, k);
    for (size_t l = 0; l < of->particles->count; l++)
        workspace->squares[l] = x[l] < place ? 1 : x[l] == place ? 0.5 : 0;
    return mean_of(of, workspace, workspace->squares);
}

/* The z of a quantile of the reference: compares the shares of both sides below it after the variance-stabilising arc
 * sine transform (Anscombe). Positive if fewer particles are below it, so that their own quantile is larger. */
static double z_of_quantile(const side *a, const side *b, side_workspace *workspaces, size_t k, double level) {
    const size_t count = b->particles->count, low = (size_t)(level * (double)(count - 1));
    memcpy(workspaces[1].x, draws_of(b, k), count * sizeof(double));
    const double place = svmp_select(workspaces[1].x, count, low);
    const mean_estimate here = share_below(a, &workspaces[0], k, place),
                        there = share_below(b, &workspaces[1], k, place);
    if (isnan(here.variance + here.draws) || isnan(there.variance + there.draws)) return NAN;
    const double angle = asin(sqrt((here.mean * here.draws + 0.375) / (here.draws + 0.75)));
    const double expected = asin(sqrt((there.mean * there.draws + 0.375) / (there.draws + 0.75)));
    return 2 * (expected - angle) / sqrt(1 / here.draws + 1 / there.draws);
}

static svmp_difference difference_of(const estimate *own, const estimate *reference, double unit) {
    return (svmp_difference){.mean = unit * own->x.mean,
                             .reference_mean = unit * reference->x.mean,
                             .square = unit * (unit * own->square), /* unit^2 may underflow or overflow */
                             .reference_square = unit * (unit * reference->square),
                             .z_mean = z_of_means(&own->x, &reference->x),
                             .sd_ratio = sqrt(own->x.variance / reference->x.variance),
                             .z_sd = z_of_sd(&own->squares, &reference->squares)};
}

static svmp_status create_workspace(svmp_context *context, const side *of, side_workspace *workspace) {
    const size_t chains = of->particles->chains, count = of->particles->count;
    SVMP_TRY(svmp_chain_workspace_create(context, chains, count / chains, 0, &workspace->chains));
    SVMP_TRY(SVMP_NEW(context, workspace->x, count));
    return SVMP_NEW(context, workspace->squares, count);
}

static void free_workspace(svmp_context *context, side_workspace *workspace) {
    svmp_chain_workspace_free(context, &workspace->chains);
    svmp_release_all(context, workspace->x, workspace->squares);
}

typedef struct difference_work {
    const side *a, *b;
    side_workspace *workspaces; /* two for each thread */
    svmp_difference *rows;
} difference_work;

static void compare_variable(void *work, size_t k) {
    const difference_work *w = work;
    const side *a = w->a, *b = w->b;
    side_workspace *own = &w->workspaces[2 * svmp_thread_number()];
    const double unit = fmax(unit_of(a, k), unit_of(b, k));
    const estimate here = estimate_of(a, own, k, unit), there = estimate_of(b, own + 1, k, unit);
    svmp_difference *row = &w->rows[a->place[k]];
    *row = difference_of(&here, &there, unit);
    row->z_low = z_of_quantile(a, b, own, k, 0.05);
    row->z_high = z_of_quantile(a, b, own, k, 0.95);
}

svmp_status svmp_particles_differences(const svmp_particles *particles, const svmp_particles *reference,
                                       svmp_difference *rows) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (reference == NULL || rows == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_differences: the %s is NULL.",
                         reference ? "result" : "reference");
    svmp_status status = SVMP_OK;
    size_t *a_place = NULL, *b_place = NULL;
    side_workspace *workspaces = NULL;
    const double numbers = (double)(particles->count + reference->count) * (double)particles->variables;
    const int threads = svmp_threads_for(svmp_context_threads(context), 20 * numbers);
    SVMP_CHECK(svmp_particles_match(particles, "the particles", reference, "the reference", &a_place, &b_place));
    const side a = {particles, a_place, svmp_particles_are_chains(particles)};
    const side b = {reference, b_place, svmp_particles_are_chains(reference)};
    SVMP_CHECK(SVMP_NEW(context, workspaces, 2 * (size_t)threads));
    for (int t = 0; t < threads; t++) {
        SVMP_CHECK(create_workspace(context, &a, &workspaces[2 * t]));
        SVMP_CHECK(create_workspace(context, &b, &workspaces[2 * t + 1]));
    }
    svmp_parallel_for(threads, particles->variables, 16, compare_variable,
                      &(difference_work){&a, &b, workspaces, rows});
done:
    for (int t = 0; workspaces && t < 2 * threads; t++) free_workspace(context, &workspaces[t]);
    svmp_release_all(context, workspaces, a_place, b_place);
    return status;
}
