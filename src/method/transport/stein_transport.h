/* Stein's transport of the particles in the metric of a Gaussian. */
#ifndef SVMP_METHOD_TRANSPORT_STEIN_TRANSPORT_H
#define SVMP_METHOD_TRANSPORT_STEIN_TRANSPORT_H

#include "backend/backend.h"
#include "prepare/fitted_gaussian.h"

/* A step of all particles after `done` of `steps`. Processes that share them, in `own`, evaluate and solve for their
 * own particles, and compute phi for some nodes of all. For one process `own` is `b`. Collective; *rate is that of the
 * step. If the displacement is not finite, the particles stay where they are and *finite is 0. */
svmp_status svmp_stein_transport(backend *own, backend *b, gaussian *q, const kernel *k, size_t done, size_t steps,
                                 double *rate, int *finite);

#endif
