/* Shared by the tests on a GPU: a model with bounds, step rules, and particle positions. */
#ifndef SVMP_TESTS_GPU_CASES_H
#define SVMP_TESTS_GPU_CASES_H

#include <math.h>

#include "base/random.h"
#include "bench/bench.h"

/* Step rules with no state, one number or two per variable. */
static const char *const rules[] = {"adam:0.05", "adagrad:0.05", "rmsprop:0.05", "fixed:0.02"};

/* Boxes with one bound, two and none; steps are projected onto all of them. */
static inline svmp_model *boxed_grid(size_t side) {
    svmp_model *model = grid(side);
    for (size_t i = 0; i < side * side; i++)
        if (i % 3) must(svmp_model_set_box(model, i, -0.3, i % 3 == 1 ? INFINITY : 0.5));
    return model;
}

static inline void normals(size_t t, size_t i, size_t n, double *row) {
    svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST, .a = t, .b = i}, n, row);
}

/* Many distances are equal. */
static inline void on_lattice(size_t t, size_t i, size_t n, double *row) {
    for (size_t l = 0; l < n; l++) row[l] = (double)((l * l + 3 * l * (i + 1) + t) % 5);
}

/* Two clusters; for n = 4, 16, 36, ... particles exactly half of the distances are within a cluster, so that the two
 * middle ones are far apart. */
static inline void with_gap(size_t t, size_t i, size_t n, double *row) {
    const size_t first = (n + (size_t)(sqrt((double)n) + 0.5)) / 2;
    normals(t, i, n, row);
    for (size_t l = 0; l < n; l++) row[l] = 0.3 * row[l] + (l < first ? -4 : 4);
}

/* The median is never where the previous ones predict it. */
static inline void with_jumps(size_t t, size_t i, size_t n, double *row) {
    normals(t, i, n, row);
    for (size_t l = 0; l < n; l++) row[l] *= t % 3 == 0 ? 1 : t % 3 == 1 ? 20 : 0.05;
}

/* Most particles coincide, and the median is 0. */
static inline void together(size_t t, size_t i, size_t n, double *row) {
    normals(t, i, n, row);
    for (size_t l = 0; l < n; l++) row[l] = l % 4 ? 1 : row[l];
}

/* One particle is far from the others. */
static inline void with_outlier(size_t t, size_t i, size_t n, double *row) {
    normals(t, i, n, row);
    row[(t + i) % n] *= 50;
}

typedef void (*placement)(size_t t, size_t i, size_t n, double *row);
static const placement places[] = {on_lattice, with_gap, with_jumps, together, with_outlier};
static const char *const place_names[] = {"on a lattice", "two clusters", "jumps", "most coincide", "an outlier"};

#endif
