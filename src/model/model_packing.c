/* The part of an agent as bytes: what svmp_model_agent_part makes, and what the methods need of it. */
#include "graph/graph_part.h"
#include "model/fingerprint.h"
#include "model/model_part.h"
#include "model/program_factors.h"
#include "model/text_model.h"

/* Rows and b of own variables only: the others' data stay with them. */
static void pack_quadratic(packing *p, const svmp_graph *graph, quadratic *q) {
    svmp_pack_real(p, &q->constant);
    svmp_pack_length(p, &q->count, 12);
    svmp_pack_counts(p, graph->moved_variables + 1, &q->start);
    if (p->status != SVMP_OK) return;
    for (size_t i = 0; p->loading && i < graph->moved_variables; i++)
        if (q->start[i] > q->start[i + 1]) svmp_pack_refuse(p, "is damaged");
    if (q->start[0] != 0 || q->start[graph->moved_variables] != q->count) svmp_pack_refuse(p, "is damaged");
    svmp_pack_indices(p, q->count, graph->variables, &q->column);
    svmp_pack_reals(p, q->count, &q->value);
    svmp_pack_reals(p, graph->moved_variables, &q->linear);
}

static svmp_status extend_quadratic(svmp_context *context, const svmp_graph *graph, quadratic *q) {
    size_t starts = graph->moved_variables + 1, linear = graph->moved_variables;
    SVMP_TRY(SVMP_GROW(context, q->start, starts, graph->variables + 1));
    SVMP_TRY(SVMP_GROW(context, q->linear, linear, graph->variables));
    for (size_t i = graph->moved_variables; i < graph->variables; i++) q->linear[i] = 0, q->start[i + 1] = q->count;
    return SVMP_OK;
}

static void pack_groups(packing *p, svmp_model *part) {
    svmp_pack_length(p, &part->group_count, 8);
    SVMP_PACK_NEW(p, part->groups, part->group_count);
    svmp_pack_counts(p, part->group_count, &part->group_factor);
    for (size_t g = 0; g < part->group_count && p->status == SVMP_OK; g++) {
        factor_group *group = &part->groups[g];
        svmp_program_group_pack(p, part->graph->variables, group);
        if (p->status == SVMP_OK) svmp_pack_numbers(p, group->instances, &group->origin);
    }
}

static void pack_identity(packing *p, svmp_model *part) {
    SVMP_PACK_NEW(p, part->identity, 1);
    if (p->status != SVMP_OK) return;
    fingerprint *f = part->identity;
    svmp_pack_count(p, &f->nodes);
    svmp_pack_count(p, &f->variables);
    svmp_pack_count(p, &f->factors);
    svmp_pack_word(p, &f->structure);
    svmp_pack_word(p, &f->density);
}

void svmp_model_pack(packing *p, const svmp_peers *peers, svmp_model *part) {
    svmp_graph *graph = part->graph;
    bool text = part->lowered != NULL;
    svmp_graph_pack(p, peers, graph);
    if (p->status != SVMP_OK) graph->nodes = p->loading ? 0 : graph->nodes;
    SVMP_PACK_NEW(p, part->names, graph->nodes);
    for (size_t v = 0; v < graph->nodes && p->status == SVMP_OK; v++) svmp_pack_text(p, &part->names[v]);
    svmp_pack_reals(p, graph->variables, &part->lower);
    svmp_pack_reals(p, graph->variables, &part->upper);
    SVMP_PACK(p, part->boxed);
    SVMP_PACK(p, part->quadratic_factors);
    pack_quadratic(p, graph, &part->quadratic);
    pack_groups(p, part);
    pack_identity(p, part);
    SVMP_PACK(p, text);
    if (text && p->status == SVMP_OK) svmp_lowered_pack(p, graph, &part->lowered);
    if (!p->loading || p->status != SVMP_OK) return;
    p->status = extend_quadratic(p->context, graph, &part->quadratic);
    if (p->status == SVMP_OK) p->status = svmp_model_derive_gather(part);
    part->finished = 1;
}
