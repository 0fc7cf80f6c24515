#include "maths/order_statistics.h"

#include <math.h>

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

static void order(double *a, double *b) {
    if (*b < *a) swap(a, b);
}

static void sort_few(double *values, ptrdiff_t low, ptrdiff_t high) {
    for (ptrdiff_t k = low + 1; k <= high; k++) {
        const double value = values[k];
        ptrdiff_t at = k;
        for (; at > low && value < values[at - 1]; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Hoare's selection with the median of three as pivot; short arrays are sorted. A NaN compares as equal to everything:
 * the order is then undefined, but the loops still end. */
double svmp_select(double *values, size_t count, size_t rank) {
    enum { FEW = 16 };
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, k = (ptrdiff_t)rank;
    while (high - low >= FEW) {
        ptrdiff_t middle = low + (high - low) / 2;
        order(&values[low], &values[middle]);
        order(&values[low], &values[high]);
        order(&values[middle], &values[high]);
        const double pivot = values[middle];
        ptrdiff_t i = low, j = high;
        do {
            while (values[i] < pivot) i++;
            while (pivot < values[j]) j--;
            if (i <= j) swap(&values[i++], &values[j--]);
        } while (i <= j);
        if (j < k) low = i;
        if (k < i) high = j;
    }
    if (low < high) sort_few(values, low, high);
    return values[rank];
}

/* ---- two neighbours ---------------------------------------------------------------------------------------------- */

enum { SAMPLE = 128, MARGIN = 17 }; /* ranks of the sample, to either side: three standard errors */

/* Two numbers that bracket the values of ranks lower and upper, estimated from a sample. */
static void guess_bounds(const double *values, size_t count, size_t lower, size_t upper, double *low, double *high) {
    double some[SAMPLE];
    for (size_t k = 0; k < SAMPLE; k++) some[k] = values[k * count / SAMPLE];
    const size_t from = lower * SAMPLE / count, to = upper * SAMPLE / count + MARGIN;
    *low = from > MARGIN ? svmp_select(some, SAMPLE, from - MARGIN) : -INFINITY;
    *high = to < SAMPLE ? svmp_select(some, SAMPLE, to) : INFINITY;
}

/* Keeps only numbers around the ranks lower and upper, which are updated to ranks among those kept; returns their
 * count. The loop has no branches that depend on the numbers: for unordered data half of these would be
 * mispredicted. */
static size_t keep_middle(double *values, size_t count, size_t *lower, size_t *upper) {
    double low, high;
    size_t below = 0, inside = 0, kept = 0;
    guess_bounds(values, count, *lower, *upper, &low, &high);
    for (size_t k = 0; k < count; k++) {
        below += values[k] < low;
        inside += values[k] <= high;
    }
    if (*lower < below || *upper >= inside) return count; /* the sample did not bracket the ranks */
    for (size_t k = 0; k < count; k++) {
        const double value = values[k];
        values[kept] = value;
        kept += (size_t)((value >= low) & (value <= high));
    }
    *lower -= below;
    *upper -= below;
    return kept;
}

void svmp_select_two(double *values, size_t count, size_t lower, size_t upper, double *at_lower, double *at_upper) {
    enum { MANY = 400 };
    if (count > MANY) count = keep_middle(values, count, &lower, &upper);
    *at_lower = *at_upper = svmp_select(values, count, upper);
    if (lower < upper) *at_lower = svmp_select(values, upper, upper - 1); /* the largest of the values before it */
}
