/* Every operation of the language on a device: compiled, and interpreted. */
#ifndef SVMP_TESTS_OPERATIONS_H
#define SVMP_TESTS_OPERATIONS_H

#include "base/context.h"
#include "cuda/device.h"

/* Prints a line for each operation whose bits differ, and a summary. Returns how many differ by more than 1e-14. */
int check_operations(svmp_context *context);

/* The GPUs of the plug-in named by $SVMP_CUDA; NULL if it is not a plug-in (gpu.c). */
const device_ops *find_device(void);

#endif
