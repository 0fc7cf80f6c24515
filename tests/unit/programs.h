/* Runs a program in a test: one instance whose slot j is variable j. */
#ifndef SVMP_TEST_PROGRAMS_H
#define SVMP_TEST_PROGRAMS_H

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "expr/hessian.h"
#include "expr/instructions.h"
#include "support.h"

/* value[l] and gradient[j*n + l] (or NULL) for x[j*n + l]; `parameters` may be NULL. */
static inline void test_run(const program *compiled, size_t n, const double *x, const double *parameters, double *value,
                            double *gradient) {
    size_t slots = svmp_program_slots(compiled), count = compiled->parameters;
    uint32_t *variables = malloc((slots + 1) * sizeof *variables);
    const double **columns = malloc((count + 1) * sizeof *columns);
    for (size_t j = 0; j < slots; j++) variables[j] = (uint32_t)j;
    for (size_t p = 0; p < count; p++) columns[p] = parameters + p;
    bound_program *bound;
    assert_ok(svmp_program_bind(compiled, 1, columns, &bound));
    void *scratch = malloc(svmp_bound_scratch(bound, n));
    svmp_bound_evaluate(bound, variables, 0, 1, n, x, scratch, value, gradient);
    svmp_bound_free(bound);
    free(scratch);
    free(variables);
    free(columns);
}

static inline double test_value(const program *compiled, const double *x) {
    double value;
    test_run(compiled, 1, x, NULL, &value, NULL);
    return value;
}

/* d value / d x[j] by a five-point difference, with an error of fourth order in the step. */
static inline double test_difference(const program *compiled, const double *x, size_t j, double step) {
    double point[16], f[4];
    static const int offset[4] = {-2, -1, 1, 2};
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < svmp_program_slots(compiled); i++) point[i] = x[i];
        point[j] += offset[k] * step;
        f[k] = test_value(compiled, point);
    }
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * step);
}

/* The gradient at x agrees with differences in every input except those of the mask `skipped`. */
static inline void test_gradient(const program *compiled, const double *x, double step, double tolerance,
                                 unsigned skipped) {
    double value, gradient[16];
    test_run(compiled, 1, x, NULL, &value, gradient);
    for (size_t j = 0; j < svmp_program_slots(compiled); j++) {
        if (skipped >> j & 1) continue;
        double scale = step * (1 + fabs(x[j]));
        assert_near(gradient[j], test_difference(compiled, x, j, scale), tolerance);
    }
}

/* The second derivatives at one point, slots*slots, both halves. */
static inline void test_second(const program *compiled, const double *x, const double *parameters, double *second) {
    const size_t slots = svmp_program_slots(compiled), count = compiled->parameters;
    uint32_t *variables = malloc((slots + 1) * sizeof *variables);
    const double **columns = malloc((count + 1) * sizeof *columns);
    const uint32_t *row, *column;
    bound_program *bound;
    hessian *h;
    for (size_t j = 0; j < slots; j++) variables[j] = (uint32_t)j;
    for (size_t p = 0; p < count; p++) columns[p] = parameters + p;
    assert_ok(svmp_program_bind(compiled, 1, columns, &bound));
    assert_ok(svmp_hessian_create(bound, &h));
    svmp_bound_free(bound); /* the Hessian does not need it */
    const size_t pairs = svmp_hessian_pairs(h, &row, &column);
    double *mean = malloc((pairs + 1) * sizeof *mean);
    void *scratch = malloc(svmp_hessian_scratch(h, 1));
    svmp_hessian_mean(h, variables, 0, 1, 1, x, scratch, mean);
    for (size_t k = 0; k < slots * slots; k++) second[k] = 0;
    for (size_t p = 0; p < pairs; p++) {
        assert_true(row[p] >= column[p] && row[p] < slots);
        second[row[p] * slots + column[p]] = second[column[p] * slots + row[p]] = mean[p];
    }
    svmp_hessian_free(h);
    free(scratch);
    free(mean);
    free(variables);
    free(columns);
}

/* They agree with five-point differences of the gradient in every input except those of the mask `skipped`. */
static inline void test_second_differences(const program *compiled, const double *x, double step, double tolerance,
                                           unsigned skipped) {
    static const int offset[4] = {-2, -1, 1, 2};
    const size_t slots = svmp_program_slots(compiled);
    double second[16 * 16], point[16], value, g[4][16];
    test_second(compiled, x, NULL, second);
    for (size_t j = 0; j < slots; j++) {
        const double scale = step * (1 + fabs(x[j]));
        if (skipped >> j & 1) continue;
        for (int k = 0; k < 4; k++) {
            for (size_t i = 0; i < slots; i++) point[i] = x[i];
            point[j] += offset[k] * scale;
            test_run(compiled, 1, point, NULL, &value, g[k]);
        }
        for (size_t i = 0; i < slots; i++)
            if (!(skipped >> i & 1))
                assert_near(second[i * slots + j], (g[0][i] - 8 * g[1][i] + 8 * g[2][i] - g[3][i]) / (12 * scale),
                            tolerance);
    }
}

/* ---- failing allocations: the one after `left` others fails; `live` counts unreleased ones ------- */

typedef struct failing_memory {
    long left, live;
} failing_memory;

static inline void *failing_allocate(size_t size, void *user_data) {
    failing_memory *memory = user_data;
    if (memory->left-- == 0) return NULL;
    memory->live++;
    return calloc(1, size);
}
static inline void *failing_resize(void *pointer, size_t size, void *user_data) {
    failing_memory *memory = user_data;
    if (memory->left-- == 0) return NULL;
    if (pointer == NULL) memory->live++;
    return realloc(pointer, size);
}
static inline void failing_release(void *pointer, void *user_data) {
    ((failing_memory *)user_data)->live--;
    free(pointer);
}

static inline svmp_context *test_failing_context(failing_memory *memory) {
    const svmp_allocator allocator = {failing_allocate, failing_resize, failing_release, memory};
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(&allocator, &context));
    return context;
}

#endif
