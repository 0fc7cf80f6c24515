#include "method/transport/transport_convergence.h"

#include <math.h>

#include "maths/special.h"
#include "method/transport/transport_constants.h"

const error_limits svmp_fair_errors = {fair_mean_error, fair_sd_error};

/* The number of standard errors that the largest of `count` deviations exceeds with probability 0.01. */
static double chance_among(size_t count) {
    return count > 1000 ? fmax(4.5, -svmp_normal_quantile(0.005 / (double)count)) : 4.5;
}

/* Control variates cannot detect regions that no chain has visited, so the plain averages must be fair in any case. */
static double error_of(const average *a, error_limits allowed) {
    const double controlled = fmax(a->mean_error / allowed.mean, a->sd_error / allowed.sd),
                 plain = fmax(a->plain_error / svmp_fair_errors.mean, a->plain_sd_error / svmp_fair_errors.sd);
    return fmax(controlled, plain) / a->sd;
}

static double drift_of(const average *a, double chance) {
    return fabs(a->drift) / fmax(small_drift * a->sd, chance * a->drift_error);
}

static double identity_of(const average *a, double chance) {
    const double first_identity = fabs(a->first_identity) / fmax(small_identity, chance * a->first_identity_error);
    const double second_identity = fabs(a->second_identity) / fmax(small_identity, chance * a->second_identity_error);
    return isnan(first_identity + second_identity) ? INFINITY : fmax(first_identity, second_identity);
}

static double convergence_of(const average *a, error_limits allowed, double chance) {
    if (!(a->sd > 0)) return INFINITY;
    const double error = error_of(a, allowed), drift = drift_of(a, chance);
    return isnan(error + drift) ? INFINITY : fmax(error, drift);
}

double svmp_averages_convergence(const average *rows, size_t count, error_limits allowed) {
    const double chance = chance_among(count);
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, convergence_of(&rows[i], allowed, chance));
    return largest;
}

double svmp_averages_convergence_of_moved(const average *rows, size_t count, error_limits allowed) {
    const double chance = chance_among(count);
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fmax(convergence_of(&rows[i], allowed, chance), identity_of(&rows[i], chance)));
    return largest;
}

double svmp_largest_error(const average *rows, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].sd > 0) largest = fmax(largest, fmax(rows[i].mean_error, rows[i].sd_error) / rows[i].sd);
    return largest;
}

int svmp_chains_have_mixed(const average *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(rows[i].between_share < mixed)) return 0;
    return 1;
}

/* ---- what to tell ------------------------------------------------------------------------------------------------ */

static nonconvergence nonconvergence_of(const average *a, double chance) {
    if (!(a->between_share < mixed)) return (nonconvergence){.why = SVMP_NOTE_NOT_MIXED, .amount = a->between_share};
    if (!(error_of(a, svmp_fair_errors) <= 1))
        return (nonconvergence){
            .why = SVMP_NOTE_AVERAGE_ERROR,
            .amount = fmax(fmax(a->plain_error, a->plain_sd_error), fmax(a->mean_error, a->sd_error)) / a->sd};
    if (isnan(a->drift)) return (nonconvergence){.why = SVMP_NOTE_NONE}; /* a single block */
    if (!(drift_of(a, chance) <= 1))
        return (nonconvergence){.why = SVMP_NOTE_AVERAGE_DRIFT, .amount = fabs(a->drift) / a->sd};
    if (!(identity_of(a, chance) <= 1))
        return (nonconvergence){.why = SVMP_NOTE_IDENTITY,
                                .amount = fmax(fabs(a->first_identity), fabs(a->second_identity))};
    return (nonconvergence){.why = SVMP_NOTE_NONE};
}

nonconvergence svmp_find_nonconvergence(const average *rows, size_t count) {
    static const svmp_code order[] = {SVMP_NOTE_NOT_MIXED, SVMP_NOTE_AVERAGE_ERROR, SVMP_NOTE_AVERAGE_DRIFT,
                                      SVMP_NOTE_IDENTITY};
    const double chance = chance_among(count);
    nonconvergence worst = {.why = SVMP_NOTE_NONE};
    for (size_t k = 0; k < sizeof order / sizeof *order && worst.count == 0; k++)
        for (size_t i = 0; i < count; i++) {
            nonconvergence found = nonconvergence_of(&rows[i], chance);
            if (found.why != order[k]) continue;
            found.variable = i;
            found.count = worst.count + 1;
            if (worst.count == 0 || found.amount > worst.amount) worst = found;
            worst.count = found.count;
        }
    return worst;
}
