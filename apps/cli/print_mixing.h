/* Prints whether chains have mixed. */
#ifndef SVMP_CLI_PRINT_MIXING_H
#define SVMP_CLI_PRINT_MIXING_H

#include "svmp_tools.h"

/* Prints warnings about `count` variables of chains, or that there are none; `variables` NULL: the first `count`. Where
 * they were judged, the verdict follows: the numbers that are off, alone. */
void print_mixing(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_mixing *mixing,
                  int judged);

#endif
