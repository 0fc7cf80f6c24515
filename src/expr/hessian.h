/* Second derivatives of a program's log value, made on demand: the gradient's expressions, differentiated once more. */
#ifndef SVMP_EXPR_HESSIAN_H
#define SVMP_EXPR_HESSIAN_H

#include "expr/program.h"

typedef struct hessian hessian;

/* Of the instances of a bound program, which may go afterwards. Where an instance has so many slots that an expression
 * for each pair of them would be too many, there is one program for the product H v, run once for each slot. */
svmp_status svmp_hessian_create(const bound_program *bound, hessian **made);
void svmp_hessian_free(hessian *h); /* NULL-safe */

/* Pairs of slots, row[p] >= column[p], each pair once: all of them where an instance has few slots; of many, those
 * whose second derivative is not always 0. */
size_t svmp_hessian_pairs(const hessian *h, const uint32_t **row, const uint32_t **column);

/* Bytes of scratch for n particles; aligned as malloc aligns. */
size_t svmp_hessian_scratch(const hessian *h, size_t n);

/* mean[(k - first)*pairs + p]: the second derivative of instance k by the slots of pair p, its mean over n particles
 * x[i*n + l] in a fixed order. What an instance yields does not depend on `first` and `count`. Allocates nothing. */
void svmp_hessian_mean(const hessian *h, const uint32_t *variables, size_t first, size_t count, size_t n,
                       const double *x, void *scratch, double *mean);

#endif
