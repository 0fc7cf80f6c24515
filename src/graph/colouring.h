/* Colours of nodes: no two neighbours have the same one, so that the nodes of a colour can move at the same time. */
#ifndef SVMP_GRAPH_COLOURING_H
#define SVMP_GRAPH_COLOURING_H

#include "graph/graph.h"

/* colour[v] of every node, the halo included: the least that no neighbour before it, in the order of the whole graph,
 * has. At most one more than a node has neighbours; nodes of a clique all differ. *colours is how many there are in the
 * whole. Of a part (part.h) all processes call it, and each node gets the colour that it has in the whole. It takes as
 * many exchanges as a chain of ever later neighbours changes its process. */
svmp_status svmp_graph_colour(const svmp_graph *graph, uint32_t *colour, size_t *colours);

#endif
