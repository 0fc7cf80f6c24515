#include <math.h>

#include "stein/kernel.h"

/* k = exp(-D/h) */
static void value(size_t count, const double *distance, double h, double *k) {
    const double scale = -1 / h;
#pragma omp simd
    for (size_t m = 0; m < count; m++) k[m] = exp(scale * distance[m]);
}

/* -2 dk/dD = (2/h) k */
static double ratio(double h) { return 2 / h; }

/* 4 d2k/dD2 = (4/h^2) k */
static void curvature(size_t count, const double *k, double h, double *c) {
    const double scale = 4 / (h * h);
#pragma omp simd
    for (size_t m = 0; m < count; m++) c[m] = scale * k[m];
}

const kernel_shape svmp_shape_rbf = {"rbf", SVMP_SHAPE_RBF, value, ratio, NULL, curvature};
