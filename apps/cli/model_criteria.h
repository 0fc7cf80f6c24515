/* Criteria that users of JAGS and Stan know, from what --monitor log_lik,deviance reports. */
#ifndef SVMP_CLI_MODEL_CRITERIA_H
#define SVMP_CLI_MODEL_CRITERIA_H

#include <svmp_tools.h>

/* WAIC from log_lik.1, log_lik.2, ..., DIC from deviance; nothing where these are not among the variables. */
void print_criteria(svmp_particles *particles);

#endif
