/* Nodes, factor scopes and the closed neighbourhoods that follow from them. */
#ifndef SVMP_GRAPH_GRAPH_H
#define SVMP_GRAPH_GRAPH_H

#include "base/context.h"

/* Lists of numbers, one after another: list k is item[start[k]] ... item[start[k + 1] - 1]. */
typedef struct index_lists {
    size_t *start;
    uint32_t *item;
} index_lists;

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

    size_t first_capacity, scope_capacity, scope_start_capacity, stamp_capacity;
    size_t *stamp; /* node -> 1 + the last factor that named it */
};

svmp_status svmp_graph_create(svmp_context *context, svmp_graph **graph);
void svmp_graph_free(svmp_graph *graph);

/* Fails when a node of so many variables is too many. */
svmp_status svmp_graph_check_room(const svmp_graph *graph, size_t dimension);

svmp_status svmp_graph_add_node(svmp_graph *graph, size_t dimension);

/* A node named twice counts once. */
svmp_status svmp_graph_add_factor(svmp_graph *graph, size_t count, const size_t *nodes);

/* Takes back the factors from `first` on. */
void svmp_graph_remove_factors(svmp_graph *graph, size_t first);

/* Derives the closed neighbourhoods, in time and memory linear in the scopes and the distinct neighbourhoods. */
svmp_status svmp_graph_finish(svmp_graph *graph);

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
