/* Expressions to items. Whatever is known is computed at once; the rest becomes expressions of the builder. */
#include "lang/functions/language_functions.h"

#include <math.h>
#include <string.h>

#include "expr/operation_loops.h"

enum { DEEPEST = 3000 }; /* a model that gets there has bounds that depend on bounds, on and on */

model_item svmp_item_literal(double number) { return (model_item){.kind = ITEM_LITERAL, .number = number}; }
model_item svmp_item_number(double number) { return (model_item){.kind = ITEM_NUMBER, .number = number}; }
model_item svmp_item_expression(expr expression) {
    return (model_item){.kind = ITEM_EXPRESSION, .expression = expression};
}

svmp_status svmp_push(model_lowering *lowering, model_item pushed) {
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->items, lowering->item_capacity, lowering->item_count + 1));
    lowering->items[lowering->item_count++] = pushed;
    return SVMP_OK;
}

size_t svmp_shape_count(const array_shape *shape) {
    size_t count = 1;
    for (size_t k = 0; k < shape->rank; k++) count *= shape->dimensions[k];
    return count;
}

bool svmp_shapes_equal(const array_shape *a, const array_shape *b) {
    return a->rank == b->rank && memcmp(a->dimensions, b->dimensions, a->rank * sizeof *a->dimensions) == 0;
}

const char *svmp_shape_text(const array_shape *shape, char text[ELEMENT_TEXT]) {
    int length = 0;
    for (size_t k = 0; k < shape->rank && length < ELEMENT_TEXT - 24; k++)
        length += snprintf(text + length, ELEMENT_TEXT - (size_t)length, k ? " x %zu" : "%zu", shape->dimensions[k]);
    return text;
}

svmp_status svmp_begin_instance(model_lowering *lowering) {
    svmp_builder_reset(lowering->builder);
    lowering->slot_count = lowering->parameter_count = lowering->item_count = 0;
    lowering->stamp++;
    lowering->slot_epoch = lowering->stamp;
    return SVMP_OK;
}

svmp_status svmp_input(model_lowering *lowering, uint32_t variable, expr *expression) {
    if (lowering->slot_stamp[variable] != lowering->slot_epoch) {
        SVMP_TRY(SVMP_GROW(lowering->context, lowering->slots, lowering->slot_capacity, lowering->slot_count + 1));
        lowering->slot_stamp[variable] = lowering->slot_epoch;
        lowering->slot_of[variable] = (uint32_t)lowering->slot_count;
        lowering->slots[lowering->slot_count++] = variable;
    }
    *expression = svmp_expr_input(lowering->builder, lowering->slot_of[variable]);
    return SVMP_OK;
}

/* The parameter of an earlier entry of the table that has the same number, and that this entry has not read yet; or the
 * count of parameters. So entries that read the same data have the same expressions. */
static size_t find_parameter(const model_lowering *lowering, double number) {
    enum { MOST_LOOKS = 512 };
    const size_t first = lowering->filling_first, count = lowering->parameter_count - first;
    for (size_t k = 0; k < count && k < MOST_LOOKS; k++) {
        const size_t at = first + (lowering->filling_next - first + k) % count;
        const double other = lowering->parameters[at];
        if (lowering->parameter_stamp[at] != lowering->stamp && other == number && signbit(other) == signbit(number))
            return at;
    }
    return lowering->parameter_count;
}

static svmp_status add_parameter(model_lowering *lowering, double number, size_t *at) {
    *at = lowering->filling ? find_parameter(lowering, number) : lowering->parameter_count;
    if (*at == lowering->parameter_count) {
        SVMP_TRY(SVMP_GROW(lowering->context, lowering->parameters, lowering->parameter_capacity, *at + 1));
        lowering->parameters[lowering->parameter_count++] = number;
    }
    if (!lowering->filling) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->parameter_stamp, lowering->parameter_stamp_capacity, *at + 1));
    lowering->parameter_stamp[*at] = lowering->stamp;
    lowering->filling_next = *at + 1;
    return SVMP_OK;
}

svmp_status svmp_item_build(model_lowering *lowering, model_item built, expr *expression) {
    size_t parameter;
    switch (built.kind) {
    case ITEM_EXPRESSION: *expression = built.expression; break;
    case ITEM_LITERAL: *expression = svmp_expr_literal(lowering->builder, built.number); break;
    default:
        SVMP_TRY(add_parameter(lowering, built.number, &parameter));
        *expression = svmp_expr_parameter(lowering->builder, (uint32_t)parameter);
    }
    return svmp_builder_status(lowering->builder);
}

/* Whether a value may be infinite: not an unknown itself, or data. */
static bool may_be_infinite(const program_builder *builder, expr e) {
    return svmp_expr_level(builder, e) == LEVEL_INPUT && svmp_expr_op(builder, e) != OP_input;
}

/* A product that is reported: 0 times an infinity is 0, as in JAGS, so that r * log(r / fitted) exists for r = 0. */
static expr reported_product(program_builder *builder, expr a, expr b) {
    const bool left = may_be_infinite(builder, a), right = may_be_infinite(builder, b);
    if (!left && !right) return svmp_expr_multiply(builder, a, b);
    if (!right) return svmp_expr_masked_multiply(builder, b, a);
    const expr product = svmp_expr_masked_multiply(builder, a, b), zero = svmp_expr_literal(builder, 0);
    return left ? svmp_expr_ifelse(builder, svmp_expr_equals(builder, b, zero), zero, product) : product;
}

model_item svmp_apply(model_lowering *lowering, expr_op op, model_item a, model_item b, model_item c) {
    model_item operands[3] = {a, b, c};
    int arity = svmp_op_arity(op);
    bool known = true, literal = true;
    for (int k = 0; k < arity; k++) {
        if (operands[k].kind == ITEM_OPAQUE) return operands[k];
        known = known && svmp_item_known(operands[k]);
        literal = literal && operands[k].kind == ITEM_LITERAL;
    }
    if (known) {
        double number;
        svmp_kernels_plain.op(op, 0)(1, &number, &a.number, &b.number, &c.number);
        if (op == OP_multiply && isnan(number) && !isnan(a.number) && !isnan(b.number))
            number = 0; /* 0 times infinity */
        return literal ? svmp_item_literal(number) : svmp_item_number(number);
    }
    expr built[3] = {{0}, {0}, {0}};
    for (int k = 0; k < arity; k++)
        if (svmp_item_build(lowering, operands[k], &built[k]) != SVMP_OK) break; /* the builder keeps the failure */
    if (op == OP_multiply && lowering->drawn)
        return svmp_item_expression(reported_product(lowering->builder, built[0], built[1]));
    return svmp_item_expression(svmp_expr_apply(lowering->builder, op, built[0], built[arity > 1], built[arity - 1]));
}

/* What the data alone decide, and no loop's counter changes, is computed once: the mean of a column, say. */
static svmp_status expand_call(model_lowering *lowering, const ast_expression *call, value *result) {
    known_call *known = call->varies ? NULL : &lowering->known_calls[call->place];
    if (known && known->is) return svmp_push(lowering, svmp_item_number(known->number));
    size_t reads = lowering->node_reads;
    SVMP_TRY(call->function->evaluate(lowering, call, result));
    model_item last = lowering->items[lowering->item_count - 1];
    if (known && result->count == 1 && last.kind == ITEM_NUMBER && lowering->node_reads == reads)
        *known = (known_call){true, last.number};
    return SVMP_OK;
}

static svmp_status evaluate(model_lowering *lowering, const ast_expression *expression, value *result) {
    *result = (value){.first = lowering->item_count, .count = 1, .shape = svmp_vector_shape(1)};
    switch (expression->kind) {
    case AST_NUMBER: return svmp_push(lowering, svmp_item_literal(expression->number));
    case AST_VARIABLE:
        if (expression->counter >= 0)
            return svmp_push(lowering, svmp_item_number(lowering->counters[expression->counter]));
        return svmp_expand_variable(lowering, expression, result);
    case AST_CALL: return expand_call(lowering, expression, result);
    default: return svmp_lowering_error(lowering, expression->offset, "expected an expression");
    }
}

svmp_status svmp_expand(model_lowering *lowering, const ast_expression *expression, value *result) {
    if (lowering->depth >= DEEPEST)
        return svmp_lowering_error(lowering, expression->offset,
                                   "the chain of bounds that this value depends on is too long");
    if (lowering->symbolic && svmp_builder_size(lowering->builder) > LOWERING_MOST_EXPRESSIONS)
        return svmp_lowering_error(lowering, expression->offset, "one factor expands to more than %u operations",
                                   LOWERING_MOST_EXPRESSIONS);
    lowering->depth++;
    svmp_status status = evaluate(lowering, expression, result);
    lowering->depth--;
    return status;
}

svmp_status svmp_expand_scalar(model_lowering *lowering, const ast_expression *expression, model_item *result) {
    value evaluated = {0};
    char text[ELEMENT_TEXT];
    SVMP_TRY(svmp_expand(lowering, expression, &evaluated));
    if (evaluated.count != 1)
        return svmp_lowering_error(lowering, expression->offset, "expected one number, not an array of %s",
                                   svmp_shape_text(&evaluated.shape, text));
    *result = lowering->items[--lowering->item_count];
    return SVMP_OK;
}

svmp_status svmp_expand_number(model_lowering *lowering, const ast_expression *expression, const char *what,
                               double *number) {
    bool symbolic = lowering->symbolic;
    model_item scalar = {0};
    lowering->symbolic = false;
    svmp_status status = svmp_expand_scalar(lowering, expression, &scalar);
    lowering->symbolic = symbolic;
    SVMP_TRY(status);
    if (scalar.kind == ITEM_OPAQUE)
        return svmp_lowering_error(lowering, expression->offset,
                                   "%s depends on an unknown; it must be computable from the data", what);
    *number = scalar.number;
    return SVMP_OK;
}
