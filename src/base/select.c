#include "base/select.h"

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

/* Hoare's selection, the median of three as pivot; a few numbers are sorted. A NaN compares as equal to everything: the
 * order is then no order, but the loops still end. */
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
