/* What tells one model from another without keeping either. */
#ifndef SVMP_MODEL_FINGERPRINT_H
#define SVMP_MODEL_FINGERPRINT_H

#include "graph/part.h"
#include "model/model.h"

/* Checksums are sums of one for each item, keyed by its place in the whole model: parts can be added. */
typedef struct fingerprint {
    size_t nodes, variables, factors;
    uint64_t structure; /* names, dimensions and boxes of the nodes, scopes of the factors */
    uint64_t density;   /* the bits of log density and score at fixed points: the factors and the data in them, also
                         * those given as functions */
} fingerprint;

/* Costs an evaluation of the model for two particles. Of a part of a model it is that of the whole, known already. */
svmp_status svmp_fingerprint_take(const svmp_model *model, fingerprint *taken);

/* The same, added up from the parts of all processes, which all call it: `part` is what svmp_model_part made of
 * `fragment`, whose nodes have these owners. */
svmp_status svmp_fingerprint_add(const svmp_model *fragment, graph_owners owners, const svmp_model *part,
                                 fingerprint *taken);

#endif
