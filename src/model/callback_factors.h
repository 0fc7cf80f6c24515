/* A factor given as a C function: a group of one instance. */
#ifndef SVMP_MODEL_CALLBACK_FACTORS_H
#define SVMP_MODEL_CALLBACK_FACTORS_H

#include "model/factor_group.h"
#include "model/node_support.h"

/* The nodes that a function reads, if one of them has a support: the function gets their values. Of a plain node,
 * `support` is NULL, and its values are its variables. */
typedef struct callback_scope {
    size_t count;
    struct callback_node {
        const node_support *support;
        size_t variables;
    } * nodes; /* copied; the supports must outlive the group */
} callback_scope;

/* A group of one instance with `slots` variables, which the caller fills in. `scope` NULL: the function reads the
 * variables. `function` NULL: the factor is log |dx/du| of the one node of the scope. */
svmp_status svmp_callback_group(svmp_context *context, size_t slots, const callback_scope *scope,
                                svmp_factor_function function, void *user_data, factor_group *group);

#endif
