/* Whether chains have mixed, in words. */
#ifndef SVMP_CLI_MIXING_H
#define SVMP_CLI_MIXING_H

#include "svmp.h"

/* Says what is off with these `count` variables of chains, or that nothing is; `variables` NULL: the first ones. */
void print_mixing(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_mixing *mixing);

#endif
