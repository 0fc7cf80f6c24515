/* Criteria that users of JAGS and Stan know, from what --monitor log_lik,deviance reports. */
#ifndef SVMP_CLI_PRINT_CRITERIA_H
#define SVMP_CLI_PRINT_CRITERIA_H

#include "svmp_tools.h"

/* Prints WAIC and DIC; nothing where the variables that they need are missing. */
void print_criteria(const svmp_particles *particles);

#endif
