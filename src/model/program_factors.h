/* A factor group defined by a program: a statement of the model language, usually in a loop. */
#ifndef SVMP_MODEL_PROGRAM_FACTORS_H
#define SVMP_MODEL_PROGRAM_FACTORS_H

#include "expr/program.h"
#include "model/factor_group.h"

/* Fills *group. variables[k*slots + j] is the variable in slot j of instance k, copied; columns[p][k] is parameter p of
 * instance k, not kept. Takes ownership of the program, also on failure.
 * kind->free frees only `self`; `group->variables` belongs to the group, like that of every kind. */
svmp_status svmp_program_group_create(svmp_context *context, program *compiled, size_t instances,
                                      const uint32_t *variables, const double *const *columns, factor_group *group);

/* Writes such a group to bytes, or reads it, whose variables are below `variables`; refuses other kinds. */
void svmp_program_group_pack(packing *p, size_t variables, factor_group *group);

/* The program of such a group with the numbers of its instances; NULL for other kinds. */
const bound_program *svmp_program_group_bound(const factor_group *group);

/* svmp_program_degree of its program; of other kinds, POLYNOMIAL_MANY. */
int svmp_program_group_degree(const factor_group *group);

/* svmp_program_discontinuities of its program; other kinds are taken to have none. */
svmp_status svmp_program_group_discontinuities(const factor_group *group, bool *slots, bool *any);

#endif
