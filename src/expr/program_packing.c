/* Programs as bytes: their finished code, so that the bits are those of the program that was packed. */
#include <string.h>

#include "expr/instructions.h"

static void pack_code(packing *p, uint32_t *code) {
    SVMP_PACK(p, *code);
    if (p->loading && *code > CODE_COPY) svmp_pack_refuse(p, "is damaged");
}

static void pack_instruction(packing *p, const code_block *code, code_instruction *i) {
    uint32_t *places[] = {&i->out, &i->operand[0], &i->operand[1], &i->operand[2]};
    pack_code(p, &i->code);
    for (int k = 0; k < 4; k++) {
        SVMP_PACK(p, *places[k]);
        if (p->loading && *places[k] >= code_places(code)) svmp_pack_refuse(p, "is damaged");
    }
    if (p->loading && p->status == SVMP_OK) svmp_code_choose_kernels(code, i);
}

static void pack_block(packing *p, code_block *code) {
    size_t *sizes[] = {&code->registers, &code->literal_count, &code->columns, &code->inputs, &code->outputs};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        svmp_pack_count(p, sizes[k]);
        if (p->loading && *sizes[k] > UINT32_MAX / 8) svmp_pack_refuse(p, "is damaged");
    }
    svmp_pack_reals(p, code->literal_count, &code->literals);
    svmp_pack_length(p, &code->count, 40);
    SVMP_PACK_NEW(p, code->instructions, code->count);
    for (size_t k = 0; k < code->count && p->status == SVMP_OK; k++) pack_instruction(p, code, &code->instructions[k]);
}

static void pack_recipe(packing *p, program_recipe *recipe) {
    svmp_pack_length(p, &recipe->literal_count, 8);
    svmp_pack_reals(p, recipe->literal_count, &recipe->literals);
    svmp_pack_length(p, &recipe->count, 32);
    SVMP_PACK_NEW(p, recipe->operations, recipe->count);
    for (size_t k = 0; k < recipe->count && p->status == SVMP_OK; k++) {
        recipe_operation *o = &recipe->operations[k];
        SVMP_PACK(p, o->op);
        for (int j = 0; j < 3; j++) SVMP_PACK(p, o->operand[j]);
        if (!p->loading) continue;
        if (o->op >= OP_COUNT || (o->op == OP_literal && o->operand[0] >= recipe->literal_count))
            svmp_pack_refuse(p, "is damaged");
        for (int j = 0; p->status == SVMP_OK && j < svmp_op_arity((expr_op)o->op); j++)
            if (o->operand[j] >= k) svmp_pack_refuse(p, "is damaged");
    }
}

/* Whether the sizes of the code are those of the program. */
static void check_sizes(packing *p, const program *compiled) {
    const size_t outputs = compiled->outputs, slots = compiled->slots, columns = compiled->columns;
    const code_block *v = &compiled->values, *g = &compiled->gradient, *i = &compiled->instance;
    bool good = v->columns == columns && v->inputs == slots && v->outputs == outputs && i->outputs == columns &&
                i->columns == compiled->parameters && i->inputs == 0;
    if (compiled->differentiated)
        good = good && outputs == 1 && g->columns == columns && g->inputs == slots && g->outputs == outputs + slots;
    if (!good) svmp_pack_refuse(p, "is damaged");
}

void svmp_program_pack(packing *p, program **compiled) {
    program *made = *compiled;
    SVMP_PACK_NEW(p, made, 1);
    if (p->status != SVMP_OK) return;
    *compiled = made;
    if (p->loading) made->context = p->context;
    size_t *sizes[] = {&made->slots, &made->parameters, &made->outputs, &made->columns};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) svmp_pack_count(p, sizes[k]);
    SVMP_PACK(p, made->degree);
    SVMP_PACK(p, made->differentiated);
    pack_block(p, &made->values);
    if (made->differentiated) pack_block(p, &made->gradient);
    pack_block(p, &made->instance);
    if (made->differentiated) pack_recipe(p, &made->recipe);
    if (p->loading && p->status == SVMP_OK) check_sizes(p, made);
}

void svmp_bound_pack(packing *p, const program *compiled, bound_program **bound) {
    bound_program *made = *bound;
    SVMP_PACK_NEW(p, made, 1);
    if (p->status != SVMP_OK) return;
    *bound = made;
    if (p->loading) made->compiled = compiled;
    svmp_pack_count(p, &made->instances);
    const size_t columns = compiled->columns;
    if (columns > 0 && made->instances > SIZE_MAX / 8 / columns) svmp_pack_refuse(p, "is damaged");
    if (p->status == SVMP_OK) svmp_pack_reals(p, columns * made->instances, &made->columns);
}
