/* Selects variables by name. */
#ifndef SVMP_CLI_CHOOSE_VARIABLES_H
#define SVMP_CLI_CHOOSE_VARIABLES_H

#include "svmp_tools.h"

/* Finds the variables of a comma-separated list, in its order, each once. A name is a variable or an array, whose
 * variables are NAME.1, NAME.2, ..., also written NAME[1], NAME[2]. `chosen` has room for all variables. Returns 0, or
 * an exit status after an error message about an unknown name in `where`. With a context of several processes, each
 * selects among its own variables, and a name is known if one process has it; NULL: the particles are complete. */
int choose_variables(const svmp_context *context, const svmp_particles *particles, const char *where, const char *list,
                     size_t *chosen, size_t *count);

#endif
