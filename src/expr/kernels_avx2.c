/* The loops with four lanes an instruction. AVX2 alone, without fused multiply-add: the same bits. */
#include "expr/kernels.h"

#ifdef SVMP_KERNELS_AVX2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_SET    svmp_kernels_avx2
#include "expr/kernel_loops.h"
#endif
