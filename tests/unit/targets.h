/* Posteriors for tests of samplers, and simple estimates from their chains. */
#ifndef SVMP_TEST_TARGETS_H
#define SVMP_TEST_TARGETS_H

#include "run/option_table.h"

/* Independent Student-t variables with 5 degrees of freedom: variance 5/3. */
svmp_model *target_student(svmp_context *context, size_t variables);

/* Neal's funnel: v ~ N(0, 3^2), and nine x. Centred: x ~ N(0, exp(v)); else x ~ N(0, 1), to be scaled by exp(v/2). */
svmp_model *target_funnel(svmp_context *context, int centred);

/* Logistic regression of 40 outcomes on a slope and an intercept, both N(0, 2^2); the exact moments by quadrature. */
svmp_model *target_logistic(svmp_context *context);
void target_logistic_moments(double mean[2], double variance[2]);

/* A run from start to end. */
svmp_particles *target_infer(const svmp_model *model, const run_options *options);

/* Mean of f(x) over the draws of a variable, and its standard error from batch means. */
typedef struct estimate {
    double mean, error;
} estimate;
estimate target_mean(svmp_particles *particles, size_t variable, double (*f)(double x, double centre), double centre);

double target_value(double x, double centre);  /* x - centre */
double target_square(double x, double centre); /* (x - centre)^2 */

/* Kolmogorov's statistic sqrt(n) sup |F_n - F| for uniformity; sorts `values`, each in (0, 1). */
double target_kolmogorov(size_t n, double *values);

/* The standard normal distribution function. */
double target_normal_cdf(double x);

#endif
