/* Second derivatives of a program's log value, created on demand by differentiating the gradient's expressions. */
#ifndef SVMP_EXPR_HESSIAN_H
#define SVMP_EXPR_HESSIAN_H

#include "expr/program.h"

typedef struct hessian hessian;

/* For the instances of a bound program, which may be freed afterwards. If an instance has too many slots for an
 * expression of each pair, there is one program for the product H v, run once for each slot. */
svmp_status svmp_hessian_create(const bound_program *bound, hessian **made);
void svmp_hessian_free(hessian *h); /* NULL-safe */

/* Pairs of slots, row[p] >= column[p], each pair once: all pairs if an instance has few slots; otherwise those whose
 * second derivative is not always 0. */
size_t svmp_hessian_pairs(const hessian *h, const uint32_t **row, const uint32_t **column);

/* Bytes of scratch memory for n particles, with the alignment of malloc. */
size_t svmp_hessian_scratch(const hessian *h, size_t n);

/* mean[(k - first)*pairs + p]: the second derivative of instance k by the slots of pair p, its mean over n particles
 * x[i*n + l] in a fixed order. The result of an instance does not depend on `first` and `count`. Allocates nothing. */
void svmp_hessian_mean(const hessian *h, const uint32_t *variables, size_t first, size_t count, size_t n,
                       const double *x, void *scratch, double *mean);

#endif
