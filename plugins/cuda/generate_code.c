/* An instruction becomes a line: a value has the number of its instruction, so that the compiler sees what is read
 * when, and inputs and columns are read where they are needed first. */
#include "cuda/generate_code.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "maths/special.h"

#include "cuda/interpret_code.h"

typedef struct writer {
    const svmp_host *host;
    char *text;
    size_t length, capacity;
} writer;

__attribute__((format(printf, 2, 3))) static svmp_status put(writer *w, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const size_t longer = (size_t)vsnprintf(NULL, 0, format, arguments);
    const svmp_status status = CUDA_GROW(w->host, w->text, w->capacity, w->length + longer + 1);
    if (status == SVMP_OK) w->length += (size_t)vsnprintf(w->text + w->length, longer + 1, format, again);
    va_end(again);
    va_end(arguments);
    return status;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const char *name_of(uint32_t code) {
    switch (code) {
#define OP1(name, value, da)         case OP_##name: return #name;
#define OP2(name, value, da, db)     case OP_##name: return #name;
#define OP3(name, value, da, db, dc) case OP_##name: return #name;
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
#define ROW(first, second, value) case CODE_PAIRS + PAIR_##first##_##second: return #first "_" #second;
    PAIR_LIST(ROW)
#undef ROW
    default: return NULL;
    }
}

/* The value as C. Products that are values are rounded before another instruction adds something. */
static const char *value_of(uint32_t code) {
    switch (code) {
    case OP_multiply: return "PRODUCT(a, b)";
    case OP_square: return "PRODUCT(a, a)";
    case OP_masked_multiply: return "a == 0 ? 0 : PRODUCT(a, b)";
    default: break;
    }
    switch (code) {
#define OP1(name, value, da)         case OP_##name: return #value;
#define OP2(name, value, da, db)     case OP_##name: return #value;
#define OP3(name, value, da, db, dc) case OP_##name: return #value;
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
#define ROW(first, second, value) case CODE_PAIRS + PAIR_##first##_##second: return #value;
    PAIR_LIST(ROW)
#undef ROW
    default: return NULL;
    }
}
/* clang-format on */

/* Whether the last operation of a function's value may be a product. */
static int is_function(uint32_t code) {
    return is_special(code) || code == OP_exp || code == OP_log || code == OP_expm1 || code == OP_log1p ||
           code == OP_logistic_tail || code == OP_log_ilogit_by_tail;
}

static svmp_status put_operations(writer *w, size_t count, const program_code *const *list) {
    unsigned char used[CODE_COPY + 1] = {0};
    int special = 0;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < list[g]->count; i++) used[list[g]->code[i].code] = 1;
    for (uint32_t code = 0; code < CODE_COPY; code++) special |= used[code] && is_special(code);
    if (special) CUDA_TRY(put(w, "#include \"cuda/device_special.h\"\n"));
    CUDA_TRY(put(w, "\n"));
    for (uint32_t code = 0; code < CODE_COPY; code++)
        if (used[code])
            CUDA_TRY(put(w, is_function(code) ? "OPERATION(%s, ROUNDED(%s))\n" : "OPERATION(%s, %s)\n", name_of(code),
                         value_of(code)));
    return SVMP_OK;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

enum { NEVER = UINT32_MAX };

/* Which instruction has written what is in a register or an output; and what was read already. */
typedef struct program_state {
    uint32_t *registers, *outputs;
    unsigned char *inputs, *columns;
} program_state;

/* Exactly, in any locale. */
static svmp_status put_literal(writer *w, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const char *sign = bits >> 63 ? "-" : "";
    const int exponent = (int)(bits >> 52 & 2047);
    const unsigned long long fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 2047) return put(w, "%s", fraction ? "NAN" : bits >> 63 ? "-INFINITY" : "INFINITY");
    if (exponent == 0) return put(w, fraction ? "%s0x0.%013llxp-1022" : "%s0x0p+0", sign, fraction);
    return put(w, "%s0x1.%013llxp%+d", sign, fraction, exponent - 1023);
}

static svmp_status put_operand(writer *w, const program_code *p, const program_state *s, uint32_t place) {
    const uint32_t number = place & ((1u << PLACE_SHIFT) - 1), kind = place >> PLACE_SHIFT;
    switch (kind) {
    case PLACE_LITERAL: return put_literal(w, p->literals[number]);
    case PLACE_COLUMN: return put(w, "c%u", number);
    case PLACE_INPUT: return put(w, "x%u[j]", number);
    default: break;
    }
    const uint32_t by = kind == PLACE_REGISTER ? s->registers[number] : s->outputs[number];
    return by == NEVER ? put(w, "0") : put(w, "v%u[j]", by);
}

/* Reads an input or a column if this is the first to ask for it. */
static svmp_status put_read(writer *w, const program_state *s, uint32_t place) {
    const uint32_t number = place & ((1u << PLACE_SHIFT) - 1), kind = place >> PLACE_SHIFT;
    if (kind != PLACE_INPUT && kind != PLACE_COLUMN) return SVMP_OK;
    unsigned char *seen = kind == PLACE_INPUT ? &s->inputs[number] : &s->columns[number];
    if (*seen) return SVMP_OK;
    *seen = 1;
    return put(w, kind == PLACE_INPUT ? "    INPUT(x%u, %u)\n" : "    COLUMN(c%u, %u)\n", number, number);
}

static svmp_status put_instruction(writer *w, const program_code *p, const program_state *s, uint32_t i) {
    const device_instruction *here = &p->code[i];
    const uint32_t number = here->out & ((1u << PLACE_SHIFT) - 1);
    for (uint32_t k = 0; k < here->operands; k++) CUDA_TRY(put_read(w, s, here->operand[k]));
    if (here->code == CODE_COPY)
        CUDA_TRY(put(w, "    COPY(v%u", i));
    else
        CUDA_TRY(put(w, "    VALUE(v%u, %s", i, name_of(here->code)));
    for (uint32_t k = 0; k < (here->code == CODE_COPY ? 1 : 3); k++) {
        CUDA_TRY(put(w, ", "));
        if (k < here->operands)
            CUDA_TRY(put_operand(w, p, s, here->operand[k]));
        else
            CUDA_TRY(put(w, "0"));
    }
    CUDA_TRY(put(w, ")\n"));
    const int is_output = here->out >> PLACE_SHIFT == PLACE_OUTPUT;
    *(is_output ? &s->outputs[number] : &s->registers[number]) = i;
    return is_output ? put(w, "    OUTPUT(%u, v%u[j])\n", number, i) : SVMP_OK;
}

/* One more than the largest number of a kind of place. */
static size_t count_places(const program_code *p, uint32_t kind) {
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k <= p->code[i].operands; k++) {
            const uint32_t place = k < p->code[i].operands ? p->code[i].operand[k] : p->code[i].out;
            const uint32_t number = place & ((1u << PLACE_SHIFT) - 1);
            if (place >> PLACE_SHIFT == kind && number >= count) count = (size_t)number + 1;
        }
    return count;
}

static svmp_status put_program(writer *w, const program_code *p, size_t number) {
    program_state s = {0};
    svmp_status status;
    const size_t registers = count_places(p, PLACE_REGISTER), outputs = count_places(p, PLACE_OUTPUT);
    CUDA_CHECK(CUDA_NEW(w->host, s.registers, registers + 1));
    CUDA_CHECK(CUDA_NEW(w->host, s.outputs, outputs + 1));
    CUDA_CHECK(CUDA_NEW(w->host, s.inputs, count_places(p, PLACE_INPUT) + 1));
    CUDA_CHECK(CUDA_NEW(w->host, s.columns, count_places(p, PLACE_COLUMN) + 1));
    for (size_t k = 0; k < registers; k++) s.registers[k] = NEVER;
    for (size_t k = 0; k < outputs; k++) s.outputs[k] = NEVER;
    CUDA_CHECK(put(w, "\nBODY void program_%zu(const generated_lane *at) {\n", number));
    for (size_t i = 0; i < p->count; i++) CUDA_CHECK(put_instruction(w, p, &s, (uint32_t)i));
    CUDA_CHECK(put(w, "}\n"));
done:
    svmp_host_release_all(w->host, s.registers, s.outputs, s.inputs, s.columns);
    return status;
}

void svmp_program_code_free(const svmp_host *host, program_code *p) {
    svmp_host_release_all(host, p->code, p->literals, p->rows);
    *p = (program_code){0};
}

int svmp_generate_same(const program_code *p, const program_code *q) {
    if (p->count != q->count || p->slots != q->slots || p->literal_count != q->literal_count) return 0;
    return memcmp(p->code, q->code, p->count * sizeof *p->code) == 0 &&
           memcmp(p->literals, q->literals, p->literal_count * sizeof *p->literals) == 0;
}

/* Programs that are the same share a case. */
static svmp_status put_set(writer *w, size_t set, size_t from, size_t to, const size_t *same,
                           const program_code *const *list) {
    CUDA_TRY(put(w, "\nPROGRAMS(generated_%zu,", set));
    for (size_t g = from; g < to; g++) {
        size_t earlier = from;
        while (same[earlier] != same[g]) earlier++;
        if (earlier < g) continue;
        CUDA_TRY(put(w, "\n    "));
        for (size_t h = g; h < to; h++)
            if (same[h] == same[g]) CUDA_TRY(put(w, "case %zu: ", h - from));
        CUDA_TRY(put(w, "generated_begin(at, k, %u); program_%zu(at); break;", list[g]->slots, same[g]));
    }
    return put(w, ")\n");
}

svmp_status svmp_generate(const svmp_host *host, size_t sets, const size_t *first, const program_code *const *list,
                          unsigned width, char **text) {
    writer w = {host, NULL, 0, 0};
    const size_t count = first[sets];
    size_t *same = NULL; /* the first program that is the same */
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(host, same, count));
    for (size_t g = 0; g < count; g++)
        while (!svmp_generate_same(list[same[g]], list[g])) same[g]++;
    CUDA_CHECK(put(&w, "#define WIDTH %u\n#include \"cuda/generated_words.h\"\n", width));
    CUDA_CHECK(put_operations(&w, count, list));
    for (size_t g = 0; g < count; g++)
        if (same[g] == g) CUDA_CHECK(put_program(&w, list[g], g));
    for (size_t s = 0; s < sets; s++) CUDA_CHECK(put_set(&w, s, first[s], first[s + 1], same, list));
done:
    svmp_host_release(host, same);
    if (status != SVMP_OK) {
        svmp_host_release(host, w.text);
        w.text = NULL;
    }
    *text = w.text;
    return status;
}
