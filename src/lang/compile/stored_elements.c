/* Elements of '<-' that are computed once, as rows that factors read (model/computed.h), rather than pasted into every
 * formula that reads them: those of recursions, h[t] <- omega + alpha * y[t-1]^2 + beta * h[t-1], if pasting costs many
 * times the operations; and the entries of large matrices (dense_normals.c). All others are pasted: simplification, and
 * what recognises Gaussian factors, work across a pasted formula.
 *
 * With discrete unknowns, and in one of several processes, all formulas are pasted. */
#include "lang/compile/dense_normals.h"
#include "lang/compile/driven_states.h"

#include <math.h>
#include <string.h>

/* Elements are pasted if that costs at most PASTED_TIMES the operations of storing them, or PASTED_LEAST in all. */
enum { PASTED_TIMES = 16, PASTED_LEAST = 10000 };

/* Operations of formulas that are pasted into the rest and the slope of a state; how often all states are tried. */
enum { LONGEST_STATE = 1000, STATE_TURNS = 10 };

/* ---- what pasting costs -------------------------------------------------------------------------------------- */

typedef struct cost_search {
    model_lowering *lowering;
    double *operations;     /* of each instance that may be stored; 0: it may not */
    uint32_t *seen, *stack; /* seen: 1 + the last factor that reached the instance */
} cost_search;

static double count_operations(const ast_expression *expression) {
    double count = expression->kind == AST_CALL;
    for (size_t k = 0; k < expression->count; k++) count += count_operations(expression->operands[k]);
    return count;
}

/* Only arrays can be, since no element depends on itself. */
static bool is_recursive(const model_lowering *lowering, uint32_t symbol) {
    return lowering->names.recursive[symbol] && lowering->arrays[symbol].count > 1;
}

/* Finds what may be stored: how many operations and elements in all. */
static svmp_status find_candidates(cost_search *search, double *operations, size_t *elements) {
    model_lowering *lowering = search->lowering;
    *operations = 0;
    *elements = 0;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        size_t opaque = 0, count; /* elements that depend on unknowns */
        if (statement->kind != AST_DETERMINISTIC || svmp_failed(lowering, statement)) continue;
        if (!is_recursive(lowering, statement->left->symbol) && lowering->choices->store_above >= 0) continue;
        SVMP_TRY(svmp_go_on(lowering, svmp_count_elements(lowering, k, ELEMENT_OPAQUE, &opaque, &count)));
        if (opaque == 0) continue;
        search->operations[k] = 1 + count_operations(statement->arguments[0]);
        *operations += search->operations[k];
        *elements += opaque;
    }
    return SVMP_OK;
}

/* The operations of all formulas that are pasted into the factor of an instance, in vain once there are more than
 * `most`. */
static double paste(cost_search *search, uint32_t which, double most) {
    const model_lowering *lowering = search->lowering;
    double operations = 0;
    size_t depth = 0;
    search->stack[depth++] = which;
    if (lowering->instances[which].state != NOTHING) search->stack[depth++] = lowering->instances[which].state;
    while (depth > 0 && operations <= most) {
        const uint32_t from = search->stack[--depth];
        for (uint32_t e = lowering->reads.start[from]; e < lowering->reads.start[from + 1]; e++) {
            const uint32_t to = lowering->reads.item[e];
            if (lowering->instances[to].statement->kind != AST_DETERMINISTIC || search->seen[to] == which + 1) continue;
            if (lowering->instances[to].is_state) continue;
            search->seen[to] = which + 1;
            operations += search->operations[to];
            search->stack[depth++] = to;
        }
    }
    return operations;
}

static bool is_expensive(cost_search *search, double stored) {
    const model_lowering *lowering = search->lowering;
    const double above = lowering->choices->store_above, least = above == 0 ? PASTED_LEAST : 0;
    const double most = (above == 0 ? PASTED_TIMES : above) * stored, limit = most > least ? most : least;
    double pasted = 0;
    if (above < 0) return true;
    for (uint32_t k = 0; k < lowering->instance_count && pasted <= limit; k++)
        if (lowering->instances[k].statement->kind != AST_DETERMINISTIC) pasted += paste(search, k, limit - pasted);
    return pasted > limit;
}

/* Undoes the states whose rest or slope would be a long formula, also after others were undone. */
static void undo_long_states(cost_search *search) {
    model_lowering *lowering = search->lowering;
    bool undone = true;
    for (size_t turn = 0; undone; turn++) {
        undone = false;
        memset(search->seen, 0, lowering->instance_count * sizeof *search->seen);
        for (uint32_t k = 0; k < lowering->instance_count; k++) {
            if (lowering->instances[k].state == NOTHING) continue;
            if (turn < STATE_TURNS && paste(search, k, LONGEST_STATE) <= LONGEST_STATE) continue;
            svmp_state_undo(lowering, k);
            undone = true;
        }
    }
}

/* *operations: of the elements that are no states. */
static svmp_status choose_states(cost_search *search, double *operations) {
    model_lowering *lowering = search->lowering;
    SVMP_TRY(svmp_states_choose(lowering, search->operations));
    undo_long_states(search);
    *operations = 0;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        if (lowering->instances[k].state != NOTHING) SVMP_TRY(svmp_state_finish(lowering, k));
        if (lowering->instances[k].is_state) search->operations[k] = 0;
        *operations += search->operations[k];
    }
    memset(search->seen, 0, lowering->instance_count * sizeof *search->seen);
    return SVMP_OK;
}

static svmp_status choose(cost_search *search) {
    model_lowering *lowering = search->lowering;
    double operations;
    size_t elements;
    SVMP_TRY(SVMP_NEW(lowering->context, search->operations, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(lowering->context, search->seen, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(lowering->context, search->stack, lowering->instance_count));
    SVMP_TRY(find_candidates(search, &operations, &elements));
    if (elements == 0 || !is_expensive(search, operations)) return SVMP_OK;
    if (lowering->choices->states && lowering->discrete_count == 0) {
        SVMP_TRY(choose_states(search, &operations));
        if (operations == 0 || !is_expensive(search, operations)) return SVMP_OK;
    }
    for (uint32_t k = 0; k < lowering->instance_count; k++) lowering->instances[k].stored = search->operations[k] > 0;
    lowering->stored.most = elements;
    return SVMP_OK;
}

svmp_status svmp_stored_choose(model_lowering *lowering) {
    svmp_context *context = lowering->context;
    cost_search search = {.lowering = lowering};
    bool any = lowering->choices->store_above < 0;
    if (lowering->owners || lowering->graph || isinf(lowering->choices->store_above)) return SVMP_OK;
    for (uint32_t k = 0; k < lowering->ast->names.count && !any; k++) any = is_recursive(lowering, k);
    svmp_status status = any ? choose(&search) : SVMP_OK;
    if (status == SVMP_OK && lowering->discrete_count == 0)
        status = svmp_dense_choose(lowering, &lowering->stored.most);
    svmp_release_all(context, search.operations, search.seen, search.stack);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

svmp_status svmp_stored_begin(model_lowering *lowering) {
    stored_elements *stored = &lowering->stored;
    if (stored->most == 0 || lowering->discrete_count > 0) return SVMP_OK;
    stored->first = lowering->result->variables + lowering->result->leaf_variables;
    SVMP_TRY(SVMP_NEW(lowering->context, stored->row, lowering->element_count));
    SVMP_TRY(SVMP_NEW(lowering->context, stored->places, stored->most));
    lowering->storing = true;
    return SVMP_OK;
}

/* Gives the element a row when it is first read. */
svmp_status svmp_stored_read(model_lowering *lowering, model_element *element) {
    stored_elements *stored = &lowering->stored;
    uint32_t *row = &stored->row[element - lowering->elements];
    expr input;
    if (*row == 0) {
        stored->places[stored->count].element = (uint32_t)(element - lowering->elements);
        *row = (uint32_t)++stored->count;
    }
    SVMP_TRY(svmp_input(lowering, (uint32_t)(stored->first + *row - 1), &input));
    element->memo = svmp_item_expression(input);
    element->stamp = lowering->stamp;
    return SVMP_OK;
}

/* The program of a row, from its own formula. */
static svmp_status compute_row(model_lowering *lowering, void *work) {
    stored_place *at = work;
    model_element *element = &lowering->elements[at->element];
    const uint64_t word = lowering->statement->offset;
    expr built;
    SVMP_TRY(svmp_compute(lowering, element->definition));
    SVMP_TRY(svmp_item_build(lowering, element->memo, &built));
    return svmp_pattern_add_factor(lowering, PATTERN_COMPUTED, 1, &word, 1, &built, built, &at->pattern, &at->instance);
}

/* Rows read others, which are added behind them. */
svmp_status svmp_stored_compute(model_lowering *lowering) {
    stored_elements *stored = &lowering->stored;
    svmp_status status = SVMP_OK;
    for (size_t k = 0; status == SVMP_OK && k < stored->count; k++) {
        SVMP_TRY(svmp_begin_instance(lowering));
        place before = svmp_enter(lowering, lowering->elements[stored->places[k].element].definition);
        status = svmp_with_chains(lowering, compute_row, &stored->places[k]);
        svmp_leave(lowering, before);
        status = svmp_go_on(lowering, status);
    }
    return status;
}

svmp_status svmp_stored_finish(model_lowering *lowering, const uint32_t *numbering) {
    const stored_elements *stored = &lowering->stored;
    computed_rows *rows = &lowering->result->rows;
    rows->first = stored->first;
    rows->count = stored->count;
    SVMP_TRY(SVMP_NEW(lowering->context, rows->row, rows->group_count));
    for (size_t g = 0; g < rows->group_count; g++)
        SVMP_TRY(SVMP_NEW(lowering->context, rows->row[g], rows->groups[g].instances));
    for (size_t k = 0; k < stored->count; k++) {
        const stored_place *at = &stored->places[k];
        rows->row[numbering[at->pattern]][at->instance] = (uint32_t)(stored->first + k);
    }
    return SVMP_OK;
}
