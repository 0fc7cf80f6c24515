/* The numbers of operations in compiled programs. Includes no other headers, so that device code can use it. */
#ifndef SVMP_EXPR_OPCODES_H
#define SVMP_EXPR_OPCODES_H

/* The operations: OP_add, OP_multiply, OP_exp ... one for each row of operations.def. */
typedef enum expr_op {
    OP_literal,
    OP_input,
    OP_parameter,
#define OP1(name, value, da)         OP_##name,
#define OP2(name, value, da, db)     OP_##name,
#define OP3(name, value, da, db, dc) OP_##name,
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
    OP_COUNT
} expr_op;

/* A product that is rounded before it is added to anything. Device compilers would fuse it with the sum, so a device
 * defines PRODUCT before it includes this header; host compilers have an option against it. */
#ifndef PRODUCT
#define PRODUCT(p, q) ((p) * (q))
#endif

/* Two operations in one loop: (a first b) second c, each rounded. */
#define PAIR_LIST(X)                                                                                                   \
    X(add, add, (a + b) + c)                                                                                           \
    X(add, subtract, (a + b) - c)                                                                                      \
    X(add, subtract_from, c - (a + b))                                                                                 \
    X(add, multiply, PRODUCT(a + b, c))                                                                                \
    X(add, square, PRODUCT(a + b, a + b))                                                                              \
    X(subtract, add, (a - b) + c)                                                                                      \
    X(subtract, subtract, (a - b) - c)                                                                                 \
    X(subtract, subtract_from, c - (a - b))                                                                            \
    X(subtract, multiply, PRODUCT(a - b, c))                                                                           \
    X(subtract, square, PRODUCT(a - b, a - b))                                                                         \
    X(multiply, add, PRODUCT(a, b) + c)                                                                                \
    X(multiply, subtract, PRODUCT(a, b) - c)                                                                           \
    X(multiply, subtract_from, c - PRODUCT(a, b))                                                                      \
    X(multiply, multiply, PRODUCT(PRODUCT(a, b), c))                                                                   \
    X(multiply, square, PRODUCT(PRODUCT(a, b), PRODUCT(a, b)))

typedef enum pair_op {
#define PAIR_ROW(first, second, value) PAIR_##first##_##second,
    PAIR_LIST(PAIR_ROW)
#undef PAIR_ROW
        PAIR_COUNT
} pair_op;

/* The operation of an instruction: an operation, a pair or a copy. */
enum { CODE_PAIRS = OP_COUNT, CODE_COPY = OP_COUNT + PAIR_COUNT };

#endif
