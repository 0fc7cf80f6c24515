/* A program's recipe: packs the live part of the graph, and rebuilds it in a builder. */
#include "expr/instructions.h"

/* Whether a node is part of the recipe: operations of lanes and the leaves that they read. */
static bool is_leaf(const expr_node *node) { return node->level < LEVEL_INPUT || node->op == OP_input; }

/* number[index] = 1 for each node that the value needs. */
static void mark(const program_builder *builder, expr value, uint32_t *number) {
    number[value.index] = 1;
    for (uint32_t index = value.index; index > 0; index--) {
        const expr_node *node = &builder->nodes[index];
        if (number[index] == 0 || is_leaf(node)) continue;
        for (int k = 0; k < svmp_op_arity((expr_op)node->op); k++) number[node->operand[k]] = 1;
    }
}

static recipe_operation pack(const program_builder *builder, uint32_t index, const uint32_t *number,
                             const hoisted *hoist, program_recipe *recipe) {
    const expr_node *node = &builder->nodes[index];
    recipe_operation made = {.op = node->op};
    if (node->op == OP_literal) {
        recipe->literals[recipe->literal_count] = builder->literals[node->operand[0]];
        made.operand[0] = (uint32_t)recipe->literal_count++;
    } else if (node->op == OP_input) {
        made.operand[0] = node->leaf;
    } else if (node->level < LEVEL_INPUT) {
        made.op = OP_parameter;
        made.operand[0] = hoist->column[index] - 1;
    } else {
        for (int k = 0; k < svmp_op_arity((expr_op)node->op); k++) made.operand[k] = number[node->operand[k]];
    }
    return made;
}

svmp_status svmp_recipe_take(const program_builder *builder, expr value, const hoisted *hoist, program_recipe *recipe) {
    svmp_context *context = builder->context;
    svmp_status status;
    uint32_t *number = NULL; /* for each node: its index in the recipe */
    size_t count = 0, literals = 0;
    SVMP_CHECK(SVMP_NEW(context, number, (size_t)value.index + 1));
    mark(builder, value, number);
    for (uint32_t index = 0; index <= value.index; index++) {
        count += number[index];
        literals += number[index] && builder->nodes[index].op == OP_literal;
    }
    SVMP_CHECK(SVMP_NEW(context, recipe->operations, count));
    SVMP_CHECK(SVMP_NEW(context, recipe->literals, literals));
    for (uint32_t index = 0; index <= value.index; index++) {
        if (number[index] == 0) continue;
        recipe->operations[recipe->count] = pack(builder, index, number, hoist, recipe);
        number[index] = (uint32_t)recipe->count++;
    }
done:
    svmp_release(context, number);
    return status;
}

void svmp_recipe_free(svmp_context *context, program_recipe *recipe) {
    svmp_release_all(context, recipe->operations, recipe->literals);
    *recipe = (program_recipe){0};
}

/* Operation k is node `node[k]` of the builder; two operations may have become one node. */
expr svmp_recipe_build(const program_recipe *recipe, program_builder *builder) {
    uint32_t *node = NULL;
    expr made = {0};
    svmp_status status = SVMP_NEW(builder->context, node, recipe->count);
    if (status != SVMP_OK) {
        if (builder->status == SVMP_OK) builder->status = status;
        return made;
    }
    for (size_t k = 0; k < recipe->count; k++) {
        const recipe_operation *o = &recipe->operations[k];
        switch (o->op) {
        case OP_literal: made = svmp_expr_literal(builder, recipe->literals[o->operand[0]]); break;
        case OP_input: made = svmp_expr_input(builder, o->operand[0]); break;
        case OP_parameter: made = svmp_expr_parameter(builder, o->operand[0]); break;
        default: {
            uint32_t operand[3] = {0};
            for (int i = 0; i < svmp_op_arity((expr_op)o->op); i++) operand[i] = node[o->operand[i]];
            made = svmp_builder_node(builder, (expr_op)o->op, operand);
        }
        }
        node[k] = made.index;
    }
    svmp_release(builder->context, node);
    return made;
}
