/* Maximum mean discrepancy between two samples. */
#ifndef SVMP_SAMPLE_MMD_H
#define SVMP_SAMPLE_MMD_H

#include "base/context.h"
#include "sample/pair_distances.h"

/* Biased RBF MMD, sqrt(mean k(X,X) + mean k(Y,Y) - 2 mean k(X,Y)), k = exp(-D/med^2) with `med` the median distance
 * between different points among the first 1,000 of y. NaN if `med` is 0 or its square is not finite, because there is
 * no bandwidth. The same bits for any threads, and exactly 0 for equal samples. Costs (n + m)^2/2 kernels of d
 * variables and needs no n*m array. */
svmp_status svmp_mmd(svmp_context *context, size_t variables, sample x, sample y, double *mmd);

#endif
