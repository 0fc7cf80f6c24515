#include <math.h>

#include "base/row_sums.h"
#include "sample/mmd.h"
#include "sample/particles.h"

/* E[x] and E[x^2] of one variable, in units. */
static void means(const double *x, size_t n, double unit, double *first, double *second) {
    double sum = 0, squares = 0;
    for (size_t l = 0; l < n; l++) sum += x[l] / unit, squares += x[l] / unit * (x[l] / unit);
    *first = sum / (double)n;
    *second = squares / (double)n;
}

/* (a - b)^2 of numbers in units. Also 0 if the squared unit underflows. */
static double square_error(double a, double b, double unit) { return a == b ? 0 : pow(unit * (a - b), 2); }

svmp_status svmp_particles_compare(const svmp_particles *particles, const svmp_particles *reference,
                                   svmp_comparison *comparison) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (reference == NULL || comparison == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_compare: the %s is NULL.",
                         reference ? "result" : "reference");

    svmp_status status = SVMP_OK;
    svmp_comparison result = {0};
    size_t *x_place = NULL, *y_place = NULL, d = particles->variables;
    SVMP_CHECK(svmp_particles_match(particles, "the particles", reference, "the reference", &x_place, &y_place));

    sample x = {particles->count, particles->values, x_place}, y = {reference->count, reference->values, y_place};
    for (size_t i = 0; i < d; i++) {
        const double *xi = x.x + x_place[i] * x.n, *yi = y.x + y_place[i] * y.n;
        const double unit = fmax(svmp_unit(x.n, xi), svmp_unit(y.n, yi));
        double x1, x2, y1, y2;
        means(xi, x.n, unit, &x1, &x2);
        means(yi, y.n, unit, &y1, &y2);
        result.mse_mean += square_error(x1, y1, unit) / (double)d;
        result.mse_square += square_error(x2, y2, unit * unit) / (double)d;
    }
    SVMP_CHECK(svmp_mmd(context, d, x, y, &result.mmd));
    *comparison = result;
done:
    svmp_release_all(context, x_place, y_place);
    return status;
}
