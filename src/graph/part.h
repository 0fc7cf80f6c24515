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

/* Whose each node of a graph is, and who asks. */
typedef struct graph_owners {
    const uint32_t *owner;
    uint32_t rank;
} graph_owners;

/* Makes a finished graph a fragment of a larger one, of which no process need have more: the process's own nodes and
 * all that stand in a factor with them, in the order of the whole, and no factors but these. Node v is node
 * whole_node[v] there, variable i variable whole_variable[i]; both are copied. The part of a fragment is the part of
 * the whole. */
svmp_status svmp_graph_place(svmp_graph *fragment, size_t whole_nodes, size_t whole_variables,
                             const uint32_t *whole_node, const uint32_t *whole_variable);

/* The part of process `rank`: owner[v] is the process of node v. It may be empty. Costs what the own nodes'
 * neighbourhoods take, and a few words for every node of the whole on the way. */
svmp_status svmp_graph_part(const svmp_graph *whole, const uint32_t *owner, uint32_t rank, svmp_graph **part);

/* The places of a part of a fragment: in the fragment before, in the whole afterwards. */
void svmp_graph_place_part(svmp_graph *part, const svmp_graph *fragment);

#endif
