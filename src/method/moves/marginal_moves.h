/* Marginal moves (marginal_move.h) of all particles, for chains whose hyperparameters hardly move given the nodes below
 * them. Nothing adapts: the factor of the covariance is that of the Gaussian on the graph. In the neck of a funnel that
 * is too narrow in some direction; so in each turn the steps of one hyperparameter are longer by 1, e, e^2, e^3 or e^4.
 */
#ifndef SVMP_METHOD_MOVES_MARGINAL_MOVES_H
#define SVMP_METHOD_MOVES_MARGINAL_MOVES_H

#include "backend/backend.h"
#include "prepare/fitted_gaussian.h"

typedef struct marginal_moves marginal_moves;

/* *made is NULL where svmp_marginal_move_create finds none. q must live as long. */
svmp_status svmp_marginal_moves_create(const backend *b, gaussian *q, marginal_moves **made);
void svmp_marginal_moves_free(marginal_moves *m); /* NULL-safe */

/* Moves each particle once; `turn` counts these calls and keys the random numbers. NULL: nothing. */
svmp_status svmp_marginal_moves_turn(marginal_moves *m, backend *b, size_t turn);

#endif
