/* Levels of the instances, parents before children, or an error that shows the directed cycle. Deterministic instances
 * count even if everything they read is observed: y ~ dnorm(mean(y), 1) is a cycle. */
#include "lang/compile/compile_passes.h"

#include <string.h>

typedef struct visit {
    uint32_t instance, next; /* next: the parent to look at */
} visit;

typedef struct graph_walk {
    model_lowering *lowering;
    visit *stack;
    size_t depth, capacity;
    uint32_t *level; /* by instance; NOTHING: not seen, NOTHING - 1: on the stack */
} graph_walk;

#define ON_STACK (NOTHING - 1)

static uint32_t parents_end(const model_lowering *lowering, uint32_t which) {
    return which + 1 < lowering->instance_count ? lowering->instances[which + 1].parents
                                                : (uint32_t)lowering->edge_count;
}

/* A counting sort of the edges by their children. */
static svmp_status sort_edges(model_lowering *lowering) {
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->parents, lowering->edge_count));
    for (uint32_t k = 0; k < lowering->instance_count; k++) lowering->instances[k].parents = 0;
    for (size_t k = 0; k < lowering->edge_count; k++) lowering->instances[lowering->edges[k].child].parents++;
    for (uint32_t k = 0, before = 0; k < lowering->instance_count; k++) {
        before += lowering->instances[k].parents;
        lowering->instances[k].parents = before; /* their end, which the filling moves to their begin */
    }
    for (size_t k = lowering->edge_count; k-- > 0;)
        lowering->parents[--lowering->instances[lowering->edges[k].child].parents] = lowering->edges[k].parent;
    return SVMP_OK;
}

/* A deterministic instance of the cycle; NOTHING: there is none. */
static uint32_t computed_in(const graph_walk *walk, uint32_t again) {
    for (size_t k = walk->depth; k-- > 0;) {
        const uint32_t now = walk->stack[k].instance;
        if (walk->lowering->instances[now].statement->kind == AST_DETERMINISTIC) return now;
        if (now == again) break;
    }
    return NOTHING;
}

/* "x[1] -> y[2] -> x[1]", from parents to children: the stack from its top down to where the instance already stands.
 */
static svmp_status report_cycle(graph_walk *walk, uint32_t again) {
    model_lowering *lowering = walk->lowering;
    char path[300] = "", text[ELEMENT_TEXT];
    size_t length = 0, k = walk->depth;
    bool reached = false;
    snprintf(path, sizeof path, "%s", svmp_instance_text(lowering, again, text));
    length = strlen(path);
    while (!reached && k-- > 0) {
        uint32_t now = walk->stack[k].instance;
        reached = now == again;
        svmp_instance_text(lowering, now, text);
        if (length + strlen(text) + 10 > sizeof path) {
            snprintf(path + length, sizeof path - length, " -> ...");
            break;
        }
        length += (size_t)snprintf(path + length, sizeof path - length, " -> %s", text);
    }
    const ast_statement *statement = lowering->instances[again].statement;
    const uint32_t computed = computed_in(walk, again);
    if (computed == NOTHING)
        return svmp_diagnose(lowering->diagnostics, statement->offset, "the model has a directed cycle: %s", path);
    return svmp_diagnose(lowering->diagnostics, statement->offset,
                         "the model has a directed cycle: %s; if '%s' depends on data alone, compute it in a data { } "
                         "block",
                         path, svmp_instance_text(lowering, computed, text));
}

static svmp_status push(graph_walk *walk, uint32_t which) {
    SVMP_TRY(SVMP_GROW(walk->lowering->context, walk->stack, walk->capacity, walk->depth + 1));
    walk->stack[walk->depth++] = (visit){which, walk->lowering->instances[which].parents};
    walk->level[which] = ON_STACK;
    return SVMP_OK;
}

/* All parents have levels. */
static void pop(graph_walk *walk) {
    uint32_t which = walk->stack[--walk->depth].instance, level = 0;
    for (uint32_t k = walk->lowering->instances[which].parents; k < parents_end(walk->lowering, which); k++) {
        uint32_t above = walk->level[walk->lowering->parents[k]];
        if (above >= level) level = above + 1;
    }
    walk->level[which] = level;
}

static svmp_status visit_from(graph_walk *walk, uint32_t root) {
    SVMP_TRY(push(walk, root));
    while (walk->depth > 0) {
        visit *top = &walk->stack[walk->depth - 1];
        if (top->next == parents_end(walk->lowering, top->instance)) {
            pop(walk);
            continue;
        }
        uint32_t parent = walk->lowering->parents[top->next++];
        if (walk->level[parent] == ON_STACK) return report_cycle(walk, parent);
        if (walk->level[parent] == NOTHING) SVMP_TRY(push(walk, parent));
    }
    return SVMP_OK;
}

static svmp_status find_levels(graph_walk *walk) {
    model_lowering *lowering = walk->lowering;
    for (uint32_t k = 0; k < lowering->instance_count; k++) walk->level[k] = NOTHING;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        if (lowering->instances[k].statement->kind != AST_STOCHASTIC || walk->level[k] != NOTHING) continue;
        SVMP_TRY(visit_from(walk, k));
    }
    return SVMP_OK;
}

/* A counting sort of nodes by level: stable, so that the order is the text's within a level. */
static svmp_status sort_by_level(svmp_context *context, uint32_t most, size_t count, const lowered_node *nodes,
                                 uint32_t **sorted) {
    size_t *start;
    SVMP_TRY(SVMP_NEW(context, *sorted, count));
    SVMP_TRY(SVMP_NEW(context, start, (size_t)most + 2));
    for (size_t k = 0; k < count; k++) start[nodes[k].level + 1]++;
    for (size_t k = 0; k <= most; k++) start[k + 1] += start[k];
    for (size_t k = 0; k < count; k++) (*sorted)[start[nodes[k].level]++] = (uint32_t)k;
    svmp_release(context, start);
    return SVMP_OK;
}

static svmp_status sort_nodes(graph_walk *walk) {
    model_lowering *lowering = walk->lowering;
    lowered_model *result = lowering->result;
    uint32_t most = 0;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        lowered_node *node = svmp_instance_node(lowering, k);
        if (node == NULL) continue;
        node->level = walk->level[k];
        if (walk->level[k] > most) most = walk->level[k];
    }
    SVMP_TRY(sort_by_level(lowering->context, most, result->node_count, result->nodes, &result->by_level));
    return sort_by_level(lowering->context, most, result->leaf_count, result->leaves, &result->leaves_by_level);
}

svmp_status svmp_order_nodes(model_lowering *lowering) {
    graph_walk walk = {.lowering = lowering};
    svmp_status status = sort_edges(lowering);
    if (status == SVMP_OK) status = SVMP_NEW(lowering->context, walk.level, lowering->instance_count);
    if (status == SVMP_OK) status = find_levels(&walk);
    if (status == SVMP_OK) status = sort_nodes(&walk);
    svmp_release_all(lowering->context, walk.level, walk.stack);
    return status;
}
