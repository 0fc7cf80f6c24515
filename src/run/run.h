/* What other files ask of a run. */
#ifndef SVMP_RUN_RUN_H
#define SVMP_RUN_RUN_H

#include "method/method.h"

/* The start as text: what was asked for, or the method's own. */
const char *svmp_run_init(const svmp_run *run);

/* The error of a run that is unusable. */
svmp_status svmp_run_refuse_unusable(const svmp_run *run);

#endif
