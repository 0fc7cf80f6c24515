/* Splits a model among the processes of its context. */
#ifndef SVMP_MODEL_MODEL_SPLIT_H
#define SVMP_MODEL_MODEL_SPLIT_H

#include "model/model.h"

/* Partitions a graph among the processes: owner[v], with room for all `nodes`, is the process of node v. The first
 * process has the graph and decides, so that all agree even with different versions of METIS; in the others `whole` may
 * be NULL. */
svmp_status svmp_split_choose(svmp_context *context, const svmp_graph *whole, size_t nodes, uint32_t *owner,
                              svmp_split *split);

/* Replaces a fragment (graph/graph_part.h) of a model by the part of this process, and computes the identity of the
 * whole. */
svmp_status svmp_split_fragment(svmp_model **model, const uint32_t *owner);

#endif
