#include "model/lowered.h"

#include <math.h>
#include <string.h>

static void free_values(svmp_context *context, lowered_values *values) {
    svmp_bound_free(values->bound);
    svmp_program_free(values->program);
    svmp_release(context, values->variables);
}

void svmp_lowered_free(lowered_model *lowered) {
    if (lowered == NULL) return;
    svmp_context *context = lowered->context;
    for (size_t k = 0; k < lowered->node_count; k++) svmp_release(context, lowered->nodes[k].name);
    for (size_t k = 0; k < lowered->outputs; k++) svmp_release(context, lowered->names[k]);
    for (size_t k = 0; k < lowered->group_count; k++) {
        factor_group *group = &lowered->groups[k];
        if (group->kind) group->kind->free(context, group->self);
        svmp_release(context, group->variables);
        svmp_release(context, group->origin);
        svmp_release(context, group->whole.elsewhere);
    }
    for (size_t k = 0; k < lowered->prior_count; k++) free_values(context, &lowered->priors[k].values);
    for (size_t k = 0; k < lowered->monitor_value_count; k++) free_values(context, &lowered->monitor_values[k]);
    for (size_t k = 0; k < lowered->monitor_count; k++) svmp_release(context, lowered->monitors[k].name);
    svmp_summed_free(context, &lowered->summed);
    svmp_names_free(context, &lowered->computed);
    for (size_t k = 0; k < lowered->array_count; k++) {
        svmp_release(context, lowered->arrays[k].unknown);
        svmp_release(context, lowered->arrays[k].observed);
        svmp_release(context, lowered->arrays[k].computed);
        svmp_release(context, lowered->arrays[k].known);
        svmp_release(context, lowered->arrays[k].name);
        svmp_release(context, lowered->arrays[k].values);
    }
    void *owned[] = {lowered->nodes,  lowered->names,    lowered->parts,          lowered->lower,
                     lowered->upper,  lowered->groups,   lowered->priors,         lowered->by_level,
                     lowered->arrays, lowered->monitors, lowered->monitor_values, lowered->whole_output};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
    svmp_release(context, lowered);
}

/* ---- one node, all particles ------------------------------------------------------------------ */

/* Room for one node at a time: what its prior yields for n particles, and one particle's numbers. */
typedef struct workspace {
    void *scratch;
    double *prior; /* outputs of the program, n numbers each */
    double *lower, *upper, *values, *variables;
    double *arguments;
} workspace;

static void release(const lowered_model *lowered, workspace *work) {
    void *owned[] = {work->scratch, work->prior,     work->lower,    work->upper,
                     work->values,  work->variables, work->arguments};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(lowered->context, owned[k]);
}

static size_t largest(size_t a, size_t b) { return a > b ? a : b; }

static svmp_status reserve(const lowered_model *lowered, size_t n, workspace *work) {
    svmp_context *context = lowered->context;
    size_t scratch = 0, outputs = 0, values = 0;
    for (size_t k = 0; k < lowered->prior_count; k++) {
        const lowered_prior *prior = &lowered->priors[k];
        scratch = largest(scratch, svmp_bound_scratch(prior->values.bound, n));
        outputs = largest(outputs, svmp_program_outputs(prior->values.program));
        values = largest(values, prior->rows * prior->columns);
    }
    SVMP_TRY(svmp_allocate(context, scratch, 1, &work->scratch));
    SVMP_TRY(SVMP_NEW(context, work->prior, outputs * n));
    SVMP_TRY(SVMP_NEW(context, work->arguments, outputs));
    SVMP_TRY(SVMP_NEW(context, work->lower, values));
    SVMP_TRY(SVMP_NEW(context, work->upper, values));
    SVMP_TRY(SVMP_NEW(context, work->values, values));
    return SVMP_NEW(context, work->variables, values);
}

static void evaluate_prior(const lowered_model *lowered, const lowered_node *node, size_t n, const double *variables,
                           workspace *work) {
    const lowered_values *values = &lowered->priors[node->prior].values;
    svmp_bound_evaluate(values->bound, values->variables, node->instance, 1, n, variables, work->scratch, work->prior,
                        NULL);
}

/* The bounds of particle l, from what evaluate_prior left. */
static void pick_bounds(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, workspace *work) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    size_t first = svmp_program_outputs(prior->values.program) - 2 * prior->bounds;
    for (size_t k = 0; k < prior->bounds; k++) {
        work->lower[k] = work->prior[(first + 2 * k) * n + l];
        work->upper[k] = work->prior[(first + 2 * k + 1) * n + l];
    }
}

static int bounds_depend(const lowered_model *lowered, const lowered_node *node) {
    for (size_t k = node->output; lowered->dependent_bounds && k < node->output + node->outputs; k++)
        if (isnan(lowered->lower[k]) || isnan(lowered->upper[k])) return 1;
    return 0;
}

/* Bounds of particle l: numbers, or what the prior says. */
static void find_bounds(const lowered_model *lowered, const lowered_node *node, int depend, size_t n, size_t l,
                        workspace *work) {
    if (depend) {
        pick_bounds(lowered, node, n, l, work);
    } else {
        memcpy(work->lower, lowered->lower + node->output, node->outputs * sizeof(double));
        memcpy(work->upper, lowered->upper + node->output, node->outputs * sizeof(double));
    }
}

static void put_variables(const lowered_node *node, size_t n, size_t l, const workspace *work, double *variables) {
    for (size_t k = 0; k < node->variables; k++) variables[(node->variable + k) * n + l] = work->variables[k];
}

/* ---- natural and back ----------------------------------------------------------------------- */

static void natural_node(const lowered_model *lowered, const lowered_node *node, size_t n, const double *variables,
                         double *outputs, workspace *work) {
    int depend = bounds_depend(lowered, node);
    if (depend) evaluate_prior(lowered, node, n, variables, work);
    for (size_t l = 0; l < n; l++) {
        find_bounds(lowered, node, depend, n, l, work);
        for (size_t k = 0; k < node->variables; k++) work->variables[k] = variables[(node->variable + k) * n + l];
        svmp_transform_natural(node->transform, node->outputs, work->lower, work->upper, work->variables, work->values);
        for (size_t k = 0; k < node->outputs; k++) outputs[(node->output + k) * n + l] = work->values[k];
    }
}

svmp_status svmp_lowered_natural(const lowered_model *lowered, size_t n, const double *variables, double *outputs) {
    workspace work = {0};
    svmp_status status = reserve(lowered, n, &work);
    for (size_t k = 0; status == SVMP_OK && k < lowered->node_count; k++)
        natural_node(lowered, &lowered->nodes[k], n, variables, outputs, &work);
    release(lowered, &work);
    return status;
}

svmp_status svmp_lowered_monitor(const lowered_model *lowered, size_t n, const double *variables, double *values) {
    size_t room = 0;
    void *scratch = NULL;
    for (size_t k = 0; k < lowered->monitor_value_count; k++)
        room = largest(room, svmp_bound_scratch(lowered->monitor_values[k].bound, n));
    SVMP_TRY(svmp_allocate(lowered->context, room, 1, &scratch));
    for (size_t k = 0; k < lowered->monitor_count; k++) {
        const lowered_monitor *monitor = &lowered->monitors[k];
        const lowered_values *from = &lowered->monitor_values[monitor->values];
        svmp_bound_evaluate(from->bound, from->variables, monitor->instance, 1, n, variables, scratch, values + k * n,
                            NULL);
    }
    svmp_release(lowered->context, scratch);
    return SVMP_OK;
}

static svmp_status inverse_node(const lowered_model *lowered, const lowered_node *node, size_t n, const double *outputs,
                                double *variables, workspace *work) {
    int depend = bounds_depend(lowered, node);
    if (depend) evaluate_prior(lowered, node, n, variables, work);
    for (size_t l = 0; l < n; l++) {
        find_bounds(lowered, node, depend, n, l, work);
        for (size_t k = 0; k < node->outputs; k++) work->values[k] = outputs[(node->output + k) * n + l];
        if (!svmp_transform_inverse(node->transform, node->outputs, work->lower, work->upper, work->values,
                                    work->variables))
            return svmp_fail(lowered->context, SVMP_BAD_INPUT,
                             "The matrix '%s' is not positive definite in particle %zu.", node->name, l + 1);
        put_variables(node, n, l, work, variables);
    }
    return SVMP_OK;
}

/* The first place in by_level of this level, or of those behind it. */
static size_t level_start(const lowered_model *lowered, size_t level) {
    size_t low = 0, high = lowered->node_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lowered->nodes[lowered->by_level[middle]].level < level)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static svmp_status inverse_nodes(const lowered_model *lowered, size_t from, size_t to, size_t n, const double *outputs,
                                 double *variables) {
    workspace work = {0};
    svmp_status status = reserve(lowered, n, &work);
    for (size_t k = from; status == SVMP_OK && k < to; k++)
        status = inverse_node(lowered, &lowered->nodes[lowered->by_level[k]], n, outputs, variables, &work);
    release(lowered, &work);
    return status;
}

/* Parents first: bounds may depend on them. */
svmp_status svmp_lowered_inverse(const lowered_model *lowered, size_t n, const double *outputs, double *variables) {
    memset(variables, 0, lowered->variables * n * sizeof *variables);
    return inverse_nodes(lowered, 0, lowered->node_count, n, outputs, variables);
}

svmp_status svmp_lowered_inverse_level(const lowered_model *lowered, size_t level, size_t n, const double *outputs,
                                       double *variables) {
    return inverse_nodes(lowered, level_start(lowered, level), level_start(lowered, level + 1), n, outputs, variables);
}

/* ---- draws ---------------------------------------------------------------------------------- */

/* What random numbers are keyed by. */
static size_t whole_output(const lowered_model *lowered, size_t output) {
    return lowered->whole_output ? lowered->whole_output[output] : output;
}

/* The arguments of particle l, from what evaluate_prior left. */
static void pick_arguments(const lowered_prior *prior, size_t n, size_t l, workspace *work, number_array *arguments) {
    for (size_t k = 0, at = 0; k < prior->arguments; k++) {
        size_t count = prior->argument_rows[k] * prior->argument_columns[k];
        arguments[k] = (number_array){prior->argument_rows[k], prior->argument_columns[k], work->arguments + at};
        for (size_t i = 0; i < count; i++, at++) work->arguments[at] = work->prior[at * n + l];
    }
}

/* The whole left-hand side is drawn; its unknown part goes to work->values. */
static svmp_status draw_array(const lowered_model *lowered, const lowered_node *node, random_stream stream,
                              const number_array *arguments, workspace *work, bool *drawn) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    double *whole = work->variables; /* as long as the left-hand side */
    SVMP_TRY(svmp_distribution_draw(lowered->context, node->distribution, stream, prior->rows, prior->columns,
                                    arguments, -INFINITY, INFINITY, drawn, whole));
    for (size_t k = 0; *drawn && k < node->outputs; k++) work->values[k] = whole[lowered->parts[node->output + k]];
    return SVMP_OK;
}

/* Each unknown element by itself. */
static svmp_status draw_elements(const lowered_model *lowered, const lowered_node *node, random_stream stream,
                                 const number_array *arguments, workspace *work, bool *drawn) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    *drawn = true;
    for (size_t k = 0; *drawn && k < node->outputs; k++) {
        number_array own[DISTRIBUTION_ARGUMENTS];
        for (size_t j = 0; j < prior->arguments; j++) {
            bool one = arguments[j].rows * arguments[j].columns == 1;
            own[j] = (number_array){1, 1, arguments[j].items + (one ? 0 : lowered->parts[node->output + k])};
        }
        stream.a = whole_output(lowered, node->output + k);
        SVMP_TRY(svmp_distribution_draw(lowered->context, node->distribution, stream, 1, 1, own, work->lower[k],
                                        work->upper[k], drawn, &work->values[k]));
    }
    return SVMP_OK;
}

static svmp_status draw_node(const lowered_model *lowered, const lowered_node *node, uint64_t seed, size_t n,
                             double *variables, workspace *work) {
    number_array arguments[DISTRIBUTION_ARGUMENTS];
    bool scalar = node->distribution->rank == RANK_SCALAR;
    evaluate_prior(lowered, node, n, variables, work);
    for (size_t l = 0; l < n; l++) {
        random_stream stream = {.seed = seed, .purpose = RANDOM_INIT, .a = whole_output(lowered, node->output), .b = l};
        bool drawn = false;
        pick_bounds(lowered, node, n, l, work);
        pick_arguments(&lowered->priors[node->prior], n, l, work, arguments);
        if (node->distribution->proper)
            SVMP_TRY(scalar ? draw_elements(lowered, node, stream, arguments, work, &drawn)
                            : draw_array(lowered, node, stream, arguments, work, &drawn));
        drawn = drawn && svmp_transform_inverse(node->transform, node->outputs, work->lower, work->upper, work->values,
                                                work->variables);
        for (size_t k = 0; drawn && k < node->variables; k++) drawn = isfinite(work->variables[k]);
        if (!drawn) svmp_random_normals(stream, node->variables, work->variables);
        put_variables(node, n, l, work, variables);
    }
    return SVMP_OK;
}

static svmp_status draw_nodes(const lowered_model *lowered, size_t from, size_t to, uint64_t seed, size_t n,
                              double *variables) {
    workspace work = {0};
    svmp_status status = reserve(lowered, n, &work);
    for (size_t k = from; status == SVMP_OK && k < to; k++)
        status = draw_node(lowered, &lowered->nodes[lowered->by_level[k]], seed, n, variables, &work);
    release(lowered, &work);
    return status;
}

svmp_status svmp_lowered_draw(const lowered_model *lowered, uint64_t seed, size_t n, double *variables) {
    memset(variables, 0, lowered->variables * n * sizeof *variables);
    return draw_nodes(lowered, 0, lowered->node_count, seed, n, variables);
}

svmp_status svmp_lowered_draw_level(const lowered_model *lowered, size_t level, uint64_t seed, size_t n,
                                    double *variables) {
    return draw_nodes(lowered, level_start(lowered, level), level_start(lowered, level + 1), seed, n, variables);
}
