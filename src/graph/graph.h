/* Nodes, factor scopes and the closed neighbourhoods that follow from them. */
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

    /* Nodes 0 ... own - 1 are this process's to move; behind them stands the halo, others' nodes that it reads. Those
     * before `interior` have no neighbour in the halo. A whole graph is all its own (part.h makes others). */
    size_t own, interior, own_variables, interior_variables;
    size_t whole_nodes, whole_variables;   /* of the graph that this is a part of, or its own */
    uint32_t *whole_node, *whole_variable; /* which one there it is; NULL: the same */
    struct graph_halo *halo;               /* of a part: from whom the halo comes, and who is sent what */

    size_t first_capacity, scope_capacity, scope_start_capacity, stamp_capacity;
    size_t *stamp; /* node -> 1 + the last factor that named it */
};

svmp_status svmp_graph_create(svmp_context *context, svmp_graph **graph);
void svmp_graph_free(svmp_graph *graph);

static inline size_t svmp_graph_whole_node(const svmp_graph *graph, size_t node) {
    return graph->whole_node ? graph->whole_node[node] : node;
}

static inline size_t svmp_graph_whole_variable(const svmp_graph *graph, size_t variable) {
    return graph->whole_variable ? graph->whole_variable[variable] : variable;
}

/* Fails when a node of so many variables is too many. */
svmp_status svmp_graph_check_room(const svmp_graph *graph, size_t dimension);

svmp_status svmp_graph_add_node(svmp_graph *graph, size_t dimension);

/* A node named twice counts once. */
svmp_status svmp_graph_add_factor(svmp_graph *graph, size_t count, const size_t *nodes);

/* Takes back the factors from `first` on. */
void svmp_graph_remove_factors(svmp_graph *graph, size_t first);

/* Derives the closed neighbourhoods, in time and memory linear in the scopes and the distinct neighbourhoods. */
svmp_status svmp_graph_finish(svmp_graph *graph);

/* Neighbourhood -> the own nodes that have it, ascending. */
svmp_status svmp_graph_members(const svmp_graph *graph, index_lists *members);

/* Numbers equal lists alike: kind[k] for each list, in the order of first appearance; *kinds in all. A list equals
 * another when it has the same items in the same order; empty lists equal nothing. */
svmp_status svmp_lists_classify(svmp_context *context, size_t count, const index_lists *lists, uint32_t *kind,
                                size_t *kinds);

/* The lists of the opposite direction: for every item < items, the lists that hold it, ascending. */
svmp_status svmp_lists_transpose(svmp_context *context, size_t count, const index_lists *lists, size_t items,
                                 index_lists *transposed);

void svmp_lists_free(svmp_context *context, index_lists *lists);

/* Writes the factor graph; `name` yields the name of a node. */
typedef const char *(*node_namer)(const void *user_data, size_t node, char *buffer, size_t size);
svmp_status svmp_graph_write(const svmp_graph *graph, svmp_graph_format format, node_namer name, const void *user_data,
                             FILE *file);

#endif
