/* Several processes stop together, after an iteration. When one of them has died that never comes: mpirun tells the
 * others to end, and kills them soon afterwards. The first one says in between what has become of the run. */
#ifndef SVMP_CLI_GUARD_H
#define SVMP_CLI_GUARD_H

#include "keeper.h"

/* Does nothing where there is one process, or another one speaks. */
void guard_begin(const keeper *k, const option_set *set);
void guard_end(void);

/* A signal has come, whose handler calls this: unless guard_end is called soon, the words are said and the program
 * ends. */
void guard_arm(void);

#endif
