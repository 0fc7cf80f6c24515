/* Starts from particles or files with several processes, each of which needs its own variables. */
#ifndef SVMP_RUN_START_GIVEN_H
#define SVMP_RUN_START_GIVEN_H

#include "method/method.h"
#include "sample/particles.h"

/* How far particles beyond those of a start are from it: the standard deviation on the unconstrained scale. */
#define START_SPREAD 0.1

/* The row, of `count`, that particle l of n starts from. With more rows than particles, the last one of each of n equal
 * parts (for n chains, their last draws); with fewer, the rows are cycled. */
static inline size_t svmp_start_row(size_t l, size_t n, size_t count) {
    return count < n ? l % count : (l + 1) * count / n - 1;
}

/* Collective. Checks that the start, particles or a file, has the variables of all processes and no others except
 * computed ones. */
svmp_status svmp_start_compare(const svmp_run *run, const svmp_particles *particles, const char *path);

/* Reads the variables of this process; if it has none, some other variables. */
svmp_status svmp_start_read(const svmp_run *run, const char *path, svmp_particles **particles);

/* Fills `own` from particles with the same names. */
svmp_status svmp_start_take(const svmp_particles *particles, svmp_particles *own);

/* The point in a file of values, or the mean of a file of particles: a number for each variable, which the caller
 * frees. */
svmp_status svmp_start_point(svmp_run *run, const char *path, double **point);

/* Changes the start x, the backend's particles, to the values in these files. */
svmp_status svmp_start_values(svmp_run *run, const char *paths, double *x);

#endif
