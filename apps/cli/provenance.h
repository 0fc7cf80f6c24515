/* The origin of the particles in a file, from the record in its comments. */
#ifndef SVMP_CLI_PROVENANCE_H
#define SVMP_CLI_PROVENANCE_H

#include "svmp_tools.h"

typedef struct provenance {
    svmp_yield yield; /* SVMP_YIELD_PARTICLES if unknown */
    int diverged;     /* whether the run diverged */
} provenance;

provenance read_provenance(svmp_context *context, const svmp_particles *particles);

/* Prints "4 chains of 1000 draws", "50 particles", ..., the start of a heading. */
void print_size(const svmp_particles *particles, svmp_yield yield);

/* Prints a note for particles that are neither chains nor measured by their discrepancy. */
void print_caveat(svmp_yield yield);

#endif
