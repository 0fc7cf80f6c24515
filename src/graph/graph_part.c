#include "graph/graph_part.h"

#include <stdlib.h>

void svmp_halo_free(svmp_context *context, graph_halo *halo) {
    if (halo == NULL) return;
    svmp_release_all(context, halo->rank, halo->from);
    svmp_lists_free(context, &halo->send);
    svmp_release(context, halo);
}

enum { NOWHERE = UINT32_MAX };

typedef struct cutting {
    const svmp_graph *whole;
    const uint32_t *owner;
    uint32_t rank;
    svmp_graph *part;
    uint32_t *local;   /* node of the whole -> its number here, or NOWHERE */
    uint64_t *message; /* pairs (other process, node of the whole): halo nodes, or nodes to send; ascending */
    size_t messages, message_capacity;
} cutting;

static int is_own(const cutting *c, size_t node) { return c->owner[node] == c->rank; }

static int is_interior(const cutting *c, size_t node) {
    size_t count;
    const uint32_t *closed = svmp_graph_neighbourhood(c->whole, node, &count);
    for (size_t k = 0; k < count; k++)
        if (!is_own(c, closed[k])) return 0;
    return 1;
}

/* ---- nodes of the part ------------------------------------------------------------------------------------------- */

static void add_node(cutting *c, size_t node) {
    svmp_graph *part = c->part;
    const size_t first = c->whole->first[node], dimension = c->whole->first[node + 1] - first;
    c->local[node] = (uint32_t)part->nodes;
    part->node_key[part->nodes] = (uint32_t)node;
    for (size_t k = 0; k < dimension; k++) part->variable_key[part->variables++] = (uint32_t)(first + k);
    part->first[++part->nodes] = part->variables;
}

static int order_of_messages(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static svmp_status add_message(cutting *c, uint32_t process, uint32_t node) {
    SVMP_TRY(SVMP_GROW(c->part->context, c->message, c->message_capacity, c->messages + 1));
    c->message[c->messages++] = (uint64_t)process << 32 | node;
    return SVMP_OK;
}

/* Sorts and removes duplicates. */
static void sort_messages(cutting *c) {
    size_t kept = 0;
    if (c->messages > 0) qsort(c->message, c->messages, sizeof *c->message, order_of_messages);
    for (size_t k = 0; k < c->messages; k++)
        if (kept == 0 || c->message[kept - 1] != c->message[k]) c->message[kept++] = c->message[k];
    c->messages = kept;
}

/* The nodes of others that own nodes read (`reading`), or the own nodes that others read. The relation is symmetric, so
 * the processes are the same. */
static svmp_status list_messages(cutting *c, int reading) {
    c->messages = 0;
    for (size_t v = 0; v < c->whole->nodes; v++) {
        size_t count;
        const uint32_t *closed = is_own(c, v) ? svmp_graph_neighbourhood(c->whole, v, &count) : (count = 0, NULL);
        for (size_t k = 0; k < count; k++)
            if (!is_own(c, closed[k])) SVMP_TRY(add_message(c, c->owner[closed[k]], reading ? closed[k] : (uint32_t)v));
    }
    sort_messages(c);
    return SVMP_OK;
}

/* The start of the messages of each process, and the messages. */
static svmp_status list_neighbours(const cutting *c, graph_halo *halo) {
    svmp_context *context = c->part->context;
    for (size_t k = 0; k < c->messages; k++)
        halo->neighbours += k == 0 || c->message[k - 1] >> 32 != c->message[k] >> 32;
    SVMP_TRY(SVMP_NEW(context, halo->rank, halo->neighbours));
    SVMP_TRY(SVMP_NEW(context, halo->from, halo->neighbours + 1));
    for (size_t k = 0, at = 0; k < c->messages; k++) {
        if (k > 0 && c->message[k - 1] >> 32 != c->message[k] >> 32) at++;
        halo->rank[at] = (uint32_t)(c->message[k] >> 32);
        halo->from[at + 1] = k + 1;
    }
    return SVMP_OK;
}

static svmp_status add_nodes(cutting *c) {
    svmp_graph *part = c->part;
    svmp_context *context = part->context;
    const svmp_graph *whole = c->whole;
    size_t nodes = 0, variables = 0;
    SVMP_TRY(list_messages(c, 1));
    SVMP_TRY(SVMP_NEW(context, part->halo, 1));
    SVMP_TRY(list_neighbours(c, part->halo));
    for (size_t v = 0; v < whole->nodes; v++)
        if (is_own(c, v)) nodes++, variables += svmp_graph_node_dimension(whole, v);
    for (size_t k = 0; k < c->messages; k++)
        nodes++, variables += svmp_graph_node_dimension(whole, (uint32_t)c->message[k]);
    svmp_release(context, part->first);
    part->first = NULL;
    SVMP_TRY(SVMP_NEW(context, part->first, nodes + 1));
    SVMP_TRY(SVMP_NEW(context, part->node_key, nodes));
    SVMP_TRY(SVMP_NEW(context, part->variable_key, variables));

    for (size_t v = 0; v < whole->nodes; v++) c->local[v] = NOWHERE;
    for (size_t v = 0; v < whole->nodes; v++)
        if (is_own(c, v) && is_interior(c, v)) add_node(c, v);
    part->inner = part->nodes;
    part->inner_variables = part->variables;
    for (size_t v = 0; v < whole->nodes; v++)
        if (is_own(c, v) && c->local[v] == NOWHERE) add_node(c, v);
    part->moved = part->nodes;
    part->moved_variables = part->variables;
    for (size_t k = 0; k < c->messages; k++) add_node(c, (uint32_t)c->message[k]);
    part->whole_nodes = whole->nodes;
    part->whole_variables = whole->variables;
    return SVMP_OK;
}

static svmp_status add_sends(cutting *c) {
    graph_halo *halo = c->part->halo;
    SVMP_TRY(list_messages(c, 0));
    SVMP_TRY(SVMP_NEW(c->part->context, halo->send.start, halo->neighbours + 1));
    SVMP_TRY(SVMP_NEW(c->part->context, halo->send.item, c->messages));
    for (size_t k = 0, at = 0; k < c->messages; k++) {
        while (halo->rank[at] != c->message[k] >> 32) at++;
        halo->send.item[k] = c->local[(uint32_t)c->message[k]];
        halo->send.start[at + 1] = k + 1;
    }
    return SVMP_OK;
}

/* ---- neighbourhoods ---------------------------------------------------------------------------------------------- */

/* The neighbourhoods of own nodes, numbered in the order of first appearance, and the map node -> neighbourhood. */
static svmp_status add_neighbourhoods(cutting *c) {
    svmp_graph *part = c->part;
    const svmp_graph *whole = c->whole;
    svmp_context *context = part->context;
    svmp_status status;
    uint32_t *here = NULL; /* neighbourhood of the whole -> its number here */
    size_t items = 0;
    SVMP_TRY(SVMP_NEW(context, here, whole->distinct));
    for (size_t k = 0; k < whole->distinct; k++) here[k] = NOWHERE;
    SVMP_CHECK(SVMP_NEW(context, part->neighbourhood_of, part->moved));
    for (size_t v = 0; v < part->moved; v++) {
        const uint32_t which = whole->neighbourhood_of[part->node_key[v]];
        if (here[which] == NOWHERE) {
            here[which] = (uint32_t)part->distinct++;
            items += whole->neighbourhoods.start[which + 1] - whole->neighbourhoods.start[which];
        }
        part->neighbourhood_of[v] = here[which];
    }
    index_lists *closed = &part->neighbourhoods, *members = &part->members;
    SVMP_CHECK(SVMP_NEW(context, closed->start, part->distinct + 1));
    SVMP_CHECK(SVMP_NEW(context, closed->item, items));
    for (size_t v = 0, seen = 0; v < part->moved; v++) {
        if (part->neighbourhood_of[v] != seen) continue;
        size_t count, at = closed->start[seen];
        const uint32_t *nodes = svmp_graph_neighbourhood(whole, part->node_key[v], &count);
        for (size_t k = 0; k < count; k++) closed->item[at++] = c->local[nodes[k]];
        closed->start[++seen] = at;
    }
    SVMP_CHECK(svmp_graph_members(part, members));
done:
    svmp_release(context, here);
    return status;
}

svmp_status svmp_graph_part(const svmp_graph *whole, const uint32_t *owner, uint32_t rank, svmp_graph **part) {
    svmp_context *context = whole->context;
    cutting c = {.whole = whole, .owner = owner, .rank = rank};
    svmp_status status;
    SVMP_TRY(svmp_graph_create(context, &c.part));
    c.part->peers = context->peers;
    SVMP_CHECK(SVMP_NEW(context, c.local, whole->nodes));
    SVMP_CHECK(add_nodes(&c));
    SVMP_CHECK(add_sends(&c));
    SVMP_CHECK(add_neighbourhoods(&c));
    *part = c.part;
    c.part = NULL;
done:
    svmp_release_all(context, c.local, c.message);
    svmp_graph_free(c.part);
    return status;
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

svmp_status svmp_graph_place(svmp_graph *fragment, size_t whole_nodes, size_t whole_variables, const uint32_t *node_key,
                             const uint32_t *variable_key) {
    svmp_context *context = fragment->context;
    SVMP_TRY(SVMP_NEW(context, fragment->node_key, fragment->nodes));
    SVMP_TRY(SVMP_NEW(context, fragment->variable_key, fragment->variables));
    for (size_t v = 0; v < fragment->nodes; v++) fragment->node_key[v] = node_key[v];
    for (size_t i = 0; i < fragment->variables; i++) fragment->variable_key[i] = variable_key[i];
    fragment->whole_nodes = whole_nodes;
    fragment->whole_variables = whole_variables;
    return SVMP_OK;
}

void svmp_graph_place_part(svmp_graph *part, const svmp_graph *fragment) {
    for (size_t v = 0; v < part->nodes; v++) part->node_key[v] = (uint32_t)svmp_node_key(fragment, part->node_key[v]);
    for (size_t i = 0; i < part->variables; i++)
        part->variable_key[i] = (uint32_t)svmp_variable_key(fragment, part->variable_key[i]);
    part->whole_nodes = fragment->whole_nodes;
    part->whole_variables = fragment->whole_variables;
}
