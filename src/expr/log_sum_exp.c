/* log of the sum of e^a_k = m + log of the sum of e^(a_k - m). m is the largest of the a_k, but no derivative passes
 * through it: the sum is the same for any m, and the derivatives are the terms' shares, e^(a_k - m) divided by their
 * sum. */
#include <float.h>
#include <math.h>

#include "expr/program.h"

static bool is_log_zero(const program_builder *b, expr term) {
    double value;
    return svmp_expr_is_literal(b, term, &value) && value == -INFINITY;
}

expr svmp_expr_log_sum_exp(program_builder *b, size_t count, const expr *terms) {
    expr largest = svmp_expr_literal(b, -INFINITY), sum = svmp_expr_literal(b, 0);
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        if (is_log_zero(b, terms[k])) continue;
        largest = used == 0 ? terms[k] : svmp_expr_peak(b, largest, terms[k]);
        used++;
    }
    if (used < 2) return largest;
    largest = svmp_expr_peak(b, largest, svmp_expr_literal(b, -DBL_MAX)); /* finite, so that -inf adds nothing */
    for (size_t k = 0; k < count; k++)
        if (!is_log_zero(b, terms[k])) sum = svmp_expr_add(b, sum, svmp_expr_scaled_exp(b, terms[k], largest));
    return svmp_expr_add(b, largest, svmp_expr_log(b, sum));
}
