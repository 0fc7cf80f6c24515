/* Internal to the distributions: the functions that the rows of distributions.def name, and short names for
 * expressions. */
#ifndef SVMP_DIST_DENSITIES_H
#define SVMP_DIST_DENSITIES_H

#include "dist/distributions.h"

#define CDF(identifier)                                                                                                \
    expr svmp_##identifier##_cdf(program_builder *b, expr x, const expr_array *arguments);                             \
    expr svmp_##identifier##_survival(program_builder *b, expr x, const expr_array *arguments);
#define DRAW(identifier)                                                                                               \
    void svmp_##identifier##_draw(random_source *source, size_t rows, const number_array *arguments,                   \
                                  double *workspace, double *value);
#define NO_CDF(identifier)
#define NO_DRAW(identifier)
#define ALIAS(name, other)
#define DISTRIBUTION(identifier, name, count, rank, support, kind, proper, cdf, draw, ...)                             \
    expr svmp_##identifier##_density(program_builder *b, expr_array value, const expr_array *arguments);               \
    cdf(identifier) draw(identifier)
#include "dist/distributions.def"
#undef CDF
#undef DRAW
#undef NO_CDF
#undef NO_DRAW
#undef ALIAS
#undef DISTRIBUTION

/* Densities, and log P(X <= x) with log P(X > x), that are one expression in x = value.items[0] and the arguments. */
#define UNUSED __attribute__((unused))
#define DENSITY(identifier, expression)                                                                                \
    expr svmp_##identifier##_density(program_builder *b, expr_array value, UNUSED const expr_array *arguments) {       \
        UNUSED const expr x = value.items[0];                                                                          \
        return expression;                                                                                             \
    }
#define TAILS(identifier, below, above)                                                                                \
    expr svmp_##identifier##_cdf(program_builder *b, expr x, const expr_array *arguments) { return below; }            \
    expr svmp_##identifier##_survival(program_builder *b, expr x, const expr_array *arguments) { return above; }

/* The lower triangle of a = L L', column-major, becomes that of `factor`; false: a is not positive definite. */
bool svmp_dense_cholesky(size_t p, const double *a, double *factor);

#endif
