/* Moment matching: particles with given means and sds. */
#ifndef SVMP_METHOD_TRANSPORT_MATCHED_MOMENTS_H
#define SVMP_METHOD_TRANSPORT_MATCHED_MOMENTS_H

#include "method/transport/averages.h"
#include "prepare/fitted_gaussian.h"

/* Shifts the n particles x[i*n + l] to the means of `to`, and changes their spread until every variable has its sd.
 * Among Gaussians with given sds, the one closest to a covariance S in Kullback-Leibler divergence has the precision
 * S^-1 + diag(lambda). For small lambda that is x - mean <- (I - S diag(lambda)/2) (x - mean), with S = A^-1 of q. So a
 * direction in which many variables move together is stretched as a whole, and well-determined quantities such as
 * differences of neighbours are preserved; scaling each variable separately would change them. `workspace` has
 * variables*n numbers. */
svmp_status svmp_match_moments(gaussian *q, const average *to, size_t variables, size_t n, double *x,
                               double *workspace);

#endif
