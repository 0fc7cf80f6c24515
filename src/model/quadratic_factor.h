/* Sparse Cholesky factor of a Gaussian model's precision: exact mean, marginal variances and draws. */
#ifndef SVMP_MODEL_QUADRATIC_FACTOR_H
#define SVMP_MODEL_QUADRATIC_FACTOR_H

#include "model/model.h"

typedef struct cholesky cholesky;

/* Fails on a model that is not Gaussian, on one whose precision is not positive definite (naming the variable), and on
 * one that is too large for a build without CHOLMOD. */
svmp_status svmp_cholesky_create(const svmp_model *model, cholesky **factor);
void svmp_cholesky_free(cholesky *factor);

/* mean = A^-1 b */
svmp_status svmp_cholesky_mean(cholesky *factor, double *mean);

/* The diagonal of A^-1, from entries of the inverse on the pattern of the factor alone. */
svmp_status svmp_cholesky_variance(cholesky *factor, double *variance);

/* x = mean + P' L'^-1 z for standard normal z; both variables * n. */
svmp_status svmp_cholesky_draws(cholesky *factor, size_t n, const double *z, double *x);

#endif
