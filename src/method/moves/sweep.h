/* Local moves: every node of every particle is moved given its neighbours, by the Metropolis-adjusted Langevin
 * algorithm, a colour of nodes at a time. With A the node's curvature given the others, L L' = A, and h = epsilon^2,
 *
 *     y = x_v + h/2 A^-1 s_v(x) + epsilon L'^-1 xi
 *
 * is accepted by the ratio of the factors that touch v. So each particle is a Markov chain whose stationary
 * distribution is the posterior, for any fixed A and epsilon. Both belong to the node and are shared by the particles.
 * Where the density may jump (model/density_discontinuities.h), the score says nothing of where to go: such a node
 * walks at random, and two of three steps are 6 and 36 times as long, so that some of them reach over what is in
 * between. Random numbers are keyed by (seed, sweep, variable, particle), those that decide by (seed, sweep, node,
 * particle), variables and nodes of the whole model: the same bits for any number of threads and processes. */
#ifndef SVMP_METHOD_MOVES_SWEEP_H
#define SVMP_METHOD_MOVES_SWEEP_H

#include "backend/backend.h"
#include "base/archive.h"
#include "base/exact_sum.h"

typedef struct sweeper sweeper;

/* For the particles of a backend, whose model may be a part: all processes call it then. */
svmp_status svmp_sweeper_create(const backend *b, sweeper **made);
void svmp_sweeper_free(sweeper *s); /* NULL-safe */

/* How many times nodes move one after another in a sweep: the colours. */
size_t svmp_sweeper_rounds(const sweeper *s);

/* The operations of a sweep over those of a score of the model; of a part, of all processes: all of them call it. */
double svmp_sweeper_scores(const sweeper *s);

/* Measures A where the particles are: the median over them of each second derivative, by differences of the node's
 * score. `again`: of nodes of several variables alone, whose shape epsilon cannot make up for. Costs two evaluations of
 * a node's factors for each of its variables, and up to 24 more where all particles are equal; nodes of more than 256
 * variables take the median of s_i^2 for A_ii. */
svmp_status svmp_sweeper_measure_curvature(sweeper *s, backend *b, int again);

/* Moves all nodes once; `gain` above 0: then log epsilon of each node goes up by gain * (mean acceptance - 0.6). Costs
 * two evaluations of every factor for every node that it touches. */
svmp_status svmp_sweep(sweeper *s, backend *b, size_t t, double gain);

/* The sum of epsilon over own nodes. */
exact_sum svmp_sweeper_steps(const sweeper *s);

/* Adds to moves[l] how many moves of own nodes particle l has accepted since this was last called. */
void svmp_sweeper_add_moves(sweeper *s, int64_t *moves);

/* What a sweep needs of those before it: A and epsilon. */
svmp_status svmp_sweeper_state(sweeper *s, archive *a);

#endif
