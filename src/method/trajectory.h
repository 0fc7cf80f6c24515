/* Global moves: every particle makes a Hamiltonian trajectory in the metric of the Gaussian on the graph
 * (start/gaussian.h), all particles at once. With q = N(m, A^-1), velocity w ~ N(0, A^-1) and time step e,
 *
 *     w <- w + e/2 r(x),   (x - m, w) <- (c (x - m) + s w, c w - s (x - m)),   w <- w + e/2 r(x)        steps times,
 *     r(x) = A^-1 s(x) + x - m,   c = cos e,   s = sin e,
 *
 * is accepted by the change of log p(x) - w'Aw/2. Under q itself r = 0 and particles turn about m, exactly, whatever
 * the step is; the steps follow what the posterior has beyond q. So their size falls with the number of variables only
 * as far as the posterior is not Gaussian. (The leapfrog's x <- x + e w has an error in each variable of a Gaussian,
 * too.) A quarter of a turn, a few steps, gives a nearly independent particle, however correlated the variables are.
 * The step size is shared by the particles and adapts to their mean acceptance; its jitter and the length of the
 * trajectory are the same for all of them in one iteration. */
#ifndef SVMP_METHOD_TRAJECTORY_H
#define SVMP_METHOD_TRAJECTORY_H

#include "backend/backend.h"
#include "base/archive.h"
#include "start/gaussian.h"

typedef struct trajectory trajectory;

/* For the particles of a backend. `q` must live as long; one iteration at a time solves with its factor. */
svmp_status svmp_trajectory_create(const backend *b, gaussian *q, trajectory **made);
void svmp_trajectory_free(trajectory *made); /* NULL-safe */

/* Evaluates the particles as they are; *score is the trajectories' own, valid until they move. */
svmp_status svmp_trajectory_look(trajectory *t, backend *b, const double **score);

/* Fails if a score that was looked at is not finite where the density is. */
svmp_status svmp_trajectory_check(trajectory *t, backend *b, size_t iteration);

/* Moves all particles once, from where they were looked at. `gain` above 0: then log of the step size goes up by gain *
 * (mean acceptance - 0.8). Costs an evaluation of the model and a solve for each step. */
svmp_status svmp_trajectory_move(trajectory *t, backend *b, size_t iteration, double gain);

double svmp_trajectory_step(const trajectory *t);

/* What a move needs of those before it: the step size. */
svmp_status svmp_trajectory_state(trajectory *t, archive *a);

#endif
