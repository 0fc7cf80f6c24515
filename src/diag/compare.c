#include "diag/mmd.h"
#include "io/particles.h"

/* E[x] and E[x^2] of one variable. */
static void means(const double *x, size_t n, double *first, double *second) {
    double sum = 0, squares = 0;
    for (size_t l = 0; l < n; l++) sum += x[l], squares += x[l] * x[l];
    *first = sum / (double)n;
    *second = squares / (double)n;
}

svmp_status svmp_particles_compare(const svmp_particles *particles, const svmp_particles *reference,
                                   svmp_comparison *comparison) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (reference == NULL || comparison == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_compare was given no %s.",
                         reference ? "place for its result" : "reference");

    svmp_status status = SVMP_OK;
    svmp_comparison result = {0};
    size_t *x_place = NULL, *y_place = NULL, d = particles->variables;
    SVMP_CHECK(svmp_particles_match(particles, "the particles", reference, "the reference", &x_place, &y_place));

    sample x = {particles->count, particles->values, x_place}, y = {reference->count, reference->values, y_place};
    for (size_t i = 0; i < d; i++) {
        double x1, x2, y1, y2;
        means(x.x + x_place[i] * x.n, x.n, &x1, &x2);
        means(y.x + y_place[i] * y.n, y.n, &y1, &y2);
        result.mse_mean += (x1 - y1) * (x1 - y1) / (double)d;
        result.mse_square += (x2 - y2) * (x2 - y2) / (double)d;
    }
    SVMP_CHECK(svmp_mmd(context, d, x, y, &result.mmd));
    *comparison = result;
done:
    svmp_release(context, x_place);
    svmp_release(context, y_place);
    return status;
}
