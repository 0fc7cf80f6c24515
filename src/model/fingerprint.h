/* What tells one model from another without keeping either. */
#ifndef SVMP_MODEL_FINGERPRINT_H
#define SVMP_MODEL_FINGERPRINT_H

#include "model/model.h"

typedef struct fingerprint {
    size_t nodes, variables, factors;
    uint64_t structure; /* names, dimensions and boxes of the nodes, scopes of the factors */
    uint64_t density;   /* the bits of log density and score at fixed points: the factors and the data in them, also
                         * those given as functions */
} fingerprint;

/* Costs an evaluation of the model for two particles; of a part of a model it is that of the whole, and there. */
svmp_status svmp_fingerprint_take(const svmp_model *model, fingerprint *taken);

#endif
