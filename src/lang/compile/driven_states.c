/* Unknowns that drive a recursion, moved as its states.
 *
 * In x[t] <- phi * x[t-1] + sigma * e[t] with e[t] ~ dnorm(0, 1), an observation of x[t] depends on all e[1], ...,
 * e[t]: the graph would be complete, and moving one of them would compute the whole series. If the right-hand side of
 * an element is rest + slope * e, and nothing else reads e, what is moved is the state z = rest + slope * e. Then
 *
 *     e = (z - rest) / slope,     log p(z | rest, slope) = log p(e) - log |slope|,
 *
 * the element is z, or the inverse link of z, and its readers depend on one variable. The sign of the slope must be
 * known from the text: where it is 0, z says nothing of e. */
#include "lang/compile/driven_states.h"

#include <math.h>

#include "dist/formula_words.h"
#include "lang/functions/language_functions.h"

/* Elements between an unknown and the state that it drives; definitions that are entered to find a sign. */
enum { LONGEST_PATH = 8, DEEPEST_SIGN = 8 };

static const ast_expression *right_of(const model_lowering *lowering, uint32_t which) {
    return lowering->instances[which].statement->arguments[0];
}

/* The operation of an elementwise call; OP_literal: it is another one. */
static expr_op operation_of(const ast_expression *call) {
    return call->function->evaluate == svmp_call_elementwise ? call->function->op : OP_literal;
}

/* ---- what a variable names --------------------------------------------------------------------------------------- */

/* Whether loops and data alone decide an expression. */
static bool is_fixed(const model_lowering *lowering, const ast_expression *expression) {
    if (expression->kind == AST_VARIABLE && expression->counter < 0 && !lowering->arrays[expression->symbol].is_data)
        return false;
    bool fixed = true;
    for (size_t k = 0; k < expression->count && fixed; k++) fixed = is_fixed(lowering, expression->operands[k]);
    return fixed;
}

/* The place in its array of the one element that a variable names; SIZE_MAX: there are several, or unknowns decide
 * which. */
static svmp_status find_offset(model_lowering *lowering, const ast_expression *variable, size_t *offset) {
    value offsets = {0};
    *offset = SIZE_MAX;
    for (size_t k = 0; k < variable->count; k++)
        if (!is_fixed(lowering, variable->operands[k])) return SVMP_OK;
    SVMP_TRY(svmp_expand_subscript(lowering, variable, &offsets));
    if (offsets.count == 1) *offset = (size_t)lowering->items[offsets.first].number;
    lowering->item_count = offsets.first;
    return SVMP_OK;
}

/* The element; NULL: it is none of the model. */
static svmp_status find_one(model_lowering *lowering, const ast_expression *variable, const model_element **found) {
    const size_t first = lowering->arrays[variable->symbol].first;
    size_t offset = SIZE_MAX;
    if (first != SIZE_MAX) SVMP_TRY(find_offset(lowering, variable, &offset));
    *found = offset == SIZE_MAX ? NULL : &lowering->elements[first + offset];
    return SVMP_OK;
}

/* ---- signs ------------------------------------------------------------------------------------------------------- */

static svmp_status find_sign(model_lowering *lowering, const ast_expression *expression, int depth, int *sign);

static int sign_of_number(double number) { return number > 0 ? 1 : number < 0 ? -1 : 0; }

/* Of an unknown, by its bounds. */
static int sign_of_unknown(const model_lowering *lowering, const model_element *element) {
    const model_item low = lowering->lower[element->output], high = lowering->upper[element->output];
    if (svmp_item_known(low) && low.number >= 0) return 1;
    return svmp_item_known(high) && high.number <= 0 ? -1 : 0;
}

/* Of what is computed; the inverse of a link is positive. */
static svmp_status sign_of_computed(model_lowering *lowering, uint32_t which, int depth, int *sign) {
    const ast_statement *statement = lowering->instances[which].statement;
    bool one;
    *sign = statement->function != NAMES_NONE;
    if (*sign || depth == DEEPEST_SIGN) return SVMP_OK;
    SVMP_TRY(svmp_defines_one(lowering, which, &one));
    if (!one) return SVMP_OK;
    place before = svmp_enter(lowering, which);
    const svmp_status status = find_sign(lowering, right_of(lowering, which), depth + 1, sign);
    svmp_leave(lowering, before);
    return status;
}

static svmp_status sign_of_variable(model_lowering *lowering, const ast_expression *variable, int depth, int *sign) {
    const model_array *array = &lowering->arrays[variable->symbol];
    const model_element *element;
    if (variable->counter >= 0) return *sign = sign_of_number(lowering->counters[variable->counter]), SVMP_OK;
    if (array->first == SIZE_MAX) {
        size_t offset;
        SVMP_TRY(find_offset(lowering, variable, &offset));
        return *sign = offset == SIZE_MAX ? 0 : sign_of_number(array->data->values[offset]), SVMP_OK;
    }
    SVMP_TRY(find_one(lowering, variable, &element));
    if (element == NULL) return SVMP_OK;
    if (element->state == ELEMENT_KNOWN) *sign = sign_of_number(element->value);
    if (element->state == ELEMENT_UNKNOWN && svmp_instance_node(lowering, element->definition))
        *sign = sign_of_unknown(lowering, element);
    return element->state == ELEMENT_OPAQUE ? sign_of_computed(lowering, element->definition, depth, sign) : SVMP_OK;
}

static int combine_signs(expr_op op, int a, int b) {
    switch (op) {
    case OP_exp:
    case OP_sqrt:
    case OP_abs:
    case OP_ilogit:
    case OP_phi:
    case OP_icloglog: return 1;
    case OP_negate: return -a;
    case OP_add: return a == b ? a : 0;
    case OP_subtract: return a == -b ? a : 0;
    case OP_multiply:
    case OP_divide: return a * b;
    case OP_power: return a > 0;
    default: return 0;
    }
}

/* 1 or -1, or 0 where the form does not tell. */
static svmp_status find_sign(model_lowering *lowering, const ast_expression *expression, int depth, int *sign) {
    int of[2] = {0, 0};
    *sign = 0;
    if (expression->kind == AST_NUMBER) *sign = sign_of_number(expression->number);
    if (expression->kind == AST_VARIABLE) return sign_of_variable(lowering, expression, depth, sign);
    if (expression->kind != AST_CALL || operation_of(expression) == OP_literal || expression->count > 2) return SVMP_OK;
    for (size_t k = 0; k < expression->count; k++)
        SVMP_TRY(find_sign(lowering, expression->operands[k], depth, &of[k]));
    *sign = combine_signs(operation_of(expression), of[0], of[1]);
    return SVMP_OK;
}

/* ---- the slope of an expression by the instance before on the path
 * ---------------------------------------------------- */

enum { SLOPE_NONE = 2 }; /* it is not affine, or its sign is unknown; 0: it does not depend on the instance */

static bool names(const ast_expression *expression, uint32_t symbol) {
    bool found = expression->kind == AST_VARIABLE && expression->counter < 0 && expression->symbol == symbol;
    for (size_t k = 0; k < expression->count && !found; k++) found = names(expression->operands[k], symbol);
    return found;
}

static int combine_slopes(expr_op op, const int *slope, const int *sign) {
    const int a = slope[0], b = slope[1];
    if (a == SLOPE_NONE || b == SLOPE_NONE) return SLOPE_NONE;
    if (a == 0 && b == 0) return 0;
    switch (op) {
    case OP_negate: return -a;
    case OP_add: return a && b ? SLOPE_NONE : a + b;
    case OP_subtract: return a && b ? SLOPE_NONE : a - b;
    case OP_multiply: return (a && b) || (a ? sign[1] : sign[0]) == 0 ? SLOPE_NONE : a * sign[1] + b * sign[0];
    case OP_divide: return b || sign[1] == 0 ? SLOPE_NONE : a * sign[1];
    default: return SLOPE_NONE;
    }
}

static svmp_status find_slope(model_lowering *lowering, const ast_expression *expression, uint32_t driver, int *slope) {
    const uint32_t symbol = lowering->instances[driver].statement->left->symbol;
    const model_element *element;
    int slopes[2] = {0, 0}, signs[2] = {0, 0};
    *slope = 0;
    if (!names(expression, symbol)) return SVMP_OK;
    *slope = SLOPE_NONE;
    if (expression->kind == AST_VARIABLE) {
        if (expression->symbol != symbol) return SVMP_OK;
        SVMP_TRY(find_one(lowering, expression, &element));
        if (element) *slope = element->definition == driver;
        return SVMP_OK;
    }
    if (expression->kind != AST_CALL || operation_of(expression) == OP_literal || expression->count > 2) return SVMP_OK;
    for (size_t k = 0; k < expression->count; k++) {
        SVMP_TRY(find_slope(lowering, expression->operands[k], driver, &slopes[k]));
        SVMP_TRY(find_sign(lowering, expression->operands[k], 0, &signs[k]));
    }
    *slope = combine_slopes(operation_of(expression), slopes, signs);
    return SVMP_OK;
}

/* ---- choosing ------------------------------------------------------------------------------------------------------
 */

typedef struct state_search {
    model_lowering *lowering;
    const double *recursive; /* of each instance; 0: it is no element of a recursion */
    uint32_t *reader;        /* of each instance, its only reader; NOTHING: none, SEVERAL: more */
} state_search;

#define SEVERAL (NOTHING - 1)

static void find_readers(state_search *search) {
    const model_lowering *lowering = search->lowering;
    for (uint32_t k = 0; k < lowering->instance_count; k++) search->reader[k] = NOTHING;
    for (uint32_t k = 0; k < lowering->instance_count; k++)
        for (uint32_t e = lowering->reads.start[k]; e < lowering->reads.start[k + 1]; e++) {
            uint32_t *reader = &search->reader[lowering->reads.item[e]];
            if (*reader != k) *reader = *reader == NOTHING ? k : SEVERAL;
        }
}

static bool can_drive(const model_lowering *lowering, uint32_t which) {
    const model_instance *instance = &lowering->instances[which];
    const lowered_node *node = instance->leaf ? NULL : svmp_instance_node(lowering, which);
    return node && node->transform == TRANSFORM_LINE && node->variables == 1 && node->outputs == 1 &&
           instance->values == 1 && node->distribution->rank == RANK_SCALAR && node->coordinates.centring == 1;
}

/* The sign of the slope of a state by the unknown at the begin of the path that leads to it, or 0. */
static svmp_status find_path_sign(model_lowering *lowering, uint32_t state, int *sign) {
    *sign = 1;
    for (uint32_t at = state; lowering->instances[at].statement->kind == AST_DETERMINISTIC && *sign;
         at = lowering->instances[at].driver) {
        int slope = 0;
        bool one = false;
        SVMP_TRY(svmp_defines_one(lowering, at, &one));
        if (one && (at == state || lowering->instances[at].statement->function == NAMES_NONE)) {
            place before = svmp_enter(lowering, at);
            const svmp_status status =
                find_slope(lowering, right_of(lowering, at), lowering->instances[at].driver, &slope);
            svmp_leave(lowering, before);
            SVMP_TRY(status);
        }
        *sign = slope == SLOPE_NONE ? 0 : *sign * slope;
    }
    return SVMP_OK;
}

static void forget_path(model_lowering *lowering, uint32_t from) {
    for (uint32_t at = from; lowering->instances[at].statement->kind == AST_DETERMINISTIC;) {
        model_instance *instance = &lowering->instances[at];
        at = instance->driver;
        instance->driver = NOTHING;
        instance->is_state = false;
    }
}

/* From an unknown through elements that have one reader to an element of a recursion. */
static svmp_status try_driver(state_search *search, uint32_t unknown) {
    model_lowering *lowering = search->lowering;
    lowered_node *node = svmp_instance_node(lowering, unknown);
    uint32_t at = unknown;
    int sign = 0;
    for (size_t length = 0; length < LONGEST_PATH && (at == unknown || search->recursive[at] == 0); length++) {
        const uint32_t reader = search->reader[at];
        if (reader >= SEVERAL || lowering->instances[reader].statement->kind != AST_DETERMINISTIC ||
            lowering->instances[reader].driver != NOTHING)
            return forget_path(lowering, at), SVMP_OK;
        lowering->instances[reader].driver = at;
        at = reader;
    }
    if (search->recursive[at] > 0) SVMP_TRY(find_path_sign(lowering, at, &sign));
    if (sign == 0) return forget_path(lowering, at), SVMP_OK;
    node->state_slope = sign;
    lowering->instances[unknown].state = at;
    lowering->instances[at].is_state = true;
    return SVMP_OK;
}

svmp_status svmp_states_choose(model_lowering *lowering, const double *recursive) {
    state_search search = {.lowering = lowering, .recursive = recursive};
    svmp_status status = SVMP_NEW(lowering->context, search.reader, lowering->instance_count);
    if (status == SVMP_OK) find_readers(&search);
    for (uint32_t k = 0; status == SVMP_OK && k < lowering->instance_count; k++)
        if (can_drive(lowering, k)) status = svmp_go_on(lowering, try_driver(&search, k));
    svmp_release(lowering->context, search.reader);
    return status;
}

void svmp_state_undo(model_lowering *lowering, uint32_t unknown) {
    forget_path(lowering, lowering->instances[unknown].state);
    lowering->instances[unknown].state = NOTHING;
    svmp_instance_node(lowering, unknown)->state_slope = 0;
}

/* ---- the order in which nodes are drawn
 * ------------------------------------------------------------------------------ */

/* z is drawn after all that the rest and the slope read, none of which depends on e. */
svmp_status svmp_state_finish(model_lowering *lowering, uint32_t unknown) {
    svmp_instance_node(lowering, unknown)->location_scale = false;
    for (uint32_t at = lowering->instances[unknown].state; at != unknown; at = lowering->instances[at].driver)
        for (uint32_t e = lowering->reads.start[at]; e < lowering->reads.start[at + 1]; e++) {
            const uint32_t parent = lowering->reads.item[e];
            if (parent == lowering->instances[at].driver) continue;
            SVMP_TRY(SVMP_GROW(lowering->context, lowering->edges, lowering->edge_capacity, lowering->edge_count + 1));
            lowering->edges[lowering->edge_count++] = (instance_edge){unknown, parent};
        }
    return SVMP_OK;
}

/* ---- expressions
 * ----------------------------------------------------------------------------------------------------- */

/* rest + slope * e */
typedef struct affine {
    bool depends;
    model_item rest, slope;
} affine;

static model_item apply(model_lowering *lowering, expr_op op, model_item a, model_item b) {
    return svmp_apply(lowering, op, a, b, b);
}

/* find_slope has seen that one of these is all there is. */
static affine combine(model_lowering *lowering, expr_op op, const affine *a, const affine *b) {
    affine made = {true, apply(lowering, op, a->rest, b->rest), a->depends ? a->slope : b->slope};
    if (op == OP_negate || (op == OP_subtract && b->depends))
        made.slope = apply(lowering, OP_negate, made.slope, made.slope);
    if (op == OP_multiply) made.slope = apply(lowering, op, made.slope, a->depends ? b->rest : a->rest);
    if (op == OP_divide) made.slope = apply(lowering, op, made.slope, b->rest);
    return made;
}

static svmp_status build_affine(model_lowering *lowering, const ast_expression *expression, uint32_t driver,
                                affine *built) {
    const ast_statement *statement = lowering->instances[driver].statement;
    const model_element *element = NULL;
    affine operands[2] = {{0}};
    *built = (affine){0};
    if (expression->kind == AST_VARIABLE && expression->symbol == statement->left->symbol)
        SVMP_TRY(find_one(lowering, expression, &element));
    if (element && element->definition == driver && statement->kind == AST_STOCHASTIC) {
        *built = (affine){true, svmp_item_literal(0), svmp_item_literal(1)};
        return SVMP_OK;
    }
    if (element && element->definition == driver) {
        place before = svmp_enter(lowering, driver);
        const svmp_status status =
            build_affine(lowering, right_of(lowering, driver), lowering->instances[driver].driver, built);
        svmp_leave(lowering, before);
        return status;
    }
    if (expression->kind != AST_CALL || !names(expression, statement->left->symbol))
        return svmp_expand_scalar(lowering, expression, &built->rest);
    for (size_t k = 0; k < expression->count && k < 2; k++)
        SVMP_TRY(build_affine(lowering, expression->operands[k], driver, &operands[k]));
    if (!operands[0].depends && !operands[1].depends) return svmp_expand_scalar(lowering, expression, &built->rest);
    *built = combine(lowering, operation_of(expression), &operands[0], &operands[expression->count > 1]);
    return SVMP_OK;
}

svmp_status svmp_state_line(model_lowering *lowering, uint32_t unknown, expr *rest, expr *slope) {
    const uint32_t state = lowering->instances[unknown].state;
    affine built;
    place before = svmp_enter(lowering, state);
    const svmp_status status =
        build_affine(lowering, right_of(lowering, state), lowering->instances[state].driver, &built);
    svmp_leave(lowering, before);
    SVMP_TRY(status);
    SVMP_TRY(svmp_item_build(lowering, built.rest, rest));
    return svmp_item_build(lowering, built.slope, slope);
}

svmp_status svmp_state_natural(model_lowering *lowering, uint32_t unknown, expr *variable) {
    program_builder *b = lowering->builder;
    expr rest, slope;
    SVMP_TRY(svmp_state_line(lowering, unknown, &rest, &slope));
    *variable = DIV(SUB(*variable, rest), slope);
    return svmp_builder_status(b);
}

svmp_status svmp_state_read(model_lowering *lowering, model_element *element) {
    const ast_statement *statement = lowering->instances[element->definition].statement;
    uint32_t unknown = element->definition;
    expr_op inverse;
    expr input;
    while (lowering->instances[unknown].statement->kind == AST_DETERMINISTIC)
        unknown = lowering->instances[unknown].driver;
    SVMP_TRY(svmp_input(lowering, (uint32_t)svmp_instance_node(lowering, unknown)->variable, &input));
    element->memo = svmp_item_expression(input);
    if (statement->function != NAMES_NONE &&
        svmp_link_inverse(lowering->ast->functions.text[statement->function], &inverse))
        element->memo = apply(lowering, inverse, element->memo, element->memo);
    element->stamp = lowering->stamp;
    return svmp_builder_status(lowering->builder);
}

svmp_status svmp_state_density(model_lowering *lowering, const lowered_node *node, expr *picked, expr *density) {
    program_builder *b = lowering->builder;
    const ast_statement *statement = lowering->statement;
    expr *rest = picked + statement->argument_count, *slope = rest + 1, *z = rest + 2;
    expr_array arguments[DISTRIBUTION_ARGUMENTS];
    for (size_t k = 0; k < statement->argument_count; k++) {
        model_item argument;
        SVMP_TRY(svmp_expand_scalar(lowering, statement->arguments[k], &argument));
        SVMP_TRY(svmp_item_build(lowering, argument, &picked[k]));
        arguments[k] = (expr_array){1, 1, &picked[k]};
    }
    SVMP_TRY(svmp_state_line(lowering, lowering->instance, rest, slope));
    SVMP_TRY(svmp_input(lowering, (uint32_t)node->variable, z));
    expr e = DIV(SUB(*z, *rest), *slope);
    *density = svmp_distribution_log_density(b, node->distribution, (expr_array){1, 1, &e}, arguments, NULL, true);
    *density = SUB(*density, LOG(node->state_slope > 0 ? *slope : NEG(*slope)));
    return svmp_builder_status(b);
}
