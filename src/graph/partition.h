/* Who moves which node: parts of about equal work, few messages between them. */
#ifndef SVMP_GRAPH_PARTITION_H
#define SVMP_GRAPH_PARTITION_H

#include "graph/graph.h"

/* Work in an iteration, in units of n^2, of all own nodes: what one process does, and what several do if no two of them
 * have the same matrix. */
double svmp_graph_work(const svmp_graph *graph);

/* Of every own node, with its share of the matrix; the caller's to release. */
svmp_status svmp_node_works(const svmp_graph *graph, double **works);

/* owner[v] < parts for every node: by METIS, nodes weighed by their work and edges by what a message between their ends
 * holds. Where there is no METIS, there are few nodes to a part, or METIS leaves the busiest with a tenth more than its
 * share, blocks of nodes in their order, of equal work. A node of more work than a fair share is a part by itself.
 * Parts are empty where there are more of them than nodes. The same for the same graph. */
svmp_status svmp_partition(const svmp_graph *graph, size_t parts, uint32_t *owner);

/* What one part has, and sends in an iteration, in nodes and variables. */
typedef struct part_size {
    size_t nodes, variables, boundary; /* its own; boundary: nodes that others read */
    size_t halo_nodes, halo_variables; /* what it reads of others */
    size_t sent_variables, neighbours; /* a variable that goes to two neighbours counts twice */
    size_t entries;                    /* nodes in the different closed neighbourhoods of its own */
    double work, boundary_work;        /* a matrix that another part has, too, counts in both */
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
