/* Whether the averages of chains have settled: their standard errors are small, they do not drift, Stein's identities
 * hold and the chains have met. */
#ifndef SVMP_METHOD_TRANSPORT_TRANSPORT_CONVERGENCE_H
#define SVMP_METHOD_TRANSPORT_TRANSPORT_CONVERGENCE_H

#include "method/method.h"
#include "method/transport/averages.h"

/* Standard errors in units of the sd. */
typedef struct error_limits {
    double mean, sd;
} error_limits;

extern const error_limits svmp_small_errors; /* nothing is left to do */
extern const error_limits svmp_fair_errors;  /* good enough if more iterations do not help, or there are none left */

/* How far the averages of `count` variables are from settled, the worst of them: at most 1 when they are. For variables
 * that move, Stein's identities count, too. */
double svmp_averages_convergence(const average *rows, size_t count, error_limits allowed);
double svmp_averages_convergence_of_moved(const average *rows, size_t count, error_limits allowed);

/* The largest standard error in units of the sd, which falls with the root of the length of a window. */
double svmp_largest_error(const average *rows, size_t count);

/* Whether every chain has come to where the others are. */
int svmp_chains_have_mixed(const average *rows, size_t count);

/* What keeps variables that move from having settled, by the fair errors: chains that have not met come first, then
 * large errors, drifts, identities. */
nonconvergence svmp_find_nonconvergence(const average *rows, size_t count);

#endif
