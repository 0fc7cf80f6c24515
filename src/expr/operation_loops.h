/* The loops that evaluate operations over the lanes of a block. */
#ifndef SVMP_EXPR_OPERATION_LOOPS_H
#define SVMP_EXPR_OPERATION_LOOPS_H

#include "expr/program.h"

/* out[l] = op(a[l], b[l], c[l]) for l < count. `out` may be one of the operands. Every lane goes through the same
 * arithmetic wherever it stands in the block: the same bits for any count. */
typedef void (*expr_kernel)(size_t count, double *out, const double *a, const double *b, const double *c);

/* One set of loops. `scalars`: bit k set when operand k is one number for the whole block rather than one a lane (not
 * all of them). */
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

/* The fastest set that this machine runs. */
const kernel_set *svmp_kernels(void);

#endif
