/* Prints whether chains have mixed. */
#ifndef SVMP_CLI_PRINT_MIXING_H
#define SVMP_CLI_PRINT_MIXING_H

#include "svmp_tools.h"

/* Prints the numbers of `count` variables of chains that are beyond their limits; `variables` NULL: the first `count`.
 * If there are none and the chains were not judged, it says so; otherwise a verdict follows. */
void print_mixing(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_mixing *mixing,
                  int judged);

#endif
