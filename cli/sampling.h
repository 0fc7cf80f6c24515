/* What a sampler tells of its draws, in words. */
#ifndef SVMP_CLI_SAMPLING_H
#define SVMP_CLI_SAMPLING_H

#include "svmp.h"

/* A line of numbers and, where something is off, what it means and what may help; nothing for particles without
 * accept_stat__. */
void print_sampling(const svmp_particles *particles);

#endif
