/* Jumps between known modes (model/posterior_modes.h): a draw y from their Gaussian mixture q is proposed to a particle
 * and accepted with probability min(1, p(y) q(x) / (p(x) q(y))). So the particle remains a Markov chain with the
 * posterior as its stationary distribution, whatever the estimated shares of the modes. Random numbers are keyed by
 * (seed, iteration, particle). */
#ifndef SVMP_METHOD_MOVES_MODE_JUMP_H
#define SVMP_METHOD_MOVES_MODE_JUMP_H

#include "backend/backend.h"
#include "base/random.h"
#include "model/posterior_modes.h"

/* propose: a draw of the mixture from the stream, with its numbers `stride` apart in x. log_ratio: log q(x) - log q(y)
 * - log u for a uniform number u; y is accepted if the sum of this and log p(y) - log p(x) is positive. `workspace` has
 * a number for each variable. */
void svmp_mode_jump_propose(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                            double *x);
double svmp_mode_jump_log_ratio(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                                const double *x, const double *y);

/* A jump that keeps the place within a mode: with labels j drawn from r_j(x) and k from a_k over the other modes,
 *
 *     y = mean_k + root_k root_j^-1 (x - mean_j),
 *
 * which falls less often with the dimension than a draw. Returns the log of r_k(y) a_j/(1 - a_k) |root_k| over
 * r_j(x) a_k/(1 - a_j) |root_j|, less log u; y is accepted as above. `workspace` has a number for each variable and one
 * for each mode. */
double svmp_mode_map_propose(const model_modes *modes, random_stream stream, double *workspace, size_t stride,
                             const double *x, double *y);

/* ---- of the particles of a backend --------------------------------------------------------------------------------
 */

typedef struct mode_jump mode_jump;

/* Between these modes, which must live as long. *made stays NULL if they are; then svmp_mode_jump_move does nothing. */
svmp_status svmp_mode_jump_create(const backend *b, const model_modes *modes, mode_jump **made);
void svmp_mode_jump_free(mode_jump *l);

/* Draws all particles from the mixture, each mode with its share of them. A particle whose density is not finite is
 * moved towards the mean of its mode; fails with SVMP_NOT_FINITE if the density is not finite there either. */
svmp_status svmp_mode_jump_start(mode_jump *l, double *x);

/* rows[k*n + l]: the probability r_k that particle x[i*n + l] is in mode k. */
void svmp_mode_jump_labels(const mode_jump *l, const double *x, double *rows);

/* Proposes a jump to each particle. Costs two evaluations of the log density. */
svmp_status svmp_mode_jump_move(mode_jump *l, backend *b, size_t t);

#endif
