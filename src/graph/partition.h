/* Who moves which node: parts of about equal work, few messages between them. */
#ifndef SVMP_GRAPH_PARTITION_H
#define SVMP_GRAPH_PARTITION_H

#include "graph/graph.h"

/* The work of a node in an iteration, in units of n^2: distances on its closed neighbourhood C, an exponential, and
 * what its own variables are weighed by: 2 |C| + 20 + 2 dimension, |C| in variables. */
double svmp_node_work(const svmp_graph *graph, size_t node);

/* owner[v] < parts for every node: by METIS, nodes weighed by their work and edges by what a message between their ends
 * holds. Where there is no METIS, or there are few nodes to a part, blocks of nodes in their order, of equal work.
 * Parts are empty where there are more of them than nodes. The same for the same graph. */
svmp_status svmp_partition(const svmp_graph *graph, size_t parts, uint32_t *owner);

/* What one part has, and sends in an iteration, in nodes and variables. */
typedef struct part_size {
    size_t nodes, variables, boundary; /* its own; boundary: nodes that others read */
    size_t halo_nodes, halo_variables; /* what it reads of others */
    size_t sent_variables, neighbours; /* a variable that goes to two neighbours counts twice */
    double work, boundary_work;        /* svmp_node_work */
} part_size;

/* The sizes of all parts, in one pass over the graph. */
svmp_status svmp_partition_measure(const svmp_graph *graph, size_t parts, const uint32_t *owner, part_size *sizes);

/* The whole of a partition. */
typedef struct partition_quality {
    size_t busy;       /* parts with nodes */
    double imbalance;  /* the largest work over the mean work of all parts, less 1 */
    size_t cut, edges; /* pairs of neighbours in different parts, of all */
} partition_quality;

partition_quality svmp_partition_quality(const svmp_graph *graph, size_t parts, const uint32_t *owner,
                                         const part_size *sizes);

#endif
