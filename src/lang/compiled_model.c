/* The compiled nodes and groups become a finished model, or the part of it that one of several processes needs. */
#include <string.h>

#include "base/number.h"
#include "base/peers.h"
#include "lang/compile.h"
#include "lang/compile/compile_passes.h"
#include "lang/model_files.h"

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Nodes and groups; the model takes over what the groups own. */
static svmp_status add_all(svmp_model *model, lowered_model *lowered) {
    for (size_t k = 0; k < lowered->node_count; k++)
        SVMP_TRY(svmp_model_add_node(model, NULL, lowered->nodes[k].variables, NULL, NULL, NULL));
    SVMP_TRY(svmp_computed_join(model->context, &lowered->rows, &lowered->group_count, &lowered->groups));
    SVMP_TRY(svmp_model_add_groups(model, lowered->group_count, lowered->groups));
    return svmp_model_finish(model);
}

/* ---- a fragment -------------------------------------------------------------------------------------------------- */

/* The nodes of a fragment, and how they and their variables are numbered in it. */
typedef struct numbering {
    uint32_t *node_key, *variable_key; /* of the fragment's */
    uint32_t *local;                   /* variable of the whole -> of the fragment, or NOWHERE */
    size_t nodes, variables;
} numbering;

enum { NOWHERE = UINT32_MAX };

static void release(svmp_context *context, numbering *n) {
    svmp_release_all(context, n->node_key, n->variable_key, n->local);
}

static svmp_status number_nodes(const lowered_model *lowered, const graph_owners *owners, numbering *n) {
    svmp_context *context = lowered->context;
    SVMP_TRY(SVMP_NEW(context, n->local, lowered->variables));
    for (size_t i = 0; i < lowered->variables; i++) n->local[i] = NOWHERE;
    for (size_t g = 0; g < lowered->group_count; g++) /* all of these touch own nodes */
        for (size_t r = 0; r < lowered->groups[g].instances * lowered->groups[g].slots; r++)
            n->local[lowered->groups[g].variables[r]] = 0;
    SVMP_TRY(SVMP_NEW(context, n->node_key, lowered->node_count));
    SVMP_TRY(SVMP_NEW(context, n->variable_key, lowered->variables));
    for (size_t v = 0; v < lowered->node_count; v++) {
        const lowered_node *node = &lowered->nodes[v];
        int here = owners->owner[v] == owners->rank || (v + 1 == lowered->node_count && n->nodes == 0);
        for (size_t k = 0; k < node->variables; k++) here |= n->local[node->variable + k] != NOWHERE;
        if (!here) continue;
        n->node_key[n->nodes++] = (uint32_t)v;
        for (size_t k = 0; k < node->variables; k++) {
            n->local[node->variable + k] = (uint32_t)n->variables;
            n->variable_key[n->variables++] = (uint32_t)(node->variable + k);
        }
    }
    return SVMP_OK;
}

static svmp_status add_own(svmp_model *model, lowered_model *lowered, const numbering *n) {
    for (size_t v = 0; v < n->nodes; v++)
        SVMP_TRY(svmp_model_add_node(model, NULL, lowered->nodes[n->node_key[v]].variables, NULL, NULL, NULL));
    for (size_t g = 0; g < lowered->group_count; g++)
        for (size_t r = 0; r < lowered->groups[g].instances * lowered->groups[g].slots; r++)
            lowered->groups[g].variables[r] = n->local[lowered->groups[g].variables[r]];
    return SVMP_OK;
}

/* All processes come here; from the groups on they go together. */
static svmp_status add_fragment(svmp_model *model, lowered_model *lowered, const graph_owners *owners) {
    svmp_context *context = model->context;
    numbering n = {0};
    svmp_status status = number_nodes(lowered, owners, &n);
    if (status == SVMP_OK) status = add_own(model, lowered, &n);
    SVMP_CHECK(svmp_agree(context, context->peers, status));
    model->fragment = 1;
    SVMP_CHECK(svmp_model_add_groups(model, lowered->group_count, lowered->groups));
    SVMP_CHECK(svmp_model_finish(model));
    SVMP_CHECK(svmp_graph_place(model->graph, lowered->node_count, lowered->variables, n.node_key, n.variable_key));
done:
    release(context, &n);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Numbers in errors have a point. All processes go on, or none. */
static svmp_status compile_matrix(const parsed_model *parsed, const graph_owners *owners, svmp_model **model) {
    svmp_context *context = parsed->context;
    number_locale locale = {0};
    svmp_status status = svmp_number_enter(context, &locale);
    if (owners) status = svmp_agree(context, context->peers, status);
    if (status == SVMP_OK) status = svmp_matrix_compile(parsed, owners, model);
    svmp_number_leave(&locale);
    return status;
}

svmp_status svmp_compile(const parsed_model *parsed, const choices *chosen, const graph_owners *owners,
                         compile_report *report, svmp_model **model) {
    svmp_context *context = parsed->context;
    svmp_model *made = NULL;
    if (parsed->matrix_paths) return compile_matrix(parsed, owners, model);
    svmp_status status = svmp_model_create(context, &made);
    if (status == SVMP_OK) status = svmp_compile_nodes(parsed, chosen, owners, report, NULL, &made->lowered);
    if (owners) status = svmp_agree(context, context->peers, status);
    SVMP_CHECK(status);
    SVMP_CHECK(owners ? add_fragment(made, made->lowered, owners) : add_all(made, made->lowered));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    return status;
}

svmp_status svmp_compile_graph(const parsed_model *parsed, const choices *chosen, svmp_graph **graph) {
    svmp_graph *made = NULL;
    svmp_status status;
    if (parsed->matrix_paths) return svmp_matrix_graph(parsed, graph);
    SVMP_CHECK(svmp_graph_create(parsed->context, &made));
    SVMP_CHECK(svmp_compile_nodes(parsed, chosen, NULL, NULL, made, NULL));
    SVMP_CHECK(svmp_graph_finish(made));
    *graph = made;
    made = NULL;
done:
    svmp_graph_free(made);
    return status;
}
