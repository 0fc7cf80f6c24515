/* Building: equal nodes are stored once. */
#include "expr/expr_nodes.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "expr/operation_loops.h"

static const struct {
    const char *name;
    int arity;
} op_table[] = {
    {"literal", 0},
    {"input", 0},
    {"parameter", 0},
#define OP1(name, value, da)         {#name, 1},
#define OP2(name, value, da, db)     {#name, 2},
#define OP3(name, value, da, db, dc) {#name, 3},
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
};

int svmp_op_arity(expr_op op) { return op_table[op].arity; }
const char *svmp_op_name(expr_op op) { return op_table[op].name; }

static void start(program_builder *builder) {
    builder->status = SVMP_OK;
    builder->count = builder->literal_count = 0;
    memset(builder->table, 0, builder->table_size * sizeof *builder->table);
    builder->nodes[builder->count++] = (expr_node){.op = OP_literal, .level = LEVEL_LITERAL};
    builder->literals[builder->literal_count++] = NAN;
}

svmp_status svmp_builder_create(svmp_context *context, program_builder **builder) {
    svmp_status status = SVMP_OK;
    program_builder *made;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    SVMP_CHECK(SVMP_GROW(context, made->nodes, made->capacity, 64));
    SVMP_CHECK(SVMP_GROW(context, made->literals, made->literal_capacity, 16));
    made->table_size = 256;
    SVMP_CHECK(SVMP_NEW(context, made->table, made->table_size));
    start(made);
    *builder = made;
    return SVMP_OK;
done:
    svmp_builder_free(made);
    return status;
}

void svmp_builder_free(program_builder *builder) {
    if (builder == NULL) return;
    svmp_context *context = builder->context;
    svmp_release_all(context, builder->nodes, builder->literals, builder->table, builder);
}

void svmp_builder_reset(program_builder *builder) { start(builder); }

svmp_status svmp_builder_status(const program_builder *builder) { return builder->status; }
svmp_context *svmp_builder_context(const program_builder *builder) { return builder->context; }
size_t svmp_builder_size(const program_builder *builder) { return builder->count; }

svmp_status svmp_builder_fail(program_builder *builder, svmp_status status, const char *sentence) {
    if (builder->status == SVMP_OK) builder->status = svmp_fail(builder->context, status, "%s", sentence);
    return builder->status;
}

/* ---- the hash table ---------------------------------------------------------------------------- */

static uint64_t hash_node(const program_builder *builder, const expr_node *node) {
    if (node->op == OP_literal) return svmp_mix_bits(svmp_double_bits(builder->literals[node->operand[0]]));
    uint64_t h = svmp_mix_bits(((uint64_t)node->operand[0] << 32) + node->operand[1]);
    return svmp_mix_bits(h + ((uint64_t)node->op << 32) + node->operand[2]);
}

static void insert(program_builder *builder, uint32_t index) {
    size_t mask = builder->table_size - 1, place = hash_node(builder, &builder->nodes[index]) & mask;
    while (builder->table[place] != 0) place = (place + 1) & mask;
    builder->table[place] = index;
}

/* Makes room for one more node in every array. */
static svmp_status grow_table(program_builder *builder) {
    if (builder->count >= UINT32_MAX - 1)
        return svmp_fail(builder->context, SVMP_BAD_INPUT, "A statement expands to more than 4e9 operations.");
    SVMP_TRY(SVMP_GROW(builder->context, builder->nodes, builder->capacity, builder->count + 1));
    SVMP_TRY(SVMP_GROW(builder->context, builder->literals, builder->literal_capacity, builder->literal_count + 1));
    if (2 * (builder->count + 1) <= builder->table_size) return SVMP_OK;
    uint32_t *larger;
    SVMP_TRY(SVMP_NEW(builder->context, larger, 2 * builder->table_size));
    svmp_release(builder->context, builder->table);
    builder->table = larger;
    builder->table_size *= 2;
    for (size_t index = 1; index < builder->count; index++) insert(builder, (uint32_t)index);
    return SVMP_OK;
}

/* The node equal to `node`, added if it is new; `value` is the number of a literal. */
static expr find_or_add(program_builder *builder, expr_node node, double value) {
    if (builder->status == SVMP_OK) builder->status = grow_table(builder);
    if (builder->status != SVMP_OK) return (expr){0};
    if (node.op == OP_literal) {
        node.operand[0] = (uint32_t)builder->literal_count;
        builder->literals[builder->literal_count] = value; /* counted only if the node is new */
    }
    size_t mask = builder->table_size - 1, place = hash_node(builder, &node) & mask;
    for (; builder->table[place] != 0; place = (place + 1) & mask) {
        const expr_node *other = &builder->nodes[builder->table[place]];
        if (other->op != node.op) continue;
        bool equal = node.op == OP_literal
                         ? svmp_double_bits(builder->literals[other->operand[0]]) == svmp_double_bits(value)
                         : memcmp(other->operand, node.operand, sizeof node.operand) == 0;
        if (equal) return (expr){builder->table[place]};
    }
    if (node.op == OP_literal) builder->literal_count++;
    node.range = (uint8_t)svmp_builder_range(builder, &node, value);
    builder->nodes[builder->count] = node;
    builder->table[place] = (uint32_t)builder->count;
    return (expr){(uint32_t)builder->count++};
}

void svmp_builder_share_logs(program_builder *builder, bool share) { builder->shares_logs = share; }

expr svmp_expr_literal(program_builder *builder, double value) {
    return find_or_add(builder, (expr_node){.op = OP_literal, .level = LEVEL_LITERAL}, value);
}

expr svmp_expr_input(program_builder *builder, uint32_t slot) {
    return find_or_add(builder, (expr_node){.op = OP_input, .level = LEVEL_INPUT, .operand = {slot}}, 0);
}

expr svmp_expr_parameter(program_builder *builder, uint32_t index) {
    return find_or_add(builder, (expr_node){.op = OP_parameter, .level = LEVEL_PARAMETER, .operand = {index}}, 0);
}

expr svmp_builder_node(program_builder *builder, expr_op op, const uint32_t operand[3]) {
    expr_node node = {.op = (uint16_t)op};
    for (int k = 0; k < op_table[op].arity; k++) {
        node.operand[k] = operand[k];
        if (builder->nodes[operand[k]].level > node.level) node.level = builder->nodes[operand[k]].level;
    }
    return find_or_add(builder, node, 0);
}

static bool commutes(expr_op op) {
    return op == OP_add || op == OP_multiply || op == OP_equals || op == OP_not_equals || op == OP_and || op == OP_or;
}

expr svmp_expr_apply(program_builder *builder, expr_op op, expr a, expr b, expr c) {
    uint32_t operand[3] = {a.index, b.index, c.index};
    int arity = op_table[op].arity;
    bool folds = true;
    if (builder->status != SVMP_OK) return (expr){0};
    for (int k = 0; k < arity; k++) {
        if (operand[k] >= builder->count) {
            svmp_builder_fail(builder, SVMP_BAD_CALL, "An operand is not an expression of this builder.");
            return (expr){0};
        }
        folds = folds && builder->nodes[operand[k]].op == OP_literal;
    }
    if (folds) {
        double value[3] = {0}, result;
        for (int k = 0; k < arity; k++) value[k] = builder->literals[builder->nodes[operand[k]].operand[0]];
        svmp_kernels_plain.op(op, 0)(1, &result, &value[0], &value[1], &value[2]);
        return svmp_expr_literal(builder, result);
    }
    expr simpler;
    if (svmp_builder_simplify(builder, op, a, b, c, &simpler)) return simpler;
    if (commutes(op)) { /* an operand that depends on inputs first, then the older one */
        uint8_t level_a = builder->nodes[a.index].level, level_b = builder->nodes[b.index].level;
        if (level_b > level_a || (level_b == level_a && b.index < a.index)) {
            operand[0] = b.index;
            operand[1] = a.index;
        }
    }
    return svmp_builder_node(builder, op, operand);
}

expr_op svmp_expr_op(const program_builder *builder, expr e) { return (expr_op)builder->nodes[e.index].op; }
expr_level svmp_expr_level(const program_builder *builder, expr e) { return (expr_level)builder->nodes[e.index].level; }
expr_range svmp_expr_range(const program_builder *builder, expr e) { return (expr_range)builder->nodes[e.index].range; }
expr svmp_expr_operand(const program_builder *builder, expr e, int which) {
    return (expr){builder->nodes[e.index].operand[which]};
}
uint32_t svmp_expr_leaf(const program_builder *builder, expr e) { return builder->nodes[e.index].leaf; }

bool svmp_expr_is_literal(const program_builder *builder, expr e, double *value) {
    const expr_node *node = &builder->nodes[e.index];
    if (node->op != OP_literal) return false;
    if (value) *value = builder->literals[node->operand[0]];
    return true;
}
