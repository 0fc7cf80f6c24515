/* Global moves: every particle makes a Hamiltonian trajectory in the metric of the Gaussian on the graph
 * (prepare/fitted_gaussian.h), all particles at once. With q = N(m, A^-1), velocity w ~ N(0, A^-1) and time step e,
 *
 *     w <- w + e/2 r(x),   x, w <- flow of length e,   w <- w + e/2 r(x)        steps times
 *
 * is accepted by the change of log p(x) - w'Aw/2. There are two kinds:
 *
 *     leapfrog   r = A^-1 s(x)            x <- x + e w
 *     turning    r = A^-1 s(x) + x - m    x - m <- cos(e) (x - m) + sin(e) w,   w <- cos(e) w - sin(e) (x - m)
 *
 * Turning follows q exactly for any step, so that only the difference between posterior and q limits the step. The
 * leapfrog has an error in every variable of a Gaussian, so that its step decreases with their number. The first 24
 * trajectories alternate between both; later ones turn if that allows more than twice the step. Where q is close to the
 * posterior every direction has the same scale, so that a quarter of a period, a few steps, gives a nearly independent
 * particle, however correlated the variables are. A step size is shared by the particles and adapts to their mean
 * acceptance; its jitter and the length of the trajectory are the same for all of them in one iteration. */
#ifndef SVMP_METHOD_MOVES_TRAJECTORY_H
#define SVMP_METHOD_MOVES_TRAJECTORY_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/archive.h"
#include "prepare/fitted_gaussian.h"

/* Whether trajectories cost too much: the triangular solves of each step, with many entries of the factor for each
 * variable. */
bool svmp_trajectory_is_expensive(const gaussian *q, size_t variables);

typedef struct trajectory trajectory;

/* For the particles of a backend. `q` must outlive it; iterations that share q must not run at the same time. */
svmp_status svmp_trajectory_create(const backend *b, gaussian *q, trajectory **made);
void svmp_trajectory_free(trajectory *made); /* NULL-safe */

/* Evaluates the score of the particles; *score is borrowed, valid until they move. */
svmp_status svmp_trajectory_evaluate(trajectory *t, backend *b, const double **score);

/* A^-1 times that score, borrowed, valid until the particles move; the move reuses it. */
svmp_status svmp_trajectory_force(trajectory *t, const double **force);

/* Fails if the evaluated score is not finite although the density is. */
svmp_status svmp_trajectory_check(trajectory *t, backend *b, size_t iteration);

/* Moves all particles once, from where they were evaluated. If `gain` is positive, the log of the step size then
 * increases by gain * (mean acceptance - 0.8). Costs an evaluation of the model and a solve for each step. */
svmp_status svmp_trajectory_move(trajectory *t, backend *b, size_t iteration, double gain);

/* The mean operations of a move so far, for each particle, if a score takes `score` operations. */
double svmp_trajectory_operations(const trajectory *t, double score);

double svmp_trajectory_step(const trajectory *t);

/* Saves or loads the state of the moves: the step sizes and the number of moves. */
svmp_status svmp_trajectory_state(trajectory *t, archive *a);

#endif
