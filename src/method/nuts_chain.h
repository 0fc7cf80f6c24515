/* A chain of NUTS: its transitions, and what it adapts in its warm-up. */
#ifndef SVMP_METHOD_NUTS_CHAIN_H
#define SVMP_METHOD_NUTS_CHAIN_H

#include "method/method.h"
#include "method/moves/adaptation.h"
#include "method/moves/marginal_move.h"
#include "method/nuts_tree.h"

/* Statistics of a draw, in the order of Stan's columns. */
#define STATISTICS(X)                                                                                                  \
    X(lp)                                                                                                              \
    X(accept_stat)                                                                                                     \
    X(stepsize)                                                                                                        \
    X(treedepth)                                                                                                       \
    X(n_leapfrog)                                                                                                      \
    X(divergent)                                                                                                       \
    X(energy)

enum {
#define STATISTIC_INDEX(name) STATISTIC_##name,
    STATISTICS(STATISTIC_INDEX) STATISTIC_COUNT
#undef STATISTIC_INDEX
};

/* An impossible step size or start, or a factor whose function failed. */
typedef enum chain_fault { CHAIN_FINE, CHAIN_FAILED, CHAIN_NO_START, CHAIN_NO_STEP, CHAIN_IMPROPER } chain_fault;

/* Why a trajectory diverged: the first position where the density is NaN. */
typedef struct divergence {
    int known;
    size_t variable, factor; /* SIZE_MAX: not found */
    double value;            /* of the variable */
} divergence;

typedef struct chain {
    size_t number;    /* 0, 1, ... */
    size_t iteration; /* iterations done: as many as the run or more */
    hamiltonian h;
    tree tree;
    phase_point z, trial;
    marginal_move *marginal; /* NULL: there is none */
    size_t conditional;      /* hyperparameters move by it alone: trajectories are of the other variables, given them */
    double step;
    dual_averaging averaging;
    windows windows;
    running_variance variance;
    double *workspace;
    chain_fault fault;
    divergence divergence;
} chain;

typedef struct nuts {
    gaussian *q;          /* on the graph; NULL: the model has none */
    whitening *whitening; /* its coordinates, in which the chains move; NULL without it */
    size_t chains;
    chain *chain;
    double *draws;           /* draws[(c*draws + k)*variables + i], k the slot of an iteration */
    double *statistics;      /* statistics[(c*draws + k)*STATISTIC_COUNT + s] */
    double *start;           /* only in the first iteration: the backend's particles */
    peer_columns columns;    /* the chains that this process moves */
    size_t reached;          /* iterations that all chains have done */
    size_t gathered;         /* iterations whose draws of all chains are here */
    double *mine, *all;      /* room for a draw and its statistics, of the own chains and of all */
    int divergence_reported; /* report_divergence has reported it */
} nuts;

svmp_status svmp_chain_create(const svmp_run *run, size_t number, chain *c);
void svmp_chain_free(svmp_context *context, chain *c);

/* The slot of the state after iteration t. Draw k, t = warmup + k, has slot k permanently; warm-up iterations use the
 * same slots before. */
size_t svmp_chain_slot(const svmp_run *run, const chain *c, size_t t);

int svmp_chain_has_fault(const chain *c);

/* Makes one iteration if the chain has no lead, then more for some time, but never overwrites a slot that the run may
 * still read. */
void svmp_chain_advance(const svmp_run *run, chain *c);

/* Saves or loads the state of a chain after its last iteration. */
svmp_status svmp_chain_state(const svmp_run *run, chain *c, archive *a);

#endif
