/* A model divided among the processes of its context. */
#ifndef SVMP_MODEL_SPLIT_H
#define SVMP_MODEL_SPLIT_H

#include "model/model.h"

/* Cuts a graph into a part for each process, and tells each what it has; owner[v], room for all `nodes`, is the process
 * of node v. The first process has the graph and decides, so that all are of one mind whatever METIS they have; of the
 * others `whole` may be NULL. */
svmp_status svmp_split_choose(svmp_context *context, const svmp_graph *whole, size_t nodes, uint32_t *owner,
                              svmp_split *split);

/* Puts the part of this process in the place of a fragment (graph/part.h) of a model, and adds up its identity. */
svmp_status svmp_split_fragment(svmp_model **model, const uint32_t *owner);

#endif
