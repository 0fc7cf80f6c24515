/* Particles as NetCDF-4 in the layout of ArviZ's InferenceData: a group `posterior` of arrays with the dimensions chain
 * and draw and the model's own, a group `sample_stats`, and the run's record as attributes. */
#ifndef SVMP_SAMPLE_NETCDF_H
#define SVMP_SAMPLE_NETCDF_H

#include "sample/particles.h"

/* Whether a path ends in .nc. */
int svmp_path_is_netcdf(const char *path);

/* In a build without NetCDF both fail with a message. */
svmp_status svmp_netcdf_read(svmp_context *context, const char *path, svmp_particles **particles);
svmp_status svmp_netcdf_write(const svmp_particles *particles, const char *path, const char *comments, int overwrite);

#endif
