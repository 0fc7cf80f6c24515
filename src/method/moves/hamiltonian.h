/* Hamiltonian dynamics with a diagonal metric M: H(q, p) = -log p(q) + p' M^-1 p / 2, and its leapfrog steps. They may
 * take place in the coordinates of a whitening, x = m + R q, and move some of the variables only. */
#ifndef SVMP_METHOD_MOVES_HAMILTONIAN_H
#define SVMP_METHOD_MOVES_HAMILTONIAN_H

#include "base/random.h"
#include "maths/sparse_whitening.h"
#include "model/evaluator.h"

typedef struct phase_point {
    double *q, *p, *score; /* position, momentum, d log p / dq */
    double log_density;
} phase_point;

typedef struct hamiltonian {
    size_t variables;
    evaluator *evaluator;       /* of one particle and one thread */
    const uint32_t *moved;      /* the variables that move, as many; NULL: all do */
    size_t all;                 /* variables of the model */
    const whitening *whitening; /* of those that move; NULL: x = q */
    double *inverse_metric;
    int failed;          /* a factor's function reported failure, now or before */
    int lost;            /* whether the density or the score was NaN since this was last set to 0: */
    double *x, *lost_at; /* the last position that was evaluated, and the last such one */
    double *score;       /* d log p / dx there */
    double *part, *workspace;
} hamiltonian;

/* How many vectors a hamiltonian's workspace has. */
enum { HAMILTONIAN_VECTORS = 6 };

/* All variables move, in no other coordinates, and the metric is the unit matrix. Takes HAMILTONIAN_VECTORS * variables
 * numbers. */
void svmp_hamiltonian_take(hamiltonian *h, size_t variables, double **workspace);

/* From now on `count` variables move, those of `moved`, in the coordinates of their whitening; the others stay as in x.
 * The metric becomes the unit matrix. */
void svmp_hamiltonian_restrict(hamiltonian *h, size_t count, const uint32_t *moved, const whitening *coordinates,
                               const double *x);

/* Particle l of n, x[i*n + l], as coordinates z; and coordinates as a point. */
void svmp_hamiltonian_enter(hamiltonian *h, size_t n, size_t l, const double *x, double *z);
void svmp_hamiltonian_leave(hamiltonian *h, const double *z, double *x);

/* Log density and score at q. */
void svmp_hamiltonian_evaluate(hamiltonian *h, phase_point *z);

/* Whether log density and score are finite. */
int svmp_hamiltonian_is_finite(const hamiltonian *h, const phase_point *z);

/* p ~ N(0, M) */
void svmp_hamiltonian_draw_momentum(const hamiltonian *h, random_stream stream, double *p);

/* H, infinite if it is NaN. */
double svmp_hamiltonian_energy(const hamiltonian *h, const phase_point *z);

/* One step of length `step`, which may be negative; costs one evaluation of the model. */
void svmp_hamiltonian_leapfrog(hamiltonian *h, phase_point *z, double step);

/* A step size of the right order: doubles or halves `step` until one leapfrog step from `start` changes the energy by
 * about log 0.8 (Hoffman and Gelman 2014, algorithm 4). `z` is workspace for a point. Returns 0 or infinity if no step
 * size does. */
double svmp_hamiltonian_find_step(hamiltonian *h, const phase_point *start, double step, random_stream stream,
                                  phase_point *z);

/* Takes the next `variables` numbers of *workspace and advances it. */
static inline double *svmp_workspace_take(double **workspace, size_t variables) {
    double *taken = *workspace;
    *workspace += variables;
    return taken;
}

void svmp_phase_point_take(phase_point *z, double **workspace, size_t variables); /* 3 * variables numbers */
void svmp_phase_point_copy(phase_point *to, const phase_point *from, size_t variables);

#endif
