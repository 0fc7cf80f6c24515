#include "model/model_split.h"

#include "base/peers.h"
#include "graph/graph_part.h"
#include "graph/partition.h"
#include "model/fingerprint.h"
#include "model/model_part.h"

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
    SVMP_TRY(svmp_agree(context, context->peers, status));
    const fingerprint *f = model->identity;
    snprintf(words, sizeof words, "%zu nodes, %zu variables, %zu factors", f->nodes, f->variables, f->factors);
    SVMP_TRY(svmp_context_compare(context, "the model", words));
    snprintf(words, sizeof words, "%016llx", (unsigned long long)f->structure);
    SVMP_TRY(svmp_context_compare(context, "the model, its names, bounds or edges (by a checksum)", words));
    snprintf(words, sizeof words, "%016llx", (unsigned long long)f->density);
    return svmp_context_compare(context, "the data, or numbers in the model (by a checksum)", words);
}

/* What the first process knows of a partition, for all. */
typedef struct verdict {
    partition_quality quality;
    part_size own;
} verdict;

static svmp_status judge(const svmp_graph *whole, uint32_t *owner, verdict *of_each) {
    svmp_context *context = whole->context;
    const size_t parts = context->peers->count;
    part_size *sizes = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, sizes, parts));
    SVMP_CHECK(svmp_partition(whole, parts, owner));
    SVMP_CHECK(svmp_partition_measure(whole, parts, owner, sizes));
    const partition_quality quality = svmp_partition_quality(whole, parts, owner, sizes);
    for (size_t p = 0; p < parts; p++) of_each[p] = (verdict){quality, sizes[p]};
done:
    svmp_release(context, sizes);
    return status;
}

svmp_status svmp_split_choose(svmp_context *context, const svmp_graph *whole, size_t nodes, uint32_t *owner,
                              svmp_split *split) {
    const svmp_peers *t = context->peers;
    verdict *of_each = NULL;
    svmp_status status = SVMP_NEW(context, of_each, t->count);
    if (status == SVMP_OK && t->rank == 0) status = judge(whole, owner, of_each);
    SVMP_CHECK(svmp_agree(context, context->peers, status));
    t->broadcast(t, 0, nodes * sizeof *owner, owner);
    t->broadcast(t, 0, t->count * sizeof *of_each, of_each);
    const part_size *own = &of_each[t->rank].own;
    const partition_quality *q = &of_each[t->rank].quality;
    *split = (svmp_split){t->count,      q->busy,      nodes,  own->nodes, own->halo_nodes,
                          own->boundary, q->imbalance, q->cut, q->edges};
    if (split->busy < split->processes)
        svmp_log(context, SVMP_LOG_WARNING, "%zu of %zu processes have no nodes to move: the model has only %zu nodes.",
                 split->processes - split->busy, split->processes, split->nodes);
done:
    svmp_release(context, of_each);
    return status;
}

svmp_status svmp_split_fragment(svmp_model **model, const uint32_t *owner) {
    svmp_model *fragment = *model, *part = NULL;
    svmp_context *context = fragment->context;
    const uint32_t rank = (uint32_t)context->peers->rank;
    uint32_t *here = NULL; /* node of the fragment -> its process */
    svmp_status status = SVMP_NEW(context, here, fragment->graph->nodes);
    for (size_t v = 0; status == SVMP_OK && v < fragment->graph->nodes; v++)
        here[v] = owner[svmp_node_key(fragment->graph, v)];
    if (status == SVMP_OK) status = svmp_model_part(fragment, here, rank, &part);
    if (status == SVMP_OK) status = SVMP_NEW(context, part->identity, 1);
    SVMP_CHECK(svmp_agree(context, context->peers, status));
    SVMP_CHECK(
        svmp_fingerprint_add(fragment, (graph_owners){here, rank, fragment->graph->nodes}, part, part->identity));
    svmp_model_free(fragment);
    *model = part;
    part = NULL;
done:
    svmp_release(context, here);
    svmp_model_free(part);
    return status;
}

svmp_status svmp_model_split(svmp_model **model, svmp_split *split) {
    if (model == NULL || *model == NULL) return SVMP_BAD_CALL;
    svmp_model *whole = *model, *part = NULL;
    svmp_context *context = whole->context;
    SVMP_TRY(svmp_model_require_finished(whole));
    const size_t nodes = whole->graph->nodes;
    svmp_split made = {.processes = 1, .busy = 1, .nodes = nodes, .own = nodes};
    uint32_t *owner = NULL;
    svmp_status status = SVMP_OK;
    if (context->peers->count > 1) {
        if (whole->graph->halo) return svmp_fail(context, SVMP_BAD_CALL, "The model is already split.");
        if (whole->supports)
            return svmp_fail(context, SVMP_UNSUPPORTED, "A model whose nodes have supports cannot be split.");
        SVMP_CHECK(compare(whole));
        SVMP_CHECK(svmp_agree(context, context->peers, SVMP_NEW(context, owner, nodes)));
        SVMP_CHECK(svmp_split_choose(context, whole->graph, nodes, owner, &made));
        SVMP_CHECK(
            svmp_agree(context, context->peers, svmp_model_part(whole, owner, (uint32_t)context->peers->rank, &part)));
        svmp_model_free(whole);
        *model = part;
        part = NULL;
    }
    if (split) *split = made;
done:
    svmp_release(context, owner);
    svmp_model_free(part);
    return status;
}

svmp_status svmp_model_share(svmp_model *model) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    SVMP_TRY(svmp_model_require_finished(model));
    if (model->graph->halo)
        return svmp_fail(context, SVMP_BAD_CALL, "A part of a model cannot be shared: the model is split already.");
    if (context->peers->count == 1 || model->sharers) return SVMP_OK;
    SVMP_TRY(compare(model));
    model->sharers = context->peers;
    return SVMP_OK;
}
