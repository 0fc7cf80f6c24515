/* The loops for baseline instructions, and the choice among the sets. */
#define KERNEL_TARGET
#define KERNEL_SET svmp_kernels_plain
#include "expr/operation_loops_body.h"

const kernel_set *svmp_kernels(void) {
#ifdef SVMP_KERNELS_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &svmp_kernels_avx512;
    if (__builtin_cpu_supports("avx2")) return &svmp_kernels_avx2;
#endif
    return &svmp_kernels_plain;
}
