/* Tests over trials. */
#ifndef SVMP_PAPER_TRIAL_TESTS_H
#define SVMP_PAPER_TRIAL_TESTS_H

#include <stddef.h>

/* Student's t of the mean of `count` values against `limit`, and the probability of one as low or lower if the true
 * mean were the limit. Values that are not finite are left out; *used says how many were not. Equal values are certain.
 */
typedef struct t_test {
    double mean, error, p_below;
    size_t used;
} t_test;

t_test t_test_below(size_t count, const double *values, double limit);

/* The same of the difference of two means with their standard errors, of `count` and `other_count` values (Welch). */
double welch_below(double mean, double error, size_t count, double other, double other_error, size_t other_count,
                   double limit);

/* P(X >= k) for k of n tosses of a fair coin. */
double coin_at_least(size_t n, size_t k);

/* The slope of the least squares line through (x, y). */
double slope(size_t count, const double *x, const double *y);

#endif
