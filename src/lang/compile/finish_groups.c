/* Patterns become groups of factors, priors and monitors. */
#include "lang/compile/compile_passes.h"

#include <string.h>

#include "model/dense_normal_factors.h"
#include "model/program_factors.h"

/* The numbers of a pattern as columns, one parameter each; `columns` points into `numbers`. */
static svmp_status make_columns(svmp_context *context, const factor_pattern *pattern, double **numbers,
                                double ***columns) {
    SVMP_TRY(SVMP_NEW(context, *numbers, pattern->instances * pattern->parameters));
    SVMP_TRY(SVMP_NEW(context, *columns, pattern->parameters));
    for (size_t p = 0; p < pattern->parameters; p++) {
        (*columns)[p] = *numbers + p * pattern->instances;
        for (size_t i = 0; i < pattern->instances; i++)
            (*columns)[p][i] = pattern->numbers[i * pattern->parameters + p];
    }
    return SVMP_OK;
}

/* Lines of places that mostly ascend: counted on from the last one. */
typedef struct line_count {
    size_t offset, line;
} line_count;

static size_t find_line(const text_source *source, size_t offset, line_count *last) {
    if (offset < last->offset) *last = (line_count){0, 1};
    for (; last->offset < offset; last->offset++) last->line += source->text[last->offset] == '\n';
    return last->line;
}

/* Adds one to a list of groups. */
static svmp_status add_group(model_lowering *lowering, factor_pattern *pattern, const double *const *columns,
                             size_t line, factor_group **groups, size_t *count, size_t *capacity) {
    program *taken = pattern->program;
    SVMP_TRY(SVMP_GROW(lowering->context, *groups, *capacity, *count + 1));
    pattern->program = NULL; /* the group takes it, also when it fails */
    SVMP_TRY(pattern->dense ? svmp_dense_normal_group(lowering->context, pattern->dense, pattern->instances,
                                                      pattern->variables, pattern->numbers, &(*groups)[*count])
                            : svmp_program_group_create(lowering->context, taken, pattern->instances,
                                                        pattern->variables, columns, &(*groups)[*count]));
    factor_group *group = &(*groups)[(*count)++];
    group->line = line;
    group->whole = pattern->whole;
    group->origin = pattern->origin;
    pattern->whole.elsewhere = NULL; /* the group's, now */
    pattern->origin = NULL;
    return SVMP_OK;
}

/* The values take the program over, also when they fail. */
static svmp_status add_values(model_lowering *lowering, factor_pattern *pattern, const double *const *columns,
                              lowered_values *values) {
    const size_t count = pattern->instances * pattern->slots;
    values->program = pattern->program;
    pattern->program = NULL;
    SVMP_TRY(svmp_program_bind(values->program, pattern->instances, columns, &values->bound));
    SVMP_TRY(SVMP_NEW(lowering->context, values->variables, count));
    if (count > 0) memcpy(values->variables, pattern->variables, count * sizeof *values->variables);
    return SVMP_OK;
}

/* *number is what the pattern's instances know it by: which prior, or which of the monitors' programs. */
static svmp_status add_pattern(model_lowering *lowering, factor_pattern *pattern, const double *const *columns,
                               line_count *last, uint32_t *number) {
    lowered_model *result = lowering->result;
    if (pattern->kind == PATTERN_FACTOR || pattern->kind == PATTERN_COMPUTED) {
        const size_t line = find_line(lowering->diagnostics->source, pattern->offset, last);
        computed_rows *rows = &result->rows;
        if (pattern->kind == PATTERN_FACTOR)
            return add_group(lowering, pattern, columns, line, &result->groups, &result->group_count,
                             &result->group_capacity);
        *number = (uint32_t)rows->group_count;
        return add_group(lowering, pattern, columns, line, &rows->groups, &rows->group_count, &rows->group_capacity);
    }
    if (pattern->kind == PATTERN_PRIOR) {
        *number = (uint32_t)result->prior_count++;
        result->priors[*number] = pattern->shape;
        return add_values(lowering, pattern, columns, &result->priors[*number].values);
    }
    if (pattern->kind == PATTERN_DISCRETE) {
        lowered_values made = {0};
        *number = (uint32_t)result->summed.value_count++;
        svmp_status status = add_values(lowering, pattern, columns, &made);
        result->summed.values[*number] = (discrete_values){made.program, made.bound, made.variables};
        return status;
    }
    *number = (uint32_t)result->monitor_value_count++;
    return add_values(lowering, pattern, columns, &result->monitor_values[*number]);
}

svmp_status svmp_patterns_finish(model_lowering *lowering) {
    lowered_model *result = lowering->result;
    uint32_t *numbering;
    line_count last = {0, 1};
    SVMP_TRY(SVMP_NEW(lowering->context, result->priors, lowering->pattern_count));
    SVMP_TRY(SVMP_NEW(lowering->context, result->monitor_values, lowering->pattern_count));
    SVMP_TRY(SVMP_NEW(lowering->context, result->summed.values, lowering->pattern_count));
    SVMP_TRY(SVMP_NEW(lowering->context, numbering, lowering->pattern_count));
    svmp_status status = SVMP_OK;
    for (size_t k = 0; status == SVMP_OK && k < lowering->pattern_count; k++) {
        factor_pattern *pattern = &lowering->patterns[k];
        if (pattern->program == NULL && pattern->dense == NULL) continue; /* a constant */
        double *numbers = NULL, **columns = NULL;
        status = make_columns(lowering->context, pattern, &numbers, &columns);
        if (status == SVMP_OK)
            status = add_pattern(lowering, pattern, (const double *const *)columns, &last, &numbering[k]);
        svmp_release_all(lowering->context, numbers, columns);
    }
    for (size_t k = 0; status == SVMP_OK && k < result->node_count; k++)
        result->nodes[k].prior = numbering[result->nodes[k].prior];
    for (size_t k = 0; status == SVMP_OK && k < result->leaf_count; k++)
        result->leaves[k].prior = numbering[result->leaves[k].prior];
    for (size_t k = 0; status == SVMP_OK && k < result->monitor_count; k++)
        result->monitors[k].values = numbering[result->monitors[k].values];
    for (size_t k = 0; status == SVMP_OK && k < result->summed.component_count; k++)
        result->summed.components[k].values = numbering[result->summed.components[k].values];
    if (status == SVMP_OK) status = svmp_stored_finish(lowering, numbering);
    svmp_release(lowering->context, numbering);
    return status;
}
