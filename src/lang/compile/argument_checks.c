/* The arguments of a distribution, and whether they, and observed values, are what it takes. */
#include "lang/compile/factor_builder.h"

#include <math.h>

/* ---- arguments ------------------------------------------------------------------------------ */

static svmp_status evaluate_bound(model_lowering *lowering, const ast_expression *expression, double open,
                                  model_item *bound) {
    *bound = svmp_item_literal(open);
    return expression ? svmp_expand_scalar(lowering, expression, bound) : SVMP_OK;
}

svmp_status svmp_expand_distribution(model_lowering *lowering, evaluated_distribution *result) {
    const ast_statement *statement = lowering->statement;
    result->count = statement->argument_count;
    for (size_t k = 0; k < result->count; k++)
        SVMP_TRY(svmp_expand(lowering, statement->arguments[k], &result->arguments[k]));
    SVMP_TRY(evaluate_bound(lowering, statement->lower, -INFINITY, &result->lower));
    SVMP_TRY(evaluate_bound(lowering, statement->upper, INFINITY, &result->upper));
    if (svmp_item_known(result->lower) && svmp_item_known(result->upper) &&
        !(result->lower.number < result->upper.number))
        return svmp_lowering_error(lowering, statement->bounds_offset,
                                   "the lower bound %.15g must be below the upper bound %.15g", result->lower.number,
                                   result->upper.number);
    return SVMP_OK;
}

void svmp_rows_and_columns(const value *array, size_t *rows, size_t *columns) {
    *rows = array->shape.rank <= 2 ? array->shape.dimensions[0] : array->count;
    *columns = array->shape.rank == 2 ? array->shape.dimensions[1] : 1;
}

static svmp_status allocate(model_lowering *lowering, factor_work *factor) {
    size_t count = factor->offsets.count;
    for (size_t k = 0; k < factor->evaluated.count; k++) count += factor->evaluated.arguments[k].count;
    SVMP_TRY(SVMP_NEW(lowering->context, factor->expressions, count));
    return SVMP_NEW(lowering->context, factor->numbers, count);
}

static svmp_status build_arguments(model_lowering *lowering, factor_work *factor) {
    factor->known_arguments = svmp_item_known(factor->evaluated.lower) && svmp_item_known(factor->evaluated.upper);
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        const value *argument = &factor->evaluated.arguments[k];
        expr_array *array = &factor->arguments[k];
        svmp_rows_and_columns(argument, &array->rows, &array->columns);
        array->items = factor->expressions + factor->count;
        factor->argument_numbers[k] = (number_array){array->rows, array->columns, factor->numbers + factor->count};
        for (size_t i = 0; i < argument->count; i++) {
            model_item one = lowering->items[argument->first + i];
            if (svmp_item_known(one) && isnan(one.number))
                return svmp_lowering_error(lowering, factor->statement->arguments[k]->offset,
                                           "the value is not a number");
            if (svmp_domain_is_fixed(factor->distribution->argument[k].domain)) {
                if (!svmp_item_known(one))
                    return svmp_lowering_error(lowering, factor->statement->arguments[k]->offset,
                                               "'%s' of %s must be data", factor->distribution->argument[k].name,
                                               factor->distribution->name);
                one = svmp_item_literal(one.number);
            }
            factor->known_arguments = factor->known_arguments && svmp_item_known(one);
            factor->numbers[factor->count] = svmp_item_known(one) ? one.number : NAN;
            SVMP_TRY(svmp_item_build(lowering, one, &factor->expressions[factor->count++]));
        }
    }
    SVMP_TRY(svmp_item_build(lowering, factor->evaluated.lower, &factor->lower));
    return svmp_item_build(lowering, factor->evaluated.upper, &factor->upper);
}

/* ---- checks --------------------------------------------------------------------------------- */

static svmp_status check_shapes(model_lowering *lowering, const factor_work *factor) {
    char sentence[200];
    size_t rows, columns;
    if (!factor->elementwise) {
        svmp_rows_and_columns(&factor->offsets, &rows, &columns);
        if (svmp_distribution_shapes_agree(factor->distribution, rows, columns, factor->evaluated.count,
                                           factor->arguments, sentence, sizeof sentence))
            return SVMP_OK;
        return svmp_lowering_error(lowering, factor->statement->function_offset, "%s", sentence);
    }
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        size_t count = factor->evaluated.arguments[k].count;
        if (count != 1 && count != factor->offsets.count)
            return svmp_lowering_error(lowering, factor->statement->arguments[k]->offset,
                                       "'%s' of %s has %zu elements, but the left-hand side has %zu",
                                       factor->distribution->argument[k].name, factor->distribution->name, count,
                                       factor->offsets.count);
    }
    return SVMP_OK;
}

static bool all_numbers(const double *numbers, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (isnan(numbers[k])) return false;
    return true;
}

/* The arguments of one element of the left-hand side. */
void svmp_factor_pick(const factor_work *factor, size_t part, number_array *picked) {
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        size_t which = factor->evaluated.arguments[k].count == 1 ? 0 : part;
        picked[k] = (number_array){1, 1, factor->argument_numbers[k].items + which};
    }
}

static svmp_status check_agreement(model_lowering *lowering, const factor_work *factor) {
    char sentence[200];
    number_array picked[DISTRIBUTION_ARGUMENTS];
    size_t rows, columns;
    svmp_rows_and_columns(&factor->offsets, &rows, &columns);
    for (size_t part = 0; part < (factor->elementwise ? factor->offsets.count : 1); part++) {
        if (factor->elementwise) svmp_factor_pick(factor, part, picked);
        if (!svmp_distribution_arguments_agree(factor->distribution, rows,
                                               factor->elementwise ? picked : factor->argument_numbers, sentence,
                                               sizeof sentence))
            return svmp_lowering_error(lowering, factor->statement->function_offset, "%s: %s",
                                       factor->distribution->name, sentence);
    }
    return SVMP_OK;
}

static svmp_status check_domains(model_lowering *lowering, const factor_work *factor) {
    char sentence[200];
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        size_t count = factor->evaluated.arguments[k].count;
        if (!all_numbers(factor->argument_numbers[k].items, count)) continue;
        for (size_t i = 0; i < (factor->elementwise ? count : 1); i++) {
            number_array argument = factor->argument_numbers[k];
            if (factor->elementwise) argument = (number_array){1, 1, argument.items + i};
            if (!svmp_distribution_accepts(factor->distribution, k, argument, sentence, sizeof sentence))
                return svmp_lowering_error(lowering, factor->statement->arguments[k]->offset, "%s: %s",
                                           factor->distribution->name, sentence);
        }
    }
    return check_agreement(lowering, factor);
}

static bool argument_known(const factor_work *factor, size_t which) {
    return all_numbers(factor->argument_numbers[which].items, factor->evaluated.arguments[which].count);
}

/* Whether the support is known: the arguments that it depends on are. */
bool svmp_factor_can_check(const factor_work *factor) {
    switch (factor->distribution->support) {
    case SUPPORT_INTERVAL: return argument_known(factor, 0) && argument_known(factor, 1);
    case SUPPORT_COUNT_TO: return argument_known(factor, factor->distribution->arguments - 1);
    case SUPPORT_ABOVE:
    case SUPPORT_COMPOSITION: return argument_known(factor, 1);
    case SUPPORT_HYPERGEOMETRIC:
        return argument_known(factor, 0) && argument_known(factor, 1) && argument_known(factor, 2);
    default: return true;
    }
}

static svmp_status outside(model_lowering *lowering, const factor_work *factor, size_t part, const char *sentence) {
    const model_array *array = &lowering->arrays[factor->statement->left->symbol];
    char text[ELEMENT_TEXT], there[190], where[200] = "";
    size_t offset = (size_t)lowering->items[factor->offsets.first + part].number;
    if (array->data)
        snprintf(where, sizeof where, " (%s)",
                 svmp_data_place(lowering->data, array->data, offset, there, sizeof there));
    svmp_element_text(lowering, factor->statement->left->symbol, offset, text);
    return svmp_lowering_error(lowering, factor->statement->left->offset, "'%s'%s is outside the support of %s: %s",
                               text, where, factor->distribution->name, sentence);
}

static svmp_status check_value(model_lowering *lowering, const factor_work *factor, size_t part, number_array observed,
                               const number_array *arguments) {
    char sentence[200];
    for (size_t k = 0; k < observed.rows * observed.columns; k++)
        if (isinf(observed.items[k])) return outside(lowering, factor, part + k, "it is infinite");
    if (svmp_factor_can_check(factor) &&
        !svmp_distribution_contains(factor->distribution, observed, arguments, sentence, sizeof sentence))
        return outside(lowering, factor, part, sentence);
    double low = factor->evaluated.lower.number, high = factor->evaluated.upper.number;
    bool below = svmp_item_known(factor->evaluated.lower) && observed.items[0] < low;
    bool above = svmp_item_known(factor->evaluated.upper) && observed.items[0] > high;
    if (factor->statement->bounds && (below || above)) {
        snprintf(sentence, sizeof sentence, "%.15g is not between the bounds %.15g and %.15g", observed.items[0], low,
                 high);
        return outside(lowering, factor, part, sentence);
    }
    return SVMP_OK;
}

/* Observed values lie in the support, wherever it is known. */
svmp_status svmp_factor_check_values(model_lowering *lowering, const factor_work *factor) {
    size_t rows, columns;
    if (!factor->elementwise) {
        svmp_rows_and_columns(&factor->offsets, &rows, &columns);
        if (!all_numbers(factor->value_numbers, factor->offsets.count)) return SVMP_OK;
        return check_value(lowering, factor, 0, (number_array){rows, columns, factor->value_numbers},
                           factor->argument_numbers);
    }
    for (size_t part = 0; part < factor->offsets.count; part++) {
        number_array arguments[DISTRIBUTION_ARGUMENTS];
        if (isnan(factor->value_numbers[part])) continue;
        svmp_factor_pick(factor, part, arguments);
        SVMP_TRY(check_value(lowering, factor, part, (number_array){1, 1, factor->value_numbers + part}, arguments));
    }
    return SVMP_OK;
}

/* I(,) is censoring in BUGS; with known arguments and one unknown it is the same as truncation. */
static svmp_status check_interval(model_lowering *lowering, const factor_work *factor) {
    if (factor->statement->bounds != AST_INTERVAL || factor->known_arguments) return SVMP_OK;
    return svmp_lowering_error(lowering, factor->statement->bounds_offset,
                               "the arguments of a distribution with I(,) must be computable from the data; use T(,) "
                               "to truncate, dinterval to censor");
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A sum of unknowns that are not counts has no density in these. */
static svmp_status check_sum(model_lowering *lowering, const factor_work *factor) {
    if (lowering->drawn || factor->known_arguments || factor->distribution->support != SUPPORT_SUM) return SVMP_OK;
    return svmp_lowering_error(lowering, factor->statement->function_offset,
                               "dsum of three or more unknowns needs an unbounded one that is a node by itself, and "
                               "dsum of two unknowns needs known bounds; otherwise, write one as a difference, c <- y "
                               "- a - b, and factor(logdensity.norm(c, mu, tau)) for its density");
}

/* Arguments that the distribution does not take are no error where values of discrete unknowns lead to them: a size of
 * t - n, below 0 for some t, has probability 0 there. */
static svmp_status try_domains(model_lowering *lowering, factor_work *factor) {
    const bool shaping = lowering->shaping, says = lowering->scope_count == 0 || factor->refused;
    if (says) return check_domains(lowering, factor);
    lowering->shaping = true; /* nothing is said */
    const svmp_status status = check_domains(lowering, factor);
    lowering->shaping = shaping;
    factor->impossible = status == SVMP_BAD_INPUT;
    return factor->impossible ? SVMP_OK : status;
}

svmp_status svmp_factor_begin(model_lowering *lowering, factor_work *factor) {
    SVMP_TRY(svmp_expand_subscript(lowering, factor->statement->left, &factor->offsets));
    SVMP_TRY(svmp_expand_distribution(lowering, &factor->evaluated));
    factor->elementwise = factor->distribution->rank == RANK_SCALAR && factor->offsets.count > 1;
    SVMP_TRY(allocate(lowering, factor));
    SVMP_TRY(build_arguments(lowering, factor));
    SVMP_TRY(check_shapes(lowering, factor));
    SVMP_TRY(try_domains(lowering, factor));
    SVMP_TRY(check_sum(lowering, factor));
    return check_interval(lowering, factor);
}

void svmp_factor_free(model_lowering *lowering, factor_work *factor) {
    svmp_release_all(lowering->context, factor->expressions, factor->numbers);
}
