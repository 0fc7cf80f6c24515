#include "sample/r_hat_and_ess.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "maths/special.h"
#include "svmp_tools.h"

enum {
    LEAST = 3,       /* the fewest draws of half a chain for an autocorrelation */
    DIRECT_LAGS = 32 /* up to this many lags are summed directly, because chains that mix need few */
};

svmp_status svmp_chain_workspace_create(svmp_context *context, size_t chains, size_t draws, int ranks,
                                        chain_workspace *workspace) {
    svmp_status status;
    const size_t count = chains * draws;
    *workspace = (chain_workspace){.chains = chains, .draws = draws, .half = draws / 2};
    const size_t ranked = 2 * chains * workspace->half;
    if (ranks) SVMP_CHECK(SVMP_NEW(context, workspace->scores, 2 * ranked + 1));
    SVMP_CHECK(SVMP_NEW(context, workspace->halves, ranked + 1));
    SVMP_CHECK(SVMP_NEW(context, workspace->lags, workspace->half + 2));
    if (workspace->half > DIRECT_LAGS) {
        SVMP_CHECK(svmp_fourier_create(context, 2 * workspace->half, &workspace->transform));
        SVMP_CHECK(SVMP_NEW(context, workspace->power, workspace->transform.length));
        SVMP_CHECK(SVMP_NEW(context, workspace->re, workspace->transform.length));
        SVMP_CHECK(SVMP_NEW(context, workspace->im, workspace->transform.length));
    }
    SVMP_CHECK(SVMP_NEW(context, workspace->sorted, count));
    SVMP_CHECK(SVMP_NEW(context, workspace->spare, count));
    for (size_t k = 0; ranks && k + 1 < 2 * ranked; k++) /* Blom's: the quantile of (rank - 3/8) / (count + 1/4) */
        workspace->scores[k] = svmp_normal_quantile((1 + 0.5 * (double)k - 0.375) / ((double)ranked + 0.25));
    return SVMP_OK;
done:
    svmp_chain_workspace_free(context, workspace);
    return status;
}

void svmp_chain_workspace_free(svmp_context *context, chain_workspace *workspace) {
    svmp_release_all(context, workspace->scores, workspace->halves, workspace->lags);
    svmp_fourier_free(context, &workspace->transform);
    svmp_release_all(context, workspace->power, workspace->re, workspace->im, workspace->sorted, workspace->spare);
    *workspace = (chain_workspace){0};
}

/* ---- halves, ranks ----------------------------------------------------------------------------------------------- */

/* The position of a draw among the halves; SIZE_MAX if it is left out. */
static size_t place_in_halves(const chain_workspace *workspace, size_t place) {
    const size_t chain = place / workspace->draws, draw = place % workspace->draws,
                 last = workspace->draws - workspace->half;
    if (draw < workspace->half) return 2 * chain * workspace->half + draw;
    return draw >= last ? (2 * chain + 1) * workspace->half + draw - last : SIZE_MAX;
}

static size_t count_of(const chain_workspace *workspace) { return workspace->chains * workspace->draws; }

static void split(chain_workspace *workspace, const double *draws) {
    for (size_t k = 0; k < count_of(workspace); k++) {
        const size_t to = place_in_halves(workspace, k);
        if (to != SIZE_MAX) workspace->halves[to] = draws[k] / workspace->unit;
    }
}

/* (x - mean)^2, the mean in units. */
static void split_squares(chain_workspace *workspace, const double *draws, double mean) {
    for (size_t k = 0; k < count_of(workspace); k++) {
        const size_t to = place_in_halves(workspace, k);
        const double z = draws[k] / workspace->unit - mean;
        if (to != SIZE_MAX) workspace->halves[to] = z * z;
    }
}

static void split_indicator(chain_workspace *workspace, const double *draws, double limit) {
    for (size_t k = 0; k < count_of(workspace); k++) {
        const size_t to = place_in_halves(workspace, k);
        if (to != SIZE_MAX) workspace->halves[to] = draws[k] <= limit;
    }
}

/* Replaces the halves by normal scores of their ranks; ties share the mean of their ranks. */
static void split_scores(chain_workspace *workspace) {
    const size_t count = count_of(workspace);
    size_t rank = 0; /* of the halves' draws passed so far */
    for (size_t first = 0, next; first < count; first = next) {
        size_t ties = 0;
        for (next = first; next < count && workspace->sorted[next].value == workspace->sorted[first].value; next++)
            ties += place_in_halves(workspace, workspace->sorted[next].place) != SIZE_MAX;
        for (size_t k = first; k < next; k++) { /* ranks rank + 1 ... rank + ties: twice their mean less 2 */
            const size_t to = place_in_halves(workspace, workspace->sorted[k].place);
            if (to != SIZE_MAX) workspace->halves[to] = workspace->scores[2 * rank + ties - 1];
        }
        rank += ties;
    }
}

static void sort(chain_workspace *workspace, const double *draws, double centre, int fold) {
    const size_t count = count_of(workspace);
    for (size_t k = 0; k < count; k++) workspace->sorted[k] = (placed){fold ? fabs(draws[k] - centre) : draws[k], k};
    svmp_sort(workspace->sorted, workspace->spare, count);
}

/* ---- R-hat and effective draws, of the halves -------------------------------------------------------------------- */

/* The variance between the means of the halves, and the mean variance within them, which divides by length - 1. */
typedef struct halves_variance {
    double mean, between, within;
} halves_variance;

static halves_variance variances(const chain_workspace *workspace) {
    const size_t count = 2 * workspace->chains, length = workspace->half;
    halves_variance v = {0};
    double squares = 0;
    for (size_t m = 0; m < count; m++) {
        const double *y = workspace->halves + m * length, origin = y[0]; /* equal draws have a variance of exactly 0 */
        double above = 0, sum = 0;
        for (size_t t = 0; t < length; t++) above += y[t] - origin;
        const double mean = origin + above / (double)length;
        for (size_t t = 0; t < length; t++) sum += (y[t] - mean) * (y[t] - mean);
        v.within += sum / (double)(length - 1) / (double)count;
        const double step = mean - v.mean; /* Welford's, over the means */
        v.mean += step / (double)(m + 1);
        squares += step * (mean - v.mean);
    }
    v.between = squares / (double)(count - 1);
    return v;
}

/* sqrt( ((L - 1)/L W + B) / W ), B the variance of the halves' means; infinite if only these differ, NaN if nothing
 * differs. */
static double r_hat(const chain_workspace *workspace) {
    const halves_variance v = variances(workspace);
    const double length = (double)workspace->half;
    return sqrt((length - 1) / length + v.between / v.within);
}

static void centre_halves(chain_workspace *workspace) {
    const size_t length = workspace->half;
    for (size_t m = 0; m < 2 * workspace->chains; m++) {
        double *y = workspace->halves + m * length;
        const double mean = svmp_sum(length, y) / (double)length;
        for (size_t t = 0; t < length; t++) y[t] -= mean;
    }
    workspace->transformed = 0;
}

/* sum_t y_t y_t+lag of all halves at all lags: |Y|^2 is the transform of these sums, where zeros appended to y separate
 * its end from its beginning. For y = a + i b, with a and b the halves of a chain, the real part of these sums is the
 * sum of those of a and b. */
static void transform_halves(chain_workspace *workspace) {
    const size_t length = workspace->transform.length, half = workspace->half, size = length * sizeof(double);
    double *re = workspace->re, *im = workspace->im;
    memset(workspace->power, 0, size);
    for (size_t c = 0; c < workspace->chains; c++) {
        memset(re, 0, size);
        memset(im, 0, size);
        memcpy(re, workspace->halves + 2 * c * half, half * sizeof(double));
        memcpy(im, workspace->halves + (2 * c + 1) * half, half * sizeof(double));
        svmp_fourier_forward(&workspace->transform, re, im);
        for (size_t k = 0; k < length; k++) workspace->power[k] += re[k] * re[k] + im[k] * im[k];
    }
    for (size_t k = 0; k < length; k++) re[k] = workspace->power[k] / (double)length;
    memset(im, 0, size);
    svmp_fourier_back(&workspace->transform, re, im);
    workspace->transformed = 1;
}

/* The same at one lag. */
static double lagged_products(chain_workspace *workspace, size_t lag) {
    double sum = 0;
    if (lag >= DIRECT_LAGS) {
        if (!workspace->transformed) transform_halves(workspace);
        return workspace->re[lag];
    }
    for (size_t m = 0; m < 2 * workspace->chains; m++) {
        const double *y = workspace->halves + m * workspace->half;
        sum += svmp_dot(workspace->half - lag, y, y + lag);
    }
    return sum;
}

/* rho_t = 1 - (W - mean over the halves of the autocovariance at lag t) / var+ */
static double autocorrelation(chain_workspace *workspace, double within, double total, size_t lag) {
    const double products = lagged_products(workspace, lag);
    return 1 - (within - products / (double)workspace->half / (double)(2 * workspace->chains)) / total;
}

enum { SHORTEST = 12 }; /* draws of half a chain: for fewer, the last lags, which pairs omit, matter */

/* For short chains: sums all lags as long as they are positive. Chains that have not mixed are then worth about one
 * draw each. */
static double short_correlation_time(chain_workspace *workspace, double within, double total) {
    double sum = 1;
    for (size_t lag = 1; lag < workspace->half; lag++) {
        const double rho = autocorrelation(workspace, within, total, lag);
        if (!(rho > 0)) break;
        sum += rho;
    }
    return 2 * sum - 1;
}

/* Geyer: sums of neighbouring pairs, (0, 1), (2, 3), ..., as long as they are positive, and made non-increasing. */
static double correlation_time(chain_workspace *workspace, double within, double total) {
    if (workspace->half < SHORTEST) return short_correlation_time(workspace, within, total);
    double *rho = workspace->lags, even = 1, odd = autocorrelation(workspace, within, total, 1);
    size_t last = 0;
    memset(rho, 0, (workspace->half + 2) * sizeof *rho);
    rho[0] = even;
    rho[1] = odd;
    while (last + 5 < workspace->half && even + odd > 0) {
        last += 2;
        even = autocorrelation(workspace, within, total, last);
        odd = autocorrelation(workspace, within, total, last + 1);
        if (even + odd < 0) continue;
        rho[last] = even;
        rho[last + 1] = odd;
    }
    if (even > 0) rho[last] = even; /* lowers the variance of the estimate for antithetic chains */
    for (size_t t = 2; t + 2 <= last; t += 2)
        if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1]) rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2;
    double sum = 0;
    for (size_t t = 0; t < last; t++) sum += rho[t];
    return -1 + 2 * sum + rho[last];
}

/* The number of draws divided by the correlation time, which is at least 1/log10(draws). Centres the halves. NaN if
 * nothing varies. */
static double effective_draws(chain_workspace *workspace) {
    const halves_variance v = variances(workspace);
    const double draws = (double)(2 * workspace->chains * workspace->half), length = (double)workspace->half;
    const double total = v.within * (length - 1) / length + v.between;
    if (!(total > 0)) return NAN;
    centre_halves(workspace);
    return draws / fmax(correlation_time(workspace, v.within, total), 1 / log10(draws));
}

/* ---- standard errors --------------------------------------------------------------------------------------------- */

/* The mean, and the second and fourth central moments of the draws, in units. */
typedef struct centred_powers {
    double mean, second, fourth;
} centred_powers;

static centred_powers powers_of(const chain_workspace *workspace, const double *draws) {
    const double count = (double)count_of(workspace);
    centred_powers p = {0};
    for (size_t k = 0; k < count_of(workspace); k++) p.mean += draws[k] / workspace->unit / count;
    for (size_t k = 0; k < count_of(workspace); k++) {
        const double z = draws[k] / workspace->unit - p.mean;
        p.second += z * z / count;
        p.fourth += z * z * z * z / count;
    }
    return p;
}

static double error_of_mean(chain_workspace *workspace, const double *draws, const centred_powers *p) {
    const double count = (double)count_of(workspace), variance = p->second * count / (count - 1);
    split(workspace, draws);
    return workspace->unit * sqrt(variance / effective_draws(workspace));
}

static double error_of_sd(chain_workspace *workspace, const double *draws, const centred_powers *p) {
    split_squares(workspace, draws, p->mean);
    const double variance = (p->fourth - p->second * p->second) / effective_draws(workspace); /* of mean z^2 */
    return workspace->unit * sqrt(variance / (4 * p->second));
}

/* The number of k in 1 ... count for which the distribution function of Beta(a, b) at k/count is at most
 * `probability`. */
static size_t ranks_below(size_t count, double probability, double a, double b) {
    size_t from = 0, to = count; /* true for k <= from, false for k > to */
    while (from < to) {
        const size_t k = to - (to - from) / 2;
        if (k < count && svmp_log_beta_i((double)k / (double)count, a, b) <= log(probability))
            from = k;
        else
            to = k - 1;
    }
    return from;
}

/* From `sorted` draws, where the indicator of the quantile has `draws` effective draws. */
static double error_of_quantile(const chain_workspace *workspace, double p, double draws) {
    const size_t count = count_of(workspace);
    if (isnan(draws)) return NAN;
    const double a = draws * p + 1, b = draws * (1 - p) + 1, low = svmp_normal_cdf(-1);
    const size_t below = ranks_below(count, low, a, b), above = ranks_below(count, 1 - low, a, b) + 1;
    const double from = workspace->sorted[below > 0 ? below - 1 : 0].value;
    const double to = workspace->sorted[above < count ? above - 1 : count - 1].value;
    return fabs(to / 2 - from / 2);
}

/* ---- diagnostics of draws ---------------------------------------------------------------------------------------- */

static double smaller(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmin(a, b); }

const svmp_mixing svmp_mixing_unknown = {NAN, NAN, NAN, {NAN, NAN, NAN, NAN, NAN}};

double svmp_chains_error(chain_workspace *workspace, const double *draws) {
    if (workspace->half < LEAST) return NAN;
    workspace->unit = svmp_unit(count_of(workspace), draws);
    const centred_powers p = powers_of(workspace, draws);
    return p.second == 0 ? 0 : error_of_mean(workspace, draws, &p);
}

static int are_finite(size_t count, const double *x) {
    int finite = 1;
    for (size_t k = 0; k < count; k++) finite &= isfinite(x[k]) != 0;
    return finite;
}

static double draws_at_most(chain_workspace *workspace, const double *draws, double limit) {
    split_indicator(workspace, draws, limit);
    return effective_draws(workspace);
}

svmp_mixing svmp_chains_mixing(chain_workspace *workspace, const double *draws) {
    svmp_mixing mixing = svmp_mixing_unknown;
    const size_t count = count_of(workspace);
    if (workspace->half < LEAST || !are_finite(count, draws)) return mixing;
    sort(workspace, draws, 0, 0);
    if (workspace->sorted[0].value == workspace->sorted[count - 1].value) return mixing;
    workspace->unit = svmp_unit(count, draws);
    const double low = svmp_quantile(workspace->sorted, count, 0.05),
                 median = svmp_quantile(workspace->sorted, count, 0.5);
    const double high = svmp_quantile(workspace->sorted, count, 0.95);
    const double at_low = draws_at_most(workspace, draws, low), at_high = draws_at_most(workspace, draws, high);
    const centred_powers powers = powers_of(workspace, draws);

    split_scores(workspace);
    mixing.r_hat = r_hat(workspace);
    mixing.bulk_draws = effective_draws(workspace);
    mixing.tail_draws = smaller(at_low, at_high);
    mixing.error.mean = error_of_mean(workspace, draws, &powers);
    mixing.error.sd = error_of_sd(workspace, draws, &powers);
    mixing.error.q05 = error_of_quantile(workspace, 0.05, at_low);
    mixing.error.q50 = error_of_quantile(workspace, 0.5, draws_at_most(workspace, draws, median));
    mixing.error.q95 = error_of_quantile(workspace, 0.95, at_high);

    sort(workspace, draws, median, 1); /* folded: chains that agree in the middle may differ in scale */
    split_scores(workspace);
    const double folded = r_hat(workspace);
    if (!(folded <= mixing.r_hat) && !isnan(folded)) mixing.r_hat = folded;
    return mixing;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Vehtari and others: 100 effective draws per chain, for about four chains. For many short chains, 400 in total, or 10
 * per chain, suffice; of chains of less than 20 draws, half of the draws, where chains that have not mixed are worth
 * one draw each. */
static double needed_draws(size_t chains, size_t each) {
    return chains <= 4 ? 100 * (double)chains : fmax(400, fmin(10, 0.5 * (double)each) * (double)chains);
}

/* Converged chains with e effective draws each have an R-hat of sqrt(1 + 1/e): 1.01 corresponds to half of the draws
 * that are needed. */
void svmp_chains_limits(size_t chains, size_t each, double *r_hat, double *draws) {
    const double needed = needed_draws(chains, each);
    if (r_hat) *r_hat = fmax(1.01, sqrt(1 + 2 * (double)chains / needed));
    if (draws) *draws = needed;
}
