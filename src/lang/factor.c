/* One instance of '~' or factor() becomes a factor. */
#include "lang/lowering.h"

#include <math.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------ */

static svmp_status evaluate_bound(model_lowering *lowering, ast_expression *expression, double open,
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
                                   "the lower bound %.15g is not below the upper bound %.15g", result->lower.number,
                                   result->upper.number);
    return SVMP_OK;
}

/* ---- one factor ------------------------------------------------------------------------------ */

/* Everything about the instance at hand; the arrays of expressions and numbers lie in `work`. */
typedef struct factor_work {
    uint32_t instance;
    const ast_statement *statement;
    const distribution *distribution;
    evaluated_distribution evaluated;
    value offsets;    /* of the left-hand side */
    bool elementwise; /* a distribution of one dimension for each element of the left-hand side */
    bool known_arguments;
    size_t count; /* of expressions: arguments, values, bounds */
    expr *expressions;
    double *numbers; /* the same, where known; NaN elsewhere */
    expr_array arguments[DISTRIBUTION_ARGUMENTS];
    number_array argument_numbers[DISTRIBUTION_ARGUMENTS];
    expr *values;
    double *value_numbers;
    expr lower, upper, jacobian;
} factor_work;

static void rows_and_columns(const value *array, size_t *rows, size_t *columns) {
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
        rows_and_columns(argument, &array->rows, &array->columns);
        array->items = factor->expressions + factor->count;
        factor->argument_numbers[k] = (number_array){array->rows, array->columns, factor->numbers + factor->count};
        for (size_t i = 0; i < argument->count; i++) {
            model_item one = lowering->items[argument->first + i];
            if (svmp_item_known(one) && isnan(one.number))
                return svmp_lowering_error(lowering, factor->statement->arguments[k]->offset,
                                           "the value is not a number");
            factor->known_arguments = factor->known_arguments && svmp_item_known(one);
            factor->numbers[factor->count] = svmp_item_known(one) ? one.number : NAN;
            SVMP_TRY(svmp_item_build(lowering, one, &factor->expressions[factor->count++]));
        }
    }
    SVMP_TRY(svmp_item_build(lowering, factor->evaluated.lower, &factor->lower));
    return svmp_item_build(lowering, factor->evaluated.upper, &factor->upper);
}

static svmp_status build_values(model_lowering *lowering, factor_work *factor) {
    const model_element *elements = lowering->elements + lowering->arrays[factor->statement->left->symbol].first;
    uint32_t node = lowering->instances[factor->instance].node;
    factor->values = factor->expressions + factor->count;
    factor->value_numbers = factor->numbers + factor->count;
    factor->jacobian = svmp_expr_literal(lowering->builder, 0);
    if (node != NOTHING) SVMP_TRY(svmp_node_natural(lowering, node, factor->instance, &factor->jacobian));
    for (size_t k = 0; k < factor->offsets.count; k++) {
        const model_element *one = &elements[(size_t)lowering->items[factor->offsets.first + k].number];
        bool unknown = one->state == ELEMENT_UNKNOWN;
        factor->value_numbers[k] = unknown ? NAN : one->value;
        SVMP_TRY(svmp_item_build(lowering, unknown ? one->memo : svmp_item_number(one->value), &factor->values[k]));
    }
    factor->count += factor->offsets.count;
    return SVMP_OK;
}

/* ---- checks --------------------------------------------------------------------------------- */

static svmp_status check_shapes(model_lowering *lowering, const factor_work *factor) {
    char sentence[200];
    size_t rows, columns;
    if (!factor->elementwise) {
        rows_and_columns(&factor->offsets, &rows, &columns);
        if (svmp_distribution_shapes_agree(factor->distribution, rows, columns, factor->evaluated.count,
                                           factor->arguments, sentence, sizeof sentence))
            return SVMP_OK;
        return svmp_lowering_error(lowering, factor->statement->function_offset, "%s", sentence);
    }
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        size_t count = factor->evaluated.arguments[k].count;
        if (count != 1 && count != factor->offsets.count)
            return svmp_lowering_error(lowering, factor->statement->arguments[k]->offset,
                                       "'%s' of %s has %zu elements where the left-hand side has %zu",
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
static void pick_arguments(const factor_work *factor, size_t part, number_array *picked) {
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        size_t which = factor->evaluated.arguments[k].count == 1 ? 0 : part;
        picked[k] = (number_array){1, 1, factor->argument_numbers[k].items + which};
    }
}

static svmp_status check_agreement(model_lowering *lowering, const factor_work *factor) {
    char sentence[200];
    number_array picked[DISTRIBUTION_ARGUMENTS];
    size_t rows, columns;
    rows_and_columns(&factor->offsets, &rows, &columns);
    for (size_t part = 0; part < (factor->elementwise ? factor->offsets.count : 1); part++) {
        if (factor->elementwise) pick_arguments(factor, part, picked);
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

/* Whether the support can be told: the arguments that it depends on are known. */
static bool can_check(const factor_work *factor) {
    switch (factor->distribution->support) {
    case SUPPORT_INTERVAL: return argument_known(factor, 0) && argument_known(factor, 1);
    case SUPPORT_ABOVE:
    case SUPPORT_COUNT_TO:
    case SUPPORT_COMPOSITION: return argument_known(factor, 1);
    case SUPPORT_HYPERGEOMETRIC:
        return argument_known(factor, 0) && argument_known(factor, 1) && argument_known(factor, 2);
    default: return true;
    }
}

static svmp_status outside(model_lowering *lowering, const factor_work *factor, size_t part, const char *sentence) {
    const model_array *array = &lowering->arrays[factor->statement->left->symbol];
    char text[ELEMENT_TEXT], where[200] = "";
    size_t line, column, offset = (size_t)lowering->items[factor->offsets.first + part].number;
    if (array->data) {
        const text_source *source = &lowering->data->sources[array->data->source];
        svmp_source_place(source, array->data->offset, &line, &column);
        snprintf(where, sizeof where, " (%s:%zu)", source->path, line);
    }
    svmp_element_text(lowering, factor->statement->left->symbol, offset, text);
    return svmp_lowering_error(lowering, factor->statement->left->offset, "'%s'%s is not a value of %s: %s", text,
                               where, factor->distribution->name, sentence);
}

static svmp_status check_value(model_lowering *lowering, const factor_work *factor, size_t part, number_array observed,
                               const number_array *arguments) {
    char sentence[200];
    for (size_t k = 0; k < observed.rows * observed.columns; k++)
        if (isinf(observed.items[k])) return outside(lowering, factor, part + k, "it is infinite");
    if (can_check(factor) &&
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

/* Observed values lie in the support, wherever that can be told. */
static svmp_status check_values(model_lowering *lowering, const factor_work *factor) {
    size_t rows, columns;
    if (!factor->elementwise) {
        rows_and_columns(&factor->offsets, &rows, &columns);
        if (!all_numbers(factor->value_numbers, factor->offsets.count)) return SVMP_OK;
        return check_value(lowering, factor, 0, (number_array){rows, columns, factor->value_numbers},
                           factor->argument_numbers);
    }
    for (size_t part = 0; part < factor->offsets.count; part++) {
        number_array arguments[DISTRIBUTION_ARGUMENTS];
        if (isnan(factor->value_numbers[part])) continue;
        pick_arguments(factor, part, arguments);
        SVMP_TRY(check_value(lowering, factor, part, (number_array){1, 1, factor->value_numbers + part}, arguments));
    }
    return SVMP_OK;
}

/* I(,) is censoring in BUGS; with known arguments and one unknown it is the same as truncation. */
static svmp_status check_interval(model_lowering *lowering, const factor_work *factor) {
    if (factor->statement->bounds != AST_INTERVAL || factor->known_arguments) return SVMP_OK;
    return svmp_lowering_error(
        lowering, factor->statement->bounds_offset,
        "I(,) needs arguments that follow from the data; use T(,) to truncate, dinterval to censor");
}

/* ---- density -------------------------------------------------------------------------------- */

/* Of one element, or of a vector or matrix as a whole; an observed value must stay in a support that may move. */
static expr density_of(program_builder *builder, const factor_work *factor, expr_array x, const expr_array *arguments,
                       bool unknown) {
    truncation truncated = {factor->statement->lower ? &factor->lower : NULL,
                            factor->statement->upper ? &factor->upper : NULL};
    const truncation *bounds = factor->statement->bounds ? &truncated : NULL;
    const bool inside = unknown || (can_check(factor) && (bounds == NULL || factor->known_arguments));
    const distribution *family = factor->distribution;
    expr density = svmp_distribution_log_density(builder, family, x, arguments, bounds, true);
    if (inside || family->rank != RANK_SCALAR) return density;
    expr required = svmp_distribution_require_value(builder, family, x.items[0], arguments, bounds);
    return svmp_expr_add(builder, density, required);
}

static expr density(model_lowering *lowering, const factor_work *factor) {
    program_builder *builder = lowering->builder;
    size_t rows, columns;
    if (!factor->elementwise) {
        bool unknown = lowering->instances[factor->instance].node != NOTHING;
        rows_and_columns(&factor->offsets, &rows, &columns);
        return density_of(builder, factor, (expr_array){rows, columns, factor->values}, factor->arguments, unknown);
    }
    expr sum = svmp_expr_literal(builder, 0);
    for (size_t part = 0; part < factor->offsets.count; part++) {
        expr_array arguments[DISTRIBUTION_ARGUMENTS];
        for (size_t k = 0; k < factor->evaluated.count; k++) {
            size_t which = factor->evaluated.arguments[k].count == 1 ? 0 : part;
            arguments[k] = (expr_array){1, 1, factor->arguments[k].items + which};
        }
        expr one = density_of(builder, factor, (expr_array){1, 1, factor->values + part}, arguments,
                              isnan(factor->value_numbers[part]));
        sum = svmp_expr_add(builder, sum, one);
    }
    return sum;
}

/* The program of a fresh pattern. */
static svmp_status finish_program(model_lowering *lowering, uint32_t which, expr total) {
    factor_pattern *pattern = &lowering->patterns[which];
    SVMP_TRY(svmp_builder_status(lowering->builder));
    SVMP_TRY(svmp_program_finish(lowering->builder, total, lowering->slot_count, lowering->parameter_count,
                                 &pattern->program));
    lowering->expressions += svmp_builder_size(lowering->builder);
    if (lowering->expressions > 50 * LOWERING_MOST_EXPRESSIONS)
        return svmp_lowering_error(lowering, lowering->statement->offset,
                                   "the factors expand to more than %u operations", 50 * LOWERING_MOST_EXPRESSIONS);
    return SVMP_OK;
}

/* ---- priors: what an unknown node is drawn from ------------------------------------------------ */

/* Arguments, then the bounds of each output. */
static svmp_status build_prior(model_lowering *lowering, const factor_work *factor, const lowered_node *node,
                               expr *outputs) {
    memcpy(outputs, factor->expressions, factor->count * sizeof *outputs);
    outputs += factor->count;
    for (size_t k = 0; factor->distribution->rank == RANK_SCALAR && k < node->outputs; k++) {
        model_item lower, upper;
        size_t output = node->output + k;
        svmp_node_bounds(lowering, factor->distribution, &factor->evaluated, lowering->result->parts[output],
                         lowering->element_of[output], &lower, &upper);
        SVMP_TRY(svmp_item_build(lowering, lower, outputs++));
        SVMP_TRY(svmp_item_build(lowering, upper, outputs++));
    }
    return SVMP_OK;
}

static svmp_status add_prior_pattern(model_lowering *lowering, const factor_work *factor, lowered_node *node,
                                     size_t count, const expr *outputs) {
    lowered_prior shape = {.arguments = factor->evaluated.count};
    uint64_t words[2 * DISTRIBUTION_ARGUMENTS + 4];
    size_t length = 0;
    bool fresh;
    if (factor->distribution->rank == RANK_SCALAR) shape.bounds = node->outputs;
    rows_and_columns(&factor->offsets, &shape.rows, &shape.columns);
    words[length++] = factor->statement->offset;
    words[length++] = shape.rows;
    words[length++] = shape.columns;
    words[length++] = node->outputs;
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        words[length++] = shape.argument_rows[k] = factor->arguments[k].rows;
        words[length++] = shape.argument_columns[k] = factor->arguments[k].columns;
    }
    SVMP_TRY(svmp_pattern_find(lowering, true, length, words, count, outputs, &node->prior, &fresh));
    factor_pattern *pattern = &lowering->patterns[node->prior];
    node->instance = (uint32_t)pattern->instances;
    if (fresh) {
        pattern->shape = shape;
        SVMP_TRY(svmp_program_finish_values(lowering->builder, count, outputs, pattern->slots, pattern->parameters,
                                            &pattern->program));
    }
    return svmp_pattern_append(lowering, node->prior);
}

/* Comes before the values: the builder's expressions are those of the arguments, to which the bounds are added. */
static svmp_status add_prior(model_lowering *lowering, const factor_work *factor) {
    uint32_t which = lowering->instances[factor->instance].node;
    if (which == NOTHING) return SVMP_OK;
    lowered_node *node = &lowering->result->nodes[which];
    size_t count = factor->count + (factor->distribution->rank == RANK_SCALAR ? 2 * node->outputs : 0);
    expr *outputs;
    SVMP_TRY(SVMP_NEW(lowering->context, outputs, count));
    svmp_status status = build_prior(lowering, factor, node, outputs);
    if (status == SVMP_OK) status = add_prior_pattern(lowering, factor, node, count, outputs);
    svmp_release(lowering->context, outputs);
    return status;
}

/* ---- statements ----------------------------------------------------------------------------- */

static svmp_status add_density(model_lowering *lowering, factor_work *factor) {
    SVMP_TRY(svmp_expand_subscript(lowering, factor->statement->left, &factor->offsets));
    SVMP_TRY(svmp_expand_distribution(lowering, &factor->evaluated));
    factor->elementwise = factor->distribution->rank == RANK_SCALAR && factor->offsets.count > 1;
    SVMP_TRY(allocate(lowering, factor));
    SVMP_TRY(build_arguments(lowering, factor));
    SVMP_TRY(check_shapes(lowering, factor));
    SVMP_TRY(check_domains(lowering, factor));
    SVMP_TRY(check_interval(lowering, factor));
    SVMP_TRY(add_prior(lowering, factor));
    SVMP_TRY(build_values(lowering, factor));
    SVMP_TRY(check_values(lowering, factor));
    if (lowering->slot_count == 0) return SVMP_OK;                               /* a constant */
    if (factor->distribution->support == SUPPORT_INTERVAL_INDEX) return SVMP_OK; /* it became a bound */

    uint64_t words[3] = {factor->statement->offset, factor->offsets.count, factor->jacobian.index};
    uint32_t which;
    bool fresh;
    SVMP_TRY(svmp_pattern_find(lowering, false, 3, words, factor->count, factor->expressions, &which, &fresh));
    if (fresh) {
        expr total = svmp_expr_add(lowering->builder, density(lowering, factor), factor->jacobian);
        bool constant = svmp_expr_level(lowering->builder, total) != LEVEL_INPUT; /* dflat: no program, no factor */
        if (!constant) SVMP_TRY(finish_program(lowering, which, total));
    }
    return svmp_pattern_append(lowering, which);
}

static svmp_status add_potential(model_lowering *lowering) {
    const ast_statement *statement = lowering->statement;
    model_item potential;
    expr built;
    SVMP_TRY(svmp_expand_scalar(lowering, statement->arguments[0], &potential));
    if (svmp_item_known(potential) && isnan(potential.number))
        return svmp_lowering_error(lowering, statement->arguments[0]->offset, "the value is not a number");
    if (svmp_item_known(potential)) return SVMP_OK;
    SVMP_TRY(svmp_item_build(lowering, potential, &built));
    uint64_t words[1] = {statement->offset};
    uint32_t which;
    bool fresh;
    SVMP_TRY(svmp_pattern_find(lowering, false, 1, words, 1, &built, &which, &fresh));
    if (fresh) SVMP_TRY(finish_program(lowering, which, built));
    return svmp_pattern_append(lowering, which);
}

static svmp_status try_factor(model_lowering *lowering, uint32_t which) {
    factor_work factor = {.instance = which, .statement = lowering->statement};
    factor.distribution = factor.statement->distribution;
    lowering->item_count = 0;
    svmp_status status =
        factor.statement->kind == AST_FACTOR ? add_potential(lowering) : add_density(lowering, &factor);
    svmp_release(lowering->context, factor.expressions);
    svmp_release(lowering->context, factor.numbers);
    return status;
}

svmp_status svmp_add_factor(model_lowering *lowering, uint32_t which) {
    SVMP_TRY(svmp_begin_instance(lowering));
    place before = svmp_enter(lowering, which);
    lowering->factor = which;
    svmp_status status = try_factor(lowering, which);
    while (lowering->pending != NOTHING) { /* the arguments wait for a long chain */
        lowering->depth = 0;
        status = svmp_compute_pending(lowering);
        if (status == SVMP_OK) status = try_factor(lowering, which);
    }
    lowering->factor = NOTHING;
    svmp_leave(lowering, before);
    return status;
}
