/* Matrices of expressions, column-major: entry (i, j) of a matrix of p rows at i + p*j. */
#include "expr/expr_vectors.h"

#include "expr/expr_nodes.h"

#define ADD(x, y)      svmp_expr_add(builder, x, y)
#define SUBTRACT(x, y) svmp_expr_subtract(builder, x, y)
#define MULTIPLY(x, y) svmp_expr_multiply(builder, x, y)

/* `count` temporary expressions; NULL, and an error of the builder, if there is no memory. */
static expr *temporary(program_builder *builder, size_t count) {
    expr *made = NULL;
    if (builder->status == SVMP_OK) builder->status = SVMP_NEW(builder->context, made, count);
    return made;
}

static void fill(program_builder *builder, size_t count, expr *items) {
    expr zero = svmp_expr_literal(builder, 0);
    for (size_t k = 0; k < count; k++) items[k] = zero;
}

/* a = L L', with zeros above the diagonal of L. */
static void cholesky(program_builder *builder, size_t p, const expr *a, expr *factor) {
    fill(builder, p * p, factor);
    for (size_t j = 0; j < p; j++) {
        expr pivot = a[j + p * j]; /* L_jj = sqrt(a_jj - sum_k<j L_jk^2) */
        for (size_t k = 0; k < j; k++) pivot = SUBTRACT(pivot, svmp_expr_square(builder, factor[j + p * k]));
        factor[j + p * j] = svmp_expr_sqrt(builder, pivot);
        expr inverse = svmp_expr_reciprocal(builder, factor[j + p * j]);
        for (size_t i = j + 1; i < p; i++) { /* L_ij = (a_ij - sum_k<j L_ik L_jk) / L_jj */
            expr sum = a[i + p * j];
            for (size_t k = 0; k < j; k++) sum = SUBTRACT(sum, MULTIPLY(factor[i + p * k], factor[j + p * k]));
            factor[i + p * j] = MULTIPLY(sum, inverse);
        }
    }
}

expr svmp_exprs_logdet(program_builder *builder, size_t p, const expr *a) {
    expr *factor = temporary(builder, p * p), sum = {0};
    if (factor == NULL) return sum;
    cholesky(builder, p, a, factor);
    sum = svmp_expr_literal(builder, 0); /* log |L L'| */
    for (size_t j = 0; j < p; j++) sum = ADD(sum, svmp_expr_log(builder, factor[j + p * j]));
    svmp_release(builder->context, factor);
    return MULTIPLY(sum, svmp_expr_literal(builder, 2));
}

/* x with L x = b, for b of `columns` columns. */
static void solve(program_builder *builder, size_t p, size_t columns, const expr *factor, const expr *b, expr *x) {
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < p; i++) { /* x_i = (b_i - sum_k<i L_ik x_k) / L_ii */
            expr sum = b[i + p * j];
            for (size_t k = 0; k < i; k++) sum = SUBTRACT(sum, MULTIPLY(factor[i + p * k], x[k + p * j]));
            x[i + p * j] = svmp_expr_divide(builder, sum, factor[i + p * i]);
        }
}

/* a^-1 = M' M with M = L^-1, which is lower triangular; exactly symmetric. */
void svmp_exprs_inverse(program_builder *builder, size_t p, const expr *a, expr *inverse) {
    expr *factor = temporary(builder, 3 * p * p);
    fill(builder, p * p, inverse);
    if (factor == NULL) return;
    expr *identity = factor + p * p, *m = identity + p * p;
    fill(builder, p * p, identity);
    for (size_t j = 0; j < p; j++) identity[j + p * j] = svmp_expr_literal(builder, 1);
    cholesky(builder, p, a, factor);
    solve(builder, p, p, factor, identity, m);
    for (size_t j = 0; j < p; j++)
        for (size_t i = j; i < p; i++) {
            expr sum = svmp_expr_literal(builder, 0);
            for (size_t k = i; k < p; k++) sum = ADD(sum, MULTIPLY(m[k + p * i], m[k + p * j]));
            inverse[i + p * j] = inverse[j + p * i] = sum;
        }
    svmp_release(builder->context, factor);
}

expr svmp_exprs_quadratic(program_builder *builder, size_t p, const expr *a, const expr *d) {
    expr diagonal = svmp_expr_literal(builder, 0), rest = diagonal; /* sum a_jj d_j^2 + 2 sum_i>j a_ij d_i d_j */
    for (size_t j = 0; j < p; j++) {
        diagonal = ADD(diagonal, MULTIPLY(a[j + p * j], svmp_expr_square(builder, d[j])));
        expr sum = svmp_expr_literal(builder, 0);
        for (size_t i = j + 1; i < p; i++) sum = ADD(sum, MULTIPLY(a[i + p * j], d[i]));
        rest = ADD(rest, MULTIPLY(sum, d[j]));
    }
    return ADD(diagonal, MULTIPLY(rest, svmp_expr_literal(builder, 2)));
}
