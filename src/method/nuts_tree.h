/* One transition of the No-U-Turn sampler: a trajectory that doubles, forwards or backwards, until it turns back, and a
 * point drawn from it with the weights exp(-H) (Hoffman and Gelman 2014; multinomial sampling and the generalised
 * criterion with the checks across sub-trees of Betancourt 2017 and Stan). */
#ifndef SVMP_METHOD_NUTS_TREE_H
#define SVMP_METHOD_NUTS_TREE_H

#include "method/moves/hamiltonian.h"
#include "sample/sampler_totals.h"

/* A sub-trajectory, in the order in which it was built, and a point drawn from it. */
typedef struct stretch {
    double *begin, *end; /* momenta at its two ends */
    double *rho;         /* the sum of its momenta */
    double log_weight;   /* log sum exp(H0 - H) over its points */
    phase_point draw;    /* its momentum is not kept */
    double draw_energy;
} stretch;

typedef struct tree {
    hamiltonian *h;
    stretch trajectory, level[NUTS_DEEPEST];
    phase_point edge[2]; /* where the trajectory continues, backwards and forwards */
    random_stream stream;
    uint64_t drawn; /* numbers of the stream that have been used */
    double step, energy;
    /* statistics of the transition */
    size_t depth, leapfrogs;
    double acceptance; /* the sum of min(1, exp(H0 - H)) over all leapfrog steps */
    int divergent;
} tree;

/* The size of a tree's workspace, in numbers. */
size_t svmp_tree_workspace_size(size_t variables);
void svmp_tree_take(tree *t, hamiltonian *h, double **workspace);

/* Moves `z` by one transition, with momenta and choices of (seed, iteration, chain). */
void svmp_tree_transition(tree *t, phase_point *z, double step, uint64_t seed, size_t iteration, size_t chain);

#endif
