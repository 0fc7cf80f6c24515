/* The loops that evaluate operations over the lanes of a block. */
#ifndef SVMP_EXPR_OPERATION_LOOPS_H
#define SVMP_EXPR_OPERATION_LOOPS_H

#include "expr/program.h"

/* out[l] = op(a[l], b[l], c[l]) for l < count. `out` may be one of the operands. The arithmetic of a lane does not
 * depend on its position in the block: the same bits for any count. */
typedef void (*expr_kernel)(size_t count, double *out, const double *a, const double *b, const double *c);

/* One set of loops. `scalars`: bit k is set if operand k is a single number for the whole block instead of one per lane
 * (not all bits are set). */
typedef struct kernel_set {
    expr_kernel (*op)(expr_op op, unsigned scalars);
    expr_kernel (*pair)(pair_op pair, unsigned scalars);
    expr_kernel (*copy)(unsigned scalars); /* out = a */
} kernel_set;

#if defined(__x86_64__) && defined(__GNUC__)
#define SVMP_KERNELS_X86
extern const kernel_set svmp_kernels_avx2, svmp_kernels_avx512;
#endif
extern const kernel_set svmp_kernels_plain;

/* The fastest set for this machine. */
const kernel_set *svmp_kernels(void);

#endif
