/* Translates the graph to straight-line code: drops dead nodes, joins pairs of cheap operations in one loop, shares
 * registers among values that are not live at the same time. Linear in the size of the graph. */
#include "expr/instructions.h"

/* Places before they are numbered: a kind and an index. */
enum { KIND_REGISTER, KIND_LITERAL, KIND_COLUMN, KIND_INPUT, KIND_OUTPUT, KIND_SHIFT = 29 };

#define NOWHERE UINT32_MAX

typedef struct compile_state {
    program_builder *builder;
    expr_level level;
    hoisted *hoist;
    code_block *code;
    uint32_t *uses;  /* for each node: the number of uses by live nodes and outputs */
    uint8_t *join;   /* for each node: 1 + the operand that is computed in the same loop, or 0 */
    uint8_t *joined; /* computed inside the loop of its only user */
    uint32_t *place; /* the place of each node; NOWHERE if it has none yet */
    uint32_t *last;  /* the last instruction that reads a node's register */
    uint32_t *free_registers;
    size_t free_count, instruction_capacity, literal_capacity;
} compile_state;

static bool computed(const compile_state *compiler, uint32_t index) {
    const expr_node *node = &compiler->builder->nodes[index];
    return node->level == compiler->level && svmp_op_arity((expr_op)node->op) > 0;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* The loop for `second` with `first` as its operand `which`; PAIR_COUNT if there is none. */
static pair_op pair_of(expr_op first, expr_op second, int which) {
    static const pair_op table[3][5] = {
        {PAIR_add_add, PAIR_add_subtract, PAIR_add_subtract_from, PAIR_add_multiply, PAIR_add_square},
        {PAIR_subtract_add, PAIR_subtract_subtract, PAIR_subtract_subtract_from, PAIR_subtract_multiply,
         PAIR_subtract_square},
        {PAIR_multiply_add, PAIR_multiply_subtract, PAIR_multiply_subtract_from, PAIR_multiply_multiply,
         PAIR_multiply_square}};
    int row, column;
    switch (first) {
    case OP_add: row = 0; break;
    case OP_subtract: row = 1; break;
    case OP_multiply:
    case OP_square: row = 2; break;
    default: return PAIR_COUNT;
    }
    switch (second) {
    case OP_add: column = 0; break;
    case OP_subtract: column = which == 0 ? 1 : 2; break;
    case OP_multiply: column = 3; break;
    case OP_square: column = 4; break;
    default: return PAIR_COUNT;
    }
    return table[row][column];
}

/* Chooses the operand that is computed in the same loop as the node: it has no other reader and is not itself a pair.
 * */
static void choose_pair(compile_state *compiler, uint32_t index) {
    const expr_node *nodes = compiler->builder->nodes, *node = &nodes[index];
    int arity = svmp_op_arity((expr_op)node->op);
    for (int which = 0; which < arity; which++) {
        uint32_t operand = node->operand[which];
        if (!computed(compiler, operand) || compiler->uses[operand] != 1 || compiler->join[operand] != 0) continue;
        if (pair_of((expr_op)nodes[operand].op, (expr_op)node->op, which) == PAIR_COUNT) continue;
        compiler->join[index] = (uint8_t)(which + 1);
        compiler->joined[operand] = 1;
        return;
    }
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

static svmp_status add_literal(compile_state *compiler, double value, uint32_t *place) {
    code_block *code = compiler->code;
    SVMP_TRY(
        SVMP_GROW(compiler->builder->context, code->literals, compiler->literal_capacity, code->literal_count + 1));
    code->literals[code->literal_count] = value;
    *place = (uint32_t)code->literal_count++ | (uint32_t)KIND_LITERAL << KIND_SHIFT;
    return SVMP_OK;
}

static svmp_status add_column(compile_state *compiler, uint32_t index, uint32_t *place) {
    hoisted *hoist = compiler->hoist;
    uint32_t column;
    if (hoist == NULL) {
        column = compiler->builder->nodes[index].leaf;
    } else if (hoist->column[index] != 0) {
        column = hoist->column[index] - 1;
    } else {
        SVMP_TRY(SVMP_GROW(compiler->builder->context, hoist->list, hoist->capacity, hoist->count + 1));
        hoist->list[hoist->count] = (expr){index};
        column = (uint32_t)hoist->count++;
        hoist->column[index] = column + 1;
    }
    *place = column | (uint32_t)KIND_COLUMN << KIND_SHIFT;
    return SVMP_OK;
}

/* The place of an operand; computed nodes already have one. */
static svmp_status find_place(compile_state *compiler, uint32_t index, uint32_t *place) {
    const expr_node *node = &compiler->builder->nodes[index];
    if (compiler->place[index] == NOWHERE) {
        uint32_t *made = &compiler->place[index];
        if (node->op == OP_literal)
            SVMP_TRY(add_literal(compiler, compiler->builder->literals[node->operand[0]], made));
        else if (node->level < compiler->level || compiler->hoist == NULL)
            SVMP_TRY(add_column(compiler, index, made));
        else
            *made = node->leaf | (uint32_t)KIND_INPUT << KIND_SHIFT;
    }
    *place = compiler->place[index];
    return SVMP_OK;
}

/* The nodes that a node's loop reads, in the order of the loop's operands; returns their number. */
static int loop_operands(const compile_state *compiler, uint32_t index, uint32_t operand[3]) {
    const expr_node *nodes = compiler->builder->nodes, *node = &nodes[index];
    int arity = svmp_op_arity((expr_op)node->op);
    if (compiler->join[index] == 0) {
        for (int k = 0; k < arity; k++) operand[k] = node->operand[k];
        return arity;
    }
    int which = compiler->join[index] - 1;
    const expr_node *inner = &nodes[node->operand[which]];
    operand[0] = inner->operand[0];
    operand[1] = inner->op == OP_square ? inner->operand[0] : inner->operand[1];
    if (arity == 1) return 2; /* a square reads its operand twice */
    operand[2] = node->operand[1 - which];
    return 3;
}

static uint32_t code_of(const compile_state *compiler, uint32_t index) {
    const expr_node *nodes = compiler->builder->nodes, *node = &nodes[index];
    if (compiler->join[index] == 0) return node->op;
    int which = compiler->join[index] - 1;
    expr_op first = (expr_op)nodes[node->operand[which]].op;
    return CODE_PAIRS + (uint32_t)pair_of(first, (expr_op)node->op, which);
}

static svmp_status append(compile_state *compiler, code_instruction instruction) {
    code_block *code = compiler->code;
    SVMP_TRY(
        SVMP_GROW(compiler->builder->context, code->instructions, compiler->instruction_capacity, code->count + 1));
    code->instructions[code->count++] = instruction;
    return SVMP_OK;
}

static svmp_status emit(compile_state *compiler, uint32_t index, uint32_t position) {
    uint32_t operand[3];
    int arity = loop_operands(compiler, index, operand);
    code_instruction made = {.code = code_of(compiler, index)};
    for (int k = 0; k < arity; k++) SVMP_TRY(find_place(compiler, operand[k], &made.operand[k]));
    for (int k = arity; k < 3; k++) made.operand[k] = made.operand[0];

    for (int k = 0; k < arity; k++) { /* the result may use a register that is read here for the last time */
        uint32_t place = compiler->place[operand[k]];
        if (place >> KIND_SHIFT != KIND_REGISTER || compiler->last[operand[k]] != position) continue;
        compiler->last[operand[k]] = NOWHERE; /* an operand that occurs twice is released once */
        compiler->free_registers[compiler->free_count++] = place;
    }
    if (compiler->place[index] == NOWHERE) {
        uint32_t fresh = (uint32_t)compiler->code->registers;
        if (compiler->free_count > 0)
            fresh = compiler->free_registers[--compiler->free_count];
        else
            compiler->code->registers++;
        compiler->place[index] = fresh;
    }
    made.out = compiler->place[index];
    return append(compiler, made);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* Marks live nodes, chooses the pairs, and finds the last reader of each node. */
static void plan(compile_state *compiler, size_t count, const expr *outputs) {
    program_builder *builder = compiler->builder;
    for (size_t o = 0; o < count; o++) compiler->uses[outputs[o].index]++;
    for (uint32_t index = (uint32_t)builder->count - 1; index > 0; index--) {
        if (compiler->uses[index] == 0 || !computed(compiler, index)) continue;
        int arity = svmp_op_arity((expr_op)builder->nodes[index].op);
        for (int k = 0; k < arity; k++) compiler->uses[builder->nodes[index].operand[k]]++;
    }
    for (uint32_t index = 1; index < builder->count; index++)
        if (compiler->uses[index] > 0 && computed(compiler, index)) choose_pair(compiler, index);
    uint32_t position = 0;
    for (uint32_t index = 1; index < builder->count; index++) {
        if (compiler->uses[index] == 0 || !computed(compiler, index) || compiler->joined[index]) continue;
        uint32_t operand[3];
        int arity = loop_operands(compiler, index, operand);
        for (int k = 0; k < arity; k++) compiler->last[operand[k]] = position;
        position++;
    }
}

static svmp_status emit_all(compile_state *compiler, size_t count, const expr *outputs) {
    program_builder *builder = compiler->builder;
    for (uint32_t index = 0; index < builder->count; index++) compiler->place[index] = NOWHERE;
    for (uint32_t o = 0; o < count; o++) /* an output is computed in its place */
        if (computed(compiler, outputs[o].index) && compiler->place[outputs[o].index] == NOWHERE)
            compiler->place[outputs[o].index] = o | (uint32_t)KIND_OUTPUT << KIND_SHIFT;
    for (uint32_t index = 1, position = 0; index < builder->count; index++)
        if (compiler->uses[index] > 0 && computed(compiler, index) && !compiler->joined[index])
            SVMP_TRY(emit(compiler, index, position++));
    for (uint32_t o = 0; o < count; o++) { /* outputs that are leaves or duplicates are copied */
        code_instruction made = {.code = CODE_COPY, .out = o | (uint32_t)KIND_OUTPUT << KIND_SHIFT};
        SVMP_TRY(find_place(compiler, outputs[o].index, &made.operand[0]));
        if (made.operand[0] == made.out) continue;
        made.operand[1] = made.operand[2] = made.operand[0];
        SVMP_TRY(append(compiler, made));
    }
    return SVMP_OK;
}

void svmp_code_number(code_block *code, size_t columns, size_t inputs, size_t outputs) {
    code->columns = columns;
    code->inputs = inputs;
    code->outputs = outputs;
    size_t base[] = {0, code_place_literals(code), code_place_columns(code), code_place_inputs(code),
                     code_place_outputs(code)};
    for (size_t k = 0; k < code->count; k++) {
        code_instruction *i = &code->instructions[k];
        uint32_t *places[] = {&i->out, &i->operand[0], &i->operand[1], &i->operand[2]};
        for (int p = 0; p < 4; p++) {
            uint32_t kind = *places[p] >> KIND_SHIFT, number = *places[p] & ((1u << KIND_SHIFT) - 1);
            *places[p] = (uint32_t)(base[kind] + number);
        }
        svmp_code_choose_kernels(code, i);
    }
}

svmp_status svmp_code_compile(program_builder *builder, expr_level level, size_t count, const expr *outputs,
                              hoisted *hoist, code_block *code) {
    svmp_status status = SVMP_OK;
    svmp_context *context = builder->context;
    compile_state compiler = {.builder = builder, .level = level, .hoist = hoist, .code = code};
    if (builder->count >= (1u << KIND_SHIFT))
        return svmp_fail(context, SVMP_BAD_INPUT, "A statement expands to %zu operations, more than %u.",
                         builder->count, 1u << KIND_SHIFT);
    SVMP_CHECK(SVMP_NEW(context, compiler.uses, builder->count));
    SVMP_CHECK(SVMP_NEW(context, compiler.join, builder->count));
    SVMP_CHECK(SVMP_NEW(context, compiler.joined, builder->count));
    SVMP_CHECK(SVMP_NEW(context, compiler.place, builder->count));
    SVMP_CHECK(SVMP_NEW(context, compiler.last, builder->count));
    SVMP_CHECK(SVMP_NEW(context, compiler.free_registers, builder->count));
    plan(&compiler, count, outputs);
    SVMP_CHECK(emit_all(&compiler, count, outputs));
done:
    svmp_release_all(context, compiler.uses, compiler.join, compiler.joined, compiler.place, compiler.last,
                     compiler.free_registers);
    if (status != SVMP_OK) svmp_code_free(context, code);
    return status;
}

/* How many operands the loop of an instruction reads. */
static int arity_of(uint32_t code) {
    enum { ARITY_add = 3, ARITY_subtract = 3, ARITY_subtract_from = 3, ARITY_multiply = 3, ARITY_square = 2 };
    static const int of_pairs[] = {
#define ARITY_ROW(first, second, value) ARITY_##second,
        PAIR_LIST(ARITY_ROW)
#undef ARITY_ROW
    };
    return code < CODE_PAIRS ? svmp_op_arity((expr_op)code) : code < CODE_COPY ? of_pairs[code - CODE_PAIRS] : 1;
}

/* `scalars`: bit k is set if operand k is a single number for the block. */
static expr_kernel choose_kernel(uint32_t code, unsigned scalars) {
    if (code < CODE_PAIRS) return svmp_kernels()->op((expr_op)code, scalars);
    if (code < CODE_COPY) return svmp_kernels()->pair((pair_op)(code - CODE_PAIRS), scalars);
    return svmp_kernels()->copy(scalars);
}

void svmp_code_choose_kernels(const code_block *code, code_instruction *made) {
    for (int mode = 0; mode < BLOCK_MODES; mode++) {
        unsigned bits = 0;
        for (int k = 0; k < arity_of(made->code); k++) {
            const size_t place = made->operand[k];
            const int literal = place >= code_place_literals(code) && place < code_place_columns(code);
            const int column = place >= code_place_columns(code) && place < code_place_inputs(code);
            if (literal || (column && mode == BLOCK_WIDE)) bits |= 1u << k;
        }
        made->kernel[mode] = choose_kernel(made->code, bits);
    }
}

void svmp_code_free(svmp_context *context, code_block *code) {
    svmp_release_all(context, code->instructions, code->literals, code->common, code->carried, code->choices);
    *code = (code_block){0};
}
