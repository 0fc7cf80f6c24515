/* Transforms: the natural values of a node as functions of its unconstrained variables u.
 *
 *     line                x = u
 *     above               x = lower + exp(u)
 *     below               x = upper - exp(u)
 *     between             x = lower + (upper - lower) ilogit(u)
 *     mixed               each element as one of these, by which of its bounds are infinite
 *     simplex             stick-breaking with K - 1 variables,
 *                         x_k = z_k (1 - x_1 - ... - x_{k-1}), z_k = ilogit(u_k - log(K - k))
 *     zero sum            K - 1 variables in an orthonormal basis of the vectors that sum to 0, Haar's: a range of
 *                         p + q elements has the variable u of its middle, which adds sqrt(q / (p (p + q))) u to the
 *                         first p of them and -sqrt(p / (q (p + q))) u to the others; each element depends on log2(K)
 *                         variables
 *     positive definite   X = L L', L lower triangular by columns; its diagonal is the exponential of variables
 *
 * Each formula exists twice: for numbers, and as expressions of a program. */
#ifndef SVMP_MODEL_TRANSFORM_H
#define SVMP_MODEL_TRANSFORM_H

#include "expr/program.h"

typedef enum transform_kind {
    TRANSFORM_LINE,
    TRANSFORM_ABOVE,
    TRANSFORM_BELOW,
    TRANSFORM_BETWEEN,
    TRANSFORM_MIXED,
    TRANSFORM_SIMPLEX,
    TRANSFORM_POSITIVE_DEFINITE,
    TRANSFORM_ZERO_SUM,
} transform_kind;

/* The number of variables for `outputs` natural values (for a matrix, its order^2 entries). */
size_t svmp_transform_variables(transform_kind kind, size_t outputs);

/* The natural values of one particle, and their inverse. For the kinds of one dimension lower[k] and upper[k] bound
 * value k; others do not read them. A value on the edge of its support or outside is first moved inside. False: the
 * matrix is not positive definite. */
void svmp_transform_natural(transform_kind kind, size_t outputs, const double *lower, const double *upper,
                            const double *variables, double *values);
bool svmp_transform_inverse(transform_kind kind, size_t outputs, const double *lower, const double *upper,
                            const double *values, double *variables);

/* Which value is outside its support by more than rounding: its index; `outputs`: none is. Parts of a simplex and
 * elements of a vector that sums to 0 that do not sum up, and a matrix that is not symmetric, are the last value's. */
size_t svmp_transform_outside(transform_kind kind, size_t outputs, const double *lower, const double *upper,
                              const double *values);

/* The variables that element k of a vector that sums to 0 depends on, and their weights; returns how many there are. */
enum { TRANSFORM_MOST_TERMS = 64 };
size_t svmp_transform_zero_sum(size_t outputs, size_t k, uint32_t *variable, double *weight);

/* The same as expressions; returns log |d values / d variables|. */
expr svmp_transform_build(program_builder *builder, transform_kind kind, size_t outputs, const expr *lower,
                          const expr *upper, const expr *variables, expr *values);

#endif
