#include "backend/cpu/cpu_median.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "maths/order_statistics.h"

/* The value of rank `lower` is known to be at least `low`, that of `upper` at most `high`. */
typedef struct bounds {
    double low, high;
} bounds;

static int holds(const tally *t, size_t lower, size_t upper) {
    return lower >= t->below && upper < t->below + t->inside;
}

/* The number halfway between two in the order of all doubles: at most 64 such steps separate any two. */
static double halfway(double low, double high) {
    uint64_t a, b;
    memcpy(&a, &low, sizeof a);
    memcpy(&b, &high, sizeof b);
    a += (b - a) / 2;
    memcpy(&low, &a, sizeof low);
    return low;
}

/* The number of listed values to use as a sample: the fewest that narrow the bracket, by 4/sqrt(number), to what the
 * list can hold, and at most all. */
static size_t sample_size(const tally *t) {
    enum { LEAST = 128 };
    const double root = 4 * (double)t->inside / (0.7 * (double)t->capacity), wanted = root * root;
    return wanted < LEAST ? LEAST : wanted < (double)t->capacity ? (size_t)wanted : t->capacity;
}

/* The bracket holds more numbers than were listed: the listed ones, pairs of some particles, serve as a sample. The new
 * bracket spans their quantiles around the desired ranks, plus some standard errors on either side. If the distribution
 * depends on the order of the particles it may miss, and bisect finds the answer. */
static bounds narrow_by_sample(tally *t, size_t lower, size_t upper) {
    const size_t count = sample_size(t);
    const double sample = (double)count, share = sample / (double)t->inside, margin = 2 * sqrt(sample);
    const double from = (double)(lower - t->below) * share - margin, to = (double)(upper - t->below) * share + margin;
    bounds b = {t->low, t->high};
    for (size_t k = 0; k < count; k++) t->list[k] = t->list[k * t->capacity / count]; /* evenly spaced, to the front */
    if (from > 0) b.low = svmp_select(t->list, count, (size_t)from);
    if (to < sample - 1) b.high = svmp_select(t->list, count, (size_t)to);
    return b;
}

/* The bracket missed: moves the wrong sides outwards by much more than its width. */
static bounds widen(const tally *t, size_t lower, size_t upper, bounds known) {
    const double reach = 8 * (t->high - t->low);
    bounds b = {t->low, t->high};
    if (lower < t->below) b.low = fmax(known.low, t->low - reach);
    if (upper >= t->below + t->inside) b.high = fmin(known.high, t->high + reach);
    if (upper < t->below) b.high = t->low;              /* the whole bracket is too high */
    if (lower >= t->below + t->inside) b.low = t->high; /* the whole bracket is too low */
    return b;
}

/* Predicts that it will move as it moved now. The next bracket is wide enough to hold a dozen numbers, and three times
 * as wide as the error of this prediction. */
static void remember(const tally *t, size_t rank, double found, middle *last) {
    const double moved = last->at > 0 ? found - last->at : 0;
    const double wrong = last->at > 0 ? fabs(moved - last->moved) : found / 8;
    const double density = isfinite(t->high) && t->high > t->low ? (double)t->inside / (t->high - t->low) : INFINITY;
    const double few = 6 + (double)rank / 1024;
    *last = (middle){found, moved, fmax(3 * wrong, few / density)};
}

/* The initial bracket. */
static bounds expected(const middle *last, bounds all) {
    const double centre = last->at + last->moved;
    if (!(last->at > 0 && centre > 0 && isfinite(centre + last->reach))) return all;
    return (bounds){fmax(centre - last->reach, 0), centre + last->reach};
}

/* Selects from the numbers that the tally listed. */
static void select_listed(const tally *t, size_t lower, size_t upper, double *at_lower, double *at_upper) {
    svmp_select_two(t->list, t->inside, lower - t->below, upper - t->below, at_lower, at_upper);
}

/* The fallback when predictions fail: halves the range of one rank, in the order of all doubles, until the lower half
 * holds few enough numbers to list, or is a single number. At most 64 passes; NaN if no number has this rank because
 * some are NaN. */
static double bisect(counting_pass pass, void *user_data, size_t rank, bounds known, tally *t) {
    while (known.low <= known.high) {
        const double guess = halfway(known.low, known.high);
        *t = (tally){.low = known.low, .high = guess, .list = t->list, .capacity = t->capacity};
        pass(user_data, t);
        if (!holds(t, rank, rank))
            known.low = guess < INFINITY ? nextafter(guess, INFINITY) : NAN;
        else if (known.low == guess)
            return guess;
        else if (t->inside <= t->capacity)
            return svmp_select(t->list, t->inside, rank - t->below);
        else
            known.high = guess;
    }
    return NAN;
}

void svmp_median_find(counting_pass pass, void *user_data, size_t lower, size_t upper, double *list, size_t capacity,
                      middle *last, double *at_lower, double *at_upper) {
    enum { MOST_PASSES = 10 };
    bounds known = {0, INFINITY}, bracket = expected(last, known);
    tally t;
    for (int passes = 0; passes < MOST_PASSES; passes++) {
        t = (tally){.low = bracket.low, .high = bracket.high, .list = list, .capacity = capacity};
        pass(user_data, &t);
        const int held = holds(&t, lower, upper);
        if (held && (t.low == t.high || t.inside <= capacity)) {
            *at_lower = *at_upper = t.low; /* all numbers in it are equal; or: */
            if (t.low < t.high) select_listed(&t, lower, upper, at_lower, at_upper);
            remember(&t, upper, *at_upper, last);
            return;
        }
        if (lower >= t.below) known.low = fmax(known.low, t.low);
        if (upper < t.below + t.inside) known.high = fmin(known.high, t.high);
        bracket = held ? narrow_by_sample(&t, lower, upper) : passes < 2 ? widen(&t, lower, upper, known) : known;
    }
    *at_lower = bisect(pass, user_data, lower, known, &t);
    *at_upper = lower < upper ? bisect(pass, user_data, upper, known, &t) : *at_lower;
    if (isnan(*at_upper))
        *last = (middle){0};
    else
        remember(&t, upper, *at_upper, last);
}
