/* A start of which each of several processes has its own variables. */
#ifndef SVMP_RUN_START_H
#define SVMP_RUN_START_H

#include "method/method.h"
#include "sample/particles.h"

/* All processes together: the start, particles or a file, has the variables of all of them and no others but such as
 * are computed. */
svmp_status svmp_start_compare(const svmp_run *run, const svmp_particles *particles, const char *path);

/* Reads the variables of this process; of one that has none, some. */
svmp_status svmp_start_read(const svmp_run *run, const char *path, svmp_particles **particles);

/* Fills `own`, which has names, from particles that have those names too. */
svmp_status svmp_start_take(const svmp_particles *particles, svmp_particles *own);

#endif
