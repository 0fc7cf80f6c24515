/* Several processes stop together, after an iteration. When one of them has died that never comes, and it may come too
 * late, or the writing of what there is take too long, when they are asked to stop: mpirun tells processes to end, and
 * kills them soon afterwards. The first one says in between what has become of the run. */
#ifndef SVMP_CLI_GUARD_H
#define SVMP_CLI_GUARD_H

#include "keeper.h"

/* For all processes to call. Does nothing where there is one. */
void guard_begin(const keeper *k, const option_set *set);
void guard_end(void);

/* A signal has come, whose handler calls this. Where a process of this machine is no longer there, that is said and the
 * program ends. Otherwise, unless guard_end is called soon, it is said that the run may be killed before it has
 * stopped; and it goes on. */
void guard_arm(void);

#endif
