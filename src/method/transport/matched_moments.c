#include "method/transport/matched_moments.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"

enum { STEPS = 40, HALVINGS = 12, FITS = 1000 };

static const double near_enough = 5e-3; /* of an sd, relative */
static const double fitted = 0.02;      /* the same, for one variable at a time */

static double variance(size_t n, const double *x, double mean) {
    double squares = 0;
    for (size_t l = 0; l < n; l++) squares += (x[l] - mean) * (x[l] - mean);
    return squares / (double)(n - 1);
}

/* Matches the means; variables without spread or without an average stay as they are. */
static void shift(const average *to, size_t variables, size_t n, double *x) {
    for (size_t i = 0; i < variables; i++) {
        const double by = to[i].mean - svmp_sum(n, x + i * n) / (double)n;
        for (size_t l = 0; isfinite(by) && l < n; l++) x[i * n + l] += by;
    }
}

/* workspace <- A^-1 diag(lambda) (x - mean), lambda = (v - t)/max(v, t)^2 for variances v with target t. *far: the
 * largest relative error of an sd. */
static svmp_status find_direction(gaussian *q, const average *to, size_t variables, size_t n, const double *x,
                                  double *workspace, double *far) {
    *far = 0;
    for (size_t i = 0; i < variables; i++) {
        const double *row = x + i * n, t = to[i].sd * to[i].sd, v = variance(n, row, to[i].mean);
        const int matched = v > 0 && t > 0 && isfinite(v) && isfinite(t);
        if (matched) *far = fmax(*far, fabs(sqrt(v / t) - 1));
        for (size_t l = 0; l < n; l++)
            workspace[i * n + l] = matched ? (v - t) / (fmax(v, t) * fmax(v, t)) * (row[l] - to[i].mean) : 0;
    }
    return svmp_gaussian_solve(q, n, workspace);
}

/* The sum of squares of v/t - 1 for x - c workspace/2. */
static double misfit(const average *to, size_t variables, size_t n, const double *x, const double *workspace,
                     double c) {
    double sum = 0;
    for (size_t i = 0; i < variables; i++) {
        const double t = to[i].sd * to[i].sd;
        double squares = 0;
        if (!(t > 0)) continue;
        for (size_t l = 0; l < n; l++) {
            const double off = x[i * n + l] - to[i].mean - 0.5 * c * workspace[i * n + l];
            squares += off * off;
        }
        const double share = squares / ((double)(n - 1) * t) - 1;
        sum += share * share;
    }
    return sum;
}

/* By how much its particles are too narrow: the target sd over theirs; 1 if one of them is not known. */
static double ratio_of(const average *to, size_t n, const double *x) {
    const double v = variance(n, x, to->mean);
    return v > 0 && to->sd > 0 && isfinite(v) && isfinite(to->sd) ? to->sd / sqrt(v) : 1;
}

static size_t find_worst(const average *to, size_t variables, size_t n, const double *x, double *ratio) {
    size_t worst = 0;
    *ratio = 1;
    for (size_t i = 0; i < variables; i++) {
        const double here = ratio_of(&to[i], n, x + i * n);
        if (fabs(log(here)) > fabs(log(*ratio))) *ratio = here, worst = i;
    }
    return worst;
}

/* If joint steps make little progress, as with fewer particles than neighbours: iterative proportional fitting. The
 * worst variable gets its sd, and the others follow by their regression on it under q, x_j += S_ji/S_ii (ratio - 1)
 * (x_i - mean). */
static svmp_status fit(gaussian *q, const average *to, size_t variables, size_t n, double *x, double *column) {
    for (int k = 0; k < FITS; k++) {
        double ratio;
        const size_t i = find_worst(to, variables, n, x, &ratio);
        double *row = x + i * n;
        if (!(fabs(log(ratio)) > fitted)) break;
        memset(column, 0, variables * sizeof *column);
        column[i] = 1;
        SVMP_TRY(svmp_gaussian_solve(q, 1, column));
        for (size_t j = 0; j < variables; j++) {
            const double by = column[j] / column[i] * (ratio - 1);
            for (size_t l = 0; j != i && l < n; l++) x[j * n + l] += by * (row[l] - to[i].mean);
        }
        for (size_t l = 0; l < n; l++) row[l] = to[i].mean + ratio * (row[l] - to[i].mean);
    }
    return SVMP_OK;
}

svmp_status svmp_match_moments(gaussian *q, const average *to, size_t variables, size_t n, double *x,
                               double *workspace) {
    shift(to, variables, n, x);
    for (int step = 0; step < STEPS; step++) {
        double far, c = 1, least = misfit(to, variables, n, x, x, 0), best = 0;
        SVMP_TRY(find_direction(q, to, variables, n, x, workspace, &far));
        if (!(far > near_enough)) break;
        for (int k = 0; k < HALVINGS; k++, c *= 0.5) {
            const double here = misfit(to, variables, n, x, workspace, c);
            if (here < least) least = here, best = c;
            if (best > c) break; /* smaller ones are worse */
        }
        if (best == 0) break;
        for (size_t k = 0; k < variables * n; k++) x[k] -= 0.5 * best * workspace[k];
    }
    return n > 1 ? fit(q, to, variables, n, x, workspace) : SVMP_OK;
}
