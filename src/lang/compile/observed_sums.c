/* An observed sum of continuous unknowns, y ~ dsum(a, b): one of them is what the others leave, b = y - a, and no
 * unknown any more. The change of variables has Jacobian 1: its density at that value is a factor like any other. What
 * is left is chosen last first, if it is a node by itself. One that has no bounds is always possible; one with known
 * bounds if there is one other, whose bounds follow. */
#include "lang/compile/compile_passes.h"

#include <math.h>
#include <string.h>

enum { MOST_TERMS = 100 };

/* The terms of a sum, as the parser makes it of dsum(a, b, ...). */
typedef struct sum_terms {
    const ast_expression *list[MOST_TERMS];
    size_t element[MOST_TERMS]; /* of the model, or SIZE_MAX */
    size_t count;
} sum_terms;

/* Calls itself for both sides of '+'; false: there are too many. */
static bool split(const model_lowering *lowering, const ast_expression *sum, sum_terms *terms) {
    if (sum->kind == AST_CALL && strcmp(lowering->ast->functions.text[sum->symbol], "+") == 0)
        return split(lowering, sum->operands[0], terms) && split(lowering, sum->operands[1], terms);
    if (terms->count == MOST_TERMS) return false;
    terms->list[terms->count++] = sum;
    return true;
}

static svmp_status find_terms(model_lowering *lowering, sum_terms *terms) {
    terms->count = 0;
    if (!split(lowering, lowering->statement->arguments[0], terms)) terms->count = 0;
    for (size_t k = 0; k < terms->count; k++) SVMP_TRY(svmp_find_element(lowering, terms->list[k], &terms->element[k]));
    return SVMP_OK;
}

/* ---- the choice ------------------------------------------------------------------------------- */

static bool is_unknown(const model_lowering *lowering, size_t element) {
    return element != SIZE_MAX && lowering->elements[element].state == ELEMENT_UNKNOWN;
}

/* Whether the element is all of a continuous node of one dimension, is not censored and stands in the sum once. */
static svmp_status is_candidate(model_lowering *lowering, const sum_terms *terms, size_t k, bool *candidate) {
    const size_t which = terms->element[k];
    *candidate = false;
    if (!is_unknown(lowering, which)) return SVMP_OK;
    for (size_t other = 0; other < terms->count; other++)
        if (other != k && terms->element[other] == which) return SVMP_OK;
    const uint32_t instance = lowering->elements[which].definition;
    const ast_statement *statement = lowering->instances[instance].statement;
    if (statement->distribution->rank != RANK_SCALAR || statement->distribution->discrete) return SVMP_OK;
    if (lowering->cut_by[which] != NOTHING || lowering->cut_lower[which] > -INFINITY ||
        lowering->cut_upper[which] < INFINITY)
        return SVMP_OK;
    value offsets;
    const svmp_status status = svmp_instance_elements(lowering, instance, &offsets);
    lowering->item_count = 0;
    *candidate = offsets.count == 1;
    return status;
}

static svmp_status bounds_of(model_lowering *lowering, size_t which, model_item *lower, model_item *upper) {
    const uint32_t instance = lowering->elements[which].definition;
    evaluated_distribution evaluated = {0};
    place before = svmp_enter(lowering, instance);
    svmp_status status = svmp_expand_distribution(lowering, &evaluated);
    if (status == SVMP_OK)
        status = svmp_node_bounds(lowering, lowering->statement->distribution, &evaluated, 0, which, lower, upper);
    svmp_leave(lowering, before);
    lowering->item_count = 0;
    return status;
}

/* Whether term k can be what the others leave of `sum`; then the bounds of the only other one are set, if need be. */
static svmp_status try_term(model_lowering *lowering, const sum_terms *terms, size_t k, double sum, bool bounded,
                            bool *possible) {
    model_item lower, upper;
    SVMP_TRY(is_candidate(lowering, terms, k, possible));
    if (!*possible) return SVMP_OK;
    SVMP_TRY(bounds_of(lowering, terms->element[k], &lower, &upper));
    *possible = svmp_item_known(lower) && svmp_item_known(upper);
    if (!*possible || (isinf(lower.number) && isinf(upper.number))) return SVMP_OK;
    const size_t other = terms->count == 2 ? terms->element[1 - k] : SIZE_MAX;
    *possible = bounded && is_unknown(lowering, other);
    if (!*possible) return SVMP_OK;
    lowering->cut_lower[other] = fmax(lowering->cut_lower[other], sum - upper.number);
    lowering->cut_upper[other] = fmin(lowering->cut_upper[other], sum - lower.number);
    return SVMP_OK;
}

svmp_status svmp_difference_choose(model_lowering *lowering, double sum) {
    const uint32_t instance = lowering->instance;
    sum_terms terms;
    bool found = false;
    SVMP_TRY(find_terms(lowering, &terms));
    for (size_t k = 0; k < terms.count; k++)
        if (is_unknown(lowering, terms.element[k]) &&
            lowering->instances[lowering->elements[terms.element[k]].definition].statement->distribution->discrete)
            return SVMP_OK;
    for (int bounded = 0; bounded < 2 && !found; bounded++)
        for (size_t k = terms.count; k-- > 0 && !found;) {
            SVMP_TRY(try_term(lowering, &terms, k, sum, bounded, &found));
            if (!found) continue;
            model_element *difference = &lowering->elements[terms.element[k]];
            difference->state = ELEMENT_DIFFERENCE;
            difference->output = instance;
            lowering->instances[instance].settled = true;
        }
    return SVMP_OK;
}

/* ---- the value -------------------------------------------------------------------------------- */

static svmp_status subtract_others(model_lowering *lowering, const model_element *difference, model_item *result) {
    sum_terms terms;
    size_t left;
    SVMP_TRY(svmp_find_element(lowering, lowering->statement->left, &left));
    SVMP_TRY(find_terms(lowering, &terms));
    *result = svmp_item_number(lowering->elements[left].value);
    for (size_t k = 0; k < terms.count; k++) {
        model_item term;
        if (terms.element[k] == (size_t)(difference - lowering->elements)) continue;
        SVMP_TRY(svmp_expand_scalar(lowering, terms.list[k], &term));
        *result = svmp_apply(lowering, OP_subtract, *result, term, term);
    }
    return SVMP_OK;
}

svmp_status svmp_difference_read(model_lowering *lowering, model_element *difference) {
    model_instance *sum = &lowering->instances[difference->output];
    const size_t items = lowering->item_count;
    if (sum->busy)
        return svmp_lowering_error(lowering, sum->statement->function_offset,
                                   "the sums of dsum depend on each other: write one of the unknowns as a difference");
    place before = svmp_enter(lowering, difference->output);
    lowering->instance = NOTHING; /* reading the other terms through it adds no edge of the graph */
    sum->busy = true;
    svmp_status status = subtract_others(lowering, difference, &difference->memo);
    sum->busy = false;
    svmp_leave(lowering, before);
    lowering->item_count = items;
    if (status == SVMP_OK) difference->stamp = lowering->stamp;
    return status;
}
