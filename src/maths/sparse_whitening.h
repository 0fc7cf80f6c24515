/* Coordinates in which N(m, A^-1) is standard normal: x = m + R z with R R' = A^-1. Unlike a factorisation, which
 * solves for many columns with all threads, it is constant: threads can use it at the same time, each for a point. */
#ifndef SVMP_MATHS_SPARSE_WHITENING_H
#define SVMP_MATHS_SPARSE_WHITENING_H

#include "base/context.h"
#include "maths/sparse_triangle.h"

typedef struct whitening whitening;

/* Of a factor A = P' L L' P, which is copied: R = P' L'^-1. */
svmp_status svmp_whitening_create(svmp_context *context, size_t order, const triangle *L, const double *mean,
                                  whitening **made);

/* Of another factor with the same rows, and another mean; allocates nothing. */
void svmp_whitening_set(whitening *w, const triangle *L, const double *mean);

/* R = diag(sd) */
svmp_status svmp_whitening_create_diagonal(svmp_context *context, size_t order, const double *mean, const double *sd,
                                           whitening **made);
void svmp_whitening_free(svmp_context *context, whitening *w); /* NULL-safe */

/* x = m + R z, and z = R^-1 (x - m). `workspace` has room for a point, like the results; none of the arrays overlap. */
void svmp_whitening_point(const whitening *w, double *workspace, const double *z, double *x);
void svmp_whitening_coordinates(const whitening *w, double *workspace, const double *x, double *z);

/* The gradient with respect to z: R' g. */
void svmp_whitening_gradient(const whitening *w, const double *g, double *result);

#endif
