/* The functions of vectors and matrices as a whole. */
#include "lang/functions/language_functions.h"

#include <math.h>

#include "expr/expr_vectors.h"

/* ---- items to expressions and back ---------------------------------------------------------- */

svmp_status svmp_array_call_begin(model_lowering *lowering, size_t first, size_t results, array_call *call) {
    *call = (array_call){.kind = ITEM_LITERAL, .first = first, .count = lowering->item_count - first};
    for (size_t k = first; k < lowering->item_count; k++)
        if (lowering->items[k].kind > call->kind) call->kind = lowering->items[k].kind;
    SVMP_TRY(SVMP_NEW(lowering->context, call->operands, call->count + results));
    call->results = call->operands + call->count;
    if (call->kind == ITEM_OPAQUE) return SVMP_OK;
    call->builder = call->kind == ITEM_EXPRESSION ? lowering->builder : lowering->calculator;
    if (call->builder == lowering->calculator) svmp_builder_reset(lowering->calculator);
    for (size_t k = 0; k < call->count; k++) {
        model_item operand = lowering->items[first + k];
        if (call->builder == lowering->calculator)
            call->operands[k] = svmp_expr_literal(call->builder, operand.number);
        else if (svmp_item_build(lowering, operand, &call->operands[k]) != SVMP_OK)
            break; /* the builder keeps the failure */
    }
    return SVMP_OK;
}

svmp_status svmp_array_call_finish(model_lowering *lowering, const ast_expression *expression, array_call *call,
                                   array_shape shape, value *result) {
    size_t count = svmp_shape_count(&shape);
    svmp_status status = call->builder ? svmp_builder_status(call->builder) : SVMP_OK;
    *result = (value){.first = call->first, .count = count, .shape = shape};
    lowering->item_count = call->first;
    for (size_t k = 0; status == SVMP_OK && k < count; k++) {
        model_item one = {.kind = call->kind};
        if (call->kind == ITEM_EXPRESSION) one.expression = call->results[k];
        if (svmp_item_known(one) && !svmp_expr_is_literal(call->builder, call->results[k], &one.number))
            status = svmp_lowering_error(lowering, expression->offset, "'%s' has no value here",
                                         lowering->ast->functions.text[expression->symbol]);
        if (status == SVMP_OK) status = svmp_push(lowering, one);
    }
    svmp_release(lowering->context, call->operands);
    return status;
}

static svmp_status evaluate_square(model_lowering *lowering, const ast_expression *call, value *matrix) {
    char text[ELEMENT_TEXT];
    SVMP_TRY(svmp_expand(lowering, call->operands[0], matrix));
    if (matrix->count == 1) matrix->shape = (array_shape){.rank = 2, .dimensions = {1, 1}};
    if (matrix->shape.rank == 2 && matrix->shape.dimensions[0] == matrix->shape.dimensions[1]) return SVMP_OK;
    return svmp_lowering_error(lowering, call->offset, "'%s' needs a square matrix, not %s", call->function->name,
                               svmp_shape_text(&matrix->shape, text));
}

/* ---- matrices ------------------------------------------------------------------------------- */

/* Numbers are looked at; what depends on unknowns is taken at the word. */
static svmp_status check_symmetric(model_lowering *lowering, const ast_expression *call, const value *matrix) {
    size_t order = matrix->shape.dimensions[0];
    const model_item *items = lowering->items + matrix->first;
    if (lowering->shaping) return SVMP_OK;
    for (size_t j = 0; j < order; j++)
        for (size_t i = 0; i < j; i++) {
            model_item upper = items[i + order * j], lower = items[j + order * i];
            if (!svmp_item_known(upper) || !svmp_item_known(lower)) continue;
            if (fabs(upper.number - lower.number) <= 1e-7 * (fabs(upper.number) + fabs(lower.number))) continue;
            return svmp_lowering_error(lowering, call->operands[0]->offset,
                                       "'%s' needs a symmetric matrix; [%zu,%zu] is %.15g and [%zu,%zu] is %.15g",
                                       call->function->name, i + 1, j + 1, upper.number, j + 1, i + 1, lower.number);
        }
    return SVMP_OK;
}

svmp_status svmp_call_inverse(model_lowering *lowering, const ast_expression *call, value *result) {
    value matrix;
    array_call work;
    SVMP_TRY(evaluate_square(lowering, call, &matrix));
    SVMP_TRY(check_symmetric(lowering, call, &matrix));
    SVMP_TRY(svmp_array_call_begin(lowering, matrix.first, matrix.count, &work));
    if (work.builder) svmp_exprs_inverse(work.builder, matrix.shape.dimensions[0], work.operands, work.results);
    return svmp_array_call_finish(lowering, call, &work, matrix.shape, result);
}

svmp_status svmp_call_logdet(model_lowering *lowering, const ast_expression *call, value *result) {
    value matrix;
    array_call work;
    SVMP_TRY(evaluate_square(lowering, call, &matrix));
    SVMP_TRY(check_symmetric(lowering, call, &matrix));
    SVMP_TRY(svmp_array_call_begin(lowering, matrix.first, 1, &work));
    if (work.builder) work.results[0] = svmp_exprs_logdet(work.builder, matrix.shape.dimensions[0], work.operands);
    return svmp_array_call_finish(lowering, call, &work, svmp_vector_shape(1), result);
}

/* Rows and columns, a vector being a column; more dimensions are an error. */
static svmp_status as_matrix(model_lowering *lowering, const ast_expression *call, const value *array, size_t *rows,
                             size_t *columns) {
    if (array->shape.rank > 2)
        return svmp_lowering_error(lowering, call->offset, "'%s' needs vectors and matrices, not %zu dimensions",
                                   call->function->name, array->shape.rank);
    *rows = array->shape.dimensions[0];
    *columns = array->shape.rank == 2 ? array->shape.dimensions[1] : 1;
    return SVMP_OK;
}

svmp_status svmp_call_transpose(model_lowering *lowering, const ast_expression *call, value *result) {
    size_t rows = 0, columns = 0;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], result));
    SVMP_TRY(as_matrix(lowering, call, result, &rows, &columns));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            SVMP_TRY(svmp_push(lowering, lowering->items[result->first + i + rows * j]));
    for (size_t k = 0; k < result->count; k++)
        lowering->items[result->first + k] = lowering->items[result->first + result->count + k];
    lowering->item_count = result->first + result->count;
    result->shape = (array_shape){.rank = 2, .dimensions = {columns, rows}};
    return SVMP_OK;
}

static svmp_status multiply(model_lowering *lowering, const ast_expression *call, size_t a, size_t b, size_t rows,
                            size_t inner, size_t columns) {
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            model_item sum = svmp_item_literal(0);
            for (size_t k = 0; k < inner; k++) {
                const size_t at = i + rows * k, other = k + inner * j;
                model_item left = lowering->items[a + at], right = lowering->items[b + other];
                SVMP_TRY(svmp_check_product(lowering, call, left, at, right, other));
                model_item product = svmp_apply(lowering, OP_multiply, left, right, left);
                sum = k == 0 ? product : svmp_apply(lowering, OP_add, sum, product, sum);
            }
            SVMP_TRY(svmp_push(lowering, sum));
        }
    return svmp_builder_status(lowering->builder);
}

/* A vector is a row or a column, as it fits: v %*% w is their inner product. Extents of 1 are dropped from the result.
 */
svmp_status svmp_call_matrix_product(model_lowering *lowering, const ast_expression *call, value *result) {
    value a, b;
    size_t rows = 0, inner = 0, other = 0, columns = 0;
    char one[ELEMENT_TEXT], two[ELEMENT_TEXT];
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &a));
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &b));
    SVMP_TRY(as_matrix(lowering, call, &a, &rows, &inner));
    SVMP_TRY(as_matrix(lowering, call, &b, &other, &columns));
    if (a.shape.rank == 1 && (b.shape.rank == 1 || other == rows)) {
        inner = rows;
        rows = 1;
    }
    if (a.shape.rank == 2 && b.shape.rank == 1 && inner == 1 && other != 1) {
        columns = other;
        other = 1;
    }
    if (inner != other)
        return svmp_lowering_error(lowering, call->offset, "the operands of '%%*%%' have dimensions %s and %s",
                                   svmp_shape_text(&a.shape, one), svmp_shape_text(&b.shape, two));
    size_t first = lowering->item_count;
    SVMP_TRY(multiply(lowering, call, a.first, b.first, rows, inner, columns));
    for (size_t k = 0; k < rows * columns; k++) lowering->items[a.first + k] = lowering->items[first + k];
    lowering->item_count = a.first + rows * columns;
    *result = (value){.first = a.first, .count = rows * columns, .shape = svmp_vector_shape(rows * columns)};
    if (rows > 1 && columns > 1) result->shape = (array_shape){.rank = 2, .dimensions = {rows, columns}};
    return SVMP_OK;
}

/* ---- vectors -------------------------------------------------------------------------------- */

typedef void (*vector_function)(program_builder *builder, size_t count, const expr *items, expr *results);

static svmp_status call_vector(model_lowering *lowering, const ast_expression *call, vector_function function,
                               value *result) {
    array_call work;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], result));
    SVMP_TRY(svmp_array_call_begin(lowering, result->first, result->count, &work));
    if (work.builder) function(work.builder, result->count, work.operands, work.results);
    return svmp_array_call_finish(lowering, call, &work, svmp_vector_shape(result->count), result);
}

/* The one variable that an expression is a function of: v itself, exp(v), ...; NOTHING: there are several, or none. */
static uint32_t variable_in(const model_lowering *lowering, expr e) {
    const program_builder *builder = lowering->builder;
    while (svmp_expr_op(builder, e) != OP_input) {
        const int arity = svmp_op_arity(svmp_expr_op(builder, e));
        int found = 0;
        expr next = e;
        for (int k = 0; k < arity; k++)
            if (svmp_expr_level(builder, svmp_expr_operand(builder, e, k)) == LEVEL_INPUT)
                next = svmp_expr_operand(builder, e, k), found++;
        if (found != 1) return NOTHING;
        e = next;
    }
    return lowering->slots[svmp_expr_leaf(builder, e)];
}

static const lowered_node *node_with(const lowered_model *model, uint32_t variable) {
    for (size_t k = 0; k < model->node_count; k++)
        if (model->nodes[k].variable == variable && model->nodes[k].variables == 1) return &model->nodes[k];
    return NULL;
}

/* Whether the nodes of two variables have priors of one statement, without parents, and move as they are. */
static bool are_alike(const lowered_model *model, uint32_t one, uint32_t other) {
    const lowered_node *a = node_with(model, one), *b = node_with(model, other);
    return a && b && a->distribution == b->distribution && a->level == 0 && b->level == 0 && !a->location_scale &&
           !b->location_scale;
}

/* Notes the variables of sort(v), once, if each element of v is one of its own: whether their order makes no difference
 * is for others to see. */
static svmp_status note_sorted(model_lowering *lowering, const value *of) {
    lowered_model *model = lowering->result;
    if (model == NULL || !lowering->symbolic || of->count < 2) return SVMP_OK;
    const size_t first = model->sorted_count;
    SVMP_TRY(SVMP_GROW(lowering->context, model->sorted, model->sorted_capacity, first + 1 + of->count));
    for (size_t k = 0; k < of->count; k++) {
        const model_item item = lowering->items[of->first + k];
        const uint32_t variable = item.kind == ITEM_EXPRESSION ? variable_in(lowering, item.expression) : NOTHING;
        if (variable == NOTHING || (k > 0 && !are_alike(model, model->sorted[first + 1], variable))) return SVMP_OK;
        for (size_t j = 0; j < k; j++)
            if (model->sorted[first + 1 + j] == variable) return SVMP_OK;
        model->sorted[first + 1 + k] = variable;
    }
    for (size_t k = 0; k < first; k += 1 + model->sorted[k]) /* a variable is in one group */
        for (size_t j = 0; j < model->sorted[k]; j++)
            if (model->sorted[k + 1 + j] == model->sorted[first + 1]) return SVMP_OK;
    model->sorted[first] = (uint32_t)of->count;
    model->sorted_count = first + 1 + of->count;
    return SVMP_OK;
}

svmp_status svmp_call_sort(model_lowering *lowering, const ast_expression *call, value *result) {
    value of;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &of));
    SVMP_TRY(note_sorted(lowering, &of));
    lowering->item_count = of.first; /* it is read once more */
    return call_vector(lowering, call, svmp_exprs_sort, result);
}

/* The element that the second argument names, as in BUGS' rank(v, k) and ranked(v, k). */
static svmp_status pick(model_lowering *lowering, const ast_expression *call, value *result) {
    value which;
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &which));
    const bool known = which.count == 1 && svmp_item_known(lowering->items[which.first]);
    const double number = known ? lowering->items[which.first].number : 0;
    if (!(number >= 1 && number <= (double)result->count) || number != floor(number))
        return svmp_lowering_error(lowering, call->offset,
                                   "the second argument of '%s' must be a known whole number from 1 to %zu",
                                   call->function->name, result->count);
    lowering->items[result->first] = lowering->items[result->first + (size_t)number - 1];
    lowering->item_count = result->first + 1;
    *result = (value){.first = result->first, .count = 1, .shape = svmp_vector_shape(1)};
    return SVMP_OK;
}

svmp_status svmp_call_rank(model_lowering *lowering, const ast_expression *call, value *result) {
    SVMP_TRY(call_vector(lowering, call, svmp_exprs_rank, result));
    return call->count == 2 ? pick(lowering, call, result) : SVMP_OK;
}

svmp_status svmp_call_ranked(model_lowering *lowering, const ast_expression *call, value *result) {
    SVMP_TRY(call_vector(lowering, call, svmp_exprs_sort, result));
    return pick(lowering, call, result);
}

svmp_status svmp_call_order(model_lowering *lowering, const ast_expression *call, value *result) {
    return call_vector(lowering, call, svmp_exprs_order, result);
}

svmp_status svmp_call_interpolate(model_lowering *lowering, const ast_expression *call, value *result) {
    value e, x, y;
    array_call work;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &e));
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &x));
    SVMP_TRY(svmp_expand(lowering, call->operands[2], &y));
    if (e.count != 1 || x.count != y.count || x.count < 2)
        return svmp_lowering_error(
            lowering, call->offset,
            "'interp.lin' needs one number and two vectors of equal length, not lengths %zu, %zu and %zu", e.count,
            x.count, y.count);
    SVMP_TRY(svmp_array_call_begin(lowering, e.first, 1, &work));
    if (work.builder)
        work.results[0] = svmp_exprs_interpolate(work.builder, x.count, work.operands + 1, work.operands + 1 + x.count,
                                                 work.operands[0]);
    return svmp_array_call_finish(lowering, call, &work, svmp_vector_shape(1), result);
}

/* ---- dinterval, dround and dsum as functions, as JAGS has them ------------------------------ */

/* The number of cut points below t. */
svmp_status svmp_call_interval(model_lowering *lowering, const ast_expression *call, value *result) {
    value t, cuts;
    array_call work;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &t));
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &cuts));
    if (t.count != 1)
        return svmp_lowering_error(lowering, call->offset, "the first argument of 'dinterval' must be one number");
    SVMP_TRY(svmp_array_call_begin(lowering, t.first, 1, &work));
    if (work.builder) {
        expr below = svmp_expr_literal(work.builder, 0);
        for (size_t k = 1; k < work.count; k++)
            below =
                svmp_expr_add(work.builder, below, svmp_expr_less(work.builder, work.operands[k], work.operands[0]));
        work.results[0] = below;
    }
    return svmp_array_call_finish(lowering, call, &work, svmp_vector_shape(1), result);
}

/* t rounded to a number of decimal places. */
svmp_status svmp_call_round_to(model_lowering *lowering, const ast_expression *call, value *result) {
    value t, digits;
    array_call work;
    SVMP_TRY(svmp_expand(lowering, call->operands[0], &t));
    SVMP_TRY(svmp_expand(lowering, call->operands[1], &digits));
    if (t.count != 1 || digits.count != 1)
        return svmp_lowering_error(lowering, call->offset, "'dround' needs a number, and a number of decimal places");
    SVMP_TRY(svmp_array_call_begin(lowering, t.first, 1, &work));
    if (work.builder) {
        expr unit = svmp_expr_power(work.builder, svmp_expr_literal(work.builder, 10), work.operands[1]);
        expr whole = svmp_expr_round(work.builder, svmp_expr_multiply(work.builder, work.operands[0], unit));
        work.results[0] = svmp_expr_divide(work.builder, whole, unit);
    }
    return svmp_array_call_finish(lowering, call, &work, svmp_vector_shape(1), result);
}

/* Element by element, of any number of arrays. */
svmp_status svmp_call_sums(model_lowering *lowering, const ast_expression *call, value *result) {
    value first = {0}, other;
    array_call work;
    for (size_t k = 0; k < call->count; k++) {
        SVMP_TRY(svmp_expand(lowering, call->operands[k], k == 0 ? &first : &other));
        if (k > 0 && other.count != first.count)
            return svmp_lowering_error(lowering, call->offset, "the arguments of 'dsum' have %zu and %zu elements",
                                       first.count, other.count);
    }
    SVMP_TRY(svmp_array_call_begin(lowering, first.first, first.count, &work));
    for (size_t j = 0; work.builder && j < first.count; j++) {
        work.results[j] = work.operands[j];
        for (size_t k = 1; k < call->count; k++)
            work.results[j] = svmp_expr_add(work.builder, work.results[j], work.operands[k * first.count + j]);
    }
    return svmp_array_call_finish(lowering, call, &work, first.shape, result);
}
