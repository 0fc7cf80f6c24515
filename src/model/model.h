/* A model: its factors, and the graph derived from them. */
#ifndef SVMP_MODEL_MODEL_H
#define SVMP_MODEL_MODEL_H

#include "base/peers.h"
#include "graph/graph.h"
#include "model/factor_group.h"
#include "model/quadratic.h"

struct svmp_model {
    svmp_context *context;
    svmp_graph *graph;
    int finished, failed;
    int fragment; /* a fragment of a model that all processes build together; set before factors are added */

    char **names; /* node -> its name, or NULL: x.1, x.2, ... */
    double *lower, *upper;
    int boxed;                      /* whether any bound is finite */
    struct node_supports *supports; /* of nodes that functions build; NULL: all values are variables */

    quadratic quadratic;
    size_t quadratic_factors;

    factor_group *groups;
    size_t group_count;
    size_t *group_factor; /* group -> the factor of the whole graph that is its first instance */

    /* The gradients of all groups are rows of n numbers, group after group, instance after instance, slot after slot.
     * Variable -> the rows that add up to its score, ascending. */
    size_t *group_row; /* group -> its first row; group_count + 1 */
    size_t *gather_start;
    size_t *gather_row;

    struct lowered_model *lowered;  /* for a model text: names, transforms, priors; else NULL. For a fragment: the nodes
                                     * of the whole */
    struct fingerprint *identity;   /* of the whole model; NULL: not computed yet */
    struct model_modes *modes;      /* that are known and far apart; NULL: none are known */
    const svmp_peers *sharers;      /* the processes that have the same model and share its runs; NULL: none */
    struct kept_gaussian *gaussian; /* fitted before a run (prepare/fitted_gaussian.h); NULL: none was */
    void (*free_gaussian)(struct kept_gaussian *kept);

    size_t names_capacity, bound_capacity, group_capacity, group_factor_capacity;
};

/* The factor that instance k of a group is. */
static inline size_t svmp_model_factor(const svmp_model *model, size_t group, size_t k) {
    const uint32_t *origin = model->groups[group].origin;
    return model->group_factor[group] + (origin ? origin[k] : k);
}

/* A factor that could not be evaluated and what was wrong (factor_group.h), as one number: the earlier the factor, the
 * smaller.
 */
#define FAILURE_NONE SIZE_MAX
static inline size_t svmp_model_failure(const svmp_model *model, size_t group, size_t k, int wrong) {
    return 4 * svmp_model_factor(model, group, k) + (size_t)wrong;
}

/* The error of such a factor. */
svmp_status svmp_model_fail(const svmp_model *model, size_t failure);

/* Variable -> the gradient rows that belong to it. */
svmp_status svmp_model_derive_gather(svmp_model *model);

/* Adds groups; each instance is a factor over the nodes of its variables. Groups of linear-quadratic factors become
 * part of the quadratic if that is faster, or if all of these groups are linear-quadratic, so that the model is
 * Gaussian. The model takes ownership of the groups, also on failure, and zeroes them. */
svmp_status svmp_model_add_groups(svmp_model *model, size_t count, factor_group *groups);

/* The first node whose values are transformed variables; SIZE_MAX: there is none. */
size_t svmp_model_transformed(const svmp_model *model);

/* The processes that run the model together: they have parts of it, or share its chains. */
static inline const svmp_peers *svmp_model_peers(const svmp_model *model) {
    return model->sharers ? model->sharers : model->graph->peers;
}

/* svmp_agree of these, and of those that have parts of it. */
static inline svmp_status svmp_model_agree_all(const svmp_model *model, svmp_status status) {
    return svmp_agree(model->context, svmp_model_peers(model), status);
}

static inline svmp_status svmp_model_agree(const svmp_model *model, svmp_status status) {
    return svmp_agree(model->context, model->graph->peers, status);
}

/* Fails unless the model is finished. */
svmp_status svmp_model_require_finished(const svmp_model *model);

/* Fails for a part of a model; `what` begins the sentence. */
svmp_status svmp_model_require_whole(const svmp_model *model, const char *what);

#endif
