/* Vectors and matrices of expressions, expanded into scalar operations. Matrices are column-major, as in R and JAGS:
 * entry (i, j) of `rows` rows is items[i + rows*j]. Results are written to the caller's arrays, which must not overlap
 * the operands. A failure (no memory) is the builder's, as for every expression. */
#ifndef SVMP_EXPR_ARRAYS_H
#define SVMP_EXPR_ARRAYS_H

#include "expr/program.h"

/* ---- vectors; sums run from the first to the last item ---------------------------------------- */

expr svmp_exprs_sum(program_builder *builder, size_t count, const expr *items);     /* 0 of nothing */
expr svmp_exprs_product(program_builder *builder, size_t count, const expr *items); /* 1 of nothing */
expr svmp_exprs_mean(program_builder *builder, size_t count, const expr *items);
expr svmp_exprs_sd(program_builder *builder, size_t count, const expr *items); /* divides by count - 1 */
expr svmp_exprs_min(program_builder *builder, size_t count, const expr *items);
expr svmp_exprs_max(program_builder *builder, size_t count, const expr *items);
expr svmp_exprs_inner_product(program_builder *builder, size_t count, const expr *a, const expr *b);

/* Ascending; derivatives follow the items. count*log(count)^2 operations. */
void svmp_exprs_sort(program_builder *builder, size_t count, const expr *items, expr *sorted);
/* rank: the place of each item in the sorted vector, from 1, equal items in their order; order: the inverse. The
 * derivative is 0. count^2 operations. */
void svmp_exprs_rank(program_builder *builder, size_t count, const expr *items, expr *ranks);
void svmp_exprs_order(program_builder *builder, size_t count, const expr *items, expr *order);

/* interp.lin(e, x, y): the piecewise linear function through (x[k], y[k]), x ascending; constant outside. */
expr svmp_exprs_interpolate(program_builder *builder, size_t count, const expr *x, const expr *y, expr e);

/* ---- matrices --------------------------------------------------------------------------------- */

/* product (rows*columns) = a (rows*inner) b (inner*columns). */
void svmp_exprs_matrix_product(program_builder *builder, size_t rows, size_t inner, size_t columns, const expr *a,
                               const expr *b, expr *product);
void svmp_exprs_transpose(program_builder *builder, size_t rows, size_t columns, const expr *a, expr *transposed);

/* Of symmetric positive definite matrices of `order` rows; the lower triangle is read. The factor L, a = L L', has
 * zeros above its diagonal. A matrix that is not positive definite yields NaN where it is evaluated. */
void svmp_exprs_cholesky(program_builder *builder, size_t order, const expr *a, expr *factor);
expr svmp_exprs_logdet(program_builder *builder, size_t order, const expr *a);
void svmp_exprs_inverse(program_builder *builder, size_t order, const expr *a, expr *inverse);
/* x = a^-1 b, for b of `columns` columns. */
void svmp_exprs_solve(program_builder *builder, size_t order, size_t columns, const expr *a, const expr *b, expr *x);
/* With a factor at hand: log |L L'|, and x with L x = b. */
expr svmp_exprs_factor_logdet(program_builder *builder, size_t order, const expr *factor);
void svmp_exprs_factor_solve(program_builder *builder, size_t order, size_t columns, const expr *factor, const expr *b,
                             expr *x);
/* d' a d for a symmetric a, lower triangle read. */
expr svmp_exprs_quadratic(program_builder *builder, size_t order, const expr *a, const expr *d);

#endif
