/* The graph of a model: nodes, factor scopes, and the closed neighbourhoods derived from them. */
#ifndef SVMP_GRAPH_GRAPH_H
#define SVMP_GRAPH_GRAPH_H

#include "base/context.h"

/* Lists of numbers, one after another: list k is item[start[k]] ... item[start[k + 1] - 1]. */
typedef struct index_lists {
    size_t *start;
    uint32_t *item;
} index_lists;

/* Nodes first ... last - 1. */
typedef struct node_span {
    size_t first, last;
} node_span;

struct svmp_graph {
    svmp_context *context;
    size_t nodes, variables, factors;
    size_t *first;      /* nodes + 1: the variables of node v are first[v] ... first[v + 1] - 1 */
    index_lists scopes; /* factor -> its nodes, each once */

    /* From here on: derived by svmp_graph_finish. */
    size_t distinct;            /* different closed neighbourhoods */
    uint32_t *neighbourhood_of; /* node -> its closed neighbourhood */
    index_lists neighbourhoods; /* neighbourhood -> its nodes, ascending */
    index_lists members;        /* neighbourhood -> the nodes whose closed neighbourhood it is, ascending */

    /* Nodes 0 ... moved - 1 are moved by this process, those before `inner` have no other neighbours; the others are
     * read: peers move and send them. A key is the number of a node or variable in all processes, from which random
     * numbers are computed. In a whole graph all nodes are moved; graph_part.h makes parts. */
    size_t moved, inner, moved_variables, inner_variables;
    size_t whole_nodes, whole_variables; /* sizes of the whole graph */
    uint32_t *node_key, *variable_key;   /* keys; NULL: the own index */
    struct graph_halo *halo;             /* the messages of a part; NULL for a whole graph */
    const struct svmp_peers *peers;      /* the processes that have the other parts; svmp_alone for a whole graph */

    /* Of a part that comes from a file: the colours of its nodes in the whole graph, and their number there. */
    uint32_t *colour;
    size_t colours;

    size_t first_capacity, scope_capacity, scope_start_capacity, stamp_capacity;
    size_t *stamp; /* node -> 1 + the last factor that named it */
};

svmp_status svmp_graph_create(svmp_context *context, svmp_graph **graph);
void svmp_graph_free(svmp_graph *graph);

static inline size_t svmp_node_key(const svmp_graph *graph, size_t node) {
    return graph->node_key ? graph->node_key[node] : node;
}

static inline size_t svmp_variable_key(const svmp_graph *graph, size_t variable) {
    return graph->variable_key ? graph->variable_key[variable] : variable;
}

/* Fails if a node of this dimension would exceed the limit on variables. */
svmp_status svmp_graph_check_size(const svmp_graph *graph, size_t dimension);

svmp_status svmp_graph_add_node(svmp_graph *graph, size_t dimension);

/* Duplicate nodes count once. */
svmp_status svmp_graph_add_factor(svmp_graph *graph, size_t count, const size_t *nodes);

/* Removes the factors from `first` on. */
void svmp_graph_remove_factors(svmp_graph *graph, size_t first);

/* Derives the closed neighbourhoods, in time and memory linear in the scopes and the distinct neighbourhoods. */
svmp_status svmp_graph_finish(svmp_graph *graph);

/* Neighbourhood -> the nodes moved here that have it, ascending. */
svmp_status svmp_graph_members(const svmp_graph *graph, index_lists *members);

/* Classes of equal lists: kind[k] for each list, numbered in the order of first appearance; *kinds is their number.
 * Lists are equal if they have the same items in the same order; an empty list equals no other. */
svmp_status svmp_lists_classify(svmp_context *context, size_t count, const index_lists *lists, uint32_t *kind,
                                size_t *kinds);

/* The transposed lists: for every item < items, the lists that contain it, ascending. */
svmp_status svmp_lists_transpose(svmp_context *context, size_t count, const index_lists *lists, size_t items,
                                 index_lists *transposed);

void svmp_lists_free(svmp_context *context, index_lists *lists);

/* Writes the factor graph; `name` returns the name of a node. */
typedef const char *(*node_namer)(const void *user_data, size_t node, char *buffer, size_t size);
svmp_status svmp_graph_write(const svmp_graph *graph, svmp_graph_format format, node_namer name, const void *names,
                             svmp_text_function write, void *user_data);

#endif
