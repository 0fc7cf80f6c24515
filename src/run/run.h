/* What other files ask of a run. */
#ifndef SVMP_RUN_RUN_H
#define SVMP_RUN_RUN_H

#include "method/method.h"

/* The start as text: what was asked for, or the method's own. */
const char *svmp_run_init(const svmp_run *run);

/* Waits until it is known what came of all iterations. SVMP_NOT_FINITE: the run is at the last finite particles. */
svmp_status svmp_run_synchronise(svmp_run *run);

/* Puts those into a history that are known and not in run->way; returns how many are left. */
size_t svmp_run_complete_trace(const svmp_run *run, history *way);

/* The error of a checkpoint of another backend, and what can be done about it. */
svmp_status svmp_run_refuse_backend(svmp_context *context, const char *path, const char *saved, const char *now);

/* The error of a run that is unusable. */
svmp_status svmp_run_refuse_unusable(const svmp_run *run);

#endif
