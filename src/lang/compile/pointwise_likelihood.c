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
    size_t known, count;
    const svmp_status status = svmp_count_elements(lowering, which, ELEMENT_KNOWN, &known, &count);
    *some = known > 0;
    return status;
}

/* A value called `name`, from this instance. */
static svmp_status add_value(model_lowering *lowering, uint32_t which, expr built, const char *name) {
    const uint64_t words[2] = {lowering->instances[which].statement->offset, 1}; /* not those of a monitored node */
    char *copy;
    SVMP_TRY(svmp_duplicate(lowering->context, name, &copy));
    place before = svmp_enter(lowering, which);
    const svmp_status status = svmp_add_monitor(lowering, 2, words, built, copy);
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
