#include "method/hold.h"

#include <math.h>

#include "base/vector.h"

enum { STEPS = 40, HALVINGS = 12 };

static const double near_enough = 5e-3; /* of an sd, relative */

static double variance(size_t n, const double *x, double mean) {
    double squares = 0;
    for (size_t l = 0; l < n; l++) squares += (x[l] - mean) * (x[l] - mean);
    return squares / (double)(n - 1);
}

/* Means; what has no spread or no average stays. */
static void shift(const average *to, size_t variables, size_t n, double *x) {
    for (size_t i = 0; i < variables; i++) {
        const double by = to[i].mean - svmp_sum(n, x + i * n) / (double)n;
        for (size_t l = 0; isfinite(by) && l < n; l++) x[i * n + l] += by;
    }
}

/* room <- A^-1 diag(lambda) (x - mean), lambda = (v - t)/max(v, t)^2 for variances v that shall be t. *far: the largest
 * |sd/t - 1|. */
static svmp_status find_direction(gaussian *q, const average *to, size_t variables, size_t n, const double *x,
                                  double *room, double *far) {
    *far = 0;
    for (size_t i = 0; i < variables; i++) {
        const double *row = x + i * n, t = to[i].sd * to[i].sd, v = variance(n, row, to[i].mean);
        const int held = v > 0 && t > 0 && isfinite(v) && isfinite(t);
        if (held) *far = fmax(*far, fabs(sqrt(v / t) - 1));
        for (size_t l = 0; l < n; l++)
            room[i * n + l] = held ? (v - t) / (fmax(v, t) * fmax(v, t)) * (row[l] - to[i].mean) : 0;
    }
    return svmp_gaussian_solve(q, n, room);
}

/* The sum of squares of v/t - 1 for x - c room/2. */
static double misfit(const average *to, size_t variables, size_t n, const double *x, const double *room, double c) {
    double sum = 0;
    for (size_t i = 0; i < variables; i++) {
        const double t = to[i].sd * to[i].sd;
        double squares = 0;
        if (!(t > 0)) continue;
        for (size_t l = 0; l < n; l++) {
            const double off = x[i * n + l] - to[i].mean - 0.5 * c * room[i * n + l];
            squares += off * off;
        }
        const double share = squares / ((double)(n - 1) * t) - 1;
        sum += share * share;
    }
    return sum;
}

svmp_status svmp_hold(gaussian *q, const average *to, size_t variables, size_t n, double *x, double *room) {
    shift(to, variables, n, x);
    for (int step = 0; step < STEPS; step++) {
        double far, c = 1, least = misfit(to, variables, n, x, x, 0), best = 0;
        SVMP_TRY(find_direction(q, to, variables, n, x, room, &far));
        if (!(far > near_enough)) break;
        for (int k = 0; k < HALVINGS; k++, c *= 0.5) {
            const double here = misfit(to, variables, n, x, room, c);
            if (here < least) least = here, best = c;
            if (best > c) break; /* smaller ones are worse */
        }
        if (best == 0) break;
        for (size_t k = 0; k < variables * n; k++) x[k] -= 0.5 * best * room[k];
    }
    return SVMP_OK;
}
