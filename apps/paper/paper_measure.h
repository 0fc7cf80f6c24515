/* What is measured on particles, and how numbers get into data files. */
#ifndef SVMP_PAPER_PAPER_MEASURE_H
#define SVMP_PAPER_PAPER_MEASURE_H

#include "paper.h"

/* Where a measurement belongs. */
typedef struct place {
    const char *series, *method, *step;
    double x;
} place;

int add_value(task *t, place where, const char *metric, double value);

/* Mean over the variables of the squared difference between what the particles say and what is given. */
double mse_mean(svmp_particles *particles, const double *mean);
double mse_square(svmp_particles *particles, const double *square);
double mse_variance(svmp_particles *particles, const double *variance); /* divides by n */

/* E[x] and the variance (dividing by n) of one variable. */
void mean_and_variance(svmp_particles *particles, size_t variable, double *mean, double *variance);

/* The direction in which the particles vary most, of length 1: the first principal component. `direction` has room for
 * all variables. And their standard deviation in a direction. */
int widest_direction(svmp_particles *particles, double *direction);
int sd_along(svmp_particles *particles, const double *direction, double *sd);

double mean_of_squares(size_t count, const double *values);

/* name <- c(values[0], values[stride], ...), a line of an R dump. */
void dump_vector(FILE *file, const char *name, size_t count, const double *values, size_t stride);

#endif
