/* Compiled with -mavx512f -mavx512dq -mfma if the compiler supports them; used if the machine has them. */
#include "backend/cpu/lanes.h"

#if defined(__AVX512F__)
#define LANES     8
#define LANES_ISA avx512
#include "backend/cpu/lanes_loops.h"
#endif
