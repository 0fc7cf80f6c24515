/* Particles that are to have given means and sds. */
#ifndef SVMP_METHOD_TRANSPORT_MATCHED_MOMENTS_H
#define SVMP_METHOD_TRANSPORT_MATCHED_MOMENTS_H

#include "method/transport/averages.h"
#include "prepare/fitted_gaussian.h"

/* Shifts the n particles x[i*n + l] to the means of `to`, and changes their spread until every variable has its sd. Of
 * all Gaussians with given sds the one nearest to a covariance S has the precision S^-1 + diag(lambda): small changes
 * of it are x - mean <- (I - S diag(lambda)/2) (x - mean), with S = A^-1 of q. So a direction in which many variables
 * move together is stretched as such, and what is known well, such as differences of neighbours, stays as it is, where
 * stretching each variable by itself would change it. `workspace` has variables*n numbers. */
svmp_status svmp_match_moments(gaussian *q, const average *to, size_t variables, size_t n, double *x,
                               double *workspace);

#endif
