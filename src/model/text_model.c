#include "model/text_model.h"

#include <math.h>
#include <string.h>

#include "model/node_prior.h"

static void free_values(svmp_context *context, lowered_values *values) {
    svmp_bound_free(values->bound);
    svmp_program_free(values->program);
    svmp_release(context, values->variables);
}

int svmp_lowered_is_proper(const lowered_model *lowered) {
    for (size_t k = 0; k < lowered->node_count; k++)
        if (!lowered->nodes[k].distribution->proper) return 0;
    return !lowered->potentials;
}

void svmp_lowered_free(lowered_model *lowered) {
    if (lowered == NULL) return;
    svmp_context *context = lowered->context;
    for (size_t k = 0; k < lowered->node_count; k++) svmp_release(context, lowered->nodes[k].name);
    for (size_t k = 0; k < lowered->leaf_count; k++) svmp_release(context, lowered->leaves[k].name);
    for (size_t k = 0; k < lowered->outputs; k++) svmp_release(context, lowered->names[k]);
    for (size_t k = 0; k < lowered->group_count; k++) {
        factor_group *group = &lowered->groups[k];
        if (group->kind) group->kind->free(context, group->self);
        svmp_release(context, group->variables);
        svmp_release(context, group->origin);
        svmp_release(context, group->whole.elsewhere);
    }
    svmp_computed_rows_free(context, &lowered->rows);
    for (size_t k = 0; k < lowered->prior_count; k++) free_values(context, &lowered->priors[k].values);
    for (size_t k = 0; k < lowered->monitor_value_count; k++) free_values(context, &lowered->monitor_values[k]);
    for (size_t k = 0; k < lowered->monitor_count; k++) svmp_release(context, lowered->monitors[k].name);
    svmp_summed_free(context, &lowered->summed);
    svmp_names_free(context, &lowered->computed);
    svmp_names_free(context, &lowered->drawn_names);
    for (size_t k = 0; k < lowered->array_count; k++) {
        svmp_release(context, lowered->arrays[k].unknown);
        svmp_release(context, lowered->arrays[k].observed);
        svmp_release(context, lowered->arrays[k].computed);
        svmp_release(context, lowered->arrays[k].drawn);
        svmp_release(context, lowered->arrays[k].summed);
        svmp_release(context, lowered->arrays[k].known);
        svmp_release(context, lowered->arrays[k].name);
        svmp_release(context, lowered->arrays[k].values);
    }
    for (size_t k = 0; k < lowered->label_count; k++) {
        svmp_release(context, lowered->labels[k].array);
        svmp_release(context, lowered->labels[k].text);
        svmp_names_free(context, &lowered->labels[k].levels);
    }
    svmp_release(context, lowered->labels);
    void *owned[] = {lowered->nodes,          lowered->names,        lowered->parts,           lowered->lower,
                     lowered->upper,          lowered->groups,       lowered->priors,          lowered->by_level,
                     lowered->arrays,         lowered->monitors,     lowered->drawn,           lowered->leaves,
                     lowered->monitor_values, lowered->whole_output, lowered->leaves_by_level, lowered->sorted};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
    svmp_release(context, lowered);
}

static int bounds_depend(const lowered_model *lowered, const lowered_node *node) {
    for (size_t k = node->output; lowered->dependent_bounds && k < node->output + node->outputs; k++)
        if (isnan(lowered->lower[k]) || isnan(lowered->upper[k])) return 1;
    return 0;
}

/* Bounds of particle l: numbers, or what the prior says. */
static void find_bounds(const lowered_model *lowered, const lowered_node *node, int depend, size_t n, size_t l,
                        prior_workspace *work) {
    if (depend) {
        svmp_prior_bounds(lowered, node, n, l, work);
    } else {
        memcpy(work->lower, lowered->lower + node->output, node->outputs * sizeof(double));
        memcpy(work->upper, lowered->upper + node->output, node->outputs * sizeof(double));
    }
}

/* ---- natural and back ----------------------------------------------------------------------- */

static void natural_node(const lowered_model *lowered, const lowered_node *node, size_t n, const double *variables,
                         double *outputs, prior_workspace *work) {
    int depend = bounds_depend(lowered, node);
    if (depend || svmp_node_is_moved(node)) svmp_prior_evaluate(lowered, node, n, variables, work);
    for (size_t l = 0; l < n; l++) {
        find_bounds(lowered, node, depend, n, l, work);
        for (size_t k = 0; k < node->variables; k++) work->variables[k] = variables[(node->variable + k) * n + l];
        svmp_prior_from_moved(lowered, node, n, l, work);
        svmp_transform_natural(node->transform, node->outputs, work->lower, work->upper, work->variables, work->values);
        for (size_t k = 0; k < node->outputs; k++) outputs[(node->output + k) * n + l] = work->values[k];
    }
}

svmp_status svmp_lowered_natural(const lowered_model *lowered, size_t n, const double *variables, double *outputs) {
    prior_workspace work = {0};
    svmp_status status = svmp_prior_reserve(lowered, n, &work);
    for (size_t k = 0; status == SVMP_OK && k < lowered->node_count; k++)
        natural_node(lowered, &lowered->nodes[k], n, variables, outputs, &work);
    svmp_prior_release(lowered, &work);
    return status;
}

svmp_status svmp_lowered_monitor(const lowered_model *lowered, size_t n, const double *variables, double *values) {
    size_t workspace = 0;
    void *scratch = NULL;
    for (size_t k = 0; k < lowered->monitor_value_count; k++) {
        const size_t needed = svmp_bound_scratch(lowered->monitor_values[k].bound, n);
        if (needed > workspace) workspace = needed;
    }
    SVMP_TRY(svmp_allocate(lowered->context, workspace, 1, &scratch));
    for (size_t k = 0; k < lowered->monitor_count; k++) {
        const lowered_monitor *monitor = &lowered->monitors[k];
        const lowered_values *from = &lowered->monitor_values[monitor->values];
        svmp_bound_evaluate(from->bound, from->variables, monitor->instance, 1, n, variables, scratch, values + k * n,
                            NULL);
    }
    svmp_release(lowered->context, scratch);
    return SVMP_OK;
}

/* Values that no particle can have. */
static svmp_status refuse_outside(const lowered_model *lowered, const lowered_node *node, size_t k, size_t l,
                                  const prior_workspace *work) {
    const char *name = lowered->names[node->output + k];
    switch (node->transform) {
    case TRANSFORM_POSITIVE_DEFINITE:
        return svmp_fail(lowered->context, SVMP_BAD_INPUT, "The matrix '%s' is not symmetric in particle %zu.",
                         node->name, l + 1);
    case TRANSFORM_ZERO_SUM:
        return svmp_fail(lowered->context, SVMP_BAD_INPUT, "'%s' does not sum to 0 in particle %zu.", node->name,
                         l + 1);
    case TRANSFORM_SIMPLEX:
        if (work->values[k] >= 0 && work->values[k] <= 1)
            return svmp_fail(lowered->context, SVMP_BAD_INPUT, "'%s' does not sum to 1 in particle %zu.", node->name,
                             l + 1);
        return svmp_fail(lowered->context, SVMP_BAD_INPUT, "'%s' is %g in particle %zu, outside its support: 0 to 1.",
                         name, work->values[k], l + 1);
    default:
        return svmp_fail(lowered->context, SVMP_BAD_INPUT, "'%s' is %g in particle %zu, outside its support: %g to %g.",
                         name, work->values[k], l + 1, work->lower[k], work->upper[k]);
    }
}

static svmp_status inverse_node(const lowered_model *lowered, const lowered_node *node, size_t n, const double *outputs,
                                double *variables, prior_workspace *work) {
    int depend = bounds_depend(lowered, node);
    if (depend || svmp_node_is_moved(node)) svmp_prior_evaluate(lowered, node, n, variables, work);
    for (size_t l = 0; l < n; l++) {
        find_bounds(lowered, node, depend, n, l, work);
        for (size_t k = 0; k < node->outputs; k++) work->values[k] = outputs[(node->output + k) * n + l];
        const size_t outside =
            svmp_transform_outside(node->transform, node->outputs, work->lower, work->upper, work->values);
        if (outside < node->outputs) return refuse_outside(lowered, node, outside, l, work);
        if (!svmp_transform_inverse(node->transform, node->outputs, work->lower, work->upper, work->values,
                                    work->variables))
            return svmp_fail(lowered->context, SVMP_BAD_INPUT,
                             "The matrix '%s' is not positive definite in particle %zu.", node->name, l + 1);
        svmp_prior_to_moved(lowered, node, n, l, work);
        svmp_prior_put(node, n, l, work->variables, variables);
    }
    return SVMP_OK;
}

static svmp_status inverse_nodes(const lowered_model *lowered, size_t from, size_t to, size_t n, const double *outputs,
                                 double *variables) {
    prior_workspace work = {0};
    svmp_status status = svmp_prior_reserve(lowered, n, &work);
    for (size_t k = from; status == SVMP_OK && k < to; k++)
        status = inverse_node(lowered, &lowered->nodes[lowered->by_level[k]], n, outputs, variables, &work);
    svmp_prior_release(lowered, &work);
    return status;
}

/* Parents first: bounds may depend on them. */
svmp_status svmp_lowered_inverse(const lowered_model *lowered, size_t n, const double *outputs, double *variables) {
    memset(variables, 0, lowered->variables * n * sizeof *variables);
    return inverse_nodes(lowered, 0, lowered->node_count, n, outputs, variables);
}

svmp_status svmp_lowered_inverse_level(const lowered_model *lowered, size_t level, size_t n, const double *outputs,
                                       double *variables) {
    return inverse_nodes(lowered, svmp_lowered_level_start(lowered, level),
                         svmp_lowered_level_start(lowered, level + 1), n, outputs, variables);
}
