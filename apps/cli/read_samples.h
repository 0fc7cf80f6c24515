/* Reads the particles of a command's operands: one file, or the chains in several files. */
#ifndef SVMP_CLI_READ_SAMPLES_H
#define SVMP_CLI_READ_SAMPLES_H

#include "command_table.h"

/* svmp_particles_read; returns an exit status. HDF5 crashes on some damaged files, so a file without svmp's checksum is
 * first read by a child process. */
int read_particles(svmp_context *context, const char *path, svmp_particles **particles);

/* How many of the first operands are particle files, which end in .csv or .nc. At least 1, so that an error about it is
 * reported. */
size_t sample_files(const option_set *set);

/* Reads the first `count` operands: one file, or several files of chains, which become the chains of one sample. Warns
 * if they come from runs that differ in more than seed, threads and time. Returns an exit status. */
int read_sample(const option_set *set, svmp_context *context, size_t count, svmp_particles **sample);

#endif
