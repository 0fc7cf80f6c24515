/* What one of several processes sees of a graph: its own nodes, and the halo, those that its own read.
 *
 *     own, interior     whole closed neighbourhood its own, ascending in the whole
 *     own, boundary     the rest of its own, ascending
 *     halo              by owner, then ascending
 *
 * Neighbourhoods are kept for own nodes alone, their nodes in the order of the whole: whatever is summed over them is
 * summed in that order, and so to the same bits in every part. A part has no factors; the model's are cut by the model.
 */
#ifndef SVMP_GRAPH_PART_H
#define SVMP_GRAPH_PART_H

#include "graph/graph.h"

/* The messages of an iteration. Neighbour k is process rank[k]; its nodes in the halo are own + from[k] ... own +
 * from[k + 1] - 1, and it is sent the nodes of list k. Both sides list them in the order of the whole. */
typedef struct graph_halo {
    size_t neighbours;
    uint32_t *rank; /* ascending */
    size_t *from;   /* neighbours + 1 */
    index_lists send;
} graph_halo;

void svmp_halo_free(svmp_context *context, graph_halo *halo); /* NULL-safe */

/* The part of process `rank`: owner[v] is the process of node v. It may be empty. Costs what the own nodes'
 * neighbourhoods take, and a few words for every node of the whole on the way. */
svmp_status svmp_graph_part(const svmp_graph *whole, const uint32_t *owner, uint32_t rank, svmp_graph **part);

#endif
