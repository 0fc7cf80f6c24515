/* The likelihood of observations that depend on discrete unknowns: with these summed out, as importance weights for
 * leave-one-out cross-validation need it. */
#include "lang/discrete/discrete_unknowns.h"

static svmp_status refuse(const model_lowering *lowering, size_t factors) {
    return svmp_fail(lowering->context, SVMP_BAD_INPUT,
                     "The likelihood of the observations cannot be computed one by one: %zu factors share discrete "
                     "unknowns, which would have to be summed out again for each observation (log_lik, deviance).",
                     factors);
}

svmp_status svmp_discrete_likelihood(model_lowering *lowering, const component_lists *lists, uint32_t component,
                                     const bool *observed, expr *entry) {
    enum { MOST_FACTORS = 400 }; /* a chain of 200: the work grows with their square */
    const size_t first = lists->factor_start[component], count = lists->factor_start[component + 1] - first;
    const size_t unknowns = lists->unknown_start[component + 1] - lists->unknown_start[component];
    const discrete_factor *factors = lists->factors + first;
    const uint32_t *summed = lists->unknowns + lists->unknown_start[component];
    const bool drawn = lowering->drawn;
    bool *left_out = NULL;
    expr whole = {0}, rest = {0};
    if (count > MOST_FACTORS) return refuse(lowering, count);
    SVMP_TRY(SVMP_NEW(lowering->context, left_out, count));
    for (size_t f = 0; f < count; f++) left_out[f] = observed[factors[f].instance];
    lowering->drawn = false; /* they are summed here */
    svmp_status status = svmp_eliminate_total(lowering, count, factors, NULL, unknowns, summed, &whole);
    if (status == SVMP_OK) status = svmp_eliminate_total(lowering, count, factors, left_out, unknowns, summed, &rest);
    svmp_scope_clear(lowering);
    lowering->drawn = drawn;
    if (status == SVMP_OK) *entry = svmp_expr_subtract(lowering->builder, whole, rest);
    svmp_release(lowering->context, left_out);
    return status;
}
