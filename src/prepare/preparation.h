/* The choices that a model is compiled with: coordinates, and the ends of sums over counts. */
#ifndef SVMP_PREPARE_PREPARATION_H
#define SVMP_PREPARE_PREPARATION_H

#include "lang/compile.h"

/* Begins with a context and a parsed model. */
typedef struct preparation {
    svmp_context *context;
    const parsed_model *parsed;
    choices made;
    node_coordinates *coordinates; /* the arrays in them, which are owned */
    uint32_t *ends;
} preparation;

void svmp_preparation_free(preparation *p);

/* Chooses, and compiles the model. Errors and warnings are reported once. */
svmp_status svmp_preparation_compile(preparation *p, svmp_model **model);

#endif
