/* Leaps between modes that are known (model/posterior_modes.h): a particle is offered a draw y of their mixture q,
 * which is accepted with probability min(1, p(y) q(x) / (p(x) q(y))). So the particle stays a Markov chain with the
 * posterior as its stationary distribution, whatever the shares of the modes were thought to be. Random numbers are
 * keyed by (seed, iteration, particle). */
#ifndef SVMP_METHOD_MOVES_MODE_JUMP_H
#define SVMP_METHOD_MOVES_MODE_JUMP_H

#include "backend/backend.h"
#include "base/random.h"
#include "model/posterior_modes.h"

/* A draw of the mixture by the stream, whose numbers are `stride` apart in x; and log q(x) - log q(y) - log u for a
 * uniform number u: y is accepted if log p(y) - log p(x) is not less than minus that. `workspace` has a number for each
 * variable. */
void svmp_mode_jump_propose(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                            double *x);
double svmp_mode_jump_log_ratio(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                                const double *x, const double *y);

/* ---- of the particles of a backend --------------------------------------------------------------------------------
 */

typedef struct mode_jump mode_jump;

/* *made stays NULL for a model without known modes; the functions below do nothing then. */
svmp_status svmp_mode_jump_create(const backend *b, mode_jump **made);
void svmp_mode_jump_free(mode_jump *l);

/* Draws all particles from the mixture, each mode with its share of them. One whose density is not finite is pulled in
 * towards its mode's mean; fails as SVMP_NOT_FINITE if it is not finite there either. */
svmp_status svmp_mode_jump_start(mode_jump *l, double *x);

/* Offers a leap to each particle. Costs two evaluations of the log density. */
svmp_status svmp_mode_jump_move(mode_jump *l, backend *b, size_t t);

#endif
