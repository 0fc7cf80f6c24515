#include "sample/number_errors.h"

#include <math.h>
#include <string.h>

#include "maths/order_statistics.h"
#include "sample/heavy_tails.h"

enum { FEWEST_CHAINS = 10, PIECES = 40, FEWEST_DRAWS = 400 };

const double svmp_known_error = 0.05, svmp_uncertain_error = 0.07;
static const double heavy_kurtosis = 4.5, normal_quantile_error = 2.1; /* of a 5 % quantile, over that of the mean */
static const double in_between = 0.01;    /* of the draws: where so few lie, a quantile is in a gap */
static const double lost_variance = 0.15; /* beyond the largest draw, by the fitted tail: 8 % of an sd */

/* Draws in groups that are nearly independent of one another: chains or, of few chains, pieces of these. */
typedef struct groups {
    size_t chains, each, pieces, length;
} groups;

static groups groups_of(const svmp_particles *particles) {
    groups g = {.chains = particles->chains, .each = particles->count / particles->chains, .pieces = 1};
    if (g.chains < FEWEST_CHAINS) g.pieces = (PIECES + g.chains - 1) / g.chains;
    g.length = g.each / g.pieces;
    return g;
}

/* The variance of the groups' own means of f, over their number: the squared error of the mean of all. */
static double squared_error(const groups *g, const double *f, double mean) {
    const double count = (double)(g->chains * g->pieces);
    double squares = 0;
    for (size_t c = 0; c < g->chains; c++)
        for (size_t j = 0; j < g->pieces; j++) {
            const double *of = f + c * g->each + j * g->length;
            double own = 0;
            for (size_t k = 0; k < g->length; k++) own += of[k];
            own = own / (double)g->length - mean;
            squares += own * own;
        }
    return squares / (count - 1) / count;
}

/* Half of the distance between the order statistics at one standard error of the share below the quantile, or at
 * `least`. */
static double quantile_error(const groups *g, const double *z, double p, double closest, double *workspace) {
    const size_t count = g->chains * g->each;
    double *const below = workspace, *const sorted = workspace + count;
    const double last = (double)count - 1;
    memcpy(sorted, z, count * sizeof *z);
    const double quantile = svmp_select(sorted, count, (size_t)(p * last));
    for (size_t l = 0; l < count; l++) below[l] = z[l] <= quantile;
    const double share_error = fmax(closest, sqrt(squared_error(g, below, p)));
    const size_t low = (size_t)floor(fmax(p - share_error, 0) * last),
                 high = (size_t)ceil(fmin(p + share_error, 1) * last);
    const double least = svmp_select(sorted, count, low);
    return (svmp_select(sorted, count, high) - least) / 2;
}

/* The values in units of their sd, about their mean; returns 0 if they do not vary or are not finite. */
static int standardise(size_t count, const double *x, double *z) {
    double unit = 0, mean = 0, squares = 0;
    for (size_t l = 0; l < count; l++) {
        if (!isfinite(x[l])) return 0;
        unit = fmax(unit, fabs(x[l]));
    }
    if (!(unit > 0)) return 0;
    for (size_t l = 0; l < count; l++) mean += x[l] / unit / (double)count;
    for (size_t l = 0; l < count; l++) {
        z[l] = x[l] / unit - mean;
        squares += z[l] * z[l];
    }
    const double sd = sqrt(squares / (double)count);
    if (!(sd > 1e-13)) return 0; /* rounding */
    for (size_t l = 0; l < count; l++) z[l] /= sd;
    return 1;
}

static double largest_quantile_error(const groups *g, const double *z, double closest, double *workspace) {
    static const double at[] = {0.05, 0.5, 0.95};
    double largest = 0;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        largest = fmax(largest, quantile_error(g, z, at[k], closest, workspace));
    return largest;
}

double svmp_gap_at_quantiles(const svmp_particles *particles, size_t i, double *workspace) {
    const size_t count = particles->count;
    if (count < FEWEST_DRAWS || !standardise(count, particles->values + i * count, workspace)) return NAN;
    const groups g = groups_of(particles);
    return largest_quantile_error(&g, workspace, in_between, workspace + count);
}

void svmp_number_errors(const svmp_particles *particles, size_t i, double *workspace, number_errors *errors) {
    const size_t count = particles->count;
    double *const z = workspace, fourths = 0;
    *errors = (number_errors){NAN, NAN, NAN};
    if (count < FEWEST_DRAWS || !standardise(count, particles->values + i * count, z)) return;
    const groups g = groups_of(particles);
    errors->mean = sqrt(squared_error(&g, z, 0));
    for (size_t l = 0; l < count; l++) fourths += z[l] * z[l] * z[l] * z[l];
    errors->quantile = fourths > heavy_kurtosis * (double)count ? largest_quantile_error(&g, z, 0, workspace + count)
                                                                : normal_quantile_error * errors->mean;
    for (size_t l = 0; l < count; l++) z[l] *= z[l];
    errors->sd = sqrt(squared_error(&g, z, 1)) / 2;
}

/* ---- of all variables -------------------------------------------------------------------------------------------- */

static void add(uncertain_numbers *found, size_t i, uncertain_number what, double amount, double worse, double *worst) {
    found->count++;
    if (!(worse > *worst)) return;
    *worst = worse;
    found->worst = i;
    found->what = what;
    found->amount = amount;
}

svmp_status svmp_find_uncertain(const svmp_particles *particles, bool tails, uncertain_numbers *found) {
    const size_t count = particles->count;
    const double far_worse = 1e6, lost = lost_variance * (1 + log10(fmax(1, (double)particles->variables)) / 2);
    double *workspace = NULL, worst = 0;
    *found = (uncertain_numbers){.what = UNCERTAIN_NONE};
    if (count < FEWEST_DRAWS || particles->chains == 0) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(particles->context, workspace, 3 * count));
    for (size_t i = 0; i < particles->variables; i++) {
        number_errors e;
        if (!standardise(count, particles->values + i * count, workspace)) continue;
        const heavy_tail tail = svmp_heavier_tail(count, particles->variables, workspace, workspace + count);
        svmp_number_errors(particles, i, workspace, &e);
        const double mean = e.mean / svmp_uncertain_error, sd = e.sd / svmp_uncertain_error;
        if (tails && tail.share > lost)
            add(found, i, UNCERTAIN_TAILS, tail.shape, far_worse * fmax(tail.shape, 0.01), &worst);
        else if (sd > 1 && sd >= mean)
            add(found, i, UNCERTAIN_SD, e.sd, sd, &worst);
        else if (mean > 1)
            add(found, i, UNCERTAIN_MEAN, e.mean, mean, &worst);
    }
    svmp_release(particles->context, workspace);
    return SVMP_OK;
}

svmp_status svmp_find_more_draws(const svmp_particles *particles, double known, double most, double *more) {
    const size_t count = particles->count;
    double *workspace = NULL;
    *more = 1;
    SVMP_TRY(SVMP_NEW(particles->context, workspace, 3 * count));
    for (size_t i = 0; i < particles->variables; i++) {
        number_errors e;
        svmp_number_errors(particles, i, workspace, &e);
        const double ratios[] = {e.mean / known, e.sd / known, e.quantile / known};
        for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
            const double times = ratios[k] * ratios[k];
            if (times > *more && times <= most) *more = times;
        }
    }
    svmp_release(particles->context, workspace);
    return SVMP_OK;
}
