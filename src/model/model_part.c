#include "model/model_part.h"

#include <string.h>

#include "graph/graph_part.h"
#include "model/fingerprint.h"
#include "model/text_model.h"

typedef struct cutting {
    const svmp_model *whole;
    svmp_model *part;
    uint32_t rank;
    bool first; /* whether it has what may depend on nodes of any process */
    uint32_t
        *local; /* variable of the whole, or of its fragment -> its number in the part; UINT32_MAX: it is not there */
} cutting;

static svmp_status number_variables(cutting *c) {
    const svmp_graph *graph = c->part->graph;
    svmp_release(c->part->context, c->local);
    c->local = NULL;
    SVMP_TRY(SVMP_NEW(c->part->context, c->local, graph->whole_variables));
    for (size_t i = 0; i < graph->whole_variables; i++) c->local[i] = UINT32_MAX;
    for (size_t i = 0; i < graph->variables; i++) c->local[graph->variable_key[i]] = (uint32_t)i;
    return SVMP_OK;
}

static svmp_status copy_nodes(const cutting *c) {
    svmp_model *part = c->part;
    const svmp_model *whole = c->whole;
    svmp_context *context = part->context;
    const svmp_graph *graph = part->graph;
    SVMP_TRY(SVMP_NEW(context, part->names, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, part->lower, graph->variables));
    SVMP_TRY(SVMP_NEW(context, part->upper, graph->variables));
    for (size_t v = 0; v < graph->nodes; v++) {
        const char *name = whole->names[graph->node_key[v]];
        if (name) SVMP_TRY(svmp_duplicate(context, name, &part->names[v]));
    }
    for (size_t i = 0; i < graph->variables; i++) {
        part->lower[i] = whole->lower[graph->variable_key[i]];
        part->upper[i] = whole->upper[graph->variable_key[i]];
    }
    part->boxed = whole->boxed;
    return SVMP_OK;
}

/* The rows of own variables, their columns in the order of the whole. */
static svmp_status copy_quadratic(const cutting *c) {
    svmp_context *context = c->part->context;
    const svmp_graph *graph = c->part->graph;
    const quadratic *from = &c->whole->quadratic;
    quadratic *to = &c->part->quadratic;
    size_t entries = 0;
    for (size_t i = 0; i < graph->moved_variables; i++) {
        const size_t row = graph->variable_key[i];
        entries += from->start[row + 1] - from->start[row];
    }
    SVMP_TRY(SVMP_NEW(context, to->start, graph->variables + 1));
    SVMP_TRY(SVMP_NEW(context, to->column, entries));
    SVMP_TRY(SVMP_NEW(context, to->value, entries));
    SVMP_TRY(SVMP_NEW(context, to->linear, graph->variables));
    for (size_t i = 0; i < graph->variables; i++) {
        const size_t row = graph->variable_key[i];
        to->linear[i] = from->linear[row];
        for (size_t e = from->start[row]; i < graph->moved_variables && e < from->start[row + 1]; e++, to->count++) {
            to->column[to->count] = c->local[from->column[e]];
            to->value[to->count] = from->value[e];
        }
        to->start[i + 1] = to->count;
    }
    to->constant = from->constant;
    c->part->quadratic_factors = c->whole->quadratic_factors;
    return SVMP_OK;
}

/* What has no variables is the first process's. */
static int touches(const cutting *c, const factor_group *group, size_t k) {
    if (group->slots == 0) return c->rank == 0;
    for (size_t j = 0; j < group->slots; j++)
        if (c->local[group->variables[k * group->slots + j]] < c->part->graph->moved_variables) return 1;
    return 0;
}

/* The instances of a group that touch own nodes, in their order; a group of none is left out. */
static svmp_status copy_group(const cutting *c, size_t g) {
    svmp_model *part = c->part;
    svmp_context *context = part->context;
    const factor_group *from = &c->whole->groups[g];
    factor_group *to = &part->groups[part->group_count];
    size_t count = 0;
    for (size_t k = 0; k < from->instances; k++) count += (size_t)touches(c, from, k);
    if (count == 0) return SVMP_OK;
    *to = (factor_group){.kind = from->kind, .slots = from->slots, .line = from->line};
    part->group_factor[part->group_count++] = c->whole->group_factor[g];
    SVMP_TRY(SVMP_NEW(context, to->origin, count));
    SVMP_TRY(SVMP_NEW(context, to->variables, count * from->slots));
    for (size_t k = 0; k < from->instances; k++)
        if (touches(c, from, k)) to->origin[to->instances++] = (uint32_t)k;
    for (size_t k = 0; k < count * from->slots; k++) {
        to->variables[k] = c->local[from->variables[to->origin[k / from->slots] * from->slots + k % from->slots]];
        if (to->variables[k] == UINT32_MAX) /* of computed rows: the scopes of other factors are inside, too */
            return svmp_fail(context, SVMP_UNSUPPORTED,
                             "The recursion on line %zu cannot be shared by several processes, because the nodes that "
                             "depend on it are not all neighbours. Use one process.",
                             from->line);
    }
    return from->kind->keep(context, from, count, to->origin, &to->self);
}

static svmp_status copy_factors(const cutting *c) {
    svmp_model *part = c->part;
    SVMP_TRY(copy_quadratic(c));
    SVMP_TRY(SVMP_NEW(part->context, part->groups, c->whole->group_count));
    SVMP_TRY(SVMP_NEW(part->context, part->group_factor, c->whole->group_count));
    for (size_t g = 0; g < c->whole->group_count; g++) SVMP_TRY(copy_group(c, g));
    return svmp_model_derive_gather(part);
}

/* What was found in a fragment stands somewhere in the whole. */
static void place(const cutting *c) {
    svmp_model *part = c->part;
    if (c->whole->graph->node_key) svmp_graph_place_part(part->graph, c->whole->graph);
    for (size_t g = 0, from = 0; g < part->group_count; g++, from++) {
        while (c->whole->group_factor[from] != part->group_factor[g]) from++;
        const uint32_t *origin = c->whole->groups[from].origin;
        for (size_t k = 0; origin && k < part->groups[g].instances; k++)
            part->groups[g].origin[k] = origin[part->groups[g].origin[k]];
    }
}

static svmp_status cut(cutting *c, const uint32_t *owner) {
    svmp_model *part = c->part;
    svmp_graph_free(part->graph);
    part->graph = NULL;
    SVMP_TRY(svmp_graph_part(c->whole->graph, owner, c->rank, &part->graph));
    SVMP_TRY(number_variables(c));
    SVMP_TRY(copy_nodes(c));
    SVMP_TRY(copy_factors(c));
    place(c);
    if (c->whole->lowered) {
        SVMP_TRY(number_variables(c));
        SVMP_TRY(svmp_lowered_part(c->whole->lowered, part->graph, c->local, c->first, &part->lowered));
    }
    if (c->whole->identity) {
        SVMP_TRY(SVMP_NEW(part->context, part->identity, 1));
        *part->identity = *c->whole->identity;
    }
    part->finished = 1;
    return SVMP_OK;
}

static svmp_status make(const svmp_model *whole, const uint32_t *owner, uint32_t rank, bool first, svmp_model **part) {
    cutting c = {.whole = whole, .rank = rank, .first = first};
    SVMP_TRY(svmp_model_create(whole->context, &c.part));
    svmp_status status = cut(&c, owner);
    svmp_release(whole->context, c.local);
    if (status == SVMP_OK)
        *part = c.part;
    else
        svmp_model_free(c.part);
    return status;
}

svmp_status svmp_model_part(const svmp_model *whole, const uint32_t *owner, uint32_t rank, svmp_model **part) {
    return make(whole, owner, rank, rank == 0, part);
}

svmp_status svmp_model_agent_part(const svmp_model *whole, const uint32_t *owner, uint32_t rank, svmp_model **part) {
    return make(whole, owner, rank, false, part);
}
