/* Moves of hyperparameters t that the nodes u below them follow. Given t and all other variables, u is about
 * N(m, A^-1), the maximum of its density and the curvature there, by Newton's method. With R R' = A^-1,
 *
 *     z = R^-1 (u - m),     t' = t + w L e,  e ~ N(0, 1),     u' = m' + R' z
 *
 * is accepted by the ratio of p(x) det(R): the map from (t, z) to x has this determinant. If the Gaussian is exact,
 * this is a random walk on the marginal density of t. So a chain crosses the funnel of a hierarchy or a time series,
 * where given u the hyperparameters hardly move. The width w and L, a factor of the covariance of t, adapt in a
 * warm-up.
 *
 * t are the variables that the locations and scales of several nodes read, except those that the locations only add,
 * and positive or bounded variables with several neighbours; u are all others. */
#ifndef SVMP_METHOD_MOVES_MARGINAL_MOVE_H
#define SVMP_METHOD_MOVES_MARGINAL_MOVE_H

#include "base/archive.h"
#include "prepare/fitted_gaussian.h"

typedef struct marginal_move marginal_move;

/* The moves of one particle, by one thread. *made is NULL if no hyperparameter has enough nodes, if there are many
 * hyperparameters, or if the moves would be expensive. */
svmp_status svmp_marginal_move_create(const svmp_model *model, gaussian *q, marginal_move **made);
void svmp_marginal_move_free(marginal_move *m); /* NULL-safe */

/* Moves x once, with random numbers of (seed, iteration, chain). If `gain` is positive, log w then increases by gain *
 * (acceptance - 0.3). Costs some evaluations of the curvature. Returns whether it has moved. */
int svmp_marginal_move(marginal_move *m, uint64_t seed, size_t iteration, size_t chain, double gain, double *x);

/* From now on the steps of one hyperparameter, `which` modulo their number, are longer by this factor. */
void svmp_marginal_move_scale(marginal_move *m, size_t which, double factor);

/* Whether the width has become tiny in the warm-up, so that moves cost more than they are worth. */
int svmp_marginal_move_is_useless(const marginal_move *m);

/* Whether moves, as they have adapted, cross much of the posterior of t, and the Gaussian existed for 99 % of the
 * proposals since svmp_marginal_move_adapt: then t need not move otherwise. Moves cannot reach a t without one. */
int svmp_marginal_move_crosses(const marginal_move *m);

/* The coordinates z of u given the hyperparameters of x, and the variables u; NULL if there are none there. After a
 * move they are those where it came to, and z is what it was. */
const whitening *svmp_marginal_move_coordinates(marginal_move *m, const double *x);
const uint32_t *svmp_marginal_move_variables(const marginal_move *m, size_t *count);

/* Adds t to the draws whose covariance is learnt; makes L from them, and forgets them. */
void svmp_marginal_move_learn(marginal_move *m, const double *x);
void svmp_marginal_move_adapt(marginal_move *m);

svmp_status svmp_marginal_move_state(marginal_move *m, archive *a);

#endif
