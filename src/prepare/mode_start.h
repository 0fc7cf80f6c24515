/* The mode of a model, and a start with particles around it. */
#ifndef SVMP_PREPARE_MODE_START_H
#define SVMP_PREPARE_MODE_START_H

#include "model/model.h"

/* Finds the highest mode with L-BFGS from four standard normal starts. Fails with SVMP_UNSUPPORTED if no maximum was
 * found. */
svmp_status svmp_mode_find(const svmp_model *model, uint64_t seed, double *mode);

/* sd[i] = 1/sqrt(-d^2 log p / dx_i^2) at the mode, by differences of the score, within 1e-8 ... 1000; 1 where the log
 * density is not concave in x_i. Nodes that are not neighbours are displaced at the same time, so the number of
 * evaluations is that of the colours. Fails like svmp_mode_find if the mode is only a distant point on a plateau. */
svmp_status svmp_mode_spread(const svmp_model *model, const double *mode, double *sd);

/* x[i*n + l] = mode + sd z, z standard normal; z is halved until the density of the particle is finite. */
svmp_status svmp_mode_draw(const svmp_model *model, uint64_t seed, size_t n, double *x);

#endif
