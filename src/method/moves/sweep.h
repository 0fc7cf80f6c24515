/* Local moves: every node of every particle is moved given its neighbours, by the Metropolis-adjusted Langevin
 * algorithm, a colour of nodes at a time. With A the node's curvature given the others, L L' = A, and h = epsilon^2,
 *
 *     y = x_v + h/2 A^-1 s_v(x) + epsilon L'^-1 xi
 *
 * is accepted by the ratio of the factors that touch v. So each particle is a Markov chain whose stationary
 * distribution is the posterior, for any fixed A and epsilon. Each node has its own, shared by the particles. Where the
 * density may be discontinuous (model/density_discontinuities.h), the score gives no direction: such a node makes a
 * random walk in which two of three steps are 6 and 36 times as long, so that some of them cross gaps. Where the
 * Gaussian on the graph is known, every fourth move of a node is a Cauchy proposal of one of its variables instead
 * (moves/cauchy.h), which crosses gaps between modes of the node. Random numbers
 * are keyed by (seed, sweep, variable, particle), those for acceptance by (seed, sweep, node, particle), with indices
 * in the whole model: the same bits for any number of threads and processes. */
#ifndef SVMP_METHOD_MOVES_SWEEP_H
#define SVMP_METHOD_MOVES_SWEEP_H

#include "backend/backend.h"
#include "base/archive.h"
#include "base/exact_sum.h"
#include "method/moves/trajectory.h"
#include "prepare/fitted_gaussian.h"

typedef struct sweeper sweeper;

/* For the particles of a backend; collective if its model is a part. */
svmp_status svmp_sweeper_create(const backend *b, sweeper **made);
void svmp_sweeper_free(sweeper *s); /* NULL-safe */

/* From now on some moves are Cauchy proposals from q, of the whole model; q is not kept. */
svmp_status svmp_sweeper_add_cauchy(sweeper *s, const gaussian *q);

/* Limits the cost of a sweep to that of `scores` scores of the model, on average: where all nodes together cost more,
 * the expensive ones move in every second, third, ... sweep, and those that would move in fewer than every 32nd move no
 * more. Costs are counted in operations. Nodes in which the density may be discontinuous always move. */
void svmp_sweeper_set_budget(sweeper *s, double scores);

/* Sets the budget to what trajectories have cost so far, and returns it. Whichever of the two kinds of moves mixes
 * better, the other one at most doubles the time. */
double svmp_sweeper_match_trajectories(sweeper *s, const trajectory *t);

/* The number of sequential rounds in a sweep: the colours. */
size_t svmp_sweeper_rounds(const sweeper *s);

/* The operations of a sweep divided by those of a score of the model; for a part the totals of all processes
 * (collective). */
double svmp_sweeper_scores(const sweeper *s);

/* Estimates A: the median over the particles of each second derivative, by differences of the node's score. `again`:
 * only for nodes of several variables, because epsilon cannot correct their shape. `b` has all particles, also if s
 * moves a share. Costs two evaluations of a node's factors for each of its variables, and up to 24 more if all
 * particles are equal. Nodes of more than 256 variables use the median of s_i^2 for A_ii. */
svmp_status svmp_sweeper_measure_curvature(sweeper *s, backend *b, int again);

/* Moves all nodes once; if `gain` is positive, log epsilon of each node then increases by gain * (mean acceptance -
 * 0.6). Costs two evaluations of every factor for every node that it touches. */
svmp_status svmp_sweep(sweeper *s, backend *b, size_t t, double gain);

/* The sum of epsilon over own nodes. */
exact_sum svmp_sweeper_steps(const sweeper *s);

/* Adds to moves[l] the number of accepted moves of own nodes of particle l since the last call. */
void svmp_sweeper_add_moves(sweeper *s, int64_t *moves);

/* Saves or loads the state of the sweeps: A and epsilon. The budget is the caller's. */
svmp_status svmp_sweeper_state(sweeper *s, archive *a);

#endif
