/* What instances share: subexpressions of slots in which all of them have the same variable, such as exp of a
 * precision that stands in every factor of a loop, are put first and run once for many instances. */
#include <string.h>

#include "expr/code.h"

#define NOWHERE UINT32_MAX

/* A place of `from` holds one value after another; what is known of the one that it holds now. */
typedef struct held {
    uint32_t place;  /* in `to`: a register of its own list while registers are not yet counted */
    uint32_t writer; /* the instruction that computed it */
    bool shared;
} held;

typedef struct sharing {
    svmp_context *context;
    const code_block *from;
    code_block *to;
    held *now;                /* of each place */
    unsigned char *is_shared; /* of each instruction */
    unsigned char *is_read;   /* of each shared instruction: by one that is not */
    uint32_t *last;           /* of each shared instruction: the last shared one that reads it */
    uint32_t *free_registers;
    uint32_t *others; /* register -> where the instructions that are not shared have it */
    unsigned char *is_common;
} sharing;

/* ---- what is shared ---------------------------------------------------------------------------------------------- */

static bool is_output(const code_block *code, uint32_t place) { return place >= code_place_outputs(code); }
static bool is_input(const code_block *code, uint32_t place) {
    return place >= code_place_inputs(code) && !is_output(code, place);
}
static bool is_computed(const code_block *code, uint32_t place) {
    return place < code->registers || is_output(code, place);
}

static void begin(sharing *s, const unsigned char *same) {
    const code_block *from = s->from;
    const size_t columns = code_place_columns(from), inputs = code_place_inputs(from);
    for (size_t p = 0; p < code_places(from); p++) {
        s->now[p] = (held){NOWHERE, NOWHERE, false};
        if (p >= code_place_literals(from) && p < columns) s->now[p].shared = true;
        if (p >= columns && p < inputs) s->now[p].shared = same[from->inputs + p - columns];
        if (is_input(from, (uint32_t)p)) s->now[p].shared = same[p - inputs];
    }
}

/* Marks what is shared and who reads it; returns how many instructions are, and of how many results copies go to
 * outputs. */
static size_t mark(sharing *s, size_t *copies) {
    const code_block *from = s->from;
    size_t count = 0;
    *copies = 0;
    for (uint32_t k = 0; k < from->count; k++) {
        const code_instruction *i = &from->instructions[k];
        bool shared = i->code != CODE_COPY;
        for (int p = 0; p < 3; p++) shared = shared && s->now[i->operand[p]].shared;
        s->is_shared[k] = shared;
        for (int p = 0; p < 3; p++) {
            const held *read = &s->now[i->operand[p]];
            if (shared && is_input(from, i->operand[p])) s->is_common[i->operand[p] - code_place_inputs(from)] = 1;
            if (!is_computed(from, i->operand[p]) || !read->shared) continue;
            if (shared)
                s->last[read->writer] = k;
            else
                s->is_read[read->writer] = 1;
        }
        s->now[i->out] = (held){NOWHERE, k, shared};
        s->last[k] = k;
        if (shared && is_output(from, i->out)) s->is_read[k] = 1, ++*copies;
        count += shared;
    }
    return count;
}

/* ---- the code ---------------------------------------------------------------------------------------------------- */

/* Registers of what is shared come first; they are free again after the last reader, unless the others read them. */
static void place_shared(sharing *s, uint32_t *registers) {
    size_t free_count = 0;
    for (uint32_t k = 0; k < s->from->count; k++) {
        const code_instruction *i = &s->from->instructions[k];
        if (s->is_shared[k]) {
            for (int p = 0; p < 3; p++) {
                const held *read = &s->now[i->operand[p]];
                if (!is_computed(s->from, i->operand[p]) || s->is_read[read->writer] || s->last[read->writer] != k)
                    continue;
                s->last[read->writer] = NOWHERE; /* once, for an operand that stands twice */
                s->free_registers[free_count++] = registers[read->writer];
            }
            registers[k] = free_count > 0 ? s->free_registers[--free_count] : (uint32_t)s->to->registers++;
            if (s->is_read[k]) s->to->carried[s->to->carried_count++] = registers[k];
        }
        s->now[i->out] = (held){NOWHERE, k, s->is_shared[k]};
    }
}

/* The registers of the others behind them, in the order in which they are first written. */
static void place_others(sharing *s) {
    for (size_t r = 0; r < s->from->registers; r++) s->others[r] = NOWHERE;
    for (size_t k = 0; k < s->from->count; k++) {
        const uint32_t out = s->from->instructions[k].out;
        if (!s->is_shared[k] && out < s->from->registers && s->others[out] == NOWHERE)
            s->others[out] = (uint32_t)s->to->registers++;
    }
}

/* Where what the place holds now is in the new code. */
static uint32_t find(const sharing *s, const uint32_t *registers, uint32_t place) {
    const held *now = &s->now[place];
    if (is_computed(s->from, place) && now->shared) return registers[now->writer];
    if (place < s->from->registers) return s->others[place];
    return (uint32_t)(place - s->from->registers + s->to->registers);
}

/* The instructions that are shared, or the others, with copies of shared results that are outputs. */
static void write_some(sharing *s, const uint32_t *registers, bool shared, size_t *next) {
    for (uint32_t k = 0; k < s->from->count; k++) {
        const code_instruction *i = &s->from->instructions[k];
        code_instruction made = *i;
        for (int p = 0; p < 3; p++) made.operand[p] = find(s, registers, i->operand[p]);
        s->now[i->out] = (held){NOWHERE, k, s->is_shared[k]};
        made.out = find(s, registers, i->out);
        if (s->is_shared[k] == shared) s->to->instructions[(*next)++] = made;
        if (shared || !s->is_shared[k] || !is_output(s->from, i->out)) continue;
        code_instruction copy = {.code = CODE_COPY,
                                 .out = (uint32_t)(i->out - s->from->registers + s->to->registers),
                                 .operand = {made.out, made.out, made.out}};
        for (int mode = 0; mode < BLOCK_MODES; mode++) copy.kernel[mode] = svmp_kernels()->copy(0);
        s->to->instructions[(*next)++] = copy;
    }
}

static svmp_status write_all(sharing *s, const unsigned char *same, size_t shared, size_t copies) {
    svmp_status status;
    code_block *to = s->to;
    uint32_t *registers = NULL;
    size_t next = 0;
    SVMP_CHECK(SVMP_NEW(s->context, registers, s->from->count));
    SVMP_CHECK(SVMP_NEW(s->context, to->carried, shared));
    SVMP_CHECK(SVMP_NEW(s->context, to->common, to->inputs));
    SVMP_CHECK(SVMP_NEW(s->context, to->literals, to->literal_count));
    SVMP_CHECK(SVMP_NEW(s->context, to->instructions, s->from->count + copies));
    if (to->literal_count > 0) memcpy(to->literals, s->from->literals, to->literal_count * sizeof *to->literals);
    for (uint32_t j = 0; j < to->inputs; j++)
        if (s->is_common[j]) to->common[to->common_count++] = j;
    begin(s, same);
    place_shared(s, registers);
    place_others(s);
    begin(s, same);
    write_some(s, registers, true, &next);
    begin(s, same);
    write_some(s, registers, false, &next);
    to->shared = shared;
    to->count = next;
done:
    svmp_release(s->context, registers);
    if (status != SVMP_OK) svmp_code_free(s->context, to);
    return status;
}

svmp_status svmp_code_share(svmp_context *context, const code_block *from, const unsigned char *same, code_block *to) {
    svmp_status status;
    sharing s = {.context = context, .from = from, .to = to};
    size_t copies;
    *to = (code_block){.literal_count = from->literal_count,
                       .columns = from->columns,
                       .inputs = from->inputs,
                       .outputs = from->outputs};
    SVMP_CHECK(SVMP_NEW(context, s.now, code_places(from)));
    SVMP_CHECK(SVMP_NEW(context, s.is_shared, from->count));
    SVMP_CHECK(SVMP_NEW(context, s.is_read, from->count));
    SVMP_CHECK(SVMP_NEW(context, s.last, from->count));
    SVMP_CHECK(SVMP_NEW(context, s.free_registers, from->count));
    SVMP_CHECK(SVMP_NEW(context, s.others, from->registers));
    SVMP_CHECK(SVMP_NEW(context, s.is_common, from->inputs));
    begin(&s, same);
    const size_t shared = mark(&s, &copies);
    if (shared > 0)
        SVMP_CHECK(write_all(&s, same, shared, copies));
    else
        *to = (code_block){0};
done:;
    void *const arrays[] = {s.now, s.is_shared, s.is_read, s.last, s.free_registers, s.others, s.is_common};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    if (status != SVMP_OK) *to = (code_block){0};
    return status;
}

/* ---- of a bound program ------------------------------------------------------------------------------------------ */

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static bool is_one_number(size_t instances, const double *column) {
    size_t k = 1;
    while (k < instances && bits_of(column[k]) == bits_of(column[0])) k++;
    return k >= instances;
}

static bool is_one_variable(size_t instances, size_t slots, const uint32_t *variables) {
    size_t k = 1;
    while (k < instances && variables[k * slots] == variables[0]) k++;
    return k >= instances;
}

static svmp_status share_same(bound_program *bound) {
    const program *compiled = bound->compiled;
    SVMP_TRY(svmp_code_share(compiled->context, &compiled->values, bound->same, &bound->values));
    if (!compiled->differentiated) return SVMP_OK;
    return svmp_code_share(compiled->context, &compiled->gradient, bound->same, &bound->gradient);
}

/* `same` has its flags of slots. */
static svmp_status share_slots(bound_program *bound) {
    const program *compiled = bound->compiled;
    bool any = false;
    for (size_t j = 0; j < compiled->slots; j++) any = any || bound->same[j];
    for (size_t h = 0; any && h < compiled->columns; h++)
        bound->same[compiled->slots + h] = is_one_number(bound->instances, bound->columns + h * bound->instances);
    return any ? share_same(bound) : SVMP_OK;
}

svmp_status svmp_bound_share(bound_program *bound, const uint32_t *variables) {
    const program *compiled = bound->compiled;
    const size_t slots = compiled->slots;
    if (bound->same || bound->instances < 2) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(compiled->context, bound->same, slots + compiled->columns));
    for (size_t j = 0; j < slots; j++) bound->same[j] = is_one_variable(bound->instances, slots, variables + j);
    return share_slots(bound);
}

svmp_status svmp_bound_share_as(bound_program *bound, const bound_program *other) {
    const size_t slots = bound->compiled->slots;
    if (other->same == NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(bound->compiled->context, bound->same, slots + bound->compiled->columns));
    if (slots > 0) memcpy(bound->same, other->same, slots);
    return share_slots(bound);
}

static svmp_status share_instead(svmp_context *context, const unsigned char *same, code_block *code) {
    code_block made = {0};
    SVMP_TRY(svmp_code_share(context, code, same, &made));
    if (made.shared == 0) return SVMP_OK;
    svmp_code_free(context, code);
    *code = made;
    return SVMP_OK;
}

svmp_status svmp_bound_partial(const bound_program *bound, size_t count, const uint32_t *slots,
                               program_partial **partial) {
    svmp_context *context = bound->compiled->context;
    program_partial *made = NULL;
    SVMP_TRY(svmp_program_partial(bound->compiled, count, slots, &made));
    svmp_status status = SVMP_OK;
    if (bound->same) status = share_instead(context, bound->same, &made->both);
    if (bound->same && status == SVMP_OK) status = share_instead(context, bound->same, &made->gradient);
    if (status == SVMP_OK)
        *partial = made;
    else
        svmp_program_partial_free(made);
    return status;
}
