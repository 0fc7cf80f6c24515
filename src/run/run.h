/* Internal functions of runs. */
#ifndef SVMP_RUN_RUN_H
#define SVMP_RUN_RUN_H

#include "method/method.h"

/* The start as text: the given one or the method's default. */
const char *svmp_run_init(const svmp_run *run);

/* Waits until the results of all iterations are known. SVMP_NOT_FINITE: the run is at the last finite particles. */
svmp_status svmp_run_synchronise(svmp_run *run);

/* Adds iterations that are known but not in run->trace to a history; returns how many are still unknown. */
size_t svmp_run_complete_trace(const svmp_run *run, history *way);

/* Fails because the checkpoint is of another backend, and says what can be done. */
svmp_status svmp_run_refuse_backend(svmp_context *context, const char *path, const char *saved, const char *now);

/* Fails if the run is unusable. */
svmp_status svmp_run_refuse_unusable(const svmp_run *run);

#endif
