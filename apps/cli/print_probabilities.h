/* The probabilities of discrete unknowns, which particles carry as series. */
#ifndef SVMP_CLI_PRINT_PROBABILITIES_H
#define SVMP_CLI_PRINT_PROBABILITIES_H

#include <svmp_tools.h>

/* "z.3 = 2: 0.71": the values of each discrete unknown and their probabilities; nothing where there are none. Those of
 * the `count` variables that were chosen, if they are monitored discrete unknowns; chosen NULL: of all, the first 20.
 */
void print_probabilities(const svmp_particles *particles, size_t count, const size_t *chosen);

#endif
