/* Prints whether two samples agree. */
#ifndef SVMP_CLI_AGREEMENT_H
#define SVMP_CLI_AGREEMENT_H

#include "svmp_tools.h"

/* Prints the largest |z| of the means, the standard deviations and the quantiles 5 % and 95 %, and a verdict: none
 * where a side has not mixed or did not pass its own examination. There is one row per variable. */
void print_agreement(svmp_context *context, const svmp_particles *particles, const svmp_particles *reference,
                     const svmp_difference *rows);

#endif
