/* Sums over a row in a fixed order that vectorises: eight interleaved partial sums, which are then added from first to
 * last. */
#ifndef SVMP_BASE_ROW_SUMS_H
#define SVMP_BASE_ROW_SUMS_H

#include <math.h>
#include <stddef.h>

static inline double svmp_add_lanes(const double lane[8]) {
    double sum = 0;
    for (int k = 0; k < 8; k++) sum += lane[k];
    return sum;
}

static inline double svmp_sum(size_t n, const double *a) {
    double lane[8] = {0};
    size_t l = 0;
    for (; l + 8 <= n; l += 8)
        for (size_t k = 0; k < 8; k++) lane[k] += a[l + k];
    for (; l < n; l++) lane[l % 8] += a[l];
    return svmp_add_lanes(lane);
}

static inline double svmp_dot(size_t n, const double *a, const double *b) {
    double lane[8] = {0};
    size_t l = 0;
    for (; l + 8 <= n; l += 8)
        for (size_t k = 0; k < 8; k++) lane[k] += a[l + k] * b[l + k];
    for (; l < n; l++) lane[l % 8] += a[l] * b[l];
    return svmp_add_lanes(lane);
}

/* A scale for sums: the largest power of two that does not exceed the largest |a|, or 1 if all are 0. In these units
 * squares and sums do not overflow, and values of comparable size do not underflow. Dividing by it is exact. */
static inline double svmp_unit(size_t n, const double *a) {
    double largest = 0;
    int exponent;
    for (size_t l = 0; l < n; l++) largest = fabs(a[l]) > largest ? fabs(a[l]) : largest;
    if (!(largest > 0 && largest <= 0x1.fffffffffffffp+1023)) return 1;
    frexp(largest, &exponent);
    return ldexp(1, exponent - 1);
}

/* The mean, as a distance from the first number: exactly 0 where all are equal. */
static inline double svmp_mean_offset(size_t n, const double *a) {
    double lane[8] = {0};
    size_t l = 0;
    for (; l + 8 <= n; l += 8)
        for (size_t k = 0; k < 8; k++) lane[k] += a[l + k] - a[0];
    for (; l < n; l++) lane[l % 8] += a[l] - a[0];
    return svmp_add_lanes(lane) / (double)n;
}

/* z = a less its mean; it may be `a` itself. Returns the standard deviation, dividing by n, which is 0 where all are
 * equal; it neither overflows nor vanishes where theirs does not. */
static inline double svmp_centre(size_t n, const double *a, double *z) {
    const double offset = svmp_mean_offset(n, a), from = a[0];
    double lane[8] = {0};
    for (size_t l = 0; l < n; l++) z[l] = (a[l] - from) - offset;
    const double unit = svmp_unit(n, z);
    size_t l = 0;
    for (; l + 8 <= n; l += 8)
        for (size_t k = 0; k < 8; k++) lane[k] += (z[l + k] / unit) * (z[l + k] / unit);
    for (; l < n; l++) lane[l % 8] += (z[l] / unit) * (z[l] / unit);
    return unit * sqrt(svmp_add_lanes(lane) / (double)n);
}

/* L of a d*d matrix A = L L', in place in `a`, on and below the diagonal; 0 if A is not positive definite, to rounding.
 */
static inline int svmp_small_cholesky(size_t d, double *a) {
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * d + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * d + k] * a[j * d + k];
            if (i == j && !(sum > 1e-10 * a[i * d + i])) return 0;
            a[i * d + j] = i == j ? sqrt(sum) : sum / a[j * d + j];
        }
    return 1;
}

#endif
