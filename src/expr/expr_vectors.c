/* Vectors of expressions. */
#include "expr/expr_vectors.h"

#include <math.h>

#include "expr/expr_nodes.h"

expr svmp_exprs_sum(program_builder *builder, size_t count, const expr *items) {
    if (count == 0) return svmp_expr_literal(builder, 0);
    expr sum = items[0];
    for (size_t k = 1; k < count; k++) sum = svmp_expr_add(builder, sum, items[k]);
    return sum;
}

static void exchange(program_builder *builder, expr *low, expr *high) {
    expr smaller = svmp_expr_min(builder, *low, *high), larger = svmp_expr_max(builder, *low, *high);
    *low = smaller;
    *high = larger;
}

/* Batcher's odd-even merge sort. */
void svmp_exprs_sort(program_builder *builder, size_t count, const expr *items, expr *sorted) {
    for (size_t k = 0; k < count; k++) sorted[k] = items[k];
    for (size_t block = 1; block < count; block *= 2)
        for (size_t gap = block; gap >= 1; gap /= 2)
            for (size_t start = gap % block; start + gap < count; start += 2 * gap)
                for (size_t k = start; k < start + gap && k + gap < count; k++)
                    if (k / (2 * block) == (k + gap) / (2 * block)) exchange(builder, &sorted[k], &sorted[k + gap]);
}

void svmp_exprs_rank(program_builder *builder, size_t count, const expr *items, expr *ranks) {
    for (size_t i = 0; i < count; i++) {
        ranks[i] = svmp_expr_literal(builder, 1);
        for (size_t j = 0; j < count; j++) {
            if (j == i) continue;
            expr before =
                j < i ? svmp_expr_less_equal(builder, items[j], items[i]) : svmp_expr_less(builder, items[j], items[i]);
            ranks[i] = svmp_expr_add(builder, ranks[i], before);
        }
    }
}

void svmp_exprs_order(program_builder *builder, size_t count, const expr *items, expr *order) {
    expr *ranks = NULL;
    builder->status = builder->status ? builder->status : SVMP_NEW(builder->context, ranks, count);
    for (size_t k = 0; k < count; k++) order[k] = svmp_expr_literal(builder, 0);
    if (ranks == NULL) return;
    svmp_exprs_rank(builder, count, items, ranks);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < count; i++) { /* the item whose rank is k + 1 */
            expr here = svmp_expr_equals(builder, ranks[i], svmp_expr_literal(builder, (double)k + 1));
            expr term = svmp_expr_multiply(builder, here, svmp_expr_literal(builder, (double)i + 1));
            order[k] = svmp_expr_add(builder, order[k], term);
        }
    svmp_release(builder->context, ranks);
}

expr svmp_exprs_interpolate(program_builder *builder, size_t count, const expr *x, const expr *y, expr e) {
    if (count == 0) {
        svmp_builder_fail(builder, SVMP_BAD_CALL, "interp.lin needs at least one point.");
        return (expr){0};
    }
    expr result = y[count - 1]; /* right of the last point */
    for (size_t k = count - 1; k > 0; k--) {
        expr slope = svmp_expr_divide(builder, svmp_expr_subtract(builder, y[k], y[k - 1]),
                                      svmp_expr_subtract(builder, x[k], x[k - 1]));
        expr step = svmp_expr_multiply(builder, slope, svmp_expr_subtract(builder, e, x[k - 1]));
        result =
            svmp_expr_ifelse(builder, svmp_expr_less(builder, e, x[k]), svmp_expr_add(builder, y[k - 1], step), result);
    }
    return svmp_expr_ifelse(builder, svmp_expr_less(builder, e, x[0]), y[0], result);
}
