#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/particles.h"

static int order_of_numbers(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Linear interpolation between order statistics, h = (n - 1) p: R's type 7. */
static double quantile(const double *sorted, size_t n, double p) {
    double h = (double)(n - 1) * p;
    size_t below = (size_t)h;
    if (below + 1 >= n) return sorted[n - 1];
    return sorted[below] + (h - (double)below) * (sorted[below + 1] - sorted[below]);
}

svmp_status svmp_particles_moments(const svmp_particles *particles, size_t variable, svmp_moments *moments) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (moments == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_moments was given no place for its result.");
    if (variable >= particles->variables)
        return svmp_fail(context, SVMP_BAD_CALL, "There is no variable %zu; the particles have %zu, counted from 0.",
                         variable, particles->variables);

    size_t n = particles->count;
    double *sorted;
    SVMP_TRY(SVMP_NEW(context, sorted, n));
    memcpy(sorted, particles->values + variable * n, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, order_of_numbers);

    double sum = 0, squares = 0;
    for (size_t l = 0; l < n; l++) sum += sorted[l];
    double mean = sum / (double)n;
    for (size_t l = 0; l < n; l++) squares += (sorted[l] - mean) * (sorted[l] - mean);
    *moments = (svmp_moments){
        .mean = mean,
        .sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0,
        .q05 = quantile(sorted, n, 0.05),
        .q50 = quantile(sorted, n, 0.50),
        .q95 = quantile(sorted, n, 0.95),
    };
    svmp_release(context, sorted);
    return SVMP_OK;
}
