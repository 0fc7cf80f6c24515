#include "maths/pareto_tail.h"

#include <math.h>

enum { FEWEST = 5, POINTS_LEAST = 30 };

/* The shape that is most likely for theta = -shape/scale, and its profile log likelihood per number. */
static double profile(size_t count, const double *x, double theta, double *shape) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += log1p(-theta * x[k]);
    *shape = sum / (double)count;
    return log(-theta / *shape) - *shape - 1;
}

/* The posterior mean of theta, on a grid of its prior, which a quarter of the sample scales. */
static double mean_theta(size_t count, const double *x) {
    const size_t points = POINTS_LEAST + (size_t)sqrt((double)count);
    const double n = (double)count, quarter = x[(size_t)(n / 4 + 0.5) - 1];
    double most = -INFINITY, total = 0, mean = 0, shape;
    for (int pass = 0; pass < 2; pass++) /* the largest likelihood first, so that exp() neither over- nor underflows */
        for (size_t k = 1; k <= points; k++) {
            const double theta = 1 / x[count - 1] + (1 - sqrt((double)points / ((double)k - 0.5))) / (3 * quarter);
            const double likelihood = n * profile(count, x, theta, &shape);
            if (isnan(likelihood)) continue;
            if (pass == 0) {
                most = fmax(most, likelihood);
                continue;
            }
            total += exp(likelihood - most);
            mean += theta * exp(likelihood - most);
        }
    return mean / total;
}

pareto_tail svmp_pareto_fit(size_t count, const double *x) {
    const pareto_tail unknown = {NAN, NAN};
    double shape;
    if (count < FEWEST || !(x[0] > 0) || !(x[count - 1] > x[0]) || !isfinite(x[count - 1])) return unknown;
    const double theta = mean_theta(count, x);
    if (isnan(profile(count, x, theta, &shape))) return unknown;
    const double n = (double)count;
    return (pareto_tail){.shape = (n * shape + 5) / (n + 10), .scale = -shape / theta};
}

double svmp_pareto_quantile(pareto_tail tail, double p) {
    if (fabs(tail.shape) < 1e-12) return -tail.scale * log1p(-p);
    return tail.scale * expm1(-tail.shape * log1p(-p)) / tail.shape;
}
