/* The loops with eight lanes per instruction. AVX-512 without fused multiply-add, for the same bits. */
#include "expr/operation_loops.h"

#ifdef SVMP_KERNELS_X86
#ifdef __clang__
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq")))
#else /* the compiler would use four lanes otherwise */
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,prefer-vector-width=512")))
#endif
#define KERNEL_SET svmp_kernels_avx512
#include "expr/operation_loops_body.h"
#endif
