#include "sample/heavy_tails.h"

#include <math.h>

#include "maths/order_statistics.h"
#include "maths/pareto_tail.h"
#include "maths/sort_with_indices.h"

enum { FEWEST_DRAWS = 400, MOST_OF_TAIL = 1000 };

static const double infinite_variance = 0.5; /* the shape from which on the variance is infinite */
static const double more_for_many = 0.1;     /* and more for ten times as many variables: half a standard error */
static const double light = 5; /* the largest exceedance over their mean: that of an exponential tail of a hundred */

/* The tail shape of the upper tail of sign * values. */
static double upper_shape(size_t count, const double *values, double sign, double *workspace) {
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
    if (!isfinite(largest) || !(largest > light * mean)) return -INFINITY;
    svmp_sort(tail, spare, found);
    for (size_t k = 0; k < found; k++) workspace[k] = tail[k].value;
    const double shape = svmp_pareto_fit(found, workspace).shape;
    return isnan(shape) ? -INFINITY : shape;
}

double svmp_tail_shape(size_t count, const double *values, double *workspace) {
    for (size_t l = 0; l < count; l++)
        if (!isfinite(values[l])) return -INFINITY;
    if (count < FEWEST_DRAWS) return -INFINITY;
    return fmax(upper_shape(count, values, 1, workspace), upper_shape(count, values, -1, workspace));
}

svmp_status svmp_find_heavy_tails(const svmp_particles *particles, heavy_tails *found) {
    const double limit = infinite_variance + more_for_many * log10(fmax(1, (double)particles->variables));
    double *workspace = NULL;
    *found = (heavy_tails){.shape = -INFINITY};
    if (particles->count < FEWEST_DRAWS) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(particles->context, workspace, particles->count));
    for (size_t i = 0; i < particles->variables; i++) {
        const double shape = svmp_tail_shape(particles->count, particles->values + i * particles->count, workspace);
        if (!(shape > limit)) continue;
        found->count++;
        if (!(shape > found->shape)) continue;
        found->shape = shape;
        found->worst = i;
    }
    svmp_release(particles->context, workspace);
    return SVMP_OK;
}
