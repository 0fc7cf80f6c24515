#include "targets.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

static svmp_model *independent_nodes(svmp_context *context, size_t count) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < count; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    return model;
}

/* ---- Student-t ------------------------------------------------------------------------------------------------- */

/* log t(x) = -(nu + 1)/2 log(1 + x^2/nu) */
static int student(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const double nu = 5;
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = -(nu + 1) / 2 * log1p(x[0][l] * x[0][l] / nu);
        gradient[0][l] = -(nu + 1) * x[0][l] / (nu + x[0][l] * x[0][l]);
    }
    return 0;
}

svmp_model *target_student(svmp_context *context, size_t variables) {
    svmp_model *model = independent_nodes(context, variables);
    for (size_t v = 0; v < variables; v++) assert_ok(svmp_model_add_callback(model, 1, &v, student, NULL));
    assert_ok(svmp_model_finish(model));
    return model;
}

/* ---- Neal's funnel --------------------------------------------------------------------------------------------- */

/* log N(x | 0, exp(v)) = -v/2 - x^2 exp(-v)/2 */
static int funnel(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double v = x[0][l], square = x[1][l] * x[1][l] * exp(-v);
        value[l] = -v / 2 - square / 2;
        gradient[0][l] = -0.5 + square / 2;
        gradient[1][l] = -x[1][l] * exp(-v);
    }
    return 0;
}

svmp_model *target_funnel(svmp_context *context, int centred) {
    svmp_model *model = independent_nodes(context, 10);
    const size_t first = 0;
    assert_ok(svmp_model_add_gaussian(model, 1, &first, (double[]){1.0 / 9}, NULL));
    for (size_t v = 1; v < 10; v++)
        if (centred)
            assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, v}, funnel, NULL));
        else
            assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1}, NULL));
    assert_ok(svmp_model_finish(model));
    return model;
}

/* ---- logistic regression --------------------------------------------------------------------------------------- */

enum { OUTCOMES = 40 };

static double covariate(size_t k) { return -1.5 + 3.0 * (double)k / (OUTCOMES - 1); }
static int outcome(size_t k) { return (test_random(71, k) + 1) / 2 < 1 / (1 + exp(-0.5 - 1.5 * covariate(k))); }

/* log p = sum_k y eta - log(1 + exp(eta)) - (a^2 + b^2)/8,  eta = a + b z_k */
static double logistic_log_density(double a, double b, double *by_a, double *by_b) {
    double value = -(a * a + b * b) / 8;
    *by_a = -a / 4;
    *by_b = -b / 4;
    for (size_t k = 0; k < OUTCOMES; k++) {
        const double z = covariate(k), eta = a + b * z, y = outcome(k);
        const double rest = y - 1 / (1 + exp(-eta));
        value += y * eta - (eta > 0 ? eta + log1p(exp(-eta)) : log1p(exp(eta)));
        *by_a += rest;
        *by_b += rest * z;
    }
    return value;
}

static int logistic(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) value[l] = logistic_log_density(x[0][l], x[1][l], &gradient[0][l], &gradient[1][l]);
    return 0;
}

svmp_model *target_logistic(svmp_context *context) {
    svmp_model *model = independent_nodes(context, 2);
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, logistic, NULL));
    assert_ok(svmp_model_finish(model));
    return model;
}

/* The trapezoidal rule on a fine grid up to ten standard deviations of the prior; its error is far below 1e-6. */
void target_logistic_moments(double mean[2], double variance[2]) {
    enum { POINTS = 400 };
    double total = 0, first[2] = {0}, second[2] = {0}, ignored[2];
    for (size_t k = 0; k < (size_t)POINTS * POINTS; k++) {
        const size_t row = k / POINTS, column = k % POINTS;
        const double at[2] = {-8 + 16.0 * (double)row / POINTS, -8 + 16.0 * (double)column / POINTS};
        const double weight = exp(logistic_log_density(at[0], at[1], &ignored[0], &ignored[1]) + 15);
        total += weight;
        for (size_t j = 0; j < 2; j++) first[j] += weight * at[j], second[j] += weight * at[j] * at[j];
    }
    for (size_t j = 0; j < 2; j++) {
        mean[j] = first[j] / total;
        variance[j] = second[j] / total - mean[j] * mean[j];
    }
}

/* ---- runs and estimates ---------------------------------------------------------------------------------------- */

svmp_particles *target_infer(const svmp_model *model, const run_options *options) {
    svmp_run *run = NULL;
    svmp_outcome outcome_;
    svmp_particles *particles = NULL;
    assert_ok(svmp_run_make(model, options, &run));
    assert_ok(svmp_run_go(run, &outcome_));
    assert_int_equal(outcome_, SVMP_COMPLETED);
    assert_ok(svmp_run_particles(run, &particles));
    svmp_run_free(run);
    return particles;
}

double target_value(double x, double centre) { return x - centre; }
double target_square(double x, double centre) { return (x - centre) * (x - centre); }

estimate target_mean(svmp_particles *particles, size_t variable, double (*f)(double x, double centre), double centre) {
    enum { BATCHES = 40 };
    const size_t count = svmp_particles_count(particles), length = count / BATCHES;
    const double *x = svmp_particles_values(particles) + variable * count;
    double sum = 0, squares = 0;
    for (size_t k = 0; k < BATCHES; k++) {
        double batch = 0;
        for (size_t l = k * length; l < (k + 1) * length; l++) batch += f(x[l], centre) / (double)length;
        sum += batch;
        squares += batch * batch;
    }
    const double mean = sum / BATCHES;
    return (estimate){mean, sqrt((squares / BATCHES - mean * mean) / (BATCHES - 1))};
}

double target_normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

static int ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double target_kolmogorov(size_t n, double *values) {
    double largest = 0;
    qsort(values, n, sizeof *values, ascending);
    for (size_t l = 0; l < n; l++) {
        largest = fmax(largest, (double)(l + 1) / (double)n - values[l]);
        largest = fmax(largest, values[l] - (double)l / (double)n);
    }
    return sqrt((double)n) * largest;
}
