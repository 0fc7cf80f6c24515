/* The part of a graph that one of several processes has: its own nodes, and the halo, nodes of others that these read.
 *
 *     moved, inner      own nodes whose closed neighbourhood is own, by their keys
 *     moved, boundary   the other own nodes, by their keys
 *     halo              by owner, then by their keys
 *
 * Neighbourhoods are kept only for own nodes, with their nodes in the order of the whole, so that sums over them have
 * the same bits in every part. A part has no factors; model/model_part.h distributes those.
 */
#ifndef SVMP_GRAPH_GRAPH_PART_H
#define SVMP_GRAPH_GRAPH_PART_H

#include "base/packing.h"
#include "graph/graph.h"

/* The messages of an iteration. Neighbour k is process rank[k]; its nodes in the halo are moved + from[k] ...
 * moved + from[k + 1] - 1, and it receives the nodes of list k of `send`. Both are by their keys. */
typedef struct graph_halo {
    size_t neighbours;
    uint32_t *rank; /* ascending */
    size_t *from;   /* neighbours + 1 */
    index_lists send;
} graph_halo;

void svmp_halo_free(svmp_context *context, graph_halo *halo); /* NULL-safe */

/* The owner of each node, and the rank of this process. */
typedef struct graph_owners {
    const uint32_t *owner;
    uint32_t rank;
    size_t nodes; /* of the whole graph */
} graph_owners;

/* Makes a finished graph a fragment of a larger one, so that no process needs the whole: the process's own nodes and
 * all nodes that share a factor with them, in the order of the whole, with only these factors. Both arrays
 * of keys are copied. The part of a fragment
 * is the part of the whole. */
svmp_status svmp_graph_place(svmp_graph *fragment, size_t whole_nodes, size_t whole_variables, const uint32_t *node_key,
                             const uint32_t *variable_key);

/* The part of process `rank`, where owner[v] is the process of node v. It may be empty. Takes memory for the
 * neighbourhoods of own nodes, and temporarily a few words per node of the whole. */
svmp_status svmp_graph_part(const svmp_graph *whole, const uint32_t *owner, uint32_t rank, svmp_graph **part);

/* Writes a part to bytes, or reads it; `peers` become those of the one that is read. The colours of its nodes
 * (graph/colouring.h) are part of it. */
void svmp_graph_pack(packing *p, const struct svmp_peers *peers, svmp_graph *part);

/* Translates the indices of a part of a fragment from the fragment to the whole. */
void svmp_graph_place_part(svmp_graph *part, const svmp_graph *fragment);

#endif
