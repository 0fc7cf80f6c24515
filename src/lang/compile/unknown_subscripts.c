/* Subscripts that depend on unknowns: x[1 + step(t - c)] is a choice among the elements of x, each where the subscript
 * has its number. A subscript that has another value makes the result NaN. */
#include "lang/compile/compile_passes.h"

#include <math.h>

enum { MOST_CHOICES = 4096 };

typedef struct index_choice {
    model_item index;
    size_t extent, number; /* from 0 */
} index_choice;

/* Whether a variable is a number behind those that are moved, and drawn from a discrete distribution. */
static bool is_drawn_discrete(const model_lowering *lowering, uint32_t variable) {
    const lowered_model *result = lowering->result;
    size_t first = 0, last = result->leaf_count; /* the leaf that has it; their variables ascend */
    if (!lowering->drawn || variable < result->variables) return false;
    if (variable >= result->variables + result->leaf_variables) return true; /* it was summed out */
    while (last - first > 1) {
        const size_t middle = first + (last - first) / 2;
        *(result->leaves[middle].variable <= variable ? &first : &last) = middle;
    }
    return result->leaves[first].distribution->discrete;
}

/* Whether an expression is a whole number by its form: what steps, comparisons and roundings make, and discrete
 * unknowns that have been drawn. */
static bool is_whole(const model_lowering *lowering, expr e, int depth) {
    const program_builder *builder = lowering->builder;
    const expr_op op = svmp_expr_op(builder, e);
    double number;
    if (svmp_op_is_truth(op)) return true;
    switch (op) {
    case OP_literal: return svmp_expr_is_literal(builder, e, &number) && number == floor(number);
    case OP_parameter: number = lowering->parameters[svmp_expr_leaf(builder, e)]; return number == floor(number);
    case OP_input: return is_drawn_discrete(lowering, lowering->slots[svmp_expr_leaf(builder, e)]);
    case OP_round:
    case OP_trunc:
    case OP_integer_divide: return true;
    case OP_add:
    case OP_subtract:
    case OP_multiply:
    case OP_negate:
    case OP_square:
    case OP_abs:
    case OP_min:
    case OP_max:
    case OP_ifelse:
        if (depth == 0) return false;
        for (int k = op == OP_ifelse; k < svmp_op_arity(op); k++)
            if (!is_whole(lowering, svmp_expr_operand(builder, e, k), depth - 1)) return false;
        return true;
    default: return false;
    }
}

bool svmp_may_index(const model_lowering *lowering, model_item index) {
    enum { DEEPEST = 200 };
    return index.kind == ITEM_OPAQUE || is_whole(lowering, index.expression, DEEPEST);
}

svmp_status svmp_choose_index(model_lowering *lowering, model_item index, size_t extent, model_item *chosen) {
    lowering->chosen = true;
    *chosen = svmp_item_number(1);
    if (index.kind == ITEM_OPAQUE) return SVMP_OK;
    const size_t at = lowering->choice_at++;
    if (at == lowering->choice_count) {
        SVMP_TRY(SVMP_GROW(lowering->context, lowering->index_choices, lowering->choice_capacity, at + 1));
        lowering->index_choices[lowering->choice_count++] = (index_choice){index, extent, 0};
    }
    *chosen = svmp_item_number((double)lowering->index_choices[at].number + 1);
    return SVMP_OK;
}

/* The next combination of the choices of this variable; false: there is none. */
static bool next(model_lowering *lowering) {
    for (size_t k = lowering->choice_first; k < lowering->choice_count; k++) {
        if (++lowering->index_choices[k].number < lowering->index_choices[k].extent) return true;
        lowering->index_choices[k].number = 0;
    }
    return false;
}

/* Whether the subscripts have the chosen numbers. */
static model_item condition(model_lowering *lowering) {
    model_item all = svmp_item_literal(1);
    for (size_t k = lowering->choice_first; k < lowering->choice_count; k++) {
        const index_choice choice = lowering->index_choices[k];
        model_item number = svmp_item_literal((double)choice.number + 1);
        model_item equal = svmp_apply(lowering, OP_equals, choice.index, number, number);
        all = k == lowering->choice_first ? equal : svmp_apply(lowering, OP_and, all, equal, equal);
    }
    return all;
}

static svmp_status too_many(model_lowering *lowering, const ast_expression *variable) {
    return svmp_lowering_error(
        lowering, variable->offset,
        "the subscripts of '%s' depend on unknowns and have more than %d combinations; they must "
        "be computable from the data",
        lowering->ast->names.text[variable->symbol], MOST_CHOICES);
}

/* The first combination was read into `result`. */
static svmp_status read_others(model_lowering *lowering, const ast_expression *variable, const value *result) {
    double combinations = 1;
    for (size_t k = lowering->choice_first; k < lowering->choice_count; k++)
        combinations *= (double)lowering->index_choices[k].extent;
    if (combinations > MOST_CHOICES) return too_many(lowering, variable);
    model_item here = condition(lowering), none = svmp_item_literal(NAN);
    for (size_t k = 0; k < result->count; k++) {
        model_item *item = &lowering->items[result->first + k];
        *item = svmp_apply(lowering, OP_ifelse, here, *item, none);
    }
    while (next(lowering)) {
        value other;
        lowering->choice_at = lowering->choice_first;
        SVMP_TRY(svmp_read_elements(lowering, variable, &other));
        here = condition(lowering);
        for (size_t k = 0; k < result->count; k++) {
            model_item *item = &lowering->items[result->first + k];
            *item = svmp_apply(lowering, OP_ifelse, here, lowering->items[other.first + k], *item);
        }
        lowering->item_count = other.first;
    }
    return svmp_builder_status(lowering->builder);
}

/* Without values, any element may be meant. */
static svmp_status make_opaque(model_lowering *lowering, const ast_expression *variable, const value *result) {
    for (size_t k = 0; k < result->count; k++) lowering->items[result->first + k] = (model_item){.kind = ITEM_OPAQUE};
    return svmp_note_elements(lowering, variable);
}

svmp_status svmp_expand_choices(model_lowering *lowering, const ast_expression *variable, value *result) {
    const size_t first = lowering->choice_first, at = lowering->choice_at;
    const bool choosing = lowering->choosing, chosen = lowering->chosen;
    lowering->choosing = true;
    lowering->chosen = false;
    lowering->choice_first = lowering->choice_at = lowering->choice_count;
    svmp_status status = svmp_read_elements(lowering, variable, result);
    if (status == SVMP_OK && lowering->chosen)
        status = lowering->choice_count > lowering->choice_first ? read_others(lowering, variable, result)
                                                                 : make_opaque(lowering, variable, result);
    lowering->choice_count = lowering->choice_first;
    lowering->choice_first = first;
    lowering->choice_at = at;
    lowering->choosing = choosing;
    lowering->chosen = chosen;
    return status;
}
