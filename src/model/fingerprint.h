/* A fingerprint identifies a model by checksums of its structure and its density. */
#ifndef SVMP_MODEL_FINGERPRINT_H
#define SVMP_MODEL_FINGERPRINT_H

#include "graph/graph_part.h"
#include "model/model.h"

/* Each checksum is a sum over items, keyed by their position in the whole model, so that parts can be added. */
typedef struct fingerprint {
    size_t nodes, variables, factors;
    uint64_t structure; /* names, dimensions and boxes of the nodes, scopes of the factors */
    uint64_t density;   /* the bits of log density and score at fixed points: the factors and the data in them, also
                         * those given as functions */
} fingerprint;

/* Costs one evaluation of the model for two particles. For a part of a model it is that of the whole, which is already
 * known. */
svmp_status svmp_fingerprint_take(const svmp_model *model, fingerprint *taken);

/* Collective: the same, summed over the parts of all processes. `part` is the result of svmp_model_part for `fragment`,
 * whose nodes have these owners. */
svmp_status svmp_fingerprint_add(const svmp_model *fragment, graph_owners owners, const svmp_model *part,
                                 fingerprint *taken);

#endif
