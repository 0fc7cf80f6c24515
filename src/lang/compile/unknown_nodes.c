/* Unknown nodes: their names, transforms and bounds. */
#include "lang/compile/driven_states.h"
#include "lang/compile/moved_coordinates.h"
#include "lang/discrete/discrete_unknowns.h"

#include <math.h>
#include <string.h>

#include "base/name_rules.h"

/* ---- bounds --------------------------------------------------------------------------------- */

static bool is_open(model_item bound) { return svmp_item_known(bound) && isinf(bound.number); }

/* The bound that lies further inside: OP_max of two lower ones, OP_min of two upper ones. */
static void narrow(model_lowering *lowering, expr_op inner, model_item other, model_item *bound) {
    if (is_open(other)) return;
    *bound = is_open(*bound) ? other : svmp_apply(lowering, inner, *bound, other, other);
}

svmp_status svmp_node_bounds(model_lowering *lowering, const distribution *family,
                             const evaluated_distribution *evaluated, size_t part, size_t which, model_item *lower,
                             model_item *upper) {
    *lower = svmp_item_literal(-INFINITY);
    *upper = svmp_item_literal(INFINITY);
    switch (family->support) {
    case SUPPORT_POSITIVE: *lower = svmp_item_literal(0); break;
    case SUPPORT_UNIT:
        *lower = svmp_item_literal(0);
        *upper = svmp_item_literal(1);
        break;
    case SUPPORT_INTERVAL:
        *lower = svmp_argument_at(lowering, &evaluated->arguments[0], part);
        *upper = svmp_argument_at(lowering, &evaluated->arguments[1], part);
        break;
    case SUPPORT_ABOVE: *lower = svmp_argument_at(lowering, &evaluated->arguments[1], part); break;
    default: break;
    }
    narrow(lowering, OP_max, evaluated->lower, lower);
    narrow(lowering, OP_min, evaluated->upper, upper);
    if (lowering->cut_lower == NULL) return SVMP_OK;
    narrow(lowering, OP_max, svmp_item_number(lowering->cut_lower[which]), lower);
    narrow(lowering, OP_min, svmp_item_number(lowering->cut_upper[which]), upper);
    if (lowering->cut_by[which] == NOTHING) return SVMP_OK;
    model_item low, high;
    SVMP_TRY(svmp_censor_bounds(lowering, lowering->cut_by[which], &low, &high));
    narrow(lowering, OP_max, low, lower);
    narrow(lowering, OP_min, high, upper);
    return SVMP_OK;
}

static transform_kind kind_of(model_item lower, model_item upper) {
    bool below = !svmp_item_known(lower) || lower.number > -INFINITY;
    bool above = !svmp_item_known(upper) || upper.number < INFINITY;
    return below && above ? TRANSFORM_BETWEEN : below ? TRANSFORM_ABOVE : above ? TRANSFORM_BELOW : TRANSFORM_LINE;
}

/* ---- making --------------------------------------------------------------------------------- */

/* Each unknown element is a discrete unknown of its own. */
static svmp_status add_discrete(model_lowering *lowering, uint32_t which, const value *offsets) {
    const uint32_t symbol = lowering->instances[which].statement->left->symbol;
    for (size_t part = 0; part < offsets->count; part++)
        if (svmp_element_at(lowering, symbol, offsets, part)->state == ELEMENT_UNKNOWN)
            SVMP_TRY(svmp_discrete_add(lowering, which, (size_t)lowering->items[offsets->first + part].number, part));
    return SVMP_OK;
}

static svmp_status partly_observed(model_lowering *lowering, uint32_t which) {
    const ast_statement *statement = lowering->instances[which].statement;
    char text[ELEMENT_TEXT];
    return svmp_lowering_error(lowering, statement->left->offset,
                               "'%s' ~ %s is partly observed: provide all of it or none",
                               svmp_instance_text(lowering, which, text), statement->distribution->name);
}

/* Given t it has one value: it is no unknown. */
static svmp_status not_rounded(model_lowering *lowering, uint32_t which) {
    char text[ELEMENT_TEXT];
    svmp_instance_text(lowering, which, text);
    return svmp_lowering_error(lowering, lowering->statement->left->offset,
                               "'%s' ~ dround is not observed: write '%s <- round(t * 10^digits) / 10^digits'", text,
                               text);
}

svmp_status svmp_output_name(const model_lowering *lowering, uint32_t symbol, size_t offset, char **name) {
    char text[ELEMENT_TEXT];
    svmp_element_text(lowering, symbol, offset, text);
    for (char *at = text; *at; at++) {
        if (*at == '[' || *at == ',') *at = '.';
        if (*at == ']') *at = 0;
    }
    return svmp_duplicate(lowering->context, text, name);
}

static svmp_status add_output(model_lowering *lowering, uint32_t symbol, size_t offset, size_t part, model_item lower,
                              model_item upper) {
    svmp_context *context = lowering->context;
    lowered_model *result = lowering->result;
    size_t output = result->outputs;
    SVMP_TRY(SVMP_GROW(context, result->names, result->name_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, result->parts, result->part_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, result->lower, result->lower_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, result->upper, result->upper_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, result->drawn, result->drawn_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, lowering->lower, lowering->lower_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, lowering->upper, lowering->upper_capacity, output + 1));
    SVMP_TRY(SVMP_GROW(context, lowering->element_of, lowering->element_of_capacity, output + 1));
    SVMP_TRY(svmp_output_name(lowering, symbol, offset, &result->names[output]));
    const bool leaf = lowering->instances[lowering->instance].leaf;
    lowering->element_of[output] = (uint32_t)(lowering->arrays[symbol].first + offset);
    lowering->lower[output] = lower;
    lowering->upper[output] = upper;
    result->drawn[output] = leaf;
    result->lower[output] = svmp_item_known(lower) ? lower.number : NAN;
    result->upper[output] = svmp_item_known(upper) ? upper.number : NAN;
    if (!svmp_item_known(lower) || !svmp_item_known(upper)) result->dependent_bounds = 1;
    result->parts[output] = (uint32_t)part;
    result->outputs++;
    lowering->elements[lowering->arrays[symbol].first + offset].output = (uint32_t)output;
    const char *name = result->names[output];
    return leaf ? svmp_names_add(context, &result->drawn_names, name, strlen(name), &(uint32_t){0}) : SVMP_OK;
}

/* The bounds of one element, and whether something lies between them. */
static svmp_status find_bounds(model_lowering *lowering, const ast_statement *statement,
                               const evaluated_distribution *evaluated, size_t offset, size_t part, model_item *lower,
                               model_item *upper) {
    size_t which = lowering->arrays[statement->left->symbol].first + offset;
    SVMP_TRY(svmp_node_bounds(lowering, statement->distribution, evaluated, part, which, lower, upper));
    if (!svmp_item_known(*lower) || !svmp_item_known(*upper) || lower->number < upper->number) return SVMP_OK;
    char text[ELEMENT_TEXT];
    return svmp_lowering_error(lowering, statement->bounds ? statement->bounds_offset : statement->function_offset,
                               "there is no value between the bounds %.15g and %.15g of '%s'", lower->number,
                               upper->number, svmp_element_text(lowering, statement->left->symbol, offset, text));
}

static svmp_status add_outputs(model_lowering *lowering, uint32_t which, const value *offsets, lowered_node *node) {
    const ast_statement *statement = lowering->instances[which].statement;
    const distribution *family = statement->distribution;
    const model_array *array = &lowering->arrays[statement->left->symbol];
    evaluated_distribution evaluated = {0};
    const bool leaf = lowering->instances[which].leaf; /* it is drawn as it is, and never moved */
    node->transform = leaf                                           ? TRANSFORM_LINE
                      : family->support == SUPPORT_SIMPLEX           ? TRANSFORM_SIMPLEX
                      : family->support == SUPPORT_ZERO_SUM          ? TRANSFORM_ZERO_SUM
                      : family->support == SUPPORT_POSITIVE_DEFINITE ? TRANSFORM_POSITIVE_DEFINITE
                                                                     : TRANSFORM_LINE;
    const bool by_elements = node->transform == TRANSFORM_LINE; /* each has bounds of its own, if any */
    SVMP_TRY(svmp_expand_distribution(lowering, &evaluated));
    for (size_t k = 0; k < evaluated.count; k++)
        if (family->rank == RANK_SCALAR && family->argument[k].rank == RANK_SCALAR &&
            evaluated.arguments[k].count != 1 && evaluated.arguments[k].count != offsets->count)
            return svmp_lowering_error(lowering, statement->arguments[k]->offset,
                                       "'%s' of %s has %zu elements, but the left-hand side has %zu",
                                       family->argument[k].name, family->name, evaluated.arguments[k].count,
                                       offsets->count);
    for (size_t part = 0; part < offsets->count; part++) {
        size_t offset = (size_t)lowering->items[offsets->first + part].number;
        model_item lower = svmp_item_literal(-INFINITY), upper = svmp_item_literal(INFINITY);
        if (lowering->elements[array->first + offset].state != ELEMENT_UNKNOWN) continue;
        if (by_elements) {
            SVMP_TRY(find_bounds(lowering, statement, &evaluated, offset, part, &lower, &upper));
            transform_kind kind = leaf ? TRANSFORM_LINE : kind_of(lower, upper);
            node->transform = node->outputs == 0 || kind == node->transform ? kind : TRANSFORM_MIXED;
        }
        SVMP_TRY(add_output(lowering, statement->left->symbol, offset, part, lower, upper));
        const char *name = lowering->result->names[lowering->result->outputs - 1];
        if (svmp_name_is_internal(name))
            return svmp_lowering_error(lowering, statement->left->offset,
                                       "'%s' ends in '__', which is reserved for columns that are not variables; "
                                       "give it another name",
                                       name);
        node->outputs++;
    }
    node->variables = svmp_transform_variables(node->transform, node->outputs);
    node->coordinates.centring = 1;
    if (leaf) return SVMP_OK;
    SVMP_TRY(svmp_discrete_check_bounds(lowering, statement));
    if (svmp_discrete_touches(lowering, statement)) return SVMP_OK;
    return svmp_coordinates_choose(lowering, &evaluated, offsets->count, lowering->result->node_count, node);
}

/* In car.normal, areas without neighbours are 0, as in GeoBUGS, unless the data give them a value. */
static svmp_status fix_islands(model_lowering *lowering, const value *offsets, size_t *islands) {
    evaluated_distribution evaluated = {0};
    SVMP_TRY(svmp_expand_distribution(lowering, &evaluated));
    const value *num = &evaluated.arguments[2];
    for (size_t k = 0; k < offsets->count && num->count == offsets->count; k++) {
        model_element *element = svmp_element_at(lowering, lowering->statement->left->symbol, offsets, k);
        const model_item neighbours = lowering->items[num->first + k];
        if (!svmp_item_known(neighbours) || neighbours.number != 0 || element->state != ELEMENT_UNKNOWN) continue;
        element->state = ELEMENT_KNOWN;
        element->value = 0;
        ++*islands;
    }
    return SVMP_OK;
}

static svmp_status make_node(model_lowering *lowering, uint32_t which) {
    const ast_statement *statement = lowering->instances[which].statement;
    lowered_model *result = lowering->result;
    value offsets;
    size_t unknown = 0, islands = 0, difference = 0;
    SVMP_TRY(svmp_expand_subscript(lowering, statement->left, &offsets));
    if (statement->distribution->support == SUPPORT_ZERO_SUM) SVMP_TRY(fix_islands(lowering, &offsets, &islands));
    for (size_t k = 0; k < offsets.count; k++) {
        const element_state state = svmp_element_at(lowering, statement->left->symbol, &offsets, k)->state;
        unknown += state == ELEMENT_UNKNOWN;
        difference += state == ELEMENT_DIFFERENCE;
    }
    result->observed += offsets.count - unknown - islands - difference;
    lowering->instances[which].values = (uint32_t)(offsets.count - islands);
    if (unknown == 0) return SVMP_OK;
    const bool leaf = lowering->instances[which].leaf;
    if (statement->distribution->discrete && !leaf) return add_discrete(lowering, which, &offsets);
    if (statement->distribution->support == SUPPORT_ROUNDED && !leaf) return not_rounded(lowering, which);
    bool whole = statement->distribution->support == SUPPORT_SIMPLEX ||
                 statement->distribution->support == SUPPORT_ZERO_SUM ||
                 statement->distribution->support == SUPPORT_POSITIVE_DEFINITE;
    if (whole && unknown + islands < offsets.count) return partly_observed(lowering, which);

    char text[ELEMENT_TEXT];
    SVMP_TRY(SVMP_GROW(lowering->context, result->nodes, result->node_capacity, result->node_count + 1));
    SVMP_TRY(SVMP_GROW(lowering->context, result->leaves, result->leaf_capacity, result->leaf_count + 1));
    lowered_node node = {.variable = leaf ? result->leaf_variables : result->variables, .output = result->outputs};
    node.key = leaf ? node.output : node.output - result->leaf_variables; /* a leaf's variables are its outputs */
    node.distribution = statement->distribution;
    SVMP_TRY(add_outputs(lowering, which, &offsets, &node));
    SVMP_TRY(svmp_duplicate(lowering->context, svmp_instance_text(lowering, which, text), &node.name));
    lowering->instances[which].node = (uint32_t)(leaf ? result->leaf_count : result->node_count);
    if (leaf)
        result->leaves[result->leaf_count++] = node;
    else
        result->nodes[result->node_count++] = node;
    *(leaf ? &result->leaf_variables : &result->variables) += node.variables;
    return SVMP_OK;
}

void svmp_place_leaves(model_lowering *lowering) {
    lowered_model *result = lowering->result;
    for (size_t k = 0; k < result->leaf_count; k++) result->leaves[k].variable += result->variables;
}

svmp_status svmp_make_node(model_lowering *lowering, uint32_t which) {
    place before = svmp_enter(lowering, which);
    svmp_status status = make_node(lowering, which);
    svmp_leave(lowering, before);
    lowering->item_count = 0;
    return status;
}

/* ---- natural values ------------------------------------------------------------------------- */

/* The bounds as expressions; those that depend on unknowns are evaluated again, in this instance. */
static svmp_status build_bounds(model_lowering *lowering, const lowered_node *node, expr *lower, expr *upper) {
    evaluated_distribution evaluated = {0};
    bool ready = false;
    for (size_t k = 0; k < node->outputs; k++) {
        model_item low = lowering->lower[node->output + k], high = lowering->upper[node->output + k];
        if (!svmp_item_known(low) || !svmp_item_known(high)) {
            if (!ready) SVMP_TRY(svmp_expand_distribution(lowering, &evaluated));
            ready = true;
            size_t output = node->output + k;
            SVMP_TRY(svmp_node_bounds(lowering, node->distribution, &evaluated, lowering->result->parts[output],
                                      lowering->element_of[output], &low, &high));
        }
        const bool both = node->transform == TRANSFORM_BETWEEN || node->transform == TRANSFORM_MIXED;
        const bool uses_lower = both || node->transform == TRANSFORM_ABOVE;
        const bool uses_upper = both || node->transform == TRANSFORM_BELOW;
        if (uses_lower) SVMP_TRY(svmp_item_build(lowering, low, &lower[k]));
        if (uses_upper) SVMP_TRY(svmp_item_build(lowering, high, &upper[k]));
    }
    return SVMP_OK;
}

static svmp_status set_memos(model_lowering *lowering, const lowered_node *node, const expr *values) {
    const ast_expression *left = lowering->statement->left;
    value offsets;
    SVMP_TRY(svmp_expand_subscript(lowering, left, &offsets));
    for (size_t k = 0; k < offsets.count; k++) {
        model_element *set = svmp_element_at(lowering, left->symbol, &offsets, k);
        if (set->state != ELEMENT_UNKNOWN) continue;
        set->memo = svmp_item_expression(values[set->output - node->output]);
        set->stamp = lowering->stamp;
    }
    return SVMP_OK;
}

static svmp_status build_natural(model_lowering *lowering, uint32_t defining, expr *jacobian) {
    const lowered_node *node = svmp_instance_node(lowering, defining);
    enum { FEW = 4 };
    expr few[4 * FEW] = {{0}}, *many = NULL, *work = few;
    svmp_status status = SVMP_OK;
    size_t room = node->outputs > node->variables ? node->outputs : node->variables;
    if (room > FEW) {
        SVMP_CHECK(SVMP_NEW(lowering->context, many, 4 * room));
        work = many;
    }
    expr *lower = work, *upper = work + room, *variables = work + 2 * room, *values = work + 3 * room;
    for (size_t k = 0; k < node->variables; k++)
        SVMP_CHECK(svmp_input(lowering, (uint32_t)(node->variable + k), &variables[k]));
    if (node->coordinates.centring < 1) SVMP_CHECK(svmp_coordinates_build(lowering, node, variables));
    if (node->state_slope) SVMP_CHECK(svmp_state_natural(lowering, defining, variables));
    SVMP_CHECK(build_bounds(lowering, node, lower, upper));
    *jacobian =
        svmp_transform_build(lowering->builder, node->transform, node->outputs, lower, upper, variables, values);
    SVMP_CHECK(set_memos(lowering, node, values));
done:
    svmp_release(lowering->context, many);
    return status;
}

bool svmp_node_has_elements(const model_lowering *lowering, uint32_t defining) {
    const lowered_node *node = svmp_instance_node(lowering, defining);
    return node->transform == TRANSFORM_ZERO_SUM;
}

svmp_status svmp_node_element(model_lowering *lowering, model_element *element) {
    const lowered_node *node = svmp_instance_node(lowering, element->definition);
    uint32_t variable[TRANSFORM_MOST_TERMS];
    double weight[TRANSFORM_MOST_TERMS];
    const size_t terms = svmp_transform_zero_sum(node->outputs, element->output - node->output, variable, weight);
    element->memo = svmp_item_literal(0);
    for (size_t t = 0; t < terms; t++) { /* the weights as parameters: elements of equal depth share a program */
        expr input;
        SVMP_TRY(svmp_input(lowering, (uint32_t)node->variable + variable[t], &input));
        model_item factor = svmp_item_number(weight[t]);
        model_item term = svmp_apply(lowering, OP_multiply, factor, svmp_item_expression(input), factor);
        element->memo = svmp_apply(lowering, OP_add, element->memo, term, term);
    }
    element->stamp = lowering->stamp;
    return SVMP_OK;
}

svmp_status svmp_node_natural(model_lowering *lowering, uint32_t defining, expr *jacobian) {
    enum { LEVELS = 10 }; /* what it takes of the stack, in levels of svmp_expand */
    size_t items = lowering->item_count;
    char text[ELEMENT_TEXT];
    place before = svmp_enter(lowering, defining);
    svmp_status status;
    lowering->depth += LEVELS;
    if (lowering->instances[defining].busy) {
        svmp_instance_text(lowering, defining, text);
        status = svmp_lowering_error(lowering, lowering->statement->left->offset,
                                     "'%s' depends on itself: the model has a directed cycle", text);
    } else {
        lowering->instances[defining].busy = true;
        status = build_natural(lowering, defining, jacobian);
        lowering->instances[defining].busy = false;
    }
    lowering->depth -= LEVELS;
    svmp_leave(lowering, before);
    lowering->item_count = items;
    return status;
}
