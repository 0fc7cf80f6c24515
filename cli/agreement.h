/* Whether two samples agree, in words. */
#ifndef SVMP_CLI_AGREEMENT_H
#define SVMP_CLI_AGREEMENT_H

#include "svmp.h"

/* The largest |z| of the means and of the standard deviations, by name, and a verdict. A row for each variable. */
void print_agreement(const svmp_particles *particles, const svmp_difference *rows);

#endif
