/* A pairwise view of a model whose factors touch at most two nodes: potentials of nodes and of edges,
 *
 *     log p(x) = sum_v theta_v(x_v) + sum_{uv} psi_uv(x_u, x_v)
 *
 * Both can be evaluated at any values, not only at those of one particle. theta_v contains the factors of v alone and
 * b_v'x_v - x_v'A_vv x_v / 2 of the quadratic; psi_uv contains the factors of both nodes and -x_u'A_uv x_v. The
 * diagonal part of a Gaussian factor of two nodes belongs to the potentials of the nodes, because the quadratic only
 * stores sums. */
#ifndef SVMP_MODEL_PAIRWISE_H
#define SVMP_MODEL_PAIRWISE_H

#include "model/model.h"

typedef struct pairwise_instance {
    size_t group, instance;
} pairwise_instance;

typedef struct pairwise {
    const svmp_model *model;

    /* Edges, ordered by their lower node and then by their higher one. An edge e has two ends, 2e at its lower node
     * and 2e + 1 at its higher one: end ^ 1 is the other end. */
    size_t edges;
    uint32_t *node; /* end -> the node that it is at */
    size_t *ends_start;
    size_t *ends; /* the ends at node v, ascending: ends[ends_start[v]] ... ends[ends_start[v + 1] - 1] */

    /* The instances of groups that make up the potential of node v (list v) or of edge e (list nodes + e), ascending.
     */
    size_t *instances_start;
    pairwise_instance *instances;
    factor_group
        *views;       /* the model's groups, their variables counted from the lower node's first, the higher's behind */
    size_t dimension; /* the most variables of an edge, or of a node */
} pairwise;

/* Fails if a factor has three or more nodes; the message begins with `who` ("The method 'tpmp'") and names the first
 * such factor, by its line in the model text if there is one, and its nodes. */
svmp_status svmp_pairwise_create(const svmp_model *model, const char *who, pairwise **made);
void svmp_pairwise_free(pairwise *p);

/* Working memory of one thread to evaluate either `few` or `many` values at once, and no other number (factor_group.h:
 * scratch). `x` has room for the values of an edge. */
typedef struct pairwise_workspace {
    double *x, *value, *gradient;
    void *scratch;
} pairwise_workspace;

svmp_status svmp_pairwise_workspace_create(const pairwise *p, size_t few, size_t many, pairwise_workspace *workspace);
void svmp_pairwise_workspace_free(const pairwise *p, pairwise_workspace *workspace);

/* Replaces sums that are smaller or NaN, and infinite densities: low enough never to be chosen, and finite, so that
 * differences of such sums are defined. */
#define PAIRWISE_IMPOSSIBLE (-1e100)

/* The potential of a node, x[k*n + l] its variable k, or of an edge, the lower node's variables first, for n values:
 * sum[l], added up in a fixed order. Returns PAIRWISE_DONE, or a failure (model.h). A factor belongs to exactly one
 * potential: if no potential is evaluated twice at the same time, no factor is. */
#define PAIRWISE_DONE FAILURE_NONE
size_t svmp_pairwise_node(const pairwise *p, size_t node, size_t n, const double *x, pairwise_workspace *workspace,
                          double *sum);
size_t svmp_pairwise_edge(const pairwise *p, size_t edge, size_t n, const double *x, pairwise_workspace *workspace,
                          double *sum);

#endif
