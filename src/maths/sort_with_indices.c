#include "maths/sort_with_indices.h"

#include <math.h>
#include <string.h>

static void merge(const placed *a, const placed *a_end, const placed *b, const placed *b_end, placed *to) {
    while (a < a_end && b < b_end) *to++ = b->value < a->value ? *b++ : *a++;
    memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

static void insert_each(placed *items, size_t count) {
    for (size_t k = 1; k < count; k++) {
        const placed item = items[k];
        size_t at = k;
        for (; at > 0 && item.value < items[at - 1].value; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Sorts runs of 16 by insertion, then merges them from one array into the other until one run is left. */
void svmp_sort(placed *items, placed *spare, size_t count) {
    enum { RUN = 16 };
    placed *from = items, *to = spare;
    for (size_t k = 0; k < count; k += RUN) insert_each(items + k, count - k < RUN ? count - k : RUN);
    for (size_t run = RUN; run < count; run *= 2) {
        for (size_t k = 0; k < count; k += 2 * run) {
            const size_t middle = k + run < count ? k + run : count, end = k + 2 * run < count ? k + 2 * run : count;
            merge(from + k, from + middle, from + middle, from + end, to + k);
        }
        placed *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
}

double svmp_quantile(const placed *sorted, size_t count, double p) {
    const double h = (double)(count - 1) * p;
    const size_t below = (size_t)h;
    if (below + 1 >= count) return sorted[count - 1].value;
    const double from = sorted[below].value, to = sorted[below + 1].value, weight = h - (double)below;
    return isfinite(to - from) ? from + weight * (to - from) : (1 - weight) * from + weight * to;
}
