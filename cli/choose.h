/* Variables by name. */
#ifndef SVMP_CLI_CHOOSE_H
#define SVMP_CLI_CHOOSE_H

#include "svmp.h"

/* The variables of a list with commas, in its order and each once: a name is that of a variable or of an array, whose
 * variables are NAME.1, NAME.2, ..., also spelled NAME[1], NAME[2]. `chosen` has room for all variables. Returns 0, or
 * an exit status when it has said which name there is not, and `where`. With the context of several processes each
 * chooses among its own, and a name is there when one has it; NULL: the particles are all. */
int choose_variables(const svmp_context *context, const svmp_particles *particles, const char *where, const char *list,
                     size_t *chosen, size_t *count);

#endif
