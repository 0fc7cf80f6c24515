/* Shared code: subexpressions of slots in which all instances have the same variable, such as exp of a precision that
 * is part of every factor of a loop, are put first and run once for many instances. If they also read one column with
 * few distinct numbers, such as data that are 0 or 1, there is a variant for each number, and an instance uses its own.
 * */
#include <string.h>

#include "base/hash.h"
#include "expr/instructions.h"

#define NOWHERE UINT32_MAX

enum { MOST_VARIANTS = 512 }; /* the limit on instructions of variants; beyond it there are no variants */

/* The current value in a place of `from`, which holds several values one after another. */
typedef struct held {
    uint32_t writer; /* the instruction that computed it */
    uint32_t column; /* the column of its variants; NOWHERE: no variants */
    bool shared;
} held;

typedef struct sharing {
    svmp_context *context;
    const code_block *from;
    code_block *to;
    const shared_parts *known;
    bool without_variants;
    held *now;                /* of each place */
    unsigned char *is_shared; /* of each instruction */
    uint32_t *column;         /* for each instruction: the column of its variants, or NOWHERE */
    uint32_t
        *registers;   /* for each shared instruction: the register of its result; those of variants are consecutive */
    uint32_t *choice; /* for each instruction with variants that others read: the register of the variant to use */
    size_t *literal;  /* for each column: its first number among the literals */
    unsigned char *is_read; /* for each shared instruction: whether an unshared one reads it */
    uint32_t *last;         /* for each shared instruction: the last shared one that reads it */
    uint32_t *free_registers;
    uint32_t *others; /* register -> its new number in the unshared instructions */
    unsigned char *is_common;
} sharing;

/* ---- shared instructions ----------------------------------------------------------------------------------------- */

static bool is_output(const code_block *code, uint32_t place) { return place >= code_place_outputs(code); }
static bool is_input(const code_block *code, uint32_t place) {
    return place >= code_place_inputs(code) && !is_output(code, place);
}
static bool is_computed(const code_block *code, uint32_t place) {
    return place < code->registers || is_output(code, place);
}

/* The places before the first instruction. */
static void begin(sharing *s) {
    const code_block *from = s->from;
    const size_t columns = code_place_columns(from), inputs = code_place_inputs(from);
    for (size_t p = 0; p < code_places(from); p++) {
        s->now[p] = (held){NOWHERE, NOWHERE, false};
        if (p >= code_place_literals(from) && p < columns) s->now[p].shared = true;
        if (is_input(from, (uint32_t)p)) s->now[p].shared = s->known->slot[p - inputs];
        if (p < columns || p >= inputs) continue;
        const size_t numbers = s->known->column[p - columns].count;
        s->now[p].shared = numbers == 1 || (numbers > 1 && !s->without_variants);
        if (numbers > 1) s->now[p].column = (uint32_t)(p - columns);
    }
}

/* The result of instruction k given its operands: shared if all of them are, with variants of at most one column. */
static held result_of(const sharing *s, uint32_t k) {
    const code_instruction *i = &s->from->instructions[k];
    held made = {k, NOWHERE, i->code != CODE_COPY};
    for (int p = 0; p < 3; p++) {
        const held *read = &s->now[i->operand[p]];
        made.shared = made.shared && read->shared &&
                      (read->column == NOWHERE || made.column == NOWHERE || read->column == made.column);
        if (read->column != NOWHERE) made.column = read->column;
    }
    if (!made.shared) made.column = NOWHERE;
    return made;
}

static size_t variants_of(const sharing *s, uint32_t column) {
    return column == NOWHERE ? 1 : s->known->column[column].count;
}

typedef struct counts {
    size_t shared, variants, copies,
        choices; /* numbers of instructions, of variants, of copies to outputs, of choices */
} counts;

/* Marks shared instructions and their readers. */
static counts mark(sharing *s) {
    const code_block *from = s->from;
    counts found = {0};
    begin(s);
    memset(s->is_read, 0, from->count);
    memset(s->is_common, 0, from->inputs);
    for (uint32_t k = 0; k < from->count; k++) {
        const code_instruction *i = &from->instructions[k];
        const held made = result_of(s, k);
        for (int p = 0; p < 3; p++) {
            const held *read = &s->now[i->operand[p]];
            if (made.shared && is_input(from, i->operand[p])) s->is_common[i->operand[p] - code_place_inputs(from)] = 1;
            if (!is_computed(from, i->operand[p]) || !read->shared) continue;
            if (made.shared)
                s->last[read->writer] = k;
            else
                s->is_read[read->writer] = 1;
        }
        s->is_shared[k] = made.shared;
        s->column[k] = made.column;
        s->now[i->out] = made;
        s->last[k] = k;
        if (made.shared && is_output(from, i->out)) s->is_read[k] = 1, found.copies++;
        if (made.shared) found.shared += variants_of(s, made.column);
        if (made.column != NOWHERE) found.variants += variants_of(s, made.column);
    }
    for (uint32_t k = 0; k < from->count; k++) found.choices += s->column[k] != NOWHERE && s->is_read[k];
    return found;
}

/* ---- the code ---------------------------------------------------------------------------------------------------- */

/* Releases registers of operands that instruction k reads for the last time; those of variants are not reused. */
static void free_operands(sharing *s, uint32_t k, size_t *free_count) {
    const code_instruction *i = &s->from->instructions[k];
    for (int p = 0; p < 3; p++) {
        const held *read = &s->now[i->operand[p]];
        if (!is_computed(s->from, i->operand[p]) || read->column != NOWHERE || s->is_read[read->writer] ||
            s->last[read->writer] != k)
            continue;
        s->last[read->writer] = NOWHERE; /* an operand that occurs twice is released once */
        s->free_registers[(*free_count)++] = s->registers[read->writer];
    }
}

/* Registers of shared results come first; they are released after the last reader, unless unshared instructions read
 * them. */
static void place_shared(sharing *s) {
    code_block *to = s->to;
    size_t free_count = 0;
    begin(s);
    for (uint32_t k = 0; k < s->from->count; k++) {
        if (s->is_shared[k] && s->column[k] == NOWHERE) {
            free_operands(s, k, &free_count);
            s->registers[k] = free_count > 0 ? s->free_registers[--free_count] : (uint32_t)to->registers++;
            if (s->is_read[k]) to->carried[to->carried_count++] = s->registers[k];
        } else if (s->is_shared[k]) { /* all variants read the operands before one of their registers is written again
                                       */
            s->registers[k] = (uint32_t)to->registers;
            to->registers += variants_of(s, s->column[k]);
            free_operands(s, k, &free_count);
        }
        s->now[s->from->instructions[k].out] = (held){k, s->column[k], s->is_shared[k]};
    }
}

/* Then the registers of unshared instructions, in the order in which they are first written; then those of choices. */
static void place_others(sharing *s) {
    code_block *to = s->to;
    for (size_t r = 0; r < s->from->registers; r++) s->others[r] = NOWHERE;
    for (size_t k = 0; k < s->from->count; k++) {
        const uint32_t out = s->from->instructions[k].out;
        if (!s->is_shared[k] && out < s->from->registers && s->others[out] == NOWHERE)
            s->others[out] = (uint32_t)to->registers++;
    }
    for (size_t k = 0; k < s->from->count; k++) {
        if (s->column[k] == NOWHERE || !s->is_read[k]) continue;
        s->choice[k] = (uint32_t)to->registers++;
        to->choices[to->choice_count++] = (code_choice){s->column[k], s->registers[k], s->choice[k]};
        const size_t variants = variants_of(s, s->column[k]);
        to->variants = variants > to->variants ? variants : to->variants;
    }
}

/* The place of the current value in the new code: for variant v of an instruction of `column`, or for unshared
 * instructions. */
static uint32_t find(const sharing *s, uint32_t place, bool shared, uint32_t column, size_t v) {
    const code_block *from = s->from, *to = s->to;
    const held *now = &s->now[place];
    if (is_computed(from, place) && now->shared)
        return now->column == NOWHERE ? s->registers[now->writer]
               : shared               ? s->registers[now->writer] + (uint32_t)v
                                      : s->choice[now->writer];
    if (place < from->registers) return s->others[place];
    if (place < code_place_columns(from)) return (uint32_t)(place - from->registers + to->registers);
    if (shared && now->column != NOWHERE && now->column == column)
        return (uint32_t)(code_place_literals(to) + s->literal[column] + v);
    return (uint32_t)(place - code_place_columns(from) + code_place_columns(to));
}

static void write_shared(sharing *s, size_t *next) {
    begin(s);
    for (uint32_t k = 0; k < s->from->count; k++) {
        const code_instruction *i = &s->from->instructions[k];
        for (size_t v = 0; s->is_shared[k] && v < variants_of(s, s->column[k]); v++) {
            code_instruction made = *i;
            for (int p = 0; p < 3; p++) made.operand[p] = find(s, i->operand[p], true, s->column[k], v);
            made.out = s->registers[k] + (uint32_t)v;
            s->to->instructions[(*next)++] = made;
        }
        s->now[i->out] = (held){k, s->column[k], s->is_shared[k]};
    }
}

/* The unshared instructions, and copies of shared results that are outputs. */
static void write_others(sharing *s, size_t *next) {
    begin(s);
    for (uint32_t k = 0; k < s->from->count; k++) {
        const code_instruction *i = &s->from->instructions[k];
        code_instruction made = *i;
        for (int p = 0; p < 3; p++) made.operand[p] = find(s, i->operand[p], false, NOWHERE, 0);
        s->now[i->out] = (held){k, s->column[k], s->is_shared[k]};
        made.out = find(s, i->out, false, NOWHERE, 0);
        if (!s->is_shared[k]) s->to->instructions[(*next)++] = made;
        if (!s->is_shared[k] || !is_output(s->from, i->out)) continue;
        const size_t output = i->out - code_place_outputs(s->from) + code_place_outputs(s->to);
        code_instruction copy = {.code = CODE_COPY, .out = (uint32_t)output, .operand = {made.out, made.out, made.out}};
        for (int mode = 0; mode < BLOCK_MODES; mode++) copy.kernel[mode] = svmp_kernels()->copy(0);
        s->to->instructions[(*next)++] = copy;
    }
}

/* The literals of the code, then the numbers of columns that have variants. */
static svmp_status write_literals(sharing *s) {
    const code_block *from = s->from;
    code_block *to = s->to;
    for (size_t h = 0; h < from->columns; h++) {
        s->literal[h] = to->literal_count;
        if (s->known->column[h].count > 1 && !s->without_variants) to->literal_count += s->known->column[h].count;
    }
    SVMP_TRY(SVMP_NEW(s->context, to->literals, to->literal_count));
    if (from->literal_count > 0) memcpy(to->literals, from->literals, from->literal_count * sizeof *to->literals);
    for (size_t h = 0; h < from->columns && !s->without_variants; h++)
        for (size_t v = 0; s->known->column[h].count > 1 && v < s->known->column[h].count; v++)
            to->literals[s->literal[h] + v] = s->known->column[h].number[v];
    return SVMP_OK;
}

static svmp_status write_all(sharing *s, counts found) {
    code_block *to = s->to;
    SVMP_TRY(SVMP_NEW(s->context, to->carried, found.shared));
    SVMP_TRY(SVMP_NEW(s->context, to->choices, found.choices));
    SVMP_TRY(SVMP_NEW(s->context, to->common, to->inputs));
    SVMP_TRY(SVMP_NEW(s->context, to->instructions, s->from->count + found.shared + found.copies));
    SVMP_TRY(write_literals(s));
    for (uint32_t j = 0; j < to->inputs; j++)
        if (s->is_common[j]) to->common[to->common_count++] = j;
    to->variants = 1;
    place_shared(s);
    place_others(s);
    write_shared(s, &to->count);
    to->shared = to->count;
    write_others(s, &to->count);
    return SVMP_OK;
}

static svmp_status alloc_arrays(sharing *s) {
    svmp_context *context = s->context;
    const size_t count = s->from->count;
    SVMP_TRY(SVMP_NEW(context, s->now, code_places(s->from)));
    SVMP_TRY(SVMP_NEW(context, s->is_shared, count));
    SVMP_TRY(SVMP_NEW(context, s->is_read, count));
    SVMP_TRY(SVMP_NEW(context, s->column, count));
    SVMP_TRY(SVMP_NEW(context, s->registers, count));
    SVMP_TRY(SVMP_NEW(context, s->choice, count));
    SVMP_TRY(SVMP_NEW(context, s->last, count));
    SVMP_TRY(SVMP_NEW(context, s->free_registers, count));
    SVMP_TRY(SVMP_NEW(context, s->literal, s->from->columns));
    SVMP_TRY(SVMP_NEW(context, s->others, s->from->registers));
    return SVMP_NEW(context, s->is_common, s->from->inputs);
}

/* The same code with shared instructions first. The operations and numbers are the same, so a lane has the same bits.
 * `to` stays empty if nothing is shared. */
static svmp_status share_code(svmp_context *context, const code_block *from, const shared_parts *known,
                              code_block *to) {
    sharing s = {.context = context, .from = from, .to = to, .known = known};
    *to = (code_block){.literal_count = from->literal_count,
                       .columns = from->columns,
                       .inputs = from->inputs,
                       .outputs = from->outputs};
    svmp_status status = alloc_arrays(&s);
    counts found = {0};
    if (status == SVMP_OK) found = mark(&s);
    if (found.variants > MOST_VARIANTS) {
        s.without_variants = true;
        found = mark(&s);
    }
    if (status == SVMP_OK && found.shared > 0) status = write_all(&s, found);
    if (status != SVMP_OK || found.shared == 0) svmp_code_free(context, to);
    svmp_release_all(context, s.now, s.is_shared, s.is_read, s.column, s.registers, s.choice, s.last, s.free_registers,
                     s.literal, s.others, s.is_common);
    return status;
}

/* ---- bound programs ---------------------------------------------------------------------------------------------- */

/* The distinct numbers of a column; none if there are more than SHARED_NUMBERS. which[k] is the index of instance k's
 * number. */
static column_numbers numbers_of(size_t instances, const double *column, unsigned char *which) {
    column_numbers made = {0};
    for (size_t k = 0; k < instances; k++) {
        size_t v = 0;
        while (v < made.count && svmp_double_bits(made.number[v]) != svmp_double_bits(column[k])) v++;
        if (v == SHARED_NUMBERS) return (column_numbers){0};
        if (v == made.count) made.number[made.count++] = column[k];
        which[k] = (unsigned char)v;
    }
    return made;
}

static bool is_one_variable(size_t instances, size_t slots, const uint32_t *variables) {
    size_t k = 1;
    while (k < instances && variables[k * slots] == variables[0]) k++;
    return k >= instances;
}

/* The properties of slots are known. */
static svmp_status share_slots(bound_program *bound) {
    const program *compiled = bound->compiled;
    const size_t instances = bound->instances;
    bool any = false;
    for (size_t j = 0; j < compiled->slots; j++) any = any || bound->known.slot[j];
    if (!any) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(compiled->context, bound->which, compiled->columns * instances));
    SVMP_TRY(SVMP_NEW(compiled->context, bound->known.column, compiled->columns));
    for (size_t h = 0; h < compiled->columns; h++)
        bound->known.column[h] = numbers_of(instances, bound->columns + h * instances, bound->which + h * instances);
    SVMP_TRY(share_code(compiled->context, &compiled->values, &bound->known, &bound->values));
    if (!compiled->differentiated) return SVMP_OK;
    return share_code(compiled->context, &compiled->gradient, &bound->known, &bound->gradient);
}

svmp_status svmp_bound_share(bound_program *bound, const uint32_t *variables) {
    const size_t slots = bound->compiled->slots;
    if (bound->known.slot || bound->instances < 2) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(bound->compiled->context, bound->known.slot, slots));
    for (size_t j = 0; j < slots; j++) bound->known.slot[j] = is_one_variable(bound->instances, slots, variables + j);
    return share_slots(bound);
}

svmp_status svmp_bound_share_as(bound_program *bound, const bound_program *other) {
    if (other->known.slot == NULL || bound->instances < 2) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(bound->compiled->context, bound->known.slot, bound->compiled->slots));
    if (bound->compiled->slots > 0) memcpy(bound->known.slot, other->known.slot, bound->compiled->slots);
    return share_slots(bound);
}

svmp_status svmp_bound_partial(const bound_program *bound, size_t count, const uint32_t *slots,
                               program_partial **partial) {
    svmp_context *context = bound->compiled->context;
    program_partial *made = NULL;
    svmp_status status = svmp_program_partial(bound->compiled, count, slots, &made);
    if (status == SVMP_OK && bound->known.column)
        status = share_code(context, &made->both, &bound->known, &made->shared_both);
    if (status == SVMP_OK && bound->known.column)
        status = share_code(context, &made->gradient, &bound->known, &made->shared_gradient);
    if (status == SVMP_OK)
        *partial = made;
    else
        svmp_program_partial_free(made);
    return status;
}
