/* What a variable may be called, in a model and in a file. */
#ifndef SVMP_BASE_NAME_H
#define SVMP_BASE_NAME_H

/* What is wrong with a name, as the end of a sentence; NULL when a column of a file may bear it. */
const char *svmp_name_fault(const char *name);

/* Columns of such names are a sampler's own (lp__, stepsize__): no variables. */
int svmp_name_is_internal(const char *name);

#endif
