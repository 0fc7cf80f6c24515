/* Rules for the names of variables in models and files. */
#ifndef SVMP_BASE_NAME_RULES_H
#define SVMP_BASE_NAME_RULES_H

/* The continuous unknown that texts without any are given. */
#define AUXILIARY_NAME "auxiliary.number"

/* Why a name is invalid, as the end of a sentence; NULL if it is valid as the name of a column. */
const char *svmp_name_problem(const char *name);

/* Whether the name is that of a sampler's column (lp__, stepsize__), which is not a variable. */
int svmp_name_is_internal(const char *name);

#endif
