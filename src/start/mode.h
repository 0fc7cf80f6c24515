/* The mode of a model, and particles around it. */
#ifndef SVMP_START_MODE_H
#define SVMP_START_MODE_H

#include "model/model.h"

/* mode[i]: the highest mode that L-BFGS finds from four standard normal starts. Fails as SVMP_UNSUPPORTED when the
 * density has no maximum, or none was found. */
svmp_status svmp_mode_find(const svmp_model *model, uint64_t seed, double *mode);

/* sd[i] = 1/sqrt(-d^2 log p / dx_i^2) at the mode, by differences of the score, within 1e-8 ... 1000; 1 where the log
 * density does not bend down. Nodes that are no neighbours are moved together: as many evaluations as colours. Fails as
 * svmp_mode_find does where a far point of a plateau was taken for a mode. */
svmp_status svmp_mode_spread(const svmp_model *model, const double *mode, double *sd);

/* x[i*n + l] = mode + sd z, z standard normal; z is halved until the density of the particle is finite. */
svmp_status svmp_mode_draw(const svmp_model *model, uint64_t seed, size_t n, double *x);

#endif
