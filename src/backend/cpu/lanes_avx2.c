/* Compiled with -mavx2 -mfma if the compiler supports them; used if the machine has both. */
#include "backend/cpu/lanes.h"

#if defined(__AVX2__)
#define LANES     4
#define LANES_ISA avx2
#include "backend/cpu/lanes_loops.h"
#endif
