#include "kernel/unit.h"

size_t svmp_unit_count(const svmp_graph *graph, kernel_domain domain) {
    switch (domain) {
    case DOMAIN_ALL: return 1;
    case DOMAIN_BLANKET: return graph->distinct;
    case DOMAIN_SELF:
    case DOMAIN_RANDOM: break;
    }
    return graph->own;
}

/* The first unit of `blanket` whose first member is `node` or comes behind it; units are in the order of those. */
static size_t first_unit(const svmp_graph *graph, size_t node) {
    size_t low = 0, high = graph->distinct;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->members.item[graph->members.start[middle]] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

unit_span svmp_unit_span(const svmp_graph *graph, kernel_domain domain, node_span nodes) {
    switch (domain) {
    case DOMAIN_ALL: return (unit_span){0, nodes.last == graph->own};
    case DOMAIN_BLANKET: return (unit_span){first_unit(graph, nodes.first), first_unit(graph, nodes.last)};
    case DOMAIN_SELF:
    case DOMAIN_RANDOM: break;
    }
    return (unit_span){nodes.first, nodes.last};
}

stein_unit svmp_unit_find(const svmp_graph *graph, kernel_domain domain, size_t u, const uint32_t *nodes) {
    const index_lists *closed = &graph->neighbourhoods, *members = &graph->members;
    switch (domain) {
    case DOMAIN_ALL: return (stein_unit){nodes, nodes, graph->own, graph->own};
    case DOMAIN_BLANKET:
        return (stein_unit){closed->item + closed->start[u], members->item + members->start[u],
                            closed->start[u + 1] - closed->start[u], members->start[u + 1] - members->start[u]};
    case DOMAIN_SELF:
    case DOMAIN_RANDOM: break;
    }
    return (stein_unit){nodes + u, nodes + u, 1, 1};
}

stein_unit svmp_unit_draw(const svmp_graph *graph, const kernel_term *term, size_t u, uint64_t seed, size_t t,
                          const uint32_t *nodes, uint32_t *drawn) {
    stein_unit unit = svmp_unit_find(graph, term->domain, u, nodes);
    if (term->domain != DOMAIN_RANDOM) return unit;
    unit.domain = drawn;
    unit.domain_count = svmp_domain_draw(graph, u, term->neighbours, seed, t, drawn);
    return unit;
}

size_t svmp_unit_rows(const svmp_graph *graph, const stein_unit *unit, size_t n, const double *array,
                      const double **rows) {
    size_t count = 0;
    for (size_t v = 0; v < unit->domain_count; v++)
        for (size_t j = graph->first[unit->domain[v]]; j < graph->first[unit->domain[v] + 1]; j++)
            rows[count++] = array + j * n;
    return count;
}

size_t svmp_unit_rows_most(const svmp_graph *graph, const kernel *k) {
    for (size_t a = 0; a < k->count; a++)
        if (k->terms[a].domain == DOMAIN_ALL) return graph->variables;
    size_t most = 0;
    for (size_t c = 0; c < graph->distinct; c++) { /* a node and what it draws is a part of its neighbourhood */
        size_t count = 0;
        for (size_t e = graph->neighbourhoods.start[c]; e < graph->neighbourhoods.start[c + 1]; e++)
            count += svmp_graph_node_dimension(graph, graph->neighbourhoods.item[e]);
        most = count > most ? count : most;
    }
    return most;
}

size_t svmp_unit_drawn_most(const kernel *k) {
    size_t most = 0;
    for (size_t a = 0; a < k->count; a++) most = k->terms[a].neighbours > most ? k->terms[a].neighbours : most;
    return most + 1;
}
