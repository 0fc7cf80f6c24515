/* Leave-one-out cross-validation by importance sampling with Pareto-smoothed weights: Vehtari, Gelman and Gabry (2017),
 * Vehtari et al. (2024). */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "maths/pareto_tail.h"
#include "maths/sort_with_indices.h"
#include "sample/particles.h"

/* How many of the largest weights are smoothed. */
static size_t tail_of(size_t count) {
    const double share = 0.2 * (double)count, root = 3 * sqrt((double)count);
    return (size_t)ceil(share < root ? share : root);
}

/* Working memory for one observation: arrays with one number for each draw. */
typedef struct loo_workspace {
    size_t count;
    double *tail;
    placed *weights, *spare; /* in logs, ascending; the largest is 0 */
} loo_workspace;

/* Replaces the largest weights by the quantiles of a Pareto tail. Returns its shape. */
static double smooth(const loo_workspace *work) {
    const size_t count = work->count;
    size_t size = tail_of(count);
    if (work->weights[0].value == 0) return 0; /* all are equal */
    if (size >= count) return INFINITY;
    placed *largest = work->weights + count - size;
    const double threshold = largest[-1].value;
    for (; size > 0 && largest->value == threshold; size--) largest++;
    for (size_t k = 0; k < size; k++) work->tail[k] = exp(largest[k].value) - exp(threshold);
    const pareto_tail fitted = svmp_pareto_fit(size, work->tail);
    if (isnan(fitted.shape)) return INFINITY;
    for (size_t k = 0; k < size; k++) {
        const double quantile = exp(threshold) + svmp_pareto_quantile(fitted, ((double)k + 0.5) / (double)size);
        largest[k].value = quantile < 1 ? log(quantile) : 0;
    }
    return fitted.shape;
}

/* The log density of an observation given the others, from its log likelihood in each draw; NaN if one is not finite.
 */
static double leave_out(const loo_workspace *work, const double *likelihood, double *shape) {
    const size_t count = work->count;
    double least = INFINITY, total = 0, sum = 0, largest = -INFINITY;
    *shape = NAN;
    for (size_t l = 0; l < count; l++) {
        if (!isfinite(likelihood[l])) return NAN;
        least = fmin(least, likelihood[l]);
    }
    for (size_t l = 0; l < count; l++) work->weights[l] = (placed){least - likelihood[l], l};
    svmp_sort(work->weights, work->spare, count);
    *shape = smooth(work);
    for (size_t l = 0; l < count; l++)
        largest = fmax(largest, work->weights[l].value + likelihood[work->weights[l].place]);
    for (size_t l = 0; l < count; l++) {
        total += exp(work->weights[l].value);
        sum += exp(work->weights[l].value + likelihood[work->weights[l].place] - largest);
    }
    return largest + log(sum) - log(total);
}

double svmp_loo_limit(size_t count) {
    const double limit = 1 - 1 / log10((double)count);
    return count < 10 ? 0 : limit < 0.7 ? limit : 0.7;
}

static bool is_likelihood(const svmp_particles *particles, size_t i) {
    return strncmp(svmp_particles_name(particles, i), "log_lik.", 8) == 0;
}

svmp_status svmp_particles_loo(const svmp_particles *particles, double *density, double *shape) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    loo_workspace work = {.count = particles->count};
    svmp_status status;
    if (density == NULL || shape == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_loo: a result is NULL.");
    SVMP_CHECK(SVMP_NEW(context, work.tail, work.count));
    SVMP_CHECK(SVMP_NEW(context, work.weights, work.count));
    SVMP_CHECK(SVMP_NEW(context, work.spare, work.count));
    for (size_t i = 0, k = 0; i < particles->variables; i++) {
        if (!is_likelihood(particles, i)) continue;
        density[k] = leave_out(&work, particles->values + i * work.count, &shape[k]);
        k++;
    }
done:
    svmp_release_all(context, work.tail, work.weights, work.spare);
    return status;
}
