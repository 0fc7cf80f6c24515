/* Extracts the code of a few derivatives from the code of all, in the same order and with the same arithmetic, so that
 * a lane has the same bits. */
#include <string.h>

#include "expr/instructions.h"

#define NOWHERE UINT32_MAX

/* Marks the instructions needed for the wanted outputs; `live` has a flag for every place, set for these outputs. */
static size_t mark(const code_block *code, unsigned char *live, unsigned char *kept) {
    size_t count = 0;
    for (size_t k = code->count; k-- > 0;) {
        const code_instruction *i = &code->instructions[k];
        kept[k] = live[i->out];
        if (!kept[k]) continue;
        count++;
        live[i->out] = 0; /* the register may hold another value before this instruction */
        for (int p = 0; p < 3; p++) live[i->operand[p]] = 1;
    }
    return count;
}

/* Renumbers registers in the order in which they are first written. Outputs that are not wanted but read by wanted ones
 * become registers. */
static void number_registers(const code_block *from, const unsigned char *kept, uint32_t *place, code_block *to) {
    for (size_t k = 0; k < from->count; k++) {
        const uint32_t out = from->instructions[k].out;
        if (kept[k] && place[out] == NOWHERE) place[out] = (uint32_t)to->registers++;
    }
}

static void number_others(const code_block *from, size_t count, const uint32_t *wanted, uint32_t *place,
                          const code_block *to) {
    for (size_t p = code_place_literals(from); p < code_place_outputs(from); p++)
        place[p] = (uint32_t)(p - from->registers + to->registers);
    for (size_t o = 0; o < count; o++)
        place[code_place_outputs(from) + wanted[o]] = (uint32_t)(code_place_outputs(to) + o);
}

/* The code of the outputs wanted[0], wanted[1], ... of `from`, ascending. */
static svmp_status extract(svmp_context *context, const code_block *from, size_t count, const uint32_t *wanted,
                           code_block *to) {
    svmp_status status;
    const size_t places = code_places(from);
    unsigned char *live = NULL, *kept = NULL;
    uint32_t *place = NULL;
    *to = (code_block){
        .literal_count = from->literal_count, .columns = from->columns, .inputs = from->inputs, .outputs = count};
    SVMP_CHECK(SVMP_NEW(context, live, places));
    SVMP_CHECK(SVMP_NEW(context, kept, from->count));
    SVMP_CHECK(SVMP_NEW(context, place, places));
    for (size_t p = 0; p < places; p++) place[p] = NOWHERE;
    for (size_t o = 0; o < count; o++) {
        live[code_place_outputs(from) + wanted[o]] = 1;
        place[code_place_outputs(from) + wanted[o]] = 0; /* not a register; numbered later */
    }
    to->count = mark(from, live, kept);
    number_registers(from, kept, place, to);
    number_others(from, count, wanted, place, to);

    SVMP_CHECK(SVMP_NEW(context, to->instructions, to->count));
    SVMP_CHECK(SVMP_NEW(context, to->literals, to->literal_count));
    if (to->literal_count > 0) memcpy(to->literals, from->literals, to->literal_count * sizeof *to->literals);
    for (size_t k = 0, next = 0; k < from->count; k++) {
        if (!kept[k]) continue;
        code_instruction made = from->instructions[k];
        made.out = place[made.out];
        for (int p = 0; p < 3; p++) made.operand[p] = place[made.operand[p]];
        to->instructions[next++] = made;
    }
done:
    svmp_release_all(context, live, kept, place);
    return status;
}

svmp_status svmp_program_partial(const program *compiled, size_t count, const uint32_t *slots,
                                 program_partial **partial) {
    svmp_context *context = compiled->context;
    svmp_status status;
    program_partial *made = NULL;
    uint32_t *wanted = NULL;
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (program_partial){.context = context};
    SVMP_CHECK(SVMP_NEW(context, wanted, count + 1));
    for (size_t k = 0; k < count; k++) wanted[k + 1] = (uint32_t)compiled->outputs + slots[k];
    SVMP_CHECK(extract(context, &compiled->gradient, count + 1, wanted, &made->both));
    SVMP_CHECK(extract(context, &compiled->gradient, count, wanted + 1, &made->gradient));
    *partial = made;
    made = NULL;
done:
    svmp_release(context, wanted);
    svmp_program_partial_free(made);
    return status;
}

void svmp_program_partial_free(program_partial *partial) {
    if (partial == NULL) return;
    svmp_code_free(partial->context, &partial->both);
    svmp_code_free(partial->context, &partial->gradient);
    svmp_code_free(partial->context, &partial->shared_both);
    svmp_code_free(partial->context, &partial->shared_gradient);
    svmp_release(partial->context, partial);
}

size_t svmp_program_partial_operations(const program_partial *partial, bool value) {
    const code_block *plain = value ? &partial->both : &partial->gradient;
    const code_block *shared = value ? &partial->shared_both : &partial->shared_gradient;
    return shared->shared > 0 ? shared->count - shared->shared : plain->count;
}
