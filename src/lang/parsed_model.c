/* Reads a model text and its data: a finished model, or the part that one of several processes needs. */
#include <string.h>

#include "base/peers.h"
#include "lang/compile.h"
#include "lang/model_files.h"
#include "model/model.h"

typedef struct language_files {
    text_source made; /* where the text was not read before */
    const text_source *source;
    data_set *read;       /* from the files */
    const data_set *data; /* these, or what was given */
} language_files;

static svmp_status open_files(svmp_context *context, const model_files *files, language_files *opened) {
    opened->source = files->source ? files->source : &opened->made;
    if (files->text) SVMP_TRY(svmp_source_copy(context, files->name, files->text, strlen(files->text), &opened->made));
    SVMP_TRY(svmp_data_create(context, &opened->read));
    for (size_t k = 1; k < files->count; k++) SVMP_TRY(svmp_data_read(opened->read, files->paths[k]));
    opened->data = files->data ? files->data : opened->read;
    return SVMP_OK;
}

static void close_files(svmp_context *context, language_files *opened) {
    svmp_data_free(opened->read);
    svmp_source_free(context, &opened->made);
}

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
    svmp_release(context, n->node_key);
    svmp_release(context, n->variable_key);
    svmp_release(context, n->local);
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

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static svmp_status read_model(svmp_context *context, const model_files *files, const graph_owners *owners,
                              svmp_model **model) {
    const lower_request request = {.monitors = files->monitors,
                                   .owners = owners,
                                   .centring = files->centring,
                                   .coordinates = files->coordinates,
                                   .ends = files->ends,
                                   .fixed = files->fixed,
                                   .totals = files->totals,
                                   .sums = files->sums,
                                   .strict = files->strict,
                                   .brief = files->brief,
                                   .store_above = files->store_above};
    language_files opened = {0};
    svmp_model *made = NULL;
    svmp_status status = svmp_model_create(context, &made);
    if (status == SVMP_OK) status = open_files(context, files, &opened);
    if (status == SVMP_OK) status = svmp_lower(context, opened.source, opened.data, &request, &made->lowered);
    close_files(context, &opened);
    if (owners) status = svmp_agree(context, context->peers, status);
    SVMP_CHECK(status);
    SVMP_CHECK(owners ? add_fragment(made, made->lowered, owners) : add_all(made, made->lowered));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    return status;
}

static svmp_status read_graph(svmp_context *context, const model_files *files, svmp_graph **graph) {
    const lower_request request = {.centring = files->centring,
                                   .coordinates = files->coordinates,
                                   .ends = files->ends,
                                   .fixed = files->fixed,
                                   .totals = files->totals,
                                   .sums = files->sums,
                                   .strict = files->strict,
                                   .brief = files->brief};
    language_files opened = {0};
    svmp_graph *made = NULL;
    svmp_status status;
    SVMP_CHECK(open_files(context, files, &opened));
    SVMP_CHECK(svmp_graph_create(context, &made));
    SVMP_CHECK(svmp_lower_graph(context, opened.source, opened.data, &request, made));
    SVMP_CHECK(svmp_graph_finish(made));
    *graph = made;
    made = NULL;
done:
    svmp_graph_free(made);
    close_files(context, &opened);
    return status;
}

const model_reader svmp_language_reader = {read_model, read_graph};
