/* Leaps between modes that are known (model/modes.h): a particle is offered a draw y of their mixture q, which is
 * accepted with probability min(1, p(y) q(x) / (p(x) q(y))). So the particle stays a Markov chain with the posterior as
 * its stationary distribution, whatever the shares of the modes were thought to be. Random numbers are keyed by (seed,
 * iteration, particle). */
#ifndef SVMP_METHOD_LEAP_H
#define SVMP_METHOD_LEAP_H

#include "backend/backend.h"

typedef struct leaper leaper;

/* *made stays NULL for a model without known modes; the functions below do nothing then. */
svmp_status svmp_leaper_create(const backend *b, leaper **made);
void svmp_leaper_free(leaper *l);

/* Draws all particles from the mixture, each mode with its share of them. One whose density is not finite is pulled in
 * towards its mode's mean. */
svmp_status svmp_leaper_start(leaper *l, double *x);

/* Offers a leap to each particle. Costs two evaluations of the log density. */
svmp_status svmp_leap(leaper *l, backend *b, size_t t);

#endif
