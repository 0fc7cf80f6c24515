/* Partitions of a graph among processes: parts of about equal work, with few messages between them. */
#ifndef SVMP_GRAPH_PARTITION_H
#define SVMP_GRAPH_PARTITION_H

#include "graph/graph.h"

/* Work in an iteration, in units of n^2, of all own nodes: that of one process, and the total of several if no two of
 * them compute the same matrix. */
double svmp_graph_work(const svmp_graph *graph);

/* The work of every own node, with its share of the matrix; the caller releases it. */
svmp_status svmp_node_works(const svmp_graph *graph, double **works);

/* Computes owner[v] < parts for every node with METIS; the weight of a node is its work, that of an edge the size of a
 * message between its ends. Without METIS, with few nodes per part, or if METIS leaves the busiest part more than a
 * tenth above its share, parts are blocks of consecutive nodes of equal work. A node with more work than a fair share
 * is a part by itself. If there are more parts than nodes, some are empty. The result depends only on the graph. */
svmp_status svmp_partition(const svmp_graph *graph, size_t parts, uint32_t *owner);

/* The size of one part and of its messages in an iteration. */
typedef struct part_size {
    size_t nodes, variables, boundary; /* own nodes and variables; boundary: own nodes that others read */
    size_t halo_nodes, halo_variables; /* nodes and variables of others that it reads */
    size_t sent_variables, neighbours; /* a variable sent to two neighbours counts twice */
    size_t entries;                    /* the total size of the distinct closed neighbourhoods of own nodes */
    double work, boundary_work;        /* a matrix computed by two parts counts in both */
} part_size;

/* The sizes of all parts, in one pass over the graph. */
svmp_status svmp_partition_measure(const svmp_graph *graph, size_t parts, const uint32_t *owner, part_size *sizes);

/* The quality of a partition. */
typedef struct partition_quality {
    size_t busy;       /* parts with nodes */
    double imbalance;  /* the largest work over the mean work of all parts, less 1 */
    size_t cut, edges; /* pairs of neighbours: in different parts, and in total */
} partition_quality;

partition_quality svmp_partition_quality(const svmp_graph *graph, size_t parts, const uint32_t *owner,
                                         const part_size *sizes);

#endif
