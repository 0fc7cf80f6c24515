/* Censoring: an observed y ~ dinterval(t, cut[]) says between which cut points the unknown t lies, y ~ dround(t,
 * digits) how far it is from y, and y ~ dsum(a, b) of counts that none of them is above y. It becomes a bound in the
 * transform of t, or among the values that are summed over. For unknown cut points there remain the conditions that
 * they are in ascending order and, for a known t, that it lies between them. */
#include "lang/compile/compile_passes.h"

#include <math.h>
#include <string.h>

static svmp_status reserve(model_lowering *lowering) {
    if (lowering->cut_lower) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->cut_lower, lowering->element_count));
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->cut_upper, lowering->element_count));
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->cut_by, lowering->element_count));
    for (size_t k = 0; k < lowering->element_count; k++) {
        lowering->cut_lower[k] = -INFINITY;
        lowering->cut_upper[k] = INFINITY;
        lowering->cut_by[k] = NOTHING;
    }
    return SVMP_OK;
}

svmp_status svmp_find_element(model_lowering *lowering, const ast_expression *variable, size_t *found) {
    *found = SIZE_MAX;
    if (variable->kind != AST_VARIABLE || variable->counter >= 0) return SVMP_OK;
    const model_array *array = &lowering->arrays[variable->symbol];
    value offsets;
    SVMP_TRY(svmp_expand_subscript(lowering, variable, &offsets));
    if (offsets.count == 1 && array->first != SIZE_MAX)
        *found = array->first + (size_t)lowering->items[offsets.first].number;
    lowering->item_count = offsets.first;
    return SVMP_OK;
}

/* Cut points that depend on unknowns are evaluated where the bound is used. */
static svmp_status bound_later(model_lowering *lowering, size_t which) {
    SVMP_TRY(reserve(lowering));
    if (lowering->cut_by[which] != NOTHING)
        return svmp_lowering_error(lowering, lowering->statement->arguments[0]->offset,
                                   "this is already censored with unknown cut points");
    lowering->cut_by[which] = lowering->instance;
    return SVMP_OK;
}

static svmp_status bound_element(model_lowering *lowering, size_t which, const value *cuts, double observed) {
    const model_item *cut = lowering->items + cuts->first;
    SVMP_TRY(reserve(lowering));
    if (observed >= 1) lowering->cut_lower[which] = fmax(lowering->cut_lower[which], cut[(size_t)observed - 1].number);
    if (observed < (double)cuts->count)
        lowering->cut_upper[which] = fmin(lowering->cut_upper[which], cut[(size_t)observed].number);
    return SVMP_OK;
}

/* y ~ dround(t, digits): t is at most half a unit of the last digit away. */
static svmp_status bound_rounded(model_lowering *lowering, size_t which, double observed) {
    model_item digits;
    SVMP_TRY(svmp_expand_scalar(lowering, lowering->statement->arguments[1], &digits));
    if (!svmp_item_known(digits))
        return svmp_lowering_error(lowering, lowering->statement->arguments[1]->offset,
                                   "the number of digits must be data");
    const double half = 0.5 * pow(10, -digits.number);
    SVMP_TRY(reserve(lowering));
    lowering->cut_lower[which] = fmax(lowering->cut_lower[which], observed - half);
    lowering->cut_upper[which] = fmin(lowering->cut_upper[which], observed + half);
    return SVMP_OK;
}

static svmp_status censor(model_lowering *lowering) {
    const ast_statement *statement = lowering->statement;
    const char *name = statement->distribution->name;
    size_t left, target;
    value cuts;
    SVMP_TRY(svmp_find_element(lowering, statement->left, &left));
    if (left == SIZE_MAX)
        return svmp_lowering_error(lowering, statement->left->offset,
                                   "%s applies to one element: write a loop with y[i] on the left-hand side", name);
    if (lowering->elements[left].state != ELEMENT_KNOWN) return SVMP_OK; /* others have a word on it */
    double observed = lowering->elements[left].value;
    SVMP_TRY(svmp_find_element(lowering, statement->arguments[0], &target));
    model_item ignored;
    if (target == SIZE_MAX || lowering->elements[target].state != ELEMENT_UNKNOWN) {
        SVMP_TRY(svmp_expand_scalar(lowering, statement->arguments[0], &ignored));
        if (svmp_item_known(ignored)) return SVMP_OK;
        return svmp_lowering_error(lowering, statement->arguments[0]->offset,
                                   "%s can only censor a stochastic node; this one is computed from unknowns", name);
    }
    const ast_statement *definition = lowering->instances[lowering->elements[target].definition].statement;
    if (definition->distribution->rank != RANK_SCALAR && definition->distribution->support != SUPPORT_REAL)
        return svmp_lowering_error(lowering, statement->arguments[0]->offset,
                                   "%s cannot censor an element of a node of %s", name, definition->distribution->name);
    if (statement->distribution->support == SUPPORT_ROUNDED) {
        lowering->arrays[statement->arguments[0]->symbol].read = true;
        return bound_rounded(lowering, target, observed);
    }
    SVMP_TRY(svmp_expand(lowering, statement->arguments[1], &cuts));
    if (!(observed >= 0 && observed <= (double)cuts.count && observed == floor(observed))) return SVMP_OK;
    lowering->arrays[statement->arguments[0]->symbol].read = true;
    for (size_t k = 0; k < cuts.count; k++)
        if (!svmp_item_known(lowering->items[cuts.first + k])) return bound_later(lowering, target);
    return bound_element(lowering, target, &cuts, observed);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Calls itself for both sides of '+', as the parser makes it of dsum(a, b, ...): whether all are discrete unknowns or
 * numbers that are not negative; then none is above the sum. With `bound`, that is noted. */
static svmp_status bound_terms(model_lowering *lowering, const ast_expression *sum, const double *bound, bool *counts) {
    size_t element;
    model_item item;
    if (sum->kind == AST_CALL && strcmp(lowering->ast->functions.text[sum->symbol], "+") == 0) {
        SVMP_TRY(bound_terms(lowering, sum->operands[0], bound, counts));
        return bound_terms(lowering, sum->operands[1], bound, counts);
    }
    SVMP_TRY(svmp_find_element(lowering, sum, &element));
    if (element != SIZE_MAX && lowering->elements[element].state == ELEMENT_UNKNOWN) {
        const uint32_t definition = lowering->elements[element].definition;
        *counts = *counts && lowering->instances[definition].statement->distribution->discrete;
        if (bound) lowering->cut_upper[element] = fmin(lowering->cut_upper[element], *bound);
        return SVMP_OK;
    }
    SVMP_TRY(svmp_expand_scalar(lowering, sum, &item));
    *counts = *counts && svmp_item_known(item) && item.number >= 0;
    return SVMP_OK;
}

static svmp_status bound_sum(model_lowering *lowering) {
    const ast_statement *statement = lowering->statement;
    size_t left;
    bool counts = true;
    SVMP_TRY(svmp_find_element(lowering, statement->left, &left));
    if (left == SIZE_MAX || lowering->elements[left].state != ELEMENT_KNOWN) return SVMP_OK;
    SVMP_TRY(bound_terms(lowering, statement->arguments[0], NULL, &counts));
    SVMP_TRY(reserve(lowering));
    if (!counts) return svmp_difference_choose(lowering, lowering->elements[left].value);
    return bound_terms(lowering, statement->arguments[0], &lowering->elements[left].value, &counts);
}

svmp_status svmp_censor(model_lowering *lowering, uint32_t which) {
    const distribution *family = lowering->instances[which].statement->distribution;
    const bool sum = family->support == SUPPORT_SUM;
    if (!sum && family->support != SUPPORT_INTERVAL_INDEX && family->support != SUPPORT_ROUNDED) return SVMP_OK;
    place before = svmp_enter(lowering, which);
    svmp_status status = sum ? bound_sum(lowering) : censor(lowering);
    svmp_leave(lowering, before);
    lowering->item_count = 0;
    return status;
}

/* The cut points on both sides, infinite where there is none. */
static svmp_status find_cuts(model_lowering *lowering, model_item *low, model_item *high) {
    const ast_statement *statement = lowering->statement;
    value cuts;
    size_t left;
    SVMP_TRY(svmp_find_element(lowering, statement->left, &left));
    const size_t observed = (size_t)lowering->elements[left].value;
    SVMP_TRY(svmp_expand(lowering, statement->arguments[1], &cuts));
    const model_item *cut = lowering->items + cuts.first;
    *low = observed >= 1 ? cut[observed - 1] : svmp_item_literal(-INFINITY);
    *high = observed < cuts.count ? cut[observed] : svmp_item_literal(INFINITY);
    return SVMP_OK;
}

svmp_status svmp_censor_bounds(model_lowering *lowering, uint32_t which, model_item *low, model_item *high) {
    const size_t items = lowering->item_count;
    place before = svmp_enter(lowering, which);
    lowering->instance = before.instance; /* what is read here is a parent of the node that is censored */
    svmp_status status = find_cuts(lowering, low, high);
    svmp_leave(lowering, before);
    lowering->item_count = items;
    return status;
}
