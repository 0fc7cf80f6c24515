/* A part of a graph as bytes. */
#include "base/peers.h"
#include "graph/graph_part.h"

/* Starts of `count` lists, which do not descend; returns the number of all items. */
static size_t pack_starts(packing *p, size_t count, size_t **start) {
    svmp_pack_counts(p, count + 1, start);
    if (p->status != SVMP_OK) return 0;
    for (size_t k = 0; p->loading && k < count; k++)
        if ((*start)[k] > (*start)[k + 1]) svmp_pack_refuse(p, "is damaged");
    if (p->loading && (*start)[0] != 0) svmp_pack_refuse(p, "is damaged");
    return p->status == SVMP_OK ? (*start)[count] : 0;
}

static void pack_sizes(packing *p, svmp_graph *graph) {
    size_t *sizes[] = {&graph->nodes,           &graph->variables,       &graph->distinct,       &graph->moved,
                       &graph->inner,           &graph->moved_variables, &graph->whole_nodes,    &graph->colours,
                       &graph->inner_variables, &graph->factors,         &graph->whole_variables};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) svmp_pack_count(p, sizes[k]);
    if (graph->inner > graph->moved || graph->moved > graph->nodes || graph->nodes > graph->whole_nodes ||
        graph->variables > graph->whole_variables || graph->whole_variables > UINT32_MAX ||
        graph->whole_nodes > UINT32_MAX || graph->distinct > graph->moved)
        svmp_pack_refuse(p, "is damaged");
}

static void pack_nodes(packing *p, svmp_graph *graph) {
    const size_t variables = pack_starts(p, graph->nodes, &graph->first);
    if (p->status != SVMP_OK) return;
    if (variables != graph->variables || graph->first[graph->moved] != graph->moved_variables ||
        graph->first[graph->inner] != graph->inner_variables)
        svmp_pack_refuse(p, "is damaged");
    svmp_pack_indices(p, graph->nodes, graph->whole_nodes, &graph->node_key);
    svmp_pack_indices(p, graph->variables, graph->whole_variables, &graph->variable_key);
    svmp_pack_indices(p, graph->nodes, graph->colours, &graph->colour);
    svmp_pack_indices(p, graph->moved, graph->distinct, &graph->neighbourhood_of);
    const size_t items = pack_starts(p, graph->distinct, &graph->neighbourhoods.start);
    svmp_pack_indices(p, items, graph->nodes, &graph->neighbourhoods.item);
}

static void pack_halo(packing *p, const svmp_graph *graph, graph_halo *halo) {
    svmp_pack_length(p, &halo->neighbours, 4);
    svmp_pack_numbers(p, halo->neighbours, &halo->rank);
    const size_t read = pack_starts(p, halo->neighbours, &halo->from);
    if (p->status == SVMP_OK && graph->moved + read != graph->nodes) svmp_pack_refuse(p, "is damaged");
    const size_t sent = pack_starts(p, halo->neighbours, &halo->send.start);
    svmp_pack_indices(p, sent, graph->moved, &halo->send.item);
}

void svmp_graph_pack(packing *p, const svmp_peers *peers, svmp_graph *part) {
    if (p->loading) {
        svmp_release(p->context, part->first);
        part->first = NULL;
    }
    pack_sizes(p, part);
    pack_nodes(p, part);
    SVMP_PACK_NEW(p, part->halo, 1);
    if (p->status == SVMP_OK) pack_halo(p, part, part->halo);
    if (!p->loading || p->status != SVMP_OK) return;
    part->peers = peers;
    p->status = svmp_graph_members(part, &part->members);
}
