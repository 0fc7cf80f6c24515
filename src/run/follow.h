/* What follows from the particles of a run: leaves are drawn, then what is monitored is computed. */
#ifndef SVMP_RUN_FOLLOW_H
#define SVMP_RUN_FOLLOW_H

#include "method/method.h"
#include "sample/particles.h"

/* Fills the leaves and what is monitored of `made`, natural values, from the variables of the same particles. Of parts
 * of a model the variables are the backend's, and `variables` is not read. For all processes to call. */
svmp_status svmp_run_follow(const svmp_run *run, const double *variables, svmp_particles *made);

#endif
