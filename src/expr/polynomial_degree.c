/* The degree of an expression as a polynomial of its inputs. */
#include "expr/expr_nodes.h"

enum { MANY = POLYNOMIAL_MANY };

static int sum(int a, int b) { return a + b < MANY ? a + b : MANY; }
static int larger(int a, int b) { return a > b ? a : b; }

/* Computed from the degrees of the operands. An expression not known to be a polynomial has degree MANY, unless it is
 * fixed. */
static int degree_of(const expr_node *node, const uint8_t *degree) {
    if (node->level != LEVEL_INPUT) return 0;
    if (node->op == OP_input) return 1;
    const int a = degree[node->operand[0]], b = degree[node->operand[1]];
    switch (node->op) {
    case OP_add:
    case OP_subtract: return larger(a, b);
    case OP_negate: return a;
    case OP_multiply: return sum(a, b);
    case OP_square: return sum(a, a);
    case OP_divide: return b == 0 ? a : MANY;
    default: return MANY;
    }
}

svmp_status svmp_builder_degree(const program_builder *builder, expr value, int *degree) {
    uint8_t *degrees;
    SVMP_TRY(SVMP_NEW(builder->context, degrees, (size_t)value.index + 1));
    for (size_t index = 0; index <= value.index; index++)
        degrees[index] = (uint8_t)degree_of(&builder->nodes[index], degrees);
    *degree = degrees[value.index];
    svmp_release(builder->context, degrees);
    return SVMP_OK;
}
