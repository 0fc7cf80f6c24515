#include "diag/chains.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "expr/special.h"

enum { LEAST = 3 }; /* draws of half a chain, for an autocorrelation */

svmp_status svmp_chain_room_create(svmp_context *context, size_t chains, size_t draws, int ranks, chain_room *room) {
    svmp_status status;
    const size_t count = chains * draws;
    *room = (chain_room){.chains = chains, .draws = draws, .half = draws / 2};
    const size_t ranked = 2 * chains * room->half;
    if (ranks) SVMP_CHECK(SVMP_NEW(context, room->scores, 2 * ranked + 1));
    SVMP_CHECK(SVMP_NEW(context, room->halves, ranked + 1));
    SVMP_CHECK(SVMP_NEW(context, room->lags, room->half + 2));
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

static void split(chain_room *room, const double *draws) {
    for (size_t k = 0; k < room->chains * room->draws; k++) {
        const size_t to = place_in_halves(room, k);
        if (to != SIZE_MAX) room->halves[to] = draws[k];
    }
}

static void split_indicator(chain_room *room, const double *draws, double limit) {
    for (size_t k = 0; k < room->chains * room->draws; k++) {
        const size_t to = place_in_halves(room, k);
        if (to != SIZE_MAX) room->halves[to] = draws[k] <= limit;
    }
}

/* The halves as normal scores of their ranks, equal ones sharing the mean of theirs. */
static void split_scores(chain_room *room) {
    const size_t count = room->chains * room->draws;
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
    const size_t count = room->chains * room->draws;
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

static void centre_halves(const chain_room *room) {
    const size_t length = room->half;
    for (size_t m = 0; m < 2 * room->chains; m++) {
        double *y = room->halves + m * length;
        const double mean = svmp_sum(length, y) / (double)length;
        for (size_t t = 0; t < length; t++) y[t] -= mean;
    }
}

/* rho_t = 1 - (W - mean over the halves of the autocovariance at lag t) / var+ */
static double autocorrelation(const chain_room *room, double within, double total, size_t lag) {
    double sum = 0;
    for (size_t m = 0; m < 2 * room->chains; m++) {
        const double *y = room->halves + m * room->half;
        sum += svmp_dot(room->half - lag, y, y + lag);
    }
    return 1 - (within - sum / (double)room->half / (double)(2 * room->chains)) / total;
}

/* Geyer: sums of neighbouring pairs, (0, 1), (2, 3), ..., for as long as they are positive, and never growing. */
static double correlation_time(const chain_room *room, double within, double total) {
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

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static double smaller(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmin(a, b); }

static double standard_deviation(size_t count, const double *x) {
    const double mean = svmp_sum(count, x) / (double)count;
    double squares = 0;
    for (size_t k = 0; k < count; k++) squares += (x[k] - mean) * (x[k] - mean);
    return sqrt(squares / (double)(count - 1));
}

double svmp_chains_error(chain_room *room, const double *draws) {
    if (room->half < LEAST) return NAN;
    const double sd = standard_deviation(room->chains * room->draws, draws);
    if (sd == 0) return 0;
    split(room, draws);
    return sd / sqrt(effective_draws(room));
}

svmp_mixing svmp_chains_mixing(chain_room *room, const double *draws) {
    svmp_mixing mixing = {NAN, NAN, NAN, NAN};
    const size_t count = room->chains * room->draws;
    if (room->half < LEAST) return mixing;
    sort(room, draws, 0, 0);
    if (room->sorted[0].value == room->sorted[count - 1].value) return mixing;
    const double low = svmp_quantile(room->sorted, count, 0.05), median = svmp_quantile(room->sorted, count, 0.5);
    const double high = svmp_quantile(room->sorted, count, 0.95);

    split_scores(room);
    mixing.r_hat = r_hat(room);
    mixing.bulk_draws = effective_draws(room);
    split_indicator(room, draws, low);
    mixing.tail_draws = effective_draws(room);
    split_indicator(room, draws, high);
    mixing.tail_draws = smaller(mixing.tail_draws, effective_draws(room));
    mixing.mean_error = svmp_chains_error(room, draws);

    sort(room, draws, median, 1); /* folded: chains that agree in the middle may differ in scale */
    split_scores(room);
    const double folded = r_hat(room);
    if (!(folded <= mixing.r_hat) && !isnan(folded)) mixing.r_hat = folded;
    return mixing;
}
