/* Cholesky factors of sparse symmetric matrices with one pattern: analysed once, then factorised whenever the values
 * change. CHOLMOD chooses the order of elimination. Small factors are computed by CHOLMOD, column by column; large ones
 * by supernodes (sparse_supernodes.h) and all threads. Without CHOLMOD the factor is dense, and matrices are limited to
 * a few thousand rows. */
#ifndef SVMP_MATHS_SPARSE_FACTOR_H
#define SVMP_MATHS_SPARSE_FACTOR_H

#include "maths/sparse_pattern.h"
#include "maths/sparse_triangle.h"

typedef struct factorisation factorisation;

/* Chooses an order of elimination and counts the factor's entries. The pattern must outlive the factorisation. */
svmp_status svmp_factorisation_create(svmp_context *context, const sparsity *pattern, factorisation **made);

void svmp_factorisation_free(factorisation *f); /* NULL-safe */

/* A = P' L L' P from the entries of the pattern. *bad becomes SIZE_MAX or, if there is no factor, the row whose pivot
 * is not positive. The same bits for any number of threads. */
svmp_status svmp_factorise(factorisation *f, const double *A, size_t *bad);

/* Of the last factor: */

size_t svmp_factorisation_entries(const factorisation *f); /* of L */
double svmp_factorisation_log_determinant(const factorisation *f);

/* Its numbers: borrowed, valid until the next factorisation. */
const triangle *svmp_factorisation_triangle(const factorisation *f);

/* A row whose pivot is within the rounding error of A, so that A may be singular; SIZE_MAX if there is none. */
size_t svmp_factorisation_rounded_pivot(const factorisation *f, const double *A);

/* solve: x <- A^-1 x for n columns x[i*n + l]. correlate: x <- P' L'^-1 x, which turns standard normal numbers into
 * draws from N(0, A^-1). The result of a column does not depend on n or on threads. */
svmp_status svmp_factorisation_solve(factorisation *f, int threads, size_t n, double *x);
svmp_status svmp_factorisation_correlate(factorisation *f, int threads, size_t n, double *x);

/* inverse[e] = the entry of A^-1 at entry e of the pattern. */
svmp_status svmp_factorisation_inverse(factorisation *f, double *inverse);

#endif
