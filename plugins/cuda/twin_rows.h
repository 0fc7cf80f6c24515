/* Derivatives that are another one times a power of two, as those of a - b by a and by b: they need no row of their
 * own. What reads the rows multiplies, which is exact unless a number is near
 * the ends of the range (2^±1022). */
#ifndef SVMP_CUDA_TWIN_ROWS_H
#define SVMP_CUDA_TWIN_ROWS_H

#include "cuda/generate_code.h"

/* Fills in p->rows, and removes the instructions that are no longer needed. */
svmp_status svmp_cuda_find_twins(const svmp_host *host, program_code *p);

#endif
