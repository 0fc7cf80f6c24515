/* Whole runs on a device: their bits, their end if a number is not finite, and comparison with the CPU. */
#ifndef SVMP_TESTS_GPU_RUNS_H
#define SVMP_TESTS_GPU_RUNS_H

#include "backend/backend.h"

/* Prints a line for each check; returns how many failed. `kinds`: the backends in double and in mixed precision;
 * `wide`: wide blankets alone. */
int check_runs(svmp_context *given, const backend_kind *const kinds[2], int wide);

#endif
