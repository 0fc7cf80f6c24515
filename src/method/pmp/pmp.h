/* Particle message passing: every node has N particles of its own, and one iteration is
 *
 *     grow      N new particles per node, through its neighbours or near a kept one       pmp_grow.c
 *     tables    all potentials of nodes and edges at the 2N particles                     pmp_messages.c
 *     pass      max-sum messages along the edges until they converge                     pmp_messages.c
 *     select    N of the 2N: the best (T-PMP), or those that keep the messages (D-PMP)    pmp_select.c
 *
 * Particles of different nodes are matched by the messages, not by their number. They search for modes and are not a
 * sample of the posterior. */
#ifndef SVMP_METHOD_PMP_PMP_H
#define SVMP_METHOD_PMP_PMP_H

#include "method/method.h"
#include "model/pairwise.h"

/* How a new particle is made. */
typedef struct pmp_plan {
    size_t end;               /* the end at this node of the edge that it is drawn through; PMP_WALK: a random walk */
    uint32_t kept, neighbour; /* a kept particle of the node; one of the neighbour */
    double spread;            /* the scale of the second-widest candidates */
} pmp_plan;

#define PMP_WALK SIZE_MAX

enum { PMP_CANDIDATES = 32, PMP_ROUNDS = 3 };

/* A particle in the queue of candidates for selection, ordered by larger gain, then larger belief, then lower
 * number. */
typedef struct pmp_item {
    double gain, belief;
    uint32_t particle;
    uint32_t round; /* the number selected when the gain was computed */
} pmp_item;

typedef struct pmp_workspace {
    pairwise_workspace pairs;
    double *numbers;  /* random numbers, or a row of sums: max(4N, PMP_CANDIDATES * variables of a node) */
    double *psi;      /* D-PMP: (largest number of ends of a node) * 2N rows, for each of 2N particles */
    double *best;     /* D-PMP: a number for each row */
    pmp_item *heap;   /* 2N */
    uint32_t *chosen; /* N */
} pmp_workspace;

typedef struct pmp {
    pairwise *pairs;
    size_t n; /* particles kept, N; the new ones are N ... 2N - 1 */
    int diverse;
    int threads;
    double *x;              /* variables * 2N */
    double *unary, *belief; /* nodes * 2N: log potential, and max-marginal up to a constant */
    double *table;          /* edge, particle of its lower node, particle of its higher node: psi */
    double *message,
        *foundation; /* ends * 2N: the message that arrives at the end; what leaves from it, before the edge */
    pmp_plan *plan;  /* nodes * N */
    double *candidate, *weight; /* variables * N * PMP_CANDIDATES, nodes * N * PMP_CANDIDATES */
    pmp_workspace *workspace;   /* thread -> its own */
} pmp;

/* Fills the new particles N ... 2N - 1. Fails if a factor's function fails. */
svmp_status svmp_pmp_grow(pmp *p, const backend *b, size_t t);

/* Fills `unary` and `table`. Fails if a factor's function fails. */
svmp_status svmp_pmp_tables(pmp *p);

/* Max-sum, starting from constant messages; fills `message`, `foundation` and `belief`. Returns the largest change of a
 * message in the last sweep. */
double svmp_pmp_pass(pmp *p);

/* Selects `p->n` particles of a node into workspace->chosen, the one with the largest belief first. */
void svmp_pmp_select(const pmp *p, size_t node, pmp_workspace *workspace);

/* The two selection algorithms, from `count` particles with these beliefs. `heap` has room for all of them.
 *   top       the `keep` largest beliefs, descending
 *   diverse   the largest belief, then greedily what adds most to  sum_row max_{a chosen} psi[a*rows + row],  psi >= 0;
 *             `best` has room for a number a row and ends as these maxima */
void svmp_pmp_top(size_t count, const double *belief, size_t keep, pmp_item *heap, uint32_t *chosen);
void svmp_pmp_diverse(size_t count, const double *belief, size_t rows, const double *psi, size_t keep, double *best,
                      pmp_item *heap, uint32_t *chosen);

/* The error of a factor whose function failed; SVMP_OK for PAIRWISE_DONE. */
svmp_status svmp_pmp_check(const pmp *p, size_t failed);

#endif
