/* What users of JAGS and Stan monitor: log_lik, the log likelihood of every observation given the unknowns, and
 * deviance, -2 times the log likelihood of all. Discrete unknowns are summed out: log_lik is that of an observation
 * given the others, where they share some. */
#include "lang/discrete/discrete_unknowns.h"

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

/* The observed instances, and the components whose discrete unknowns they read. */
typedef struct observations {
    bool *observed, *alone, *met; /* by instance; one at a time; by component */
    uint32_t *component;          /* of an instance; NOTHING: it reads no discrete unknown */
    component_lists lists;
} observations;

static svmp_status find_observations(model_lowering *lowering, observations *o) {
    svmp_context *context = lowering->context;
    SVMP_TRY(SVMP_NEW(context, o->observed, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(context, o->alone, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(context, o->component, lowering->instance_count));
    SVMP_TRY(SVMP_NEW(context, o->met, lowering->discrete_count));
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        o->component[k] = NOTHING;
        SVMP_TRY(observes(lowering, k, &o->observed[k]));
    }
    if (lowering->discrete_count == 0) return SVMP_OK;
    SVMP_TRY(svmp_discrete_list(lowering, &o->lists));
    for (uint32_t c = 0; c < lowering->discrete_count; c++)
        for (size_t f = o->lists.factor_start[c]; f < o->lists.factor_start[c + 1]; f++)
            o->component[o->lists.factors[f].instance] = c;
    return SVMP_OK;
}

static void free_observations(svmp_context *context, observations *o) {
    svmp_release(context, o->observed);
    svmp_release(context, o->alone);
    svmp_release(context, o->component);
    svmp_release(context, o->met);
    svmp_discrete_lists_free(context, &o->lists);
}

static svmp_status build_entry(model_lowering *lowering, const observations *o, uint32_t which, expr *entry) {
    if (o->component[which] == NOTHING) return svmp_factor_likelihood(lowering, which, entry);
    o->alone[which] = true;
    const svmp_status status = svmp_discrete_likelihood(lowering, &o->lists, o->component[which], o->alone, entry);
    o->alone[which] = false;
    return status;
}

static svmp_status add_pointwise(model_lowering *lowering, const observations *o) {
    size_t count = 0;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        char name[64];
        expr entry = {0};
        if (!o->observed[k]) continue;
        SVMP_TRY(svmp_begin_instance(lowering));
        SVMP_TRY(build_entry(lowering, o, k, &entry));
        snprintf(name, sizeof name, "log_lik.%zu", ++count);
        SVMP_TRY(add_value(lowering, k, entry, name));
    }
    return SVMP_OK;
}

/* The observations of a component have one likelihood. */
static svmp_status add_deviance(model_lowering *lowering, const observations *o) {
    uint32_t last = NOTHING;
    SVMP_TRY(svmp_begin_instance(lowering));
    expr sum = svmp_expr_literal(lowering->builder, 0);
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const uint32_t component = o->component[k];
        expr entry = {0};
        if (!o->observed[k] || (component != NOTHING && o->met[component])) continue;
        if (component == NOTHING) {
            SVMP_TRY(svmp_factor_likelihood(lowering, k, &entry));
        } else {
            o->met[component] = true;
            SVMP_TRY(svmp_discrete_likelihood(lowering, &o->lists, component, o->observed, &entry));
        }
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
    observations o = {0};
    svmp_status status = find_observations(lowering, &o);
    if (status == SVMP_OK) status = pointwise ? add_pointwise(lowering, &o) : add_deviance(lowering, &o);
    free_observations(lowering->context, &o);
    return status;
}
