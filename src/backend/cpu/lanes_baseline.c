/* For every machine: two numbers at a time, SSE2 on x86-64, NEON on aarch64, plain C elsewhere. */
#define LANES     2
#define LANES_ISA baseline
#include "backend/cpu/lanes_loops.h"
