/* logdensity.mnorm(x, mu, Omega) and its like: log densities of vectors and matrices, and of numbers whose distribution
 * has vectors among its arguments (logdensity.cat). */
#include "lang/functions/language_functions.h"

typedef struct density_call {
    const distribution *family;
    value operands[DISTRIBUTION_ARGUMENTS + 1]; /* the value, and the arguments */
    size_t count, first;
} density_call;

static bool has_rank(const value *operand, distribution_rank rank) {
    const array_shape *shape = &operand->shape;
    if (rank == RANK_SCALAR) return operand->count == 1;
    if (rank == RANK_VECTOR) return shape->rank == 1 || operand->count == 1;
    return operand->count == 1 || (shape->rank == 2 && shape->dimensions[0] == shape->dimensions[1]);
}

static size_t rows_of(const value *operand, distribution_rank rank) {
    return rank == RANK_MATRIX && operand->count > 1 ? operand->shape.dimensions[0] : operand->count;
}

/* Vectors and matrices of a distribution of these have as many rows as the value. */
static svmp_status check_shapes(model_lowering *lowering, const ast_expression *call, const density_call *work) {
    const char *name = lowering->ast->functions.text[call->symbol];
    const distribution *family = work->family;
    const size_t rows = rows_of(&work->operands[0], family->rank);
    for (size_t k = 0; k < work->count; k++) {
        const distribution_rank rank = k == 0 ? family->rank : family->argument[k - 1].rank;
        char text[ELEMENT_TEXT];
        if (!has_rank(&work->operands[k], rank))
            return svmp_lowering_error(lowering, call->operands[k]->offset, "argument %zu of '%s' must be %s, not %s",
                                       k + 1, name,
                                       rank == RANK_SCALAR   ? "one number"
                                       : rank == RANK_VECTOR ? "a vector"
                                                             : "a square matrix",
                                       svmp_shape_text(&work->operands[k].shape, text));
        if (k > 0 && family->rank != RANK_SCALAR && rank != RANK_SCALAR && rows_of(&work->operands[k], rank) != rows)
            return svmp_lowering_error(lowering, call->operands[k]->offset,
                                       "argument %zu of '%s' does not have the size of the first, %zu", k + 1, name,
                                       rows);
    }
    return SVMP_OK;
}

static expr build(const density_call *work, program_builder *b, const expr *items) {
    expr_array arrays[DISTRIBUTION_ARGUMENTS + 1];
    for (size_t k = 0; k < work->count; k++) {
        const distribution_rank rank = k == 0 ? work->family->rank : work->family->argument[k - 1].rank;
        const size_t rows = rows_of(&work->operands[k], rank);
        arrays[k] = (expr_array){rows, work->operands[k].count / (rows ? rows : 1),
                                 items + (work->operands[k].first - work->first)};
    }
    return svmp_distribution_log_density(b, work->family, arrays[0], arrays + 1, NULL, false);
}

svmp_status svmp_call_density(model_lowering *lowering, const ast_expression *call, const distribution *family,
                              value *result) {
    density_call work = {.family = family, .count = call->count, .first = lowering->item_count};
    array_call array;
    for (size_t k = 0; k < call->count; k++) SVMP_TRY(svmp_expand(lowering, call->operands[k], &work.operands[k]));
    SVMP_TRY(check_shapes(lowering, call, &work));
    SVMP_TRY(svmp_array_call_begin(lowering, work.first, 1, &array));
    if (array.builder) array.results[0] = build(&work, array.builder, array.operands);
    return svmp_array_call_finish(lowering, call, &array, svmp_vector_shape(1), result);
}
