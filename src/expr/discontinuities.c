/* Finds discontinuities of a log value: comparisons, step, round, trunc and %/% of expressions of inputs. */
#include "expr/instructions.h"

static bool discontinuous(uint32_t op) {
    switch (op) {
    case OP_round:
    case OP_trunc:
    case OP_step:
    case OP_integer_divide:
    case OP_equals:
    case OP_not_equals:
    case OP_less:
    case OP_less_equal:
    case OP_greater:
    case OP_greater_equal: return true;
    default: return false;
    }
}

svmp_status svmp_program_discontinuities(const program *compiled, bool *slots, bool *any) {
    const program_recipe *recipe = &compiled->recipe;
    bool *below; /* for each operation: whether a discontinuity depends on it */
    *any = false;
    for (size_t k = 0; k < compiled->slots; k++) slots[k] = false;
    for (size_t k = 0; k < recipe->count && !*any; k++) *any = discontinuous(recipe->operations[k].op);
    if (!*any) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(compiled->context, below, recipe->count));
    for (size_t k = recipe->count; k-- > 0;) {
        const recipe_operation *o = &recipe->operations[k];
        if (o->op == OP_input && below[k]) slots[o->operand[0]] = true;
        if (!below[k] && !discontinuous(o->op)) continue;
        for (int i = 0; i < svmp_op_arity((expr_op)o->op); i++) below[o->operand[i]] = true;
    }
    svmp_release(compiled->context, below);
    return SVMP_OK;
}
