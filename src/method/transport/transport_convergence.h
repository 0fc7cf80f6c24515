/* Convergence of the averages of chains: their standard errors are small, they do not drift, Stein's identities hold
 * and the chains have mixed. */
#ifndef SVMP_METHOD_TRANSPORT_TRANSPORT_CONVERGENCE_H
#define SVMP_METHOD_TRANSPORT_TRANSPORT_CONVERGENCE_H

#include "method/method.h"
#include "method/transport/averages.h"

/* Standard errors in units of the sd. */
typedef struct error_limits {
    double mean, sd;
} error_limits;

extern const error_limits svmp_fair_errors; /* good enough if more iterations do not help, or there are none left */

/* The worst ratio of errors and drifts to their limits over `count` variables; at most 1 if the averages have
 * converged. ..._of_moved, for variables that move, includes Stein's identities. */
double svmp_averages_convergence(const average *rows, size_t count, error_limits allowed);
double svmp_averages_convergence_of_moved(const average *rows, size_t count, error_limits allowed);

/* The largest standard error in units of the sd, which falls as 1/sqrt(iterations). */
double svmp_largest_error(const average *rows, size_t count);

/* Whether all chains have mixed. */
int svmp_chains_have_mixed(const average *rows, size_t count);

/* Why variables that move have not converged, by the limits of fair errors: chains that have not mixed, then large
 * errors, drifts, and identities. */
nonconvergence svmp_find_nonconvergence(const average *rows, size_t count);

#endif
