#include <math.h>

#include "stein/kernel.h"

/* k = (1 + D/h)^(-1/2) */
static void value(size_t count, const double *distance, double h, double *k) {
    const double scale = 1 / h;
#pragma omp simd
    for (size_t m = 0; m < count; m++) k[m] = 1 / sqrt(1 + scale * distance[m]);
}

/* -2 dk/dD = (1 + D/h)^(-3/2) / h = k^3 / h */
static void repulsion(size_t count, const double *k, double h, double *r) {
    const double scale = 1 / h;
#pragma omp simd
    for (size_t m = 0; m < count; m++) r[m] = scale * k[m] * k[m] * k[m];
}

/* 4 d2k/dD2 = 3 (1 + D/h)^(-5/2) / h^2 = 3 k^5 / h^2 */
static void curvature(size_t count, const double *k, double h, double *c) {
    const double scale = 3 / (h * h);
#pragma omp simd
    for (size_t m = 0; m < count; m++) {
        const double square = k[m] * k[m];
        c[m] = scale * square * square * k[m];
    }
}

const kernel_shape svmp_shape_imq = {"imq", SVMP_SHAPE_IMQ, value, NULL, repulsion, curvature};
