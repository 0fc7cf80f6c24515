/* Cholesky factors of sparse symmetric matrices with one pattern: analysed once, factorised as often as the numbers
 * change. CHOLMOD chooses the order of elimination. Small factors are computed by CHOLMOD, column by column; large ones
 * by supernodes (sparse_supernodes.h) and all threads. In a build without CHOLMOD the factor is dense, and the matrix
 * has at most a few thousand rows. */
#ifndef SVMP_MATHS_SPARSE_FACTOR_H
#define SVMP_MATHS_SPARSE_FACTOR_H

#include "maths/sparse_pattern.h"

typedef struct factorisation factorisation;

/* Chooses an order of elimination and counts the factor's entries. The pattern must live as long. */
svmp_status svmp_factorisation_create(svmp_context *context, const sparsity *pattern, factorisation **made);

void svmp_factorisation_free(factorisation *f); /* NULL-safe */

/* A = P' L L' P from the entries of the pattern. *bad becomes SIZE_MAX, or the row whose pivot is not above 0, and
 * there is no factor then. The same bits for any number of threads. */
svmp_status svmp_factorise(factorisation *f, const double *A, size_t *bad);

/* Of the last factor: */

size_t svmp_factorisation_entries(const factorisation *f); /* of L */
double svmp_factorisation_log_determinant(const factorisation *f);

/* A row whose pivot is lost in the rounding of A, which may then be singular; SIZE_MAX: there is none. */
size_t svmp_factorisation_rounded_pivot(const factorisation *f, const double *A);

/* x = A^-1 x, of n columns x[i*n + l]; and x = P' L'^-1 x, which makes standard normal numbers draws from N(0, A^-1).
 * What a column yields does not depend on n or on threads. */
svmp_status svmp_factorisation_solve(factorisation *f, int threads, size_t n, double *x);
svmp_status svmp_factorisation_correlate(factorisation *f, int threads, size_t n, double *x);

/* inverse[e] = the entry of A^-1 at entry e of the pattern. */
svmp_status svmp_factorisation_inverse(factorisation *f, double *inverse);

#endif
