#include "stein/kernel.h"

/* k = 1 + sum_j z_j z_j' / v with z centred on the particles' mean and v the summed variance of the domain (dividing by
 * n), both held constant when differentiating: dk/dx_i = z_i'/v. In the metric sd there is no v:
 * k = 1 + sum_j z_j z_j' and dk/dx_i = z_i'/sd_i. Not a function of the distance: backends work with the moments of the
 * particles, which needs no n*n matrix. */
const kernel_shape svmp_shape_linear = {"linear", SVMP_SHAPE_LINEAR, NULL, NULL, NULL, NULL};
