/* Programs on a device, an instruction after the other: each operation is its row of expr/ops.def, as on the host. */
#ifndef SVMP_BACKEND_CUDA_INTERPRET_H
#define SVMP_BACKEND_CUDA_INTERPRET_H

#include "backend/cuda/device.h"
#include "expr/opcodes.h"

#ifdef __CUDACC__
#define BODY               static __device__ __forceinline__
#define CALLED             static __device__ __noinline__
#define READ_ONLY(pointer) __ldg(pointer)
#define UNROLL             _Pragma("unroll")
#else
#define BODY               static inline
#define CALLED             static inline
#define READ_ONLY(pointer) (*(pointer))
#define UNROLL
#endif

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
    X(masked_multiply) X(masked_divide) X(masked_slope) X(exp) X(log) X(log_slope) X(expm1) X(log1p) X(log_ilogit)     \
    X(ilogit) X(step) X(equals) X(less) X(below) X(less_equal) X(greater) X(greater_equal) X(min) X(max) X(ifelse) \
    X(require)
/* clang-format on */

/* The values of these, each a function of three operands. */
#define OP1(name, value, da)                                                                                           \
    BODY double op_##name(double a, double b, double c) { return (void)b, (void)c, value; }
#define OP2(name, value, da, db)                                                                                       \
    BODY double op_##name(double a, double b, double c) { return (void)c, value; }
#define OP3(name, value, da, db, dc)                                                                                   \
    BODY double op_##name(double a, double b, double c) { return value; }
#include "expr/ops.def"
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
#include "expr/ops.def"
#undef OP1
#undef OP2
#undef OP3
    default: return common_value(code, a, b, c);
    }
}
/* clang-format on */

/* All instructions of one lane. `special`: a constant where it is called, so that programs without special functions
 * run in a kernel without them. */
BODY void run_program(const program_args *a, size_t thread, double *registers, size_t stride, int special) {
    const size_t k = over(thread, a->n), l = thread - k * a->n;
    const lane at = {registers,
                     stride,
                     a->instance ? a->instance[k] : k,
                     l,
                     a->instance ? a->node[k] : UINT32_MAX,
                     a->gradient + k * a->slots * a->n + l};
    for (uint32_t i = 0; i < a->count; i++) {
        const device_instruction *here = &a->code[i];
        const uint32_t code = READ_ONLY(&here->code);
        const double p = load(a, &at, READ_ONLY(&here->operand[0])), q = load(a, &at, READ_ONLY(&here->operand[1])),
                     r = load(a, &at, READ_ONLY(&here->operand[2]));
        store(a, &at, READ_ONLY(&here->out), special ? any_value(code, p, q, r) : common_value(code, p, q, r));
    }
}

#endif
