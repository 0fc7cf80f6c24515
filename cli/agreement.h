/* Prints whether two samples agree. */
#ifndef SVMP_CLI_AGREEMENT_H
#define SVMP_CLI_AGREEMENT_H

#include "svmp_tools.h"

/* Prints the largest |z| of the means and of the standard deviations, and a verdict. There is one row per variable. */
void print_agreement(const svmp_particles *particles, const svmp_difference *rows);

#endif
