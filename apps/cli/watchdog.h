/* Messages about a run of several processes that is asked to stop. Processes stop together after an iteration. If one
 * of them has died, this never happens; and if the iteration or the writing takes too long, mpirun kills the processes
 * first. Before that, the first process prints the state of the run. */
#ifndef SVMP_CLI_WATCHDOG_H
#define SVMP_CLI_WATCHDOG_H

#include "checkpoint_writer.h"

/* Collective. Does nothing with one process. */
void watchdog_begin(const checkpoint_writer *k, const option_set *set);
void watchdog_end(void);

/* Called by a signal handler. If a process on this machine has died, prints a message and ends the program. Otherwise,
 * unless watchdog_end is called soon, prints that the run may be killed before it has stopped, and continues. */
void watchdog_arm(void);

#endif
