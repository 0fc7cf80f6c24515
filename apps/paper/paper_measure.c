#include "paper_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int add_value(task *t, place where, const char *metric, double value) {
    measurement m = {.trial = t->trial, .x = where.x, .value = value};
    snprintf(m.series, sizeof m.series, "%s", where.series);
    snprintf(m.method, sizeof m.method, "%s", where.method);
    snprintf(m.step, sizeof m.step, "%s", where.step ? where.step : "");
    snprintf(m.metric, sizeof m.metric, "%s", metric);
    return results_add(&t->out, m);
}

void mean_and_variance(svmp_particles *particles, size_t variable, double *mean, double *variance) {
    const size_t n = svmp_particles_count(particles);
    const double *x = svmp_particles_values(particles) + variable * n;
    double sum = 0, squares = 0;
    for (size_t l = 0; l < n; l++) sum += x[l];
    *mean = sum / (double)n;
    for (size_t l = 0; l < n; l++) squares += (x[l] - *mean) * (x[l] - *mean);
    *variance = squares / (double)n;
}

typedef enum moment { MOMENT_MEAN, MOMENT_SQUARE, MOMENT_VARIANCE } moment;

static double mse(svmp_particles *particles, moment which, const double *truth) {
    const size_t d = svmp_particles_variables(particles);
    double sum = 0, mean, variance;
    for (size_t i = 0; i < d; i++) {
        mean_and_variance(particles, i, &mean, &variance);
        const double value = which == MOMENT_MEAN ? mean : which == MOMENT_SQUARE ? variance + mean * mean : variance;
        sum += (value - truth[i]) * (value - truth[i]);
    }
    return sum / (double)d;
}

double mse_mean(svmp_particles *particles, const double *mean) { return mse(particles, MOMENT_MEAN, mean); }
double mse_square(svmp_particles *particles, const double *square) { return mse(particles, MOMENT_SQUARE, square); }
double mse_variance(svmp_particles *particles, const double *variance) {
    return mse(particles, MOMENT_VARIANCE, variance);
}

/* Of every particle its place along a direction, less the mean. */
static void project(svmp_particles *particles, const double *direction, double *place_) {
    const size_t n = svmp_particles_count(particles);
    memset(place_, 0, n * sizeof *place_);
    for (size_t i = 0; i < svmp_particles_variables(particles); i++) {
        const double *x = svmp_particles_values(particles) + i * n;
        double mean, variance;
        mean_and_variance(particles, i, &mean, &variance);
        for (size_t l = 0; l < n; l++) place_[l] += direction[i] * (x[l] - mean);
    }
}

/* Powers of the covariance; where two directions are equally wide, any between them will do. */
int widest_direction(svmp_particles *particles, double *direction) {
    enum { ROUNDS = 200 };
    const size_t d = svmp_particles_variables(particles), n = svmp_particles_count(particles);
    double *place_ = malloc(n * sizeof *place_);
    if (place_ == NULL) return task_no_memory();
    for (size_t i = 0; i < d; i++) direction[i] = cos((double)i);
    for (int round = 0; round < ROUNDS; round++) {
        project(particles, direction, place_);
        for (size_t i = 0; i < d; i++) {
            const double *x = svmp_particles_values(particles) + i * n;
            direction[i] = 0;
            for (size_t l = 0; l < n; l++) direction[i] += place_[l] * x[l];
        }
        const double length = sqrt((double)d * mean_of_squares(d, direction));
        for (size_t i = 0; i < d; i++) direction[i] /= length;
    }
    free(place_);
    return 0;
}

int sd_along(svmp_particles *particles, const double *direction, double *sd) {
    const size_t n = svmp_particles_count(particles);
    double *place_ = malloc(n * sizeof *place_);
    if (place_ == NULL) return task_no_memory();
    project(particles, direction, place_);
    *sd = sqrt(mean_of_squares(n, place_));
    free(place_);
    return 0;
}

double mean_of_squares(size_t count, const double *values) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += values[k] * values[k];
    return sum / (double)count;
}

void dump_vector(FILE *file, const char *name, size_t count, const double *values, size_t stride) {
    fprintf(file, "%s <- c(", name);
    for (size_t k = 0; k < count; k++) {
        if (isnan(values[k * stride]))
            fprintf(file, "%sNA", k ? ", " : "");
        else
            fprintf(file, "%s%.17g", k ? ", " : "", values[k * stride]);
    }
    fputs(")\n", file);
}
