/* A model compiled from a text and an R dump: its density, and its gradient against finite differences. */
#ifndef SVMP_TESTS_LOWERED_H
#define SVMP_TESTS_LOWERED_H

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/compile_text.h"

typedef struct lowered_test {
    svmp_context *context;
    lowered_model *model;
    double *gradient;
} lowered_test;

static inline void lower_as(lowered_test *test, const char *text, const char *dump, const char *monitors,
                            const choices *made) {
    test->context = test_context(1);
    test->model = compile_dump(test->context, text, dump, monitors, made);
    test->gradient = calloc(test->model->variables + 1, sizeof(double));
}

static inline void lower_monitoring(lowered_test *test, const char *text, const char *dump, const char *monitors) {
    lower_as(test, text, dump, monitors, &(choices){.centring = 1});
}

static inline void lower(lowered_test *test, const char *text, const char *dump) {
    lower_monitoring(test, text, dump, NULL);
}

static inline void end(lowered_test *test) {
    free(test->gradient);
    svmp_lowered_free(test->model);
    svmp_context_free(test->context);
}

/* The log density at one point; the gradient goes to test->gradient. */
static inline double log_density(lowered_test *test, const double *x) {
    double total = 0;
    memset(test->gradient, 0, test->model->variables * sizeof(double));
    for (size_t g = 0; g < test->model->group_count; g++) {
        const factor_group *group = &test->model->groups[g];
        double *value = calloc(group->instances, sizeof(double));
        double *gradient = calloc(group->instances * group->slots + 1, sizeof(double));
        void *scratch = malloc(group->kind->scratch(group, 1) + 1);
        assert_int_equal(group->kind->evaluate(group, 0, group->instances, 1, x, scratch, value, gradient), 0);
        for (size_t k = 0; k < group->instances; k++) {
            total += value[k];
            for (size_t j = 0; j < group->slots; j++)
                test->gradient[group->variables[k * group->slots + j]] += gradient[k * group->slots + j];
        }
        free(value);
        free(gradient);
        free(scratch);
    }
    return total;
}

static inline void assert_gradient(lowered_test *test, double *x) {
    size_t count = test->model->variables;
    log_density(test, x);
    double *gradient = malloc((count + 1) * sizeof *gradient);
    memcpy(gradient, test->gradient, count * sizeof *gradient);
    for (size_t i = 0; i < count; i++) {
        double at = x[i], h = 1e-5 * (1 + fabs(at));
        x[i] = at + h;
        double above = log_density(test, x);
        x[i] = at - h;
        double below = log_density(test, x);
        x[i] = at;
        assert_near((above - below) / (2 * h), gradient[i], 1e-5);
    }
    free(gradient);
}

static inline double normal(double x, double mu, double tau) {
    return 0.5 * log(tau / (2 * acos(-1))) - 0.5 * tau * (x - mu) * (x - mu);
}

#endif
