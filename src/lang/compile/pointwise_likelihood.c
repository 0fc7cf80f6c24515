/* What users of JAGS and Stan monitor: log_lik, the log likelihood of every observation given the unknowns, and
 * deviance, -2 times their sum. Discrete unknowns are those that were drawn. */
#include "lang/compile/compile_passes.h"

#include <stdio.h>
#include <string.h>

/* Whether a stochastic instance has an observed element; what dinterval or dround says of a censored node is a bound,
 * and no observation has a density there. */
static svmp_status observes(model_lowering *lowering, uint32_t which, bool *some) {
    const ast_statement *statement = lowering->instances[which].statement;
    *some = false;
    if (statement->kind != AST_STOCHASTIC) return SVMP_OK;
    if (statement->distribution->support == SUPPORT_INTERVAL_INDEX ||
        statement->distribution->support == SUPPORT_ROUNDED || lowering->instances[which].settled)
        return SVMP_OK;
    const model_element *elements = lowering->elements + lowering->arrays[statement->left->symbol].first;
    place before = svmp_enter(lowering, which);
    value offsets = {0};
    svmp_status status = svmp_expand_subscript(lowering, statement->left, &offsets);
    for (size_t k = 0; status == SVMP_OK && k < offsets.count; k++)
        *some = *some || elements[(size_t)lowering->items[offsets.first + k].number].state == ELEMENT_KNOWN;
    svmp_leave(lowering, before);
    lowering->item_count = 0;
    return status;
}

/* A program of one value, called `name`. */
static svmp_status add_value(model_lowering *lowering, uint32_t which, expr built, const char *name) {
    svmp_context *context = lowering->context;
    lowered_model *result = lowering->result;
    lowered_monitor made = {0};
    bool fresh = false;
    place before = svmp_enter(lowering, which);
    uint64_t words[2] = {lowering->statement->offset, 1}; /* not what a monitored node of the statement is */
    svmp_status status = SVMP_OK;
    SVMP_CHECK(SVMP_GROW(context, result->monitors, result->monitor_capacity, result->monitor_count + 1));
    SVMP_CHECK(svmp_pattern_find(lowering, PATTERN_MONITOR, 2, words, 1, &built, &made.values, &fresh));
    factor_pattern *pattern = &lowering->patterns[made.values];
    made.instance = (uint32_t)pattern->instances;
    if (fresh)
        SVMP_CHECK(svmp_program_finish_values(lowering->builder, 1, &built, pattern->slots, pattern->parameters,
                                              &pattern->program));
    SVMP_CHECK(svmp_pattern_append(lowering, made.values));
    SVMP_CHECK(svmp_duplicate(context, name, &made.name));
    result->monitors[result->monitor_count++] = made;
done:
    svmp_leave(lowering, before);
    return status;
}

static svmp_status add_pointwise(model_lowering *lowering) {
    size_t count = 0;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        bool some;
        char name[64];
        expr entry = {0};
        SVMP_TRY(observes(lowering, k, &some));
        if (!some) continue;
        SVMP_TRY(svmp_begin_instance(lowering));
        SVMP_TRY(svmp_factor_likelihood(lowering, k, &entry));
        snprintf(name, sizeof name, "log_lik.%zu", ++count);
        SVMP_TRY(add_value(lowering, k, entry, name));
    }
    return SVMP_OK;
}

static svmp_status add_deviance(model_lowering *lowering) {
    uint32_t last = NOTHING;
    SVMP_TRY(svmp_begin_instance(lowering));
    expr sum = svmp_expr_literal(lowering->builder, 0);
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        bool some;
        expr entry = {0};
        SVMP_TRY(observes(lowering, k, &some));
        if (!some) continue;
        SVMP_TRY(svmp_factor_likelihood(lowering, k, &entry));
        sum = svmp_expr_add(lowering->builder, sum, entry);
        last = k;
    }
    if (last == NOTHING) return SVMP_OK;
    sum = svmp_expr_multiply(lowering->builder, svmp_expr_literal(lowering->builder, -2), sum);
    return add_value(lowering, last, sum, "deviance");
}

svmp_status svmp_add_likelihood(model_lowering *lowering, const char *name, size_t length, bool *is) {
    const bool pointwise = length == 7 && memcmp(name, "log_lik", 7) == 0;
    *is = length == 20 && memcmp(name, "posterior_predictive", 20) == 0; /* its nodes are there: replicates.c */
    if (*is) return SVMP_OK;
    *is = pointwise || (length == 8 && memcmp(name, "deviance", 8) == 0);
    if (!*is) return SVMP_OK;
    SVMP_TRY(svmp_names_add(lowering->context, &lowering->result->computed, name, length, &(uint32_t){0}));
    return pointwise ? add_pointwise(lowering) : add_deviance(lowering);
}
