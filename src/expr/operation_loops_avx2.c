/* The loops with four lanes per instruction. AVX2 without fused multiply-add, for the same bits. */
#include "expr/operation_loops.h"

#ifdef SVMP_KERNELS_X86
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_SET    svmp_kernels_avx2
#include "expr/operation_loops_body.h"
#endif
