/* A model divided among the processes of its context. */
#include "base/team.h"
#include "graph/part.h"
#include "graph/partition.h"
#include "model/fingerprint.h"
#include "model/part.h"

/* All processes have read the same. */
static svmp_status compare(svmp_model *model) {
    svmp_context *context = model->context;
    char words[160];
    svmp_status status = SVMP_OK;
    if (model->identity == NULL) status = SVMP_NEW(context, model->identity, 1);
    if (status == SVMP_OK) {
        fingerprint *taken = model->identity;
        model->identity = NULL; /* to be taken */
        status = svmp_fingerprint_take(model, taken);
        model->identity = taken;
    }
    SVMP_TRY(svmp_team_agree(context, status));
    const fingerprint *f = model->identity;
    snprintf(words, sizeof words, "%zu nodes, %zu variables, %zu factors", f->nodes, f->variables, f->factors);
    SVMP_TRY(svmp_team_compare(context, "the model", words));
    snprintf(words, sizeof words, "%016llx", (unsigned long long)f->structure);
    SVMP_TRY(svmp_team_compare(context, "the model, its names, bounds or edges (by a checksum)", words));
    snprintf(words, sizeof words, "%016llx", (unsigned long long)f->density);
    return svmp_team_compare(context, "the data, or numbers in the model (by a checksum)", words);
}

/* The first process decides, so that all are of one mind whatever METIS they have. */
static svmp_status choose(const svmp_model *model, uint32_t *owner, part_size *sizes) {
    svmp_context *context = model->context;
    const team *t = context->team;
    svmp_status status = t->rank == 0 ? svmp_partition(model->graph, t->count, owner) : SVMP_OK;
    SVMP_TRY(svmp_team_agree(context, status));
    t->broadcast(t, 0, model->graph->nodes * sizeof *owner, owner);
    return svmp_team_agree(context, svmp_partition_measure(model->graph, t->count, owner, sizes));
}

static svmp_split describe(const svmp_model *model, const uint32_t *owner, const part_size *sizes) {
    const team *t = model->context->team;
    const partition_quality q = svmp_partition_quality(model->graph, t->count, owner, sizes);
    const part_size *own = &sizes[t->rank];
    return (svmp_split){t->count, q.busy, model->graph->nodes, own->nodes, own->halo_nodes, own->boundary, q.imbalance,
                        q.cut,    q.edges};
}

svmp_status svmp_model_split(svmp_model **model, svmp_split *split) {
    if (model == NULL || *model == NULL) return SVMP_BAD_CALL;
    svmp_model *whole = *model, *part = NULL;
    svmp_context *context = whole->context;
    SVMP_TRY(svmp_model_require_finished(whole));
    const size_t nodes = whole->graph->nodes;
    svmp_split made = {.processes = 1, .busy = 1, .nodes = nodes, .own = nodes};
    uint32_t *owner = NULL;
    part_size *sizes = NULL;
    svmp_status status = SVMP_OK;
    if (context->team) {
        if (whole->graph->halo) return svmp_fail(context, SVMP_BAD_CALL, "The model is split already.");
        SVMP_CHECK(compare(whole));
        status = SVMP_NEW(context, owner, nodes);
        if (status == SVMP_OK) status = SVMP_NEW(context, sizes, context->team->count);
        SVMP_CHECK(svmp_team_agree(context, status));
        SVMP_CHECK(choose(whole, owner, sizes));
        if (sizes) made = describe(whole, owner, sizes);
        if (made.busy < made.processes)
            svmp_log(context, SVMP_LOG_WARNING, "%zu of %zu processes have no nodes to move: the model has %zu.",
                     made.processes - made.busy, made.processes, made.nodes);
        SVMP_CHECK(svmp_team_agree(context, svmp_model_part(whole, owner, (uint32_t)context->team->rank, &part)));
        svmp_model_free(whole);
        *model = part;
        part = NULL;
    }
    if (split) *split = made;
done:
    svmp_release(context, owner);
    svmp_release(context, sizes);
    svmp_model_free(part);
    return status;
}
