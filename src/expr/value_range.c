/* The range of an expression's values known from its form: from the operation and the ranges of its operands. NaN is in
 * every range. */
#include "expr/expr_nodes.h"

static expr_range weaker(expr_range a, expr_range b) { return a < b ? a : b; }
static expr_range stronger(expr_range a, expr_range b) { return a > b ? a : b; }

static expr_range literal_range(double value) {
    if (!(value >= 0)) return RANGE_ANY;
    return value <= 1 ? RANGE_UNIT : RANGE_NOT_NEGATIVE;
}

static bool is_one(const program_builder *builder, uint32_t index) {
    double value;
    return svmp_expr_is_literal(builder, (expr){index}, &value) && value == 1;
}

/* At most RANGE_NOT_NEGATIVE. */
static expr_range not_negative(expr_range range) { return weaker(range, RANGE_NOT_NEGATIVE); }

bool svmp_op_is_truth(expr_op op) {
    switch (op) {
    case OP_step:
    case OP_equals:
    case OP_not_equals:
    case OP_less:
    case OP_below:
    case OP_less_equal:
    case OP_greater:
    case OP_greater_equal:
    case OP_and:
    case OP_or:
    case OP_not: return true;
    default: return false;
    }
}

expr_range svmp_builder_range(const program_builder *builder, const expr_node *node, double value) {
    if (node->op == OP_literal) return literal_range(value);
    if (node->op == OP_input || node->op == OP_parameter) return RANGE_ANY;
    expr_range operand[3] = {RANGE_ANY, RANGE_ANY, RANGE_ANY}, both;
    for (int k = 0; k < svmp_op_arity((expr_op)node->op); k++)
        operand[k] = (expr_range)builder->nodes[node->operand[k]].range;
    both = weaker(operand[0], operand[1]);
    if (svmp_op_is_truth((expr_op)node->op)) return RANGE_UNIT;
    switch ((expr_op)node->op) {
    case OP_exp:
    case OP_scaled_exp:
    case OP_square:
    case OP_sqrt:
    case OP_abs:
    case OP_normal_density: return RANGE_NOT_NEGATIVE;
    case OP_ilogit:
    case OP_logistic_tail:
    case OP_ilogit_by_tail:
    case OP_ilogit_beyond:
    case OP_phi:
    case OP_icloglog: return RANGE_UNIT;
    case OP_add:
    case OP_divide: return not_negative(both);
    case OP_reciprocal:
    case OP_power: return not_negative(operand[0]);
    case OP_multiply: return both;
    case OP_subtract: /* 1 - p */
        return is_one(builder, node->operand[0]) && operand[1] == RANGE_UNIT ? RANGE_UNIT : RANGE_ANY;
    case OP_min: return both == RANGE_ANY ? RANGE_ANY : stronger(operand[0], operand[1]);
    case OP_max: return both == RANGE_UNIT ? RANGE_UNIT : not_negative(stronger(operand[0], operand[1]));
    case OP_ifelse: return weaker(operand[1], operand[2]);
    default: return RANGE_ANY;
    }
}
