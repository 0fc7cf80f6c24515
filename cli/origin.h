/* Where the particles of a file come from, by the record of the run in its comments. */
#ifndef SVMP_CLI_ORIGIN_H
#define SVMP_CLI_ORIGIN_H

#include "svmp.h"

typedef struct origin {
    svmp_yield yield; /* SVMP_PARTICLES where nothing tells of more */
    int diverged;     /* the run did */
} origin;

origin origin_of(svmp_context *context, const svmp_particles *particles);

/* "4 chains of 1000 draws", "50 particles", ... as a heading begins. */
void print_size(const svmp_particles *particles, svmp_yield yield);

/* What is to be known of particles that are neither chains nor measured by their discrepancy; nothing of others. */
void print_caveat(svmp_yield yield);

#endif
