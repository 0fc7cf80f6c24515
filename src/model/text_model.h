/* A lowered model, the result of compiling a model text with its data: unknown nodes, and groups of factors over their
 * unconstrained variables. */
#ifndef SVMP_MODEL_TEXT_MODEL_H
#define SVMP_MODEL_TEXT_MODEL_H

#include "data/data_set.h"
#include "dist/distributions.h"
#include "graph/graph_part.h"
#include "model/computed.h"
#include "model/summed_unknowns.h"
#include "model/transform.h"

/* What a node of a location-scale family is moved in, between itself and its distance from the location in units of the
 * scale: lang/compile/moved_coordinates.c has the formulas. */
typedef struct node_coordinates {
    double
        centring; /* 1: itself, 0: the distance; between them, about what share the data have in what is known of it, */
    double information, centre; /* and what they say by themselves: a Gaussian of that precision and mean */
} node_coordinates;

/* A stochastic node with unknown values. A vector or matrix on the left of '~' is one node. */
typedef struct lowered_node {
    char *name;                 /* "x[3,1:2]", as in the model */
    size_t variable, variables; /* unconstrained: what particles move in */
    size_t output, outputs;     /* natural: what is reported; unknown values only */
    size_t key;                 /* of its draws: outputs of nodes before it, of the whole; leaves count those of all */
    transform_kind transform;
    const distribution *distribution;
    uint32_t prior, instance; /* which prior, and which of its instances, gives its arguments */
    uint32_t level;           /* its parents are on lower levels */

    bool location_scale; /* of such a family, with a location or scale that depends on other unknowns */
    node_coordinates coordinates;
    int state_slope; /* what is moved is a state, rest + slope * node, of a recursion that the node drives: 1 or -1, the
                        sign of the slope (lang/compile/driven_states.c); 0: it is not */
} lowered_node;

/* Whether something else is moved in place of the node on its own scale. */
static inline bool svmp_node_is_moved(const lowered_node *node) {
    return node->state_slope || node->coordinates.centring < 1;
}

/* A program of values, for many instances. */
typedef struct lowered_values {
    program *program;
    bound_program *bound;
    uint32_t *variables; /* instances * slots */
} lowered_values;

/* Many nodes of one structure: the values are their distributions' arguments, one after another, of states rest and
 * slope, and then lower and upper bound of each natural value where the distribution has one dimension, or elements are
 * censored. */
typedef struct lowered_prior {
    lowered_values values;
    size_t rows, columns; /* of the node's whole left-hand side */
    size_t arguments;
    size_t argument_rows[DISTRIBUTION_ARGUMENTS], argument_columns[DISTRIBUTION_ARGUMENTS];
    size_t bounds; /* how many values have bounds: the outputs of the node, or 0 */
    bool leaf;     /* of leaves: they and no other nodes have its instances */
} lowered_prior;

/* An element of a deterministic node that is reported. */
typedef struct lowered_monitor {
    char *name;                /* Stan's way: x.3.1 */
    uint32_t values, instance; /* which of the monitors' programs, and which of its instances, gives it */
} lowered_monitor;

/* An array of the model text with elements that are stochastic or computed from unknowns. */
typedef struct lowered_array {
    char *unknown, *observed, *computed, *drawn, *summed; /* "y[1:10] (7 of 10)"; NULL: no element is */
    size_t unknown_count, observed_count, drawn_count, summed_count;
    char *name;
    size_t rank, dimensions[DATA_MOST_DIMENSIONS];
    double *values; /* observed ones, NaN elsewhere, the last index running fastest; NULL: none is */
    double *known;  /* all that are known, of an array that is so in part */
} lowered_array;

/* The labels of a dimension of an array: the levels of the text that subscripts it. */
typedef struct lowered_labels {
    char *array, *text;
    size_t dimension;
    name_table levels;
} lowered_labels;

typedef struct lowered_model {
    svmp_context *context;
    lowered_node *nodes;
    size_t node_count, node_capacity;
    size_t variables, outputs;
    char **names; /* of the outputs, Stan's way: x.3.1 */
    size_t name_capacity;
    uint32_t *parts; /* output -> which element of its node's left-hand side it is */
    size_t part_capacity;
    double *lower, *upper; /* of the outputs, where `bounded` says that they are numbers */
    size_t lower_capacity, upper_capacity;
    bool *drawn; /* output -> whether it is a leaf's */
    size_t drawn_capacity;

    /* Leaves: unknown nodes that nothing observed depends on. They are no nodes of the graph and have no factors, but
     * are drawn given their parents, from priors of their own, after the run. Their variables are their natural values,
     * behind those of all nodes of the whole. */
    lowered_node *leaves;
    size_t leaf_count, leaf_capacity, leaf_variables;
    uint32_t *leaves_by_level; /* parents first */
    name_table drawn_names;    /* of their outputs; of a part: of the whole's */

    factor_group *groups;
    size_t group_count, group_capacity;
    computed_rows rows; /* that they read, behind the variables of nodes and leaves */
    lowered_prior *priors;
    size_t prior_count;
    lowered_monitor *monitors;
    size_t monitor_count, monitor_capacity;
    lowered_values *monitor_values;
    size_t monitor_value_count;
    lowered_summed summed; /* discrete unknowns; of a part: the first process has them */
    size_t discrete_count; /* how many there are; of a part: in the whole */
    name_table computed;   /* arrays of the text with deterministic elements, whether they are reported or not */
    uint32_t *by_level;    /* all nodes, parents first */
    int dependent_bounds;  /* whether some bound depends on an unknown */
    int potentials;        /* whether the text has factor() */

    /* Groups of variables that the text sorts: how many, and which, group after group. */
    uint32_t *sorted;
    size_t sorted_count, sorted_capacity;

    size_t levels;          /* of a part: how many there are in the whole */
    size_t whole_outputs;   /* of the model that this is a part of, or its own */
    uint32_t *whole_output; /* output -> which one there it is; NULL: the same */

    size_t observed;       /* observed values of stochastic nodes */
    lowered_array *arrays; /* in the order of the text */
    size_t array_count, array_capacity;
    lowered_labels *labels; /* in one process */
    size_t label_count, label_capacity;
} lowered_model;

void svmp_lowered_free(lowered_model *lowered); /* NULL-safe; groups that were taken over must have been zeroed */

/* The part of a lowered model for the own nodes of a part of the graph. local[i] is the number in the part of variable
 * i of the whole. Factors are left out; monitors still refer to the variables of the whole. Only the `first` process
 * has what may depend on nodes of any: leaves, discrete unknowns, what is known of arrays. */
svmp_status svmp_lowered_part(const lowered_model *whole, const svmp_graph *graph, const uint32_t *local, bool first,
                              lowered_model **part);

/* Writes a part that is not the first to bytes, or reads it: without what is monitored, and without names of what is
 * computed. */
void svmp_lowered_pack(packing *p, const svmp_graph *graph, lowered_model **part);

/* Whether the posterior is proper whatever the data are: all priors are, and there is no factor(). */
int svmp_lowered_is_proper(const lowered_model *lowered);

/* Natural values of n particles, particle-fast: outputs*n numbers from variables*n numbers, and back. A value that
 * cannot be (a matrix that is not positive definite) fails as SVMP_BAD_INPUT. */
svmp_status svmp_lowered_natural(const lowered_model *lowered, size_t n, const double *variables, double *outputs);
svmp_status svmp_lowered_inverse(const lowered_model *lowered, size_t n, const double *outputs, double *variables);

/* The same for the nodes of one level, whose parents already have values: a part works level by level and updates the
 * halo in between. Other values are unchanged. */
svmp_status svmp_lowered_inverse_level(const lowered_model *lowered, size_t level, size_t n, const double *outputs,
                                       double *variables);
svmp_status svmp_lowered_draw_level(const lowered_model *lowered, size_t level, uint64_t seed, size_t n,
                                    double *variables);

/* What the random numbers of leaves are keyed by. */
typedef struct leaf_draws {
    uint64_t seed;
    const uint64_t *number; /* of each particle */
    uint64_t strata;        /* 0, or the number of all particles, of which each has another number below that, in
                             * ascending order: then their random numbers are stratified (model/leaf_order.h) */
} leaf_draws;

/* Draws the leaves of n particles: fills the rows of `variables` behind those of all nodes, of which a part has those
 * of the whole. NaN where nothing can be drawn, since the arguments are none that the distribution takes. */
svmp_status svmp_lowered_draw_leaves(const lowered_model *lowered, const leaf_draws *draws, size_t n,
                                     double *variables);

/* The monitored values, monitor_count*n numbers, from the variables of nodes and leaves. */
svmp_status svmp_lowered_monitor(const lowered_model *lowered, size_t n, const double *variables, double *values);

/* n particles from the priors, parents first. A node whose prior is improper or cannot be drawn from (dflat) starts
 * standard normal on its unconstrained scale. */
svmp_status svmp_lowered_draw(const lowered_model *lowered, uint64_t seed, size_t n, double *variables);

#endif
