#include "sample/heavy_tails.h"

#include <math.h>

#include "maths/order_statistics.h"
#include "maths/pareto_tail.h"
#include "maths/sort_with_indices.h"

enum { FEWEST_DRAWS = 400, MOST_OF_TAIL = 1000 };

static const double infinite_variance = 0.5; /* the shape from which on the variance is infinite */
static const double more_for_many = 0.1; /* the shape is an estimate: less by that for ten times as many variables */
static const double light = 5; /* the largest exceedance over their mean: that of an exponential tail of a hundred */

static const heavy_tail light_tail = {-INFINITY, 0};

/* The share of a variance of 1 that lies beyond the largest of `count` draws: there the fitted tail is a generalised
 * Pareto distribution of its own, Y beyond y, and E[(threshold + y + Y)^2] = a^2 + 2 a s/(1 - k) + 2 s^2/((1 - k)(1 - 2
 * k)). */
static double share_beyond(size_t count, size_t size, double threshold, pareto_tail tail, double allowance) {
    const double k = tail.shape - allowance, y = svmp_pareto_quantile(tail, 1 - 1 / (double)size),
                 s = tail.scale + k * y, a = threshold + y;
    if (!(k < infinite_variance)) return INFINITY;
    return (a * a + 2 * a * s / (1 - k) + 2 * s * s / ((1 - k) * (1 - 2 * k))) / (double)count;
}

/* Of the upper tail of sign * values. */
static heavy_tail upper_tail(size_t count, const double *values, double sign, double allowance, double *workspace) {
    const double root = 3 * sqrt((double)count);
    const size_t size = root < MOST_OF_TAIL ? (size_t)root : MOST_OF_TAIL;
    placed tail[MOST_OF_TAIL], spare[MOST_OF_TAIL];
    size_t found = 0;
    double mean = 0, largest = 0;
    for (size_t l = 0; l < count; l++) workspace[l] = sign * values[l];
    const double threshold = svmp_select(workspace, count, count - size - 1);
    for (size_t l = 0; l < count && found < size; l++) {
        const double exceedance = sign * values[l] - threshold;
        if (!(exceedance > 0)) continue;
        tail[found++] = (placed){exceedance, l};
        mean += exceedance / (double)size;
        largest = fmax(largest, exceedance);
    }
    if (!isfinite(largest) || !(largest > light * mean)) return light_tail;
    svmp_sort(tail, spare, found);
    for (size_t k = 0; k < found; k++) workspace[k] = tail[k].value;
    const pareto_tail fitted = svmp_pareto_fit(found, workspace);
    if (isnan(fitted.shape)) return light_tail;
    return (heavy_tail){fitted.shape, share_beyond(count, found, threshold, fitted, allowance)};
}

heavy_tail svmp_heavier_tail(size_t count, size_t variables, const double *values, double *workspace) {
    const double allowance = more_for_many * log10(fmax(1, (double)variables));
    for (size_t l = 0; l < count; l++)
        if (!isfinite(values[l])) return light_tail;
    if (count < FEWEST_DRAWS) return light_tail;
    const heavy_tail upper = upper_tail(count, values, 1, allowance, workspace),
                     lower = upper_tail(count, values, -1, allowance, workspace);
    return upper.share > lower.share || (upper.share == lower.share && upper.shape > lower.shape) ? upper : lower;
}
