#include <math.h>

#include "kernel/kernel.h"

/* k = exp(-D/h) */
static void value(size_t count, const double *distance, double h, double *k) {
    const double scale = -1 / h;
#pragma omp simd
    for (size_t m = 0; m < count; m++) k[m] = exp(scale * distance[m]);
}

/* -2 dk/dD = (2/h) k */
static double ratio(double h) { return 2 / h; }

const kernel_shape svmp_shape_rbf = {"rbf", value, ratio, NULL};
