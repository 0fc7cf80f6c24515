/* Kernelised Stein discrepancy with coordinate-wise kernels: how far particles are from the posterior, node by node. */
#ifndef SVMP_DIAG_KSD_H
#define SVMP_DIAG_KSD_H

#include "kernel/kernel.h"

/* Particles, their scores, and the kernel to measure with; the domains random:k are those of `iteration`. A term in the
 * metric sd has the sd of these particles as they are, not smoothed. */
typedef struct stein_sample {
    const svmp_graph *graph;
    const kernel *kernel;
    size_t n;
    const double *x, *score; /* variables * n */
    uint64_t seed;
    size_t iteration;
    const index_lists *hubs; /* term -> what its hubs see (kernel/near.h), where a term is on `near`, */
    const double *messages;  /* own variables * n: messages at these particles, where a unit has any */
} stein_sample;

/* The whole, and for every own node its own (`nodes`, or NULL). The same bits for any threads; of a part of a graph,
 * whose halo's particles are there, the whole is that of all processes, and its bits are those of one. Costs about
 * three iterations of the method, and takes three triangles of n(n-1)/2 numbers for every thread. */
svmp_status svmp_stein_discrepancy(svmp_context *context, const stein_sample *sample, svmp_discrepancy *total,
                                   svmp_discrepancy *nodes);

/* The ratio of V to its expectation that n exact draws exceed at one node or more of `nodes` once in a hundred samples.
 * `trace` is the sum of the eigenvalues of the Stein kernel, `spread` the root of the sum of their squares. */
double svmp_ratio_limit(size_t n, double trace, double spread, size_t nodes);

/* The |z| of a standard normal variable that is as far out as the |t|, given squared, of Student's: Wallace's formula.
 */
double svmp_normal_z(double t_square, double freedom);

#endif
