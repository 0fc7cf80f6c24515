/* Programs on a device, an instruction after the other: each operation is its row of expr/operations.def, as on the
 * host. */
#ifndef SVMP_CUDA_INTERPRET_CODE_H
#define SVMP_CUDA_INTERPRET_CODE_H

#include "cuda/device.h"
#include "expr/opcodes.h"

/* Numbers that a loop reads before it adds them up, so that they are under way together. */
enum { TOGETHER = 8 };

/* thread / n, in 32 bits where that is enough: on a device, which divides in software, several times as fast. */
BODY size_t over(size_t thread, size_t n) {
    return (thread | n) >> 32 ? thread / n : (size_t)((uint32_t)thread / (uint32_t)n);
}

/* Where the values of a lane are. */
typedef struct lane {
    double *registers;
    size_t stride;   /* between registers of a lane */
    size_t instance; /* of the columns and variables */
    size_t particle;
    uint32_t node;   /* whose variables are at their means; UINT32_MAX: none */
    double *outputs; /* n apart */
} lane;

BODY double load(const program_args *a, const lane *at, uint32_t place) {
    const uint32_t number = place & ((1u << PLACE_SHIFT) - 1);
    switch (place >> PLACE_SHIFT) {
    case PLACE_REGISTER: return at->registers[number * at->stride];
    case PLACE_LITERAL: return READ_ONLY(&a->literals[number]);
    case PLACE_COLUMN: return READ_ONLY(&a->columns[number * a->instances + at->instance]);
    case PLACE_INPUT: {
        const uint32_t variable = READ_ONLY(&a->variables[at->instance * a->slots + number]);
        if (at->node != UINT32_MAX && a->node_of[variable] == at->node) return a->mean[variable];
        return a->x[variable * a->n + at->particle];
    }
    default: return at->outputs[number * a->n];
    }
}

BODY void store(const program_args *a, const lane *at, uint32_t place, double value) {
    const uint32_t number = place & ((1u << PLACE_SHIFT) - 1);
    if (place >> PLACE_SHIFT == PLACE_REGISTER)
        at->registers[number * at->stride] = value;
    else
        at->outputs[number * a->n] = value;
}

/* clang-format off */
/* The operations that programs of most models consist of: they need few registers of the processor. */
#define COMMON_CODES(X)                                                                                                \
    X(add) X(subtract) X(multiply) X(divide) X(negate) X(square) X(reciprocal) X(sqrt) X(half_over) X(abs) X(sign)     \
    X(masked_multiply) X(masked_divide) X(masked_slope) X(exp) X(log) X(log_slope) X(expm1) X(log1p) X(logistic_tail)  \
    X(log_ilogit_by_tail) X(ilogit_by_tail) X(ilogit_beyond) X(ilogit) X(step) X(equals) X(less) X(below) X(less_equal) X(greater) X(greater_equal) X(min) X(max) X(ifelse) \
    X(require)
/* clang-format on */

/* The values of these, each a function of three operands. */
#define OP1(name, value, da)                                                                                           \
    BODY double op_##name(double a, double b, double c) { return (void)b, (void)c, value; }
#define OP2(name, value, da, db)                                                                                       \
    BODY double op_##name(double a, double b, double c) { return (void)c, value; }
#define OP3(name, value, da, db, dc)                                                                                   \
    BODY double op_##name(double a, double b, double c) { return value; }
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3

/* Whether an instruction is an operation beyond the common ones. */
static inline int is_special(uint32_t code) {
#define ROW(name) code == OP_##name ||
    return !(COMMON_CODES(ROW) code >= CODE_PAIRS);
#undef ROW
}

/* clang-format off */
BODY double common_value(uint32_t code, double a, double b, double c) {
    switch (code) {
#define ROW(name) case OP_##name: return op_##name(a, b, c);
    COMMON_CODES(ROW)
#undef ROW
#define ROW(first, second, value) case CODE_PAIRS + PAIR_##first##_##second: return value;
    PAIR_LIST(ROW)
#undef ROW
    default: return a; /* a copy */
    }
}

CALLED double any_value(uint32_t code, double a, double b, double c) {
    switch (code) {
#define OP1(name, value, da)         case OP_##name: return op_##name(a, b, c);
#define OP2(name, value, da, db)     case OP_##name: return op_##name(a, b, c);
#define OP3(name, value, da, db, dc) case OP_##name: return op_##name(a, b, c);
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
    default: return common_value(code, a, b, c);
    }
}
/* clang-format on */

/* ---- several particles at a time --------------------------------------------------------------------------------- */

/* A thread reads an instruction once for ABREAST particles of an instance: l, l + share, l + 2 share, ... with share =
 * n/ABREAST rounded up. What is behind the last particle is the last one, and not written. */
BODY size_t abreast_share(size_t n) { return (n + ABREAST - 1) / ABREAST; }

typedef struct abreast_lane {
    double *registers; /* ABREAST for each register, `stride` apart */
    size_t stride, instance, particle[ABREAST];
    double *outputs; /* of the instance, n apart */
} abreast_lane;

BODY void load_abreast(const program_args *a, const abreast_lane *at, uint32_t place, double *to) {
    const uint32_t number = place & ((1u << PLACE_SHIFT) - 1);
    const double *from;
    double same;
    switch (place >> PLACE_SHIFT) {
    case PLACE_REGISTER:
        from = at->registers + number * ABREAST * at->stride;
        UNROLL for (size_t j = 0; j < ABREAST; j++) to[j] = from[j * at->stride];
        return;
    case PLACE_LITERAL: same = READ_ONLY(&a->literals[number]); break;
    case PLACE_COLUMN: same = READ_ONLY(&a->columns[number * a->instances + at->instance]); break;
    case PLACE_INPUT:
        from = a->x + READ_ONLY(&a->variables[at->instance * a->slots + number]) * a->n;
        UNROLL for (size_t j = 0; j < ABREAST; j++) to[j] = from[at->particle[j]];
        return;
    default:
        from = at->outputs + number * a->n;
        UNROLL for (size_t j = 0; j < ABREAST; j++) to[j] = from[at->particle[j]];
        return;
    }
    UNROLL for (size_t j = 0; j < ABREAST; j++) to[j] = same;
}

/* clang-format off */
BODY void common_abreast(uint32_t code, const double *p, const double *q, const double *r, double *to) {
#define EACH_OF(value) UNROLL for (size_t j = 0; j < ABREAST; j++) { const double a = p[j], b = q[j], c = r[j]; (void)a, (void)b, (void)c; to[j] = value; }
    switch (code) {
#define ROW(name) case OP_##name: EACH_OF(op_##name(a, b, c)) return;
    COMMON_CODES(ROW)
#undef ROW
#define ROW(first, second, value) case CODE_PAIRS + PAIR_##first##_##second: EACH_OF(value) return;
    PAIR_LIST(ROW)
#undef ROW
    default: EACH_OF(a)
    }
#undef EACH_OF
}
/* clang-format on */

/* Thread k*share + l. */
BODY void run_abreast(const program_args *a, size_t thread, double *registers, size_t stride, int special) {
    const size_t n = a->n, share = abreast_share(n), k = over(thread, share), l = thread - k * share;
    abreast_lane at = {registers, stride, k, {0}, a->gradient + k * a->outputs * n};
    UNROLL for (size_t j = 0; j < ABREAST; j++) at.particle[j] = l + j * share < n ? l + j * share : n - 1;
    for (uint32_t i = 0; i < a->count; i++) {
        const device_instruction *here = &a->code[i];
        const uint32_t code = READ_ONLY(&here->code), operands = READ_ONLY(&here->operands),
                       out = READ_ONLY(&here->out);
        const uint32_t number = out & ((1u << PLACE_SHIFT) - 1);
        double p[ABREAST], q[ABREAST] = {0}, r[ABREAST] = {0}, to[ABREAST];
        load_abreast(a, &at, READ_ONLY(&here->operand[0]), p);
        if (operands > 1) load_abreast(a, &at, READ_ONLY(&here->operand[1]), q);
        if (operands > 2) load_abreast(a, &at, READ_ONLY(&here->operand[2]), r);
        if (special) {
            UNROLL for (size_t j = 0; j < ABREAST; j++) to[j] = any_value(code, p[j], q[j], r[j]);
        } else {
            common_abreast(code, p, q, r, to);
        }
        if (out >> PLACE_SHIFT == PLACE_REGISTER) {
            UNROLL for (size_t j = 0; j < ABREAST; j++) registers[(number * ABREAST + j) * stride] = to[j];
        } else {
            UNROLL for (size_t j = 0; j < ABREAST; j++) if (l + j * share < n) at.outputs[number * n + l + j * share] =
                to[j];
        }
    }
}

/* ---- one at a time ----------------------------------------------------------------------------------------------- */

/* All instructions of one lane. `special`: a constant where it is called, so that programs without special functions
 * run in a kernel without them. */
BODY void run_program(const program_args *a, size_t thread, double *registers, size_t stride, int special) {
    const size_t k = over(thread, a->n), l = thread - k * a->n;
    const lane at = {registers,
                     stride,
                     a->instance ? a->instance[k] : k,
                     l,
                     a->instance ? a->node[k] : UINT32_MAX,
                     a->gradient + k * a->outputs * a->n + l};
    for (uint32_t i = 0; i < a->count; i++) {
        const device_instruction *here = &a->code[i];
        const uint32_t code = READ_ONLY(&here->code);
        const uint32_t operands = READ_ONLY(&here->operands);
        const double p = load(a, &at, READ_ONLY(&here->operand[0]));
        const double q = operands > 1 ? load(a, &at, READ_ONLY(&here->operand[1])) : 0;
        const double r = operands > 2 ? load(a, &at, READ_ONLY(&here->operand[2])) : 0;
        store(a, &at, READ_ONLY(&here->out), special ? any_value(code, p, q, r) : common_value(code, p, q, r));
    }
}

#endif
