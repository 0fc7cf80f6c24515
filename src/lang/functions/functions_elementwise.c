/* The functions that go item by item, and the table of all. */
#include "lang/functions/language_functions.h"

#include <math.h>
#include <string.h>

static const language_function functions[] = {
#define FUNCTION(name, least, most, how, op) {name, least, most, how, op},
#include "lang/functions/functions.def"
#undef FUNCTION
};

const language_function *svmp_function_table(size_t *count) {
    *count = sizeof functions / sizeof *functions;
    return functions;
}

const language_function *svmp_function_find(const char *name, size_t arguments) {
    const language_function *found = NULL;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (strcmp(functions[k].name, name) != 0) continue;
        if (found == NULL || (arguments >= functions[k].least && arguments <= functions[k].most)) found = &functions[k];
    }
    return found;
}

static const struct {
    const char *link;
    expr_op inverse;
} links[] = {{"log", OP_exp}, {"logit", OP_ilogit}, {"probit", OP_phi}, {"cloglog", OP_icloglog}};

const char *svmp_link_name(size_t k) { return k < sizeof links / sizeof *links ? links[k].link : NULL; }

bool svmp_link_inverse(const char *link, expr_op *inverse) {
    for (size_t k = 0; k < sizeof links / sizeof *links; k++)
        if (strcmp(links[k].link, link) == 0) {
            *inverse = links[k].inverse;
            return true;
        }
    return false;
}

/* ---- elementwise ---------------------------------------------------------------------------- */

/* The operands are scalars or arrays of one shape. Result k takes the place of an item that has been used by then: of
 * the first operand's, or of a later one's before it; scalars are kept aside. */
svmp_status svmp_call_elementwise(model_lowering *lowering, const ast_expression *call, value *result) {
    value operands[3];
    model_item scalars[3] = {{0}, {0}, {0}};
    size_t first = lowering->item_count, count = call->count;
    array_shape shape = svmp_vector_shape(1);
    for (size_t k = 0; k < count; k++) {
        SVMP_TRY(svmp_expand(lowering, call->operands[k], &operands[k]));
        if (operands[k].count == 1) {
            scalars[k] = lowering->items[operands[k].first];
            continue;
        }
        if (svmp_shape_count(&shape) == 1) shape = operands[k].shape;
        char one[ELEMENT_TEXT], other[ELEMENT_TEXT];
        if (!svmp_shapes_equal(&shape, &operands[k].shape))
            return svmp_lowering_error(lowering, call->offset, "the operands of '%s' have dimensions %s and %s",
                                       call->function->name, svmp_shape_text(&shape, one),
                                       svmp_shape_text(&operands[k].shape, other));
    }
    size_t results = svmp_shape_count(&shape);
    for (size_t i = 0; i < results; i++) {
        model_item now[3] = {scalars[0], scalars[1], scalars[2]};
        for (size_t k = 0; k < count; k++)
            if (operands[k].count > 1) now[k] = lowering->items[operands[k].first + i];
        if (call->function->op == OP_multiply)
            SVMP_TRY(svmp_check_product(lowering, call, now[0], operands[0].count > 1 ? i : 0, now[1],
                                        operands[1].count > 1 ? i : 0));
        lowering->items[first + i] = svmp_apply(lowering, call->function->op, now[0], now[1], now[2]);
    }
    lowering->item_count = first + results;
    *result = (value){.first = first, .count = results, .shape = shape};
    return svmp_builder_status(lowering->builder);
}

/* ---- reductions: from the first item to the last --------------------------------------------- */

/* All arguments' items, one after another. */
static svmp_status evaluate_all(model_lowering *lowering, const ast_expression *call, size_t *first, size_t *count) {
    *first = lowering->item_count;
    for (size_t k = 0; k < call->count; k++) {
        value ignored;
        SVMP_TRY(svmp_expand(lowering, call->operands[k], &ignored));
    }
    *count = lowering->item_count - *first;
    if (*count == 0)
        return svmp_lowering_error(lowering, call->offset, "'%s' needs at least one element", call->function->name);
    return SVMP_OK;
}

/* Replaces the items from `first` on by one. */
static svmp_status finish(model_lowering *lowering, size_t first, model_item one, value *result) {
    lowering->item_count = first;
    *result = (value){.first = first, .count = 1, .shape = svmp_vector_shape(1)};
    SVMP_TRY(svmp_push(lowering, one));
    return svmp_builder_status(lowering->builder);
}

static model_item fold(model_lowering *lowering, expr_op op, size_t first, size_t count) {
    model_item total = lowering->items[first];
    for (size_t k = 1; k < count; k++) total = svmp_apply(lowering, op, total, lowering->items[first + k], total);
    return total;
}

svmp_status svmp_call_reduce(model_lowering *lowering, const ast_expression *call, value *result) {
    size_t first, count;
    SVMP_TRY(evaluate_all(lowering, call, &first, &count));
    return finish(lowering, first, fold(lowering, call->function->op, first, count), result);
}

static model_item mean(model_lowering *lowering, size_t first, size_t count) {
    model_item total = fold(lowering, OP_add, first, count);
    return svmp_apply(lowering, OP_divide, total, svmp_item_literal((double)count), total);
}

svmp_status svmp_call_mean(model_lowering *lowering, const ast_expression *call, value *result) {
    size_t first, count;
    SVMP_TRY(evaluate_all(lowering, call, &first, &count));
    return finish(lowering, first, mean(lowering, first, count), result);
}

svmp_status svmp_call_sd(model_lowering *lowering, const ast_expression *call, value *result) {
    size_t first, count;
    SVMP_TRY(evaluate_all(lowering, call, &first, &count));
    if (count < 2) return svmp_lowering_error(lowering, call->offset, "'sd' needs at least two numbers");
    model_item centre = mean(lowering, first, count);
    for (size_t k = first; k < first + count; k++) {
        model_item difference = svmp_apply(lowering, OP_subtract, lowering->items[k], centre, centre);
        lowering->items[k] = svmp_apply(lowering, OP_square, difference, difference, difference);
    }
    model_item total = fold(lowering, OP_add, first, count);
    model_item variance = svmp_apply(lowering, OP_divide, total, svmp_item_literal((double)count - 1), total);
    return finish(lowering, first, svmp_apply(lowering, OP_sqrt, variance, variance, variance), result);
}

svmp_status svmp_call_inner_product(model_lowering *lowering, const ast_expression *call, value *result) {
    value a, b;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &a));
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &b));
    if (a.count != b.count || a.count == 0)
        return svmp_lowering_error(lowering, call->offset, "the operands of 'inprod' have %zu and %zu elements",
                                   a.count, b.count);
    for (size_t k = 0; k < a.count; k++) {
        model_item left = lowering->items[a.first + k], right = lowering->items[b.first + k];
        SVMP_TRY(svmp_check_product(lowering, call, left, k, right, k));
        lowering->items[a.first + k] = svmp_apply(lowering, OP_multiply, left, right, left);
    }
    return finish(lowering, a.first, fold(lowering, OP_add, a.first, a.count), result);
}

/* ---- shapes --------------------------------------------------------------------------------- */

static svmp_status shape_of(model_lowering *lowering, const ast_expression *expression, array_shape *result) {
    if (expression->kind == AST_VARIABLE && expression->counter < 0)
        return svmp_variable_shape(lowering, expression, result);
    value evaluated;
    SVMP_TRY(svmp_expand(lowering, expression, &evaluated));
    lowering->item_count = evaluated.first;
    *result = evaluated.shape;
    return SVMP_OK;
}

svmp_status svmp_call_length(model_lowering *lowering, const ast_expression *call, value *result) {
    array_shape shape;
    SVMP_TRY(shape_of(lowering, call->operands[0], &shape));
    return finish(lowering, lowering->item_count, svmp_item_number((double)svmp_shape_count(&shape)), result);
}

svmp_status svmp_call_dim(model_lowering *lowering, const ast_expression *call, value *result) {
    array_shape shape;
    SVMP_TRY(shape_of(lowering, call->operands[0], &shape));
    *result = (value){.first = lowering->item_count, .count = shape.rank, .shape = svmp_vector_shape(shape.rank)};
    for (size_t k = 0; k < shape.rank; k++)
        SVMP_TRY(svmp_push(lowering, svmp_item_number((double)shape.dimensions[k])));
    return SVMP_OK;
}

/* ---- vectors made of numbers ----------------------------------------------------------------- */

/* from, from + by, ... as long as it does not pass `to`. */
static svmp_status push_sequence(model_lowering *lowering, const ast_expression *call, double from, double to,
                                 double by, value *result) {
    double steps = floor((to - from) / by + 1e-10);
    if (!(steps >= 0)) return svmp_lowering_error(lowering, call->offset, "the range %.15g:%.15g is empty", from, to);
    if (!(steps < LOWERING_MOST_ITERATIONS))
        return svmp_lowering_error(lowering, call->offset, "the range %.15g:%.15g contains more than %u numbers", from,
                                   to, LOWERING_MOST_ITERATIONS);
    size_t count = (size_t)steps + 1;
    *result = (value){.first = lowering->item_count, .count = count, .shape = svmp_vector_shape(count)};
    for (size_t k = 0; k < count; k++) SVMP_TRY(svmp_push(lowering, svmp_item_number(from + (double)k * by)));
    return SVMP_OK;
}

svmp_status svmp_call_range(model_lowering *lowering, const ast_expression *call, value *result) {
    double from, to;
    SVMP_TRY(svmp_expand_number(lowering, call->operands[0], "an end of the range", &from));
    SVMP_TRY(svmp_expand_number(lowering, call->operands[1], "an end of the range", &to));
    return push_sequence(lowering, call, from, to, 1, result);
}

/* seq(n) is 1:n, seq(a, b) is a:b, seq(a, b, by) goes in steps. */
svmp_status svmp_call_sequence(model_lowering *lowering, const ast_expression *call, value *result) {
    double number[3] = {1, 1, 1};
    for (size_t k = 0; k < call->count; k++)
        SVMP_TRY(svmp_expand_number(lowering, call->operands[k], "an argument of 'seq'", &number[k]));
    if (call->count == 1) return push_sequence(lowering, call, 1, number[0], 1, result);
    return push_sequence(lowering, call, number[0], number[1], number[2], result);
}

/* rep(v, n) is v, n times over; rep(v, w) repeats each v_k w_k times. */
svmp_status svmp_call_repeat(model_lowering *lowering, const ast_expression *call, value *result) {
    value items, times;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &items));
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &times));
    bool each = times.count > 1;
    size_t first = lowering->item_count, rounds = 1;
    if (each && times.count != items.count)
        return svmp_lowering_error(lowering, call->operands[1]->offset,
                                   "'rep' of %zu elements takes 1 repeat count or one per element, not %zu",
                                   items.count, times.count);
    for (size_t k = 0; k < times.count; k++) {
        model_item often = lowering->items[times.first + k];
        if (often.kind > ITEM_NUMBER)
            return svmp_lowering_error(lowering, call->operands[1]->offset,
                                       "the repeat count depends on an unknown; it must be computable from the data");
        if (!(often.number >= (each ? 0 : 1)) || often.number != floor(often.number) ||
            !(often.number * (double)(each ? 1 : items.count) <= LOWERING_MOST_ITERATIONS))
            return svmp_lowering_error(lowering, call->operands[1]->offset, "%.15g is not a repeat count",
                                       often.number);
    }
    if (!each) rounds = (size_t)lowering->items[times.first].number;
    for (size_t round = 0; round < rounds; round++)
        for (size_t k = 0; k < items.count; k++) {
            size_t often = each ? (size_t)lowering->items[times.first + k].number : 1;
            for (size_t i = 0; i < often; i++) SVMP_TRY(svmp_push(lowering, lowering->items[items.first + k]));
        }
    size_t count = lowering->item_count - first;
    if (count == 0) return svmp_lowering_error(lowering, call->offset, "the result of 'rep' is empty");
    memmove(lowering->items + items.first, lowering->items + first, count * sizeof *lowering->items);
    lowering->item_count = items.first + count;
    *result = (value){.first = items.first, .count = count, .shape = svmp_vector_shape(count)};
    return SVMP_OK;
}

svmp_status svmp_call_combine(model_lowering *lowering, const ast_expression *call, value *result) {
    size_t first, count;
    SVMP_TRY(evaluate_all(lowering, call, &first, &count));
    *result = (value){.first = first, .count = count, .shape = svmp_vector_shape(count)};
    return SVMP_OK;
}
