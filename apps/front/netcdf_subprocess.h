/* NetCDF and HDF5 crash on some damaged files and when memory runs out: reading is tried, and writing done, in a child
 * process, so that the run survives. */
#ifndef SVMP_FRONT_NETCDF_SUBPROCESS_H
#define SVMP_FRONT_NETCDF_SUBPROCESS_H

#include "svmp_parallel.h"

/* Whether the file can be read without a crash; reading may still fail. */
int netcdf_read_is_safe(svmp_context *context, const char *path);

/* Reads a file like svmp_particles_read, but HDF5 prints nothing of its own. */
svmp_status netcdf_read_directly(svmp_context *context, const char *path, svmp_particles **particles);

/* Writes particles like svmp_particles_write, a .nc file in a child. If that crashes, writes NAME.csv in the place of
 * NAME.nc and says so. Returns an exit status; *written is the path of the file, which the caller frees, or NULL. */
int netcdf_write_in_subprocess(svmp_context *context, const svmp_particles *particles, const char *path,
                               const char *comments, int overwrite, char **written);

#endif
