/* Cholesky factors by supernodes: columns of L with the same rows below them form one dense panel, so that most of the
 * work is products of small dense matrices. CHOLMOD finds the order of elimination and the panels; the numbers are
 * computed here, because with a BLAS they would depend on its version and threads. For matrices that are factorised
 * many times. Every number is a sum in one fixed order: the same bits for any number of threads. */
#ifndef SVMP_MATHS_SPARSE_SUPERNODES_H
#define SVMP_MATHS_SPARSE_SUPERNODES_H

#ifdef SVMP_HAVE_CHOLMOD

#include <cholmod.h>

#include "maths/sparse_pattern.h"
#include "maths/sparse_triangle.h"

typedef struct supernodes supernodes;

/* Made from CHOLMOD's supernodal analysis of a matrix with this pattern. The pattern must outlive it; CHOLMOD's factor
 * need not. */
svmp_status svmp_supernodes_create(svmp_context *context, const sparsity *pattern, const cholmod_factor *analysed,
                                   supernodes **made);
void svmp_supernodes_free(supernodes *s); /* NULL-safe */

/* As svmp_factorise. */
void svmp_supernodes_factorise(supernodes *s, const double *A, size_t *bad);

triangle svmp_supernodes_triangle(const supernodes *s);

#endif
#endif
