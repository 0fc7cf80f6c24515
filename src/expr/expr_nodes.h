/* Inside the expression engine: the builder's graph of shared nodes. A node's operands come before it. */
#ifndef SVMP_EXPR_EXPR_NODES_H
#define SVMP_EXPR_EXPR_NODES_H

#include "expr/program.h"

typedef struct expr_node {
    uint16_t op;   /* expr_op */
    uint8_t level; /* expr_level */
    uint8_t range; /* expr_range */
    union {
        uint32_t operand[3];
        uint32_t leaf; /* the index of an input or a parameter */
    };
} expr_node;

struct program_builder {
    svmp_context *context;
    svmp_status status; /* of the first failure */
    expr_node *nodes;   /* the first one is the literal NaN: what a failed call returns */
    double *literals;   /* the numbers of literal nodes, indexed by operand[0] */
    uint32_t *table;    /* open hash table of nodes, 0: free; a power of two, at most half full */
    size_t count, capacity, literal_count, literal_capacity, table_size;
    bool shares_logs; /* svmp_builder_share_logs */
};

/* The node with these operands, created if it does not exist. Neither folds nor simplifies. */
expr svmp_builder_node(program_builder *builder, expr_op op, const uint32_t operand[3]);

/* Applies the rules of simplify.c: returns true and sets *result if the operation can be simplified. */
bool svmp_builder_simplify(program_builder *builder, expr_op op, expr a, expr b, expr c, expr *result);

/* The range of a node whose operands exist; `value` is the number of a literal. */
expr_range svmp_builder_range(const program_builder *builder, const expr_node *node, double value);

/* The degree of a value as a polynomial of the inputs; POLYNOMIAL_MANY: more than 2, or not known to be a polynomial.
 * */
svmp_status svmp_builder_degree(const program_builder *builder, expr value, int *degree);

/* gradient[j] = d value / d input j, by the reverse sweep. */
svmp_status svmp_builder_differentiate(program_builder *builder, expr value, size_t slots, expr *gradient);

#endif
