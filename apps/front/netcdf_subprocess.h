/* NetCDF and HDF5 crash on some damaged files, and without memory: what they do is tried, or done, in a child process,
 * so that a run outlives it. */
#ifndef SVMP_FRONT_NETCDF_SUBPROCESS_H
#define SVMP_FRONT_NETCDF_SUBPROCESS_H

#include "svmp_parallel.h"

/* Whether reading the file crashes nobody, whatever else comes of it. */
int netcdf_read_is_safe(svmp_context *context, const char *path);

/* Reads a file like svmp_particles_read, but HDF5 prints nothing of its own. */
svmp_status netcdf_read_directly(svmp_context *context, const char *path, svmp_particles **particles);

/* Writes particles like svmp_particles_write, a .nc file in a child. If that crashes, writes NAME.csv in the place of
 * NAME.nc and says so. Returns an exit status; *written is the path of the file, which the caller frees, or NULL. */
int netcdf_write_in_subprocess(svmp_context *context, const svmp_particles *particles, const char *path,
                               const char *comments, int overwrite, char **written);

#endif
