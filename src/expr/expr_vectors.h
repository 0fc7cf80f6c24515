/* Vectors and matrices of expressions, expanded into scalar operations. Matrices are column-major, as in R and JAGS:
 * entry (i, j) of `rows` rows is items[i + rows*j]. Results are written to the caller's arrays, which must not overlap
 * the operands. Failures (no memory) are recorded in the builder, as for every expression. */
#ifndef SVMP_EXPR_EXPR_VECTORS_H
#define SVMP_EXPR_EXPR_VECTORS_H

#include "expr/program.h"

/* ---- vectors ---------------------------------------------------------------------------------- */

/* Added from the first item to the last. */
expr svmp_exprs_sum(program_builder *builder, size_t count, const expr *items); /* 0 without items */

/* Sorts in ascending order; derivatives follow the items. count*log(count)^2 operations. */
void svmp_exprs_sort(program_builder *builder, size_t count, const expr *items, expr *sorted);
/* rank: the place of each item in the sorted vector, from 1, equal items in their order; order: the inverse. The
 * derivative is 0. count^2 operations. */
void svmp_exprs_rank(program_builder *builder, size_t count, const expr *items, expr *ranks);
void svmp_exprs_order(program_builder *builder, size_t count, const expr *items, expr *order);

/* interp.lin(e, x, y): the piecewise linear function through (x[k], y[k]), x ascending; constant outside. */
expr svmp_exprs_interpolate(program_builder *builder, size_t count, const expr *x, const expr *y, expr e);

/* ---- matrices --------------------------------------------------------------------------------- */

/* For symmetric positive definite matrices of `order` rows, of which the lower triangle is read. A matrix that is not
 * positive definite yields NaN when evaluated. */
expr svmp_exprs_logdet(program_builder *builder, size_t order, const expr *a);
void svmp_exprs_inverse(program_builder *builder, size_t order, const expr *a, expr *inverse);
/* d' a d for a symmetric a, of which the lower triangle is read. */
expr svmp_exprs_quadratic(program_builder *builder, size_t order, const expr *a, const expr *d);

#endif
