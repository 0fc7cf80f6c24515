#include "sample/mixing.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "maths/special.h"

enum {
    LEAST = 3,       /* draws of half a chain, for an autocorrelation */
    DIRECT_LAGS = 32 /* sums of so many are taken one by one, as few are needed of chains that mix */
};

svmp_status svmp_chain_room_create(svmp_context *context, size_t chains, size_t draws, int ranks, chain_room *room) {
    svmp_status status;
    const size_t count = chains * draws;
    *room = (chain_room){.chains = chains, .draws = draws, .half = draws / 2};
    const size_t ranked = 2 * chains * room->half;
    if (ranks) SVMP_CHECK(SVMP_NEW(context, room->scores, 2 * ranked + 1));
    SVMP_CHECK(SVMP_NEW(context, room->halves, ranked + 1));
    SVMP_CHECK(SVMP_NEW(context, room->lags, room->half + 2));
    if (room->half > DIRECT_LAGS) {
        SVMP_CHECK(svmp_fourier_create(context, 2 * room->half, &room->transform));
        SVMP_CHECK(SVMP_NEW(context, room->power, room->transform.length));
        SVMP_CHECK(SVMP_NEW(context, room->re, room->transform.length));
        SVMP_CHECK(SVMP_NEW(context, room->im, room->transform.length));
    }
    SVMP_CHECK(SVMP_NEW(context, room->sorted, count));
    SVMP_CHECK(SVMP_NEW(context, room->spare, count));
    for (size_t k = 0; ranks && k + 1 < 2 * ranked; k++) /* Blom's: the quantile of (rank - 3/8) / (count + 1/4) */
        room->scores[k] = svmp_normal_quantile((1 + 0.5 * (double)k - 0.375) / ((double)ranked + 0.25));
    return SVMP_OK;
done:
    svmp_chain_room_free(context, room);
    return status;
}

void svmp_chain_room_free(svmp_context *context, chain_room *room) {
    svmp_release(context, room->scores);
    svmp_release(context, room->halves);
    svmp_release(context, room->lags);
    svmp_fourier_free(context, &room->transform);
    svmp_release(context, room->power);
    svmp_release(context, room->re);
    svmp_release(context, room->im);
    svmp_release(context, room->sorted);
    svmp_release(context, room->spare);
    *room = (chain_room){0};
}

/* ---- halves, ranks ----------------------------------------------------------------------------------------------- */

/* Where a draw stands among the halves; SIZE_MAX: it is left out. */
static size_t place_in_halves(const chain_room *room, size_t place) {
    const size_t chain = place / room->draws, draw = place % room->draws, last = room->draws - room->half;
    if (draw < room->half) return 2 * chain * room->half + draw;
    return draw >= last ? (2 * chain + 1) * room->half + draw - last : SIZE_MAX;
}

static size_t count_of(const chain_room *room) { return room->chains * room->draws; }

static void split(chain_room *room, const double *draws) {
    for (size_t k = 0; k < count_of(room); k++) {
        const size_t to = place_in_halves(room, k);
        if (to != SIZE_MAX) room->halves[to] = draws[k] / room->unit;
    }
}

/* (x - mean)^2, the mean in units. */
static void split_squares(chain_room *room, const double *draws, double mean) {
    for (size_t k = 0; k < count_of(room); k++) {
        const size_t to = place_in_halves(room, k);
        const double z = draws[k] / room->unit - mean;
        if (to != SIZE_MAX) room->halves[to] = z * z;
    }
}

static void split_indicator(chain_room *room, const double *draws, double limit) {
    for (size_t k = 0; k < count_of(room); k++) {
        const size_t to = place_in_halves(room, k);
        if (to != SIZE_MAX) room->halves[to] = draws[k] <= limit;
    }
}

/* The halves as normal scores of their ranks, equal ones sharing the mean of theirs. */
static void split_scores(chain_room *room) {
    const size_t count = count_of(room);
    size_t rank = 0; /* of the halves' draws passed so far */
    for (size_t first = 0, next; first < count; first = next) {
        size_t ties = 0;
        for (next = first; next < count && room->sorted[next].value == room->sorted[first].value; next++)
            ties += place_in_halves(room, room->sorted[next].place) != SIZE_MAX;
        for (size_t k = first; k < next; k++) { /* ranks rank + 1 ... rank + ties: twice their mean less 2 */
            const size_t to = place_in_halves(room, room->sorted[k].place);
            if (to != SIZE_MAX) room->halves[to] = room->scores[2 * rank + ties - 1];
        }
        rank += ties;
    }
}

static void sort(chain_room *room, const double *draws, double centre, int fold) {
    const size_t count = count_of(room);
    for (size_t k = 0; k < count; k++) room->sorted[k] = (placed){fold ? fabs(draws[k] - centre) : draws[k], k};
    svmp_sort(room->sorted, room->spare, count);
}

/* ---- R-hat and effective draws, of the halves -------------------------------------------------------------------- */

/* Means and variances of the halves: between them, and the mean within; the variances divide by length - 1. */
typedef struct halves_variance {
    double mean, between, within;
} halves_variance;

static halves_variance variances(const chain_room *room) {
    const size_t count = 2 * room->chains, length = room->half;
    halves_variance v = {0};
    double squares = 0;
    for (size_t m = 0; m < count; m++) {
        const double *y = room->halves + m * length, origin = y[0]; /* equal draws have a variance of exactly 0 */
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

/* sqrt( ((L - 1)/L W + B) / W ), B the variance of the halves' means; infinite when only these differ, NaN when nothing
 * does. */
static double r_hat(const chain_room *room) {
    const halves_variance v = variances(room);
    const double length = (double)room->half;
    return sqrt((length - 1) / length + v.between / v.within);
}

static void centre_halves(chain_room *room) {
    const size_t length = room->half;
    for (size_t m = 0; m < 2 * room->chains; m++) {
        double *y = room->halves + m * length;
        const double mean = svmp_sum(length, y) / (double)length;
        for (size_t t = 0; t < length; t++) y[t] -= mean;
    }
    room->transformed = 0;
}

/* sum_t y_t y_t+lag of all halves at all lags: |Y|^2 is the transform of these sums, where zeros behind y keep its end
 * from its beginning. Of y = a + i b, which are the halves of a chain, their real part is the sum of that of a and that
 * of b. */
static void transform_halves(chain_room *room) {
    const size_t length = room->transform.length, half = room->half, size = length * sizeof(double);
    double *re = room->re, *im = room->im;
    memset(room->power, 0, size);
    for (size_t c = 0; c < room->chains; c++) {
        memset(re, 0, size);
        memset(im, 0, size);
        memcpy(re, room->halves + 2 * c * half, half * sizeof(double));
        memcpy(im, room->halves + (2 * c + 1) * half, half * sizeof(double));
        svmp_fourier_forward(&room->transform, re, im);
        for (size_t k = 0; k < length; k++) room->power[k] += re[k] * re[k] + im[k] * im[k];
    }
    for (size_t k = 0; k < length; k++) re[k] = room->power[k] / (double)length;
    memset(im, 0, size);
    svmp_fourier_back(&room->transform, re, im);
    room->transformed = 1;
}

/* The same at one lag. */
static double lagged_products(chain_room *room, size_t lag) {
    double sum = 0;
    if (lag >= DIRECT_LAGS) {
        if (!room->transformed) transform_halves(room);
        return room->re[lag];
    }
    for (size_t m = 0; m < 2 * room->chains; m++) {
        const double *y = room->halves + m * room->half;
        sum += svmp_dot(room->half - lag, y, y + lag);
    }
    return sum;
}

/* rho_t = 1 - (W - mean over the halves of the autocovariance at lag t) / var+ */
static double autocorrelation(chain_room *room, double within, double total, size_t lag) {
    const double products = lagged_products(room, lag);
    return 1 - (within - products / (double)room->half / (double)(2 * room->chains)) / total;
}

enum { SHORTEST = 12 }; /* draws of half a chain; pairs leave out the last lags, which matters for fewer */

/* Of short chains: all lags that there are, as long as they are positive. Chains that have not mixed are then worth
 * about one draw each. */
static double short_correlation_time(chain_room *room, double within, double total) {
    double sum = 1;
    for (size_t lag = 1; lag < room->half; lag++) {
        const double rho = autocorrelation(room, within, total, lag);
        if (!(rho > 0)) break;
        sum += rho;
    }
    return 2 * sum - 1;
}

/* Geyer: sums of neighbouring pairs, (0, 1), (2, 3), ..., for as long as they are positive, and never growing. */
static double correlation_time(chain_room *room, double within, double total) {
    if (room->half < SHORTEST) return short_correlation_time(room, within, total);
    double *rho = room->lags, even = 1, odd = autocorrelation(room, within, total, 1);
    size_t last = 0;
    memset(rho, 0, (room->half + 2) * sizeof *rho);
    rho[0] = even;
    rho[1] = odd;
    while (last + 5 < room->half && even + odd > 0) {
        last += 2;
        even = autocorrelation(room, within, total, last);
        odd = autocorrelation(room, within, total, last + 1);
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

/* Draws over the correlation time, which is at least 1/log10(draws). Centres the halves. NaN when nothing varies. */
static double effective_draws(chain_room *room) {
    const halves_variance v = variances(room);
    const double draws = (double)(2 * room->chains * room->half), length = (double)room->half;
    const double total = v.within * (length - 1) / length + v.between;
    if (!(total > 0)) return NAN;
    centre_halves(room);
    return draws / fmax(correlation_time(room, v.within, total), 1 / log10(draws));
}

/* ---- standard errors --------------------------------------------------------------------------------------------- */

/* The mean of the draws, and of the second and fourth powers of what they are off it, in units. */
typedef struct centred_powers {
    double mean, second, fourth;
} centred_powers;

static centred_powers powers_of(const chain_room *room, const double *draws) {
    const double count = (double)count_of(room);
    centred_powers p = {0};
    for (size_t k = 0; k < count_of(room); k++) p.mean += draws[k] / room->unit / count;
    for (size_t k = 0; k < count_of(room); k++) {
        const double z = draws[k] / room->unit - p.mean;
        p.second += z * z / count;
        p.fourth += z * z * z * z / count;
    }
    return p;
}

static double error_of_mean(chain_room *room, const double *draws, const centred_powers *p) {
    const double count = (double)count_of(room), variance = p->second * count / (count - 1);
    split(room, draws);
    return room->unit * sqrt(variance / effective_draws(room));
}

static double error_of_sd(chain_room *room, const double *draws, const centred_powers *p) {
    split_squares(room, draws, p->mean);
    const double variance = (p->fourth - p->second * p->second) / effective_draws(room); /* of mean z^2 */
    return room->unit * sqrt(variance / (4 * p->second));
}

/* How many k of 1 ... count have a distribution function of at most `probability` at k/count, for Beta(a, b). */
static size_t ranks_below(size_t count, double probability, double a, double b) {
    size_t from = 0, to = count; /* k <= from have, k > to have not */
    while (from < to) {
        const size_t k = to - (to - from) / 2;
        if (k < count && svmp_log_beta_i((double)k / (double)count, a, b) <= log(probability))
            from = k;
        else
            to = k - 1;
    }
    return from;
}

/* From `sorted` draws, of which the indicator of the quantile is worth `draws`. */
static double error_of_quantile(const chain_room *room, double p, double draws) {
    const size_t count = count_of(room);
    if (isnan(draws)) return NAN;
    const double a = draws * p + 1, b = draws * (1 - p) + 1, low = svmp_normal_cdf(-1);
    const size_t below = ranks_below(count, low, a, b), above = ranks_below(count, 1 - low, a, b) + 1;
    const double from = room->sorted[below > 0 ? below - 1 : 0].value;
    const double to = room->sorted[above < count ? above - 1 : count - 1].value;
    return fabs(to / 2 - from / 2);
}

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static double smaller(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmin(a, b); }

const svmp_mixing svmp_mixing_unknown = {NAN, NAN, NAN, {NAN, NAN, NAN, NAN, NAN}};

double svmp_chains_error(chain_room *room, const double *draws) {
    if (room->half < LEAST) return NAN;
    room->unit = svmp_unit(count_of(room), draws);
    const centred_powers p = powers_of(room, draws);
    return p.second == 0 ? 0 : error_of_mean(room, draws, &p);
}

static int are_finite(size_t count, const double *x) {
    int finite = 1;
    for (size_t k = 0; k < count; k++) finite &= isfinite(x[k]) != 0;
    return finite;
}

static double draws_at_most(chain_room *room, const double *draws, double limit) {
    split_indicator(room, draws, limit);
    return effective_draws(room);
}

svmp_mixing svmp_chains_mixing(chain_room *room, const double *draws) {
    svmp_mixing mixing = svmp_mixing_unknown;
    const size_t count = count_of(room);
    if (room->half < LEAST || !are_finite(count, draws)) return mixing;
    sort(room, draws, 0, 0);
    if (room->sorted[0].value == room->sorted[count - 1].value) return mixing;
    room->unit = svmp_unit(count, draws);
    const double low = svmp_quantile(room->sorted, count, 0.05), median = svmp_quantile(room->sorted, count, 0.5);
    const double high = svmp_quantile(room->sorted, count, 0.95);
    const double at_low = draws_at_most(room, draws, low), at_high = draws_at_most(room, draws, high);
    const centred_powers powers = powers_of(room, draws);

    split_scores(room);
    mixing.r_hat = r_hat(room);
    mixing.bulk_draws = effective_draws(room);
    mixing.tail_draws = smaller(at_low, at_high);
    mixing.error.mean = error_of_mean(room, draws, &powers);
    mixing.error.sd = error_of_sd(room, draws, &powers);
    mixing.error.q05 = error_of_quantile(room, 0.05, at_low);
    mixing.error.q50 = error_of_quantile(room, 0.5, draws_at_most(room, draws, median));
    mixing.error.q95 = error_of_quantile(room, 0.95, at_high);

    sort(room, draws, median, 1); /* folded: chains that agree in the middle may differ in scale */
    split_scores(room);
    const double folded = r_hat(room);
    if (!(folded <= mixing.r_hat) && !isnan(folded)) mixing.r_hat = folded;
    return mixing;
}
