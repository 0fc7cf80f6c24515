/* The kernelised Stein discrepancy with coordinate-wise kernels: the distance of particles from the posterior, per
 * node. */
#ifndef SVMP_STEIN_DISCREPANCY_H
#define SVMP_STEIN_DISCREPANCY_H

#include "stein/kernel.h"

/* Particles, their scores, and the kernel to measure with. Domains random:k are those of `iteration`. A term in the
 * metric sd uses the sd of these particles, not the smoothed one. */
typedef struct stein_sample {
    const svmp_graph *graph;
    const kernel *kernel;
    size_t n;
    const double *x, *score; /* variables * n */
    uint64_t seed;
    size_t iteration;
    const index_lists *hubs; /* term -> the nodes that its hubs read (stein/near_domain.h), for terms on `near`; */
    const double *messages;  /* own variables * n: messages at these particles, if any unit uses them */
} stein_sample;

/* The total discrepancy, and that of every own node (`nodes`, or NULL). The same bits for any number of threads. For a
 * part of a graph, the halo must be up to date, and the total is that of all processes, with the same bits as one
 * process. Costs about three iterations of the method, and needs three triangles of n(n-1)/2 numbers per thread. */
svmp_status svmp_stein_discrepancy(svmp_context *context, const stein_sample *sample, svmp_discrepancy *total,
                                   svmp_discrepancy *nodes);

/* The same from the measures of every own variable that a backend has computed (backend.h), for n particles. */
void svmp_stein_finish(const svmp_graph *graph, size_t n, const svmp_stein_measure *measured, svmp_discrepancy *total,
                       svmp_discrepancy *nodes);

/* The estimate of the sum of the eigenvalues of kappa. */
static inline double svmp_stein_trace(size_t n, svmp_stein_sums sums) {
    return n > 1 ? (sums.diagonal - sums.pairs / (double)n) / (double)(n - 1) : 0;
}

/* The limit on the ratio of V to its expectation: n exact draws exceed it at one or more of `nodes` nodes in 1 sample
 * out of 100. `trace` is the sum of the eigenvalues of the Stein kernel, `spread` the root of the sum of their
 * squares. */
double svmp_ratio_limit(size_t n, double trace, double spread, size_t nodes);

#endif
