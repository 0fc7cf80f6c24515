/* Leaves: unknown nodes that nothing observed depends on, and no factor(): predictions, missing responses, and whatever
 * has no children but such nodes. Given all others they have their own distribution, and no others learn anything from
 * them: they are drawn after the run, and need not be moved.
 *
 * What is not a leaf is found backwards: from what is observed and from factor(), and then from what cannot be drawn
 * (dflat), to all that these depend on. Where draws give the values of unknowns, all other continuous ones are leaves.
 */
#include "lang/compile/compile_passes.h"

typedef struct leaf_search {
    model_lowering *lowering;
    bool *needed;   /* by instance: something depends on its value that is not drawn */
    bool *expanded; /* its parents are needed */
    uint32_t *stack;
    size_t depth;
} leaf_search;

/* ---- who reads what ------------------------------------------------------------------------- */

static svmp_status trace(model_lowering *lowering, uint32_t which) {
    place before = svmp_enter(lowering, which);
    evaluated_distribution evaluated = {0};
    model_item ignored;
    svmp_status status = lowering->statement->kind == AST_FACTOR
                             ? svmp_expand_scalar(lowering, lowering->statement->arguments[0], &ignored)
                             : svmp_expand_distribution(lowering, &evaluated);
    svmp_leave(lowering, before);
    return status;
}

/* Notes what stochastic and factor() instances read; for deterministic ones that is already noted. */
static svmp_status trace_all(model_lowering *lowering) {
    lowering->tracing = true;
    svmp_status status = SVMP_OK;
    for (uint32_t k = 0; status == SVMP_OK && k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (statement->kind == AST_DETERMINISTIC || svmp_failed(lowering, statement)) continue;
        lowering->stamp++;
        status = svmp_go_on(lowering, trace(lowering, k));
    }
    lowering->tracing = false;
    return status;
}

/* A counting sort by one end of the edges. */
static svmp_status list_edges(const model_lowering *lowering, bool by_parent, edge_lists *lists) {
    const size_t nodes = lowering->instance_count, edges = lowering->edge_count;
    SVMP_TRY(SVMP_NEW(lowering->context, lists->start, nodes + 2));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->item, edges));
    uint32_t *next = lists->start + 1;
    for (size_t k = 0; k < edges; k++)
        lists->start[(by_parent ? lowering->edges[k].parent : lowering->edges[k].child) + 2]++;
    for (size_t k = 1; k <= nodes; k++) next[k] += next[k - 1];
    for (size_t k = 0; k < edges; k++) {
        const instance_edge edge = lowering->edges[k];
        lists->item[next[by_parent ? edge.parent : edge.child]++] = by_parent ? edge.child : edge.parent;
    }
    return SVMP_OK;
}

static void free_edges(const model_lowering *lowering, edge_lists *lists) {
    svmp_release_all(lowering->context, lists->start, lists->item);
    *lists = (edge_lists){0};
}

/* ---- what is needed ------------------------------------------------------------------------- */

static void expand(leaf_search *search, uint32_t which) {
    if (search->expanded[which]) return;
    search->expanded[which] = true;
    search->stack[search->depth++] = which;
}

static void need(leaf_search *search, uint32_t which) {
    search->needed[which] = true;
    expand(search, which);
}

svmp_status svmp_instance_elements(model_lowering *lowering, uint32_t which, value *offsets) {
    place before = svmp_enter(lowering, which);
    *offsets = (value){0};
    svmp_status status = svmp_expand_subscript(lowering, lowering->statement->left, offsets);
    if (status != SVMP_OK) offsets->count = 0;
    svmp_leave(lowering, before);
    return status;
}

svmp_status svmp_count_elements(model_lowering *lowering, uint32_t which, element_state state, size_t *found,
                                size_t *count) {
    const uint32_t symbol = lowering->instances[which].statement->left->symbol;
    value offsets;
    const svmp_status status = svmp_instance_elements(lowering, which, &offsets);
    *found = 0;
    *count = offsets.count;
    for (size_t k = 0; k < offsets.count; k++) *found += svmp_element_at(lowering, symbol, &offsets, k)->state == state;
    lowering->item_count = 0;
    return status;
}

/* Of a vector whose elements are independent, the observed ones need the parents, not the others; what is
 * observed in part of another one informs the rest. */
static svmp_status begin_at(leaf_search *search, uint32_t which) {
    model_lowering *lowering = search->lowering;
    const ast_statement *statement = lowering->instances[which].statement;
    size_t unknown = 0, count = 0;
    if (statement->kind == AST_DETERMINISTIC || svmp_failed(lowering, statement)) return SVMP_OK;
    if (statement->kind == AST_FACTOR) return expand(search, which), SVMP_OK;
    SVMP_TRY(svmp_go_on(lowering, svmp_count_elements(lowering, which, ELEMENT_UNKNOWN, &unknown, &count)));
    lowering->instances[which].leaf = unknown > 0;
    if (unknown < count) expand(search, which);
    if (unknown > 0 && unknown < count && statement->distribution->rank != RANK_SCALAR) need(search, which);
    return SVMP_OK;
}

static void need_parents(leaf_search *search) {
    while (search->depth > 0) {
        const uint32_t which = search->stack[--search->depth];
        for (uint32_t e = search->lowering->reads.start[which]; e < search->lowering->reads.start[which + 1]; e++)
            need(search, search->lowering->reads.item[e]);
    }
}

/* *any: whether something observed depends on an unknown node at all. */
static svmp_status find_needed(leaf_search *search, bool *any) {
    const model_lowering *lowering = search->lowering;
    *any = false;
    for (uint32_t k = 0; k < lowering->instance_count; k++) SVMP_TRY(begin_at(search, k));
    need_parents(search);
    for (uint32_t k = 0; k < lowering->instance_count; k++)
        *any = *any || (lowering->instances[k].leaf && search->needed[k]);
    return SVMP_OK;
}

/* Nodes that cannot be drawn, and those they depend on, are not leaves either. */
static void keep_undrawable(leaf_search *search) {
    const model_lowering *lowering = search->lowering;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const model_instance *instance = &lowering->instances[k];
        const distribution *family = instance->leaf ? instance->statement->distribution : NULL;
        if (family && (!family->proper || family->draw == NULL)) need(search, k);
    }
    need_parents(search);
    for (uint32_t k = 0; k < lowering->instance_count; k++)
        lowering->instances[k].leaf = lowering->instances[k].leaf && !search->needed[k];
}

/* ---- nothing is observed -------------------------------------------------------------------- */

/* Then there is a prior to look at, and all of it is moved but what cannot be: discrete nodes, and what depends on
 * them. */
static svmp_status keep_priors(leaf_search *search) {
    model_lowering *lowering = search->lowering;
    edge_lists children = {0};
    svmp_status status = list_edges(lowering, true, &children);
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const model_instance *instance = &lowering->instances[k];
        search->expanded[k] = false;
        const distribution *family = instance->leaf ? instance->statement->distribution : NULL;
        if (family && (family->discrete || family->support == SUPPORT_ROUNDED) && family->draw) expand(search, k);
    }
    while (status == SVMP_OK && search->depth > 0) {
        const uint32_t which = search->stack[--search->depth];
        for (uint32_t e = children.start[which]; e < children.start[which + 1]; e++) expand(search, children.item[e]);
    }
    for (uint32_t k = 0; status == SVMP_OK && k < lowering->instance_count; k++)
        lowering->instances[k].leaf = lowering->instances[k].leaf && search->expanded[k];
    free_edges(lowering, &children);
    return status;
}

/* ---- unknowns that draws give ----------------------------------------------------------------- */

/* How many of an instance's unknown elements draws have. */
static svmp_status count_given(model_lowering *lowering, uint32_t which, size_t *given) {
    const uint32_t symbol = lowering->instances[which].statement->left->symbol;
    value offsets;
    size_t ignored;
    *given = 0;
    svmp_status status = svmp_instance_elements(lowering, which, &offsets);
    for (size_t k = 0; status == SVMP_OK && k < offsets.count; k++) {
        const size_t offset = (size_t)lowering->items[offsets.first + k].number;
        char *name = NULL;
        if (svmp_element_at(lowering, symbol, &offsets, k)->state != ELEMENT_UNKNOWN) continue;
        status = svmp_output_name(lowering, symbol, offset, &name);
        if (status == SVMP_OK) *given += svmp_named_find(lowering->given, name, &ignored);
        svmp_release(lowering->context, name);
    }
    lowering->item_count = 0;
    return status;
}

static svmp_status refuse(model_lowering *lowering, uint32_t which, const char *why) {
    char text[ELEMENT_TEXT];
    svmp_instance_text(lowering, which, text);
    place before = svmp_enter(lowering, which);
    const svmp_status status =
        svmp_lowering_error(lowering, lowering->statement->left->offset, "the draws have no '%s'%s", text, why);
    svmp_leave(lowering, before);
    return svmp_go_on(lowering, status);
}

/* Whether draws can give an instance: discrete unknowns are drawn again, and with other data all responses. */
static bool may_be_given(const model_lowering *lowering, const model_instance *instance, const bool *read) {
    return !instance->statement->distribution->discrete &&
           (!lowering->fresh || read[instance->statement->left->symbol]);
}

static svmp_status keep_one(leaf_search *search, uint32_t which, const bool *read) {
    model_lowering *lowering = search->lowering;
    model_instance *instance = &lowering->instances[which];
    size_t unknown, count, given;
    if (!instance->leaf || !may_be_given(lowering, instance, read)) return SVMP_OK;
    SVMP_TRY(svmp_count_elements(lowering, which, ELEMENT_UNKNOWN, &unknown, &count));
    SVMP_TRY(count_given(lowering, which, &given));
    if (given == 0) return SVMP_OK;
    if (given < unknown) return refuse(lowering, which, ", but a part of it");
    need(search, which);
    return SVMP_OK;
}

/* Fails if an observed or given node depends on a continuous unknown that is not given. */
static svmp_status keep_these(leaf_search *search, const bool *read) {
    model_lowering *lowering = search->lowering;
    for (uint32_t k = 0; k < lowering->instance_count; k++)
        if (!svmp_failed(lowering, lowering->instances[k].statement))
            SVMP_TRY(svmp_go_on(lowering, keep_one(search, k, read)));
    need_parents(search);
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        model_instance *instance = &lowering->instances[k];
        const distribution *family = instance->leaf ? instance->statement->distribution : NULL;
        size_t given = 0;
        if (family == NULL) continue;
        if (may_be_given(lowering, instance, read)) SVMP_TRY(count_given(lowering, k, &given));
        instance->leaf = given == 0 && !(family->discrete && search->needed[k]);
        if (instance->leaf && search->needed[k])
            SVMP_TRY(refuse(lowering, k,
                            ", on which something depends that is observed or that they have: a new unit is "
                            "predicted without observations of it (NA)"));
        else if (instance->leaf && (!family->proper || family->draw == NULL))
            SVMP_TRY(refuse(lowering, k, ", and its distribution cannot be drawn from"));
    }
    return SVMP_OK;
}

static svmp_status keep_given(leaf_search *search) {
    bool *read = NULL;
    SVMP_TRY(SVMP_NEW(search->lowering->context, read, search->lowering->ast->names.count));
    svmp_names_read(search->lowering, read);
    const svmp_status status = keep_these(search, read);
    svmp_release(search->lowering->context, read);
    return status;
}

/* ---- the largest observation ------------------------------------------------------------------ */

/* The largest observed value of a stochastic instance, or -1. */
static svmp_status largest_of(model_lowering *lowering, uint32_t which, double *largest) {
    const uint32_t symbol = lowering->instances[which].statement->left->symbol;
    value offsets;
    *largest = -1;
    const svmp_status status = svmp_instance_elements(lowering, which, &offsets);
    for (size_t k = 0; k < offsets.count; k++) {
        const model_element *one = svmp_element_at(lowering, symbol, &offsets, k);
        if (one->state == ELEMENT_KNOWN && one->value > *largest) *largest = one->value;
    }
    lowering->item_count = 0;
    return status;
}

static void raise_largest(const model_lowering *lowering, model_instance *instance, double largest) {
    statement_state *state = svmp_state_of(lowering, instance->statement);
    instance->largest = largest;
    if (state->largest < largest) state->largest = largest;
}

/* Passes what is observed of instance k on to the discrete instances that it depends on, by way of deterministic and
 * discrete ones. `closed`: those that it is not passed to; NULL: none. */
static void pass_on(leaf_search *search, uint32_t k, double largest, const bool *closed) {
    model_lowering *lowering = search->lowering;
    search->depth = 0;
    search->stack[search->depth++] = k;
    while (search->depth > 0) { /* each is entered once for each larger value: the stack holds what was raised */
        const uint32_t which = search->stack[--search->depth];
        for (uint32_t e = search->lowering->reads.start[which]; e < search->lowering->reads.start[which + 1]; e++) {
            model_instance *parent = &lowering->instances[search->lowering->reads.item[e]];
            const ast_statement *statement = parent->statement;
            if (parent->largest >= largest || (closed && closed[search->lowering->reads.item[e]])) continue;
            if (statement->kind == AST_STOCHASTIC && !statement->distribution->discrete) continue;
            raise_largest(lowering, parent, largest);
            search->stack[search->depth++] = search->lowering->reads.item[e];
        }
    }
}

/* Of each discrete instance, the largest value that is observed of what depends on it: counts without a bound are
 * summed to a multiple of it. Where no count is observed, what is measured of it must do, in whatever unit. */
static svmp_status find_largest(leaf_search *search) {
    model_lowering *lowering = search->lowering;
    bool *counted = NULL;
    svmp_status status = SVMP_OK;
    SVMP_TRY(SVMP_NEW(lowering->context, counted, lowering->instance_count));
    for (uint32_t k = 0; k < lowering->instance_count; k++)
        lowering->instances[k].largest = svmp_state_of(lowering, lowering->instances[k].statement)->largest = -1;
    for (int measured = 0; measured < 2; measured++) {
        for (uint32_t k = 0; k < lowering->instance_count; k++) {
            const ast_statement *statement = lowering->instances[k].statement;
            double largest = -1;
            if (statement->kind == AST_STOCHASTIC && !svmp_failed(lowering, statement) &&
                !statement->distribution->discrete == measured)
                SVMP_CHECK(svmp_go_on(lowering, largest_of(lowering, k, &largest)));
            if (largest >= 0) pass_on(search, k, largest, measured ? counted : NULL);
        }
        for (uint32_t k = 0; k < lowering->instance_count; k++) counted[k] = lowering->instances[k].largest >= 0;
    }
done:
    svmp_release(lowering->context, counted);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static svmp_status search_leaves(leaf_search *search) {
    model_lowering *lowering = search->lowering;
    svmp_context *context = lowering->context;
    bool any = false;
    SVMP_TRY(trace_all(lowering));
    SVMP_TRY(list_edges(lowering, false, &lowering->reads));
    SVMP_TRY(SVMP_NEW(context, search->needed, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(context, search->expanded, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(context, search->stack, lowering->instance_count));
    SVMP_TRY(find_largest(search));
    SVMP_TRY(find_needed(search, &any));
    if (lowering->given) return keep_given(search);
    if (!any) SVMP_TRY(keep_priors(search));
    keep_undrawable(search);
    return SVMP_OK;
}

svmp_status svmp_find_leaves(model_lowering *lowering) {
    leaf_search search = {.lowering = lowering};
    const size_t edges = lowering->edge_count;
    svmp_status status = search_leaves(&search);
    lowering->edge_count = edges; /* the factors note theirs again, with what bounds read */
    for (uint32_t k = 0; k < lowering->instance_count; k++) lowering->instances[k].reader = NOTHING;
    svmp_release_all(lowering->context, search.needed, search.expanded, search.stack);
    return status;
}
