/* Components: discrete unknowns that factors join, which are summed out together (elimination.c). */
#include "lang/discrete/discrete_unknowns.h"

static uint32_t find(discrete_unknown *unknowns, uint32_t k) {
    while (unknowns[k].component != k) k = unknowns[k].component = unknowns[unknowns[k].component].component;
    return k;
}

/* The least of its unknowns names a component. */
static void join(discrete_unknown *unknowns, uint32_t a, uint32_t b) {
    a = find(unknowns, a);
    b = find(unknowns, b);
    if (a < b)
        unknowns[b].component = a;
    else
        unknowns[a].component = b;
}

svmp_status svmp_discrete_list(model_lowering *lowering, component_lists *lists) {
    const size_t count = lowering->discrete_count, factors = lowering->discrete_factor_count;
    SVMP_TRY(SVMP_NEW(lowering->context, lists->unknown_start, count + 2));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->factor_start, count + 2));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->unknowns, count));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->factors, factors));
    uint32_t *of_unknowns = lists->unknown_start + 1, *of_factors = lists->factor_start + 1;
    for (size_t k = 0; k < count; k++) lists->unknown_start[find(lowering->discrete, (uint32_t)k) + 2]++;
    for (size_t k = 0; k < factors; k++) {
        const uint32_t first = lowering->factor_scopes[lowering->discrete_factors[k].first];
        lists->factor_start[find(lowering->discrete, first) + 2]++;
    }
    for (size_t k = 1; k <= count; k++) {
        of_unknowns[k] += of_unknowns[k - 1];
        of_factors[k] += of_factors[k - 1];
    }
    for (size_t k = 0; k < count; k++)
        lists->unknowns[of_unknowns[find(lowering->discrete, (uint32_t)k)]++] = (uint32_t)k;
    for (size_t k = 0; k < factors; k++) {
        const uint32_t first = lowering->factor_scopes[lowering->discrete_factors[k].first];
        lists->factors[of_factors[find(lowering->discrete, first)]++] = lowering->discrete_factors[k];
    }
    return SVMP_OK;
}

void svmp_discrete_lists_free(svmp_context *context, component_lists *lists) {
    svmp_release_all(context, lists->unknown_start, lists->unknowns, lists->factor_start, lists->factors);
}

static svmp_status sum_components(model_lowering *lowering, const component_lists *lists) {
    for (size_t c = 0; c < lowering->discrete_count; c++) {
        const size_t unknowns = lists->unknown_start[c + 1] - lists->unknown_start[c];
        if (unknowns == 0) continue;
        SVMP_TRY(svmp_begin_instance(lowering));
        svmp_status status = svmp_eliminate(lowering, lists->factor_start[c + 1] - lists->factor_start[c],
                                            lists->factors + lists->factor_start[c], unknowns,
                                            lists->unknowns + lists->unknown_start[c]);
        svmp_scope_clear(lowering);
        SVMP_TRY(svmp_go_on(lowering, status));
    }
    return SVMP_OK;
}

svmp_status svmp_discrete_sum(model_lowering *lowering) {
    component_lists lists = {0};
    if (lowering->discrete_count == 0) return SVMP_OK;
    for (size_t f = 0; f < lowering->discrete_factor_count; f++) {
        const discrete_factor *factor = &lowering->discrete_factors[f];
        for (size_t k = 1; k < factor->count; k++)
            join(lowering->discrete, lowering->factor_scopes[factor->first],
                 lowering->factor_scopes[factor->first + k]);
    }
    svmp_status status = svmp_discrete_list(lowering, &lists);
    lowering->symbolic = true;
    svmp_builder_share_logs(lowering->builder, true);
    if (status == SVMP_OK) status = sum_components(lowering, &lists);
    svmp_builder_share_logs(lowering->builder, false);
    lowering->symbolic = false;
    svmp_discrete_lists_free(lowering->context, &lists);
    return status;
}
