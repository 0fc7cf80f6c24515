/* The ingredients of the Stein discrepancy (stein/discrepancy.h) for one variable: sums over particles and their pairs,
 * which the CPU or a device computes. Read by device code, too. */
#ifndef SVMP_STEIN_STEIN_MEASURE_H
#define SVMP_STEIN_STEIN_MEASURE_H

/* Sums of kappa: over all n^2 pairs, over the n of a particle and itself, and a bound on the root mean square of the
 * centred kappa between different particles. Sums of terms add up, the bound by the triangle inequality. */
typedef struct stein_sums {
    double pairs, diagonal, spread;
} stein_sums;

/* Sums over particles of s, s^2, s z and z^2: s the score, z the variable less its mean. */
typedef struct stein_moments {
    double score, square, product, variance;
} stein_moments;

typedef struct stein_measure {
    stein_sums sums;
    stein_moments moments;
    double bandwidth; /* of its node, in the first term that has one; NaN if none has */
} stein_measure;

#endif
