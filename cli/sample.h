/* The particles of a command's files: one of them, or those of several chains. */
#ifndef SVMP_CLI_SAMPLE_H
#define SVMP_CLI_SAMPLE_H

#include "command.h"

/* svmp_particles_read; returns an exit status. HDF5 does not survive all damage to its files: one that svmp has not
 * sealed is first read by a child, whose end is told and not shared. */
int read_particles(svmp_context *context, const char *path, svmp_particles **particles);

/* How many of the operands, from the first on, are particle files: they end in .csv or .nc. At least 1, so that what is
 * wrong with it is said. */
size_t sample_files(const option_set *set);

/* Reads the first `count` operands: one file, or several that hold the draws of chains, which become the chains of one
 * sample. Warns where these are of runs that differ in more than seed, threads and time. Returns an exit status. */
int read_sample(const option_set *set, svmp_context *context, size_t count, svmp_particles **sample);

#endif
