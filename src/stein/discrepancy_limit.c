/* The limit of the ratio of the Stein discrepancy for exact draws. With eigenvalues lambda_j of the Stein kernel, n V
 * of n draws is distributed for many draws as sum_j lambda_j Z_j^2 with independent normal Z_j, and the ratio as
 *
 *     Q = sum_j w_j Z_j^2,    w_j = lambda_j / sum lambda,    mean 1, variance 2/nu,    nu = 1 / sum_j w_j^2.
 *
 * The tail is governed by the largest weight, which is at most 1/sqrt(nu). The heaviest tail for a given trace and nu
 * has one such weight, and many small ones,
 *
 *     Q = 1 + (Z^2 - 1)/sqrt(nu),
 *
 * and its quantile is the limit. For nu = 1 it is the quantile of Z^2 itself, which no other Q exceeds with a higher
 * probability (Szekely and Bakirov, Extremal probabilities for Gaussian quadratic forms, 2003). */
#include <math.h>

#include "maths/special.h"
#include "stein/discrepancy.h"

static const double chance = 0.01; /* the probability that a sample of exact draws has a node beyond its limit */

double svmp_ratio_limit(size_t n, double trace, double spread, size_t nodes) {
    if (n < 2) return NAN;
    const double z = svmp_normal_quantile(chance / (double)nodes / 2);
    const double most = 1, least = 1 / sqrt((double)(n - 1)); /* the centred matrix has rank n - 1 */
    const double weight = trace > 0 ? fmax(least, fmin(spread / trace, most)) : most;
    return 1 + (z * z - 1) * weight;
}

double svmp_discrepancy_excess(const svmp_discrepancy *d) {
    if (d == NULL) return NAN;
    return fmax(d->ratio / d->limit, d->moment_z / d->moment_limit);
}
