#include "cuda/twin_rows.h"

#include <math.h>

#include "maths/special.h"

#include "cuda/interpret_code.h"

enum { NOBODY = UINT32_MAX };
enum { WIDEST = 60 }; /* powers of two beyond 2^±60 are not taken: products shall stay far from the ends of the range */

/* What an instruction computes is `scale` times its root: another instruction, or a leaf. */
typedef struct scaled {
    uint32_t instruction, leaf; /* one of them, the other is NOBODY */
    double scale;
} scaled;

typedef struct twin_search {
    program_code *p;
    uint32_t *registers, *outputs; /* which instruction has written what is there */
    scaled *value;                 /* of each instruction */
    uint32_t (*reads)[3];          /* the instructions that it reads, or NOBODY */
    unsigned char *needed;
} twin_search;

static uint32_t number_of(uint32_t place) { return place & ((1u << PLACE_SHIFT) - 1); }

/* The instruction that has written what is in a place, or NOBODY for leaves. */
static uint32_t writer_of(const twin_search *s, uint32_t place) {
    switch (place >> PLACE_SHIFT) {
    case PLACE_REGISTER: return s->registers[number_of(place)];
    case PLACE_OUTPUT: return s->outputs[number_of(place)];
    default: return NOBODY;
    }
}

static scaled value_at(const twin_search *s, uint32_t place) {
    const uint32_t by = writer_of(s, place);
    return by == NOBODY ? (scaled){NOBODY, place, 1} : s->value[by];
}

/* Whether an operand is a power of two, or minus one. */
static int is_power(const twin_search *s, uint32_t place, double *power) {
    int exponent;
    if (place >> PLACE_SHIFT != PLACE_LITERAL) return 0;
    *power = s->p->literals[number_of(place)];
    return isfinite(*power) && fabs(frexp(*power, &exponent)) == 0.5;
}

static scaled times(scaled a, double power) {
    a.scale *= power;
    return a;
}

static scaled evaluate(const twin_search *s, uint32_t i) {
    const device_instruction *here = &s->p->code[i];
    const scaled itself = {i, NOBODY, 1};
    scaled found = itself;
    double power;
    if (here->code == CODE_COPY) found = value_at(s, here->operand[0]);
    if (here->code == OP_negate) found = times(value_at(s, here->operand[0]), -1);
    if (here->code == OP_multiply && is_power(s, here->operand[1], &power))
        found = times(value_at(s, here->operand[0]), power);
    else if (here->code == OP_multiply && is_power(s, here->operand[0], &power))
        found = times(value_at(s, here->operand[1]), power);
    return fabs(found.scale) <= ldexp(1, WIDEST) && fabs(found.scale) >= ldexp(1, -WIDEST) ? found : itself;
}

static void follow(twin_search *s) {
    for (uint32_t i = 0; i < s->p->count; i++) {
        const device_instruction *here = &s->p->code[i];
        for (uint32_t k = 0; k < 3; k++) s->reads[i][k] = k < here->operands ? writer_of(s, here->operand[k]) : NOBODY;
        s->value[i] = evaluate(s, i);
        *(here->out >> PLACE_SHIFT == PLACE_OUTPUT ? &s->outputs[number_of(here->out)]
                                                   : &s->registers[number_of(here->out)]) = i;
    }
}

/* The output with the same root that is written first stands for the others. */
static void match(const twin_search *s) {
    slot_row *rows = s->p->rows;
    for (uint32_t j = 0; j < s->p->slots; j++) {
        const uint32_t mine = s->outputs[j];
        uint32_t first = mine;
        rows[j] = (slot_row){j, 1};
        for (uint32_t k = 0; mine != NOBODY && k < s->p->slots; k++) {
            const uint32_t other = s->outputs[k];
            if (other == NOBODY || other > first || s->value[other].instruction != s->value[mine].instruction ||
                s->value[other].leaf != s->value[mine].leaf)
                continue;
            first = other;
            rows[j] = (slot_row){k, s->value[mine].scale / s->value[other].scale};
        }
    }
}

/* Keeps what computes the rows that are left. */
static void remove_others(twin_search *s) {
    program_code *p = s->p;
    size_t left = 0;
    for (uint32_t j = 0; j < p->slots; j++)
        if (p->rows[j].slot == j && s->outputs[j] != NOBODY) s->needed[s->outputs[j]] = 1;
    for (size_t i = p->count; i-- > 0;)
        for (uint32_t k = 0; s->needed[i] && k < 3; k++)
            if (s->reads[i][k] != NOBODY) s->needed[s->reads[i][k]] = 1;
    for (size_t i = 0; i < p->count; i++)
        if (s->needed[i]) p->code[left++] = p->code[i];
    p->count = left;
}

svmp_status svmp_cuda_find_twins(const svmp_host *host, program_code *p) {
    twin_search s = {.p = p};
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(host, p->rows, p->slots));
    CUDA_CHECK(CUDA_NEW(host, s.registers, p->registers));
    CUDA_CHECK(CUDA_NEW(host, s.outputs, p->slots));
    CUDA_CHECK(CUDA_NEW(host, s.value, p->count));
    CUDA_CHECK(CUDA_NEW(host, s.reads, p->count));
    CUDA_CHECK(CUDA_NEW(host, s.needed, p->count));
    for (size_t k = 0; k < p->registers; k++) s.registers[k] = NOBODY;
    for (size_t j = 0; j < p->slots; j++) s.outputs[j] = NOBODY;
    follow(&s);
    match(&s);
    remove_others(&s);
done:
    svmp_host_release_all(host, s.registers, s.outputs, s.value, s.reads, s.needed);
    return status;
}
