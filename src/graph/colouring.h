/* Colours of nodes: no two neighbours have the same one, so that the nodes of a colour can move at the same time. */
#ifndef SVMP_GRAPH_COLOURING_H
#define SVMP_GRAPH_COLOURING_H

#include "graph/graph.h"

/* Greedy colouring: colour[v] of every node, including the halo, is the smallest one that no earlier neighbour, in the
 * order of the whole graph, has. There are at most 1 + (largest number of neighbours) colours; *colours is their number
 * in the whole graph. For a part (graph_part.h) all processes call it, and each node gets the colour that it has in the
 * whole. The number of exchanges is that of process changes along a path of ascending neighbours; none if the part
 * knows its colours. */
svmp_status svmp_graph_colour(const svmp_graph *graph, uint32_t *colour, size_t *colours);

#endif
