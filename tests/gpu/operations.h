/* Every operation of the language on a device: compiled, and interpreted. */
#ifndef SVMP_TESTS_OPERATIONS_H
#define SVMP_TESTS_OPERATIONS_H

#include "base/context.h"

/* Prints a line for each operation whose bits differ, and a summary. Returns how many differ by more than 1e-14. */
int check_operations(svmp_context *context);

#endif
