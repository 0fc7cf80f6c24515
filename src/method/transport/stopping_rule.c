#include "method/transport/stopping_rule.h"

#include <math.h>
#include <string.h>

stopping_rule svmp_stopping_rule(double precision) {
    stopping_rule rule = {.precision = precision, .next = EARLY_INSPECTION};
    for (size_t k = 0; k < LOOKBACK; k++) rule.convergence[k] = INFINITY;
    return rule;
}

static size_t inspection_after(size_t t) {
    if (t < ADAPTATION) return ADAPTATION;
    return t < FIRST_INSPECTION ? t + BLOCK_ITERATIONS : t + t / 4;
}

int svmp_stopping_has_time(const stopping_rule *rule, size_t limit) { return rule->next + TRANSPORT_STEPS <= limit; }

moves_end svmp_stopping_inspect(stopping_rule *rule, size_t passed, size_t limit, const inspection *found) {
    const double before = rule->convergence[LOOKBACK - 1], now = found->small;
    rule->ratio = rule->error > 0 ? found->error / rule->error : 0;
    rule->error = found->error;
    rule->converged = passed >= FIRST_INSPECTION && found->mixed && found->fair <= 1;
    memmove(rule->convergence + 1, rule->convergence, (LOOKBACK - 1) * sizeof now);
    rule->convergence[0] = rule->converged ? now : INFINITY;
    rule->inspections++;
    rule->next = inspection_after(passed);
    if (rule->converged && (now <= 1 || now > no_progress * before)) return MOVES_CONVERGED;
    return svmp_stopping_has_time(rule, limit) ? MOVES_CONTINUE : MOVES_AT_LIMIT;
}

/* The iteration at which moves and transport will end, if the largest error at the next inspection is `next` small
 * errors, and `ratio` times as large at each of the following ones. */
static size_t predict_end(const stopping_rule *rule, size_t limit, double next, double ratio) {
    const double fair = fair_mean_error / rule->precision;
    size_t end = rule->next;
    for (;; next *= ratio) {
        const int converged = end >= FIRST_INSPECTION && next <= fair;
        if (converged && (next <= 1 || pow(ratio, LOOKBACK) > no_progress)) break;
        if (inspection_after(end) + TRANSPORT_STEPS > limit) break;
        end = inspection_after(end);
    }
    return end + TRANSPORT_STEPS < limit ? end + TRANSPORT_STEPS : limit;
}

/* The variance of the errors falls with the number of iterations, unless the last inspection has shown otherwise, as
 * with heavy tails. Three draws are assumed to be worth one independent draw; while steps adapt, the estimate is the
 * geometric mean of that and the measured error. The largest error is uncertain by a fifth, so the result is the
 * geometric mean of both extremes. */
size_t svmp_stopping_expect(const stopping_rule *rule, size_t passed, size_t limit, size_t particles) {
    const double quarter_more = sqrt(0.8), ratio = rule->ratio > quarter_more ? fmin(rule->ratio, 1) : quarter_more,
                 counted = fmax(BLOCK_ITERATIONS, fmin((double)rule->next - ADAPTATION, (double)rule->next * 2 / 3)),
                 supposed = sqrt(3.0 / (counted * (double)particles)),
                 estimated = rule->error > 0 ? rule->error * ratio : supposed,
                 next = passed > FIRST_INSPECTION ? estimated : sqrt(estimated * supposed), unit = rule->precision;
    const double low = (double)predict_end(rule, limit, 0.8 * next / unit, ratio),
                 high = (double)predict_end(rule, limit, 1.25 * next / unit, ratio);
    return (size_t)sqrt(low * high);
}

svmp_status svmp_stopping_state(stopping_rule *rule, archive *a) {
    SVMP_TRY(svmp_archive_count(a, "inspections", &rule->inspections));
    SVMP_TRY(svmp_archive_count(a, "next inspection", &rule->next));
    SVMP_TRY(svmp_archive_count(a, "converged", &rule->converged));
    SVMP_TRY(svmp_archive_reals(a, "convergence", LOOKBACK, rule->convergence));
    SVMP_TRY(svmp_archive_real(a, "error", &rule->error));
    return svmp_archive_real(a, "ratio of errors", &rule->ratio);
}
