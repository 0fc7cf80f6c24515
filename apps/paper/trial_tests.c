#include "trial_tests.h"

#include <math.h>

/* The continued fraction of the incomplete beta function (Lentz's method), for x < (a + 1)/(a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 500; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int k = 0; k < 2; k++) {
            const double term = k ? odd : even;
            d = 1 + term * d, c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return f;
}

static double beta_share(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(T <= t) of Student's distribution. */
static double student_below(double t, double freedom) {
    const double tail = 0.5 * beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
    return t < 0 ? tail : 1 - tail;
}

t_test t_test_below(size_t count, const double *values, double limit) {
    double sum = 0, squares = 0;
    t_test test = {NAN, NAN, 0.5, 0};
    for (size_t k = 0; k < count; k++)
        if (isfinite(values[k])) sum += values[k], test.used++;
    const double n = (double)test.used;
    test.mean = sum / n;
    if (test.used < 2) return test;
    for (size_t k = 0; k < count; k++)
        if (isfinite(values[k])) squares += (values[k] - test.mean) * (values[k] - test.mean);
    test.error = sqrt(squares / (n - 1) / n);
    if (test.error > 0)
        test.p_below = student_below((test.mean - limit) / test.error, n - 1);
    else
        test.p_below = test.mean < limit ? 0 : test.mean > limit ? 1 : 0.5;
    return test;
}

double welch_below(double mean, double error, size_t count, double other, double other_error, size_t other_count,
                   double limit) {
    const double a = error * error, b = other_error * other_error, off = mean - other - limit;
    if (count < 2 || other_count < 2 || !isfinite(off)) return 0.5;
    if (!(a + b > 0)) return off < 0 ? 0 : off > 0 ? 1 : 0.5;
    const double freedom = (a + b) * (a + b) / (a * a / (double)(count - 1) + b * b / (double)(other_count - 1));
    return student_below(off / sqrt(a + b), freedom);
}

double coin_at_least(size_t n, size_t k) {
    double sum = 0;
    for (size_t j = k; j <= n; j++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)j + 1) - lgamma((double)(n - j) + 1) - (double)n * log(2));
    return sum < 1 ? sum : 1;
}

double slope(size_t count, const double *x, const double *y) {
    double mx = 0, my = 0, xy = 0, xx = 0;
    for (size_t k = 0; k < count; k++) mx += x[k] / (double)count, my += y[k] / (double)count;
    for (size_t k = 0; k < count; k++) xy += (x[k] - mx) * (y[k] - my), xx += (x[k] - mx) * (x[k] - mx);
    return xy / xx;
}
