#include "model/node_prior.h"

#include <math.h>

static size_t largest(size_t a, size_t b) { return a > b ? a : b; }

svmp_status svmp_prior_reserve(const lowered_model *lowered, size_t n, prior_workspace *work) {
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

void svmp_prior_release(const lowered_model *lowered, prior_workspace *work) {
    void *owned[] = {work->scratch, work->prior,     work->lower,    work->upper,
                     work->values,  work->variables, work->arguments};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(lowered->context, owned[k]);
}

void svmp_prior_evaluate(const lowered_model *lowered, const lowered_node *node, size_t n, const double *variables,
                         prior_workspace *work) {
    const lowered_values *values = &lowered->priors[node->prior].values;
    svmp_bound_evaluate(values->bound, values->variables, node->instance, 1, n, variables, work->scratch, work->prior,
                        NULL);
}

void svmp_prior_bounds(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                       prior_workspace *work) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    size_t first = svmp_program_outputs(prior->values.program) - 2 * prior->bounds;
    for (size_t k = 0; k < prior->bounds; k++) {
        work->lower[k] = work->prior[(first + 2 * k) * n + l];
        work->upper[k] = work->prior[(first + 2 * k + 1) * n + l];
    }
}

void svmp_prior_arguments(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                          prior_workspace *work, number_array *arguments) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    for (size_t k = 0, at = 0; k < prior->arguments; k++) {
        size_t count = prior->argument_rows[k] * prior->argument_columns[k];
        arguments[k] = (number_array){prior->argument_rows[k], prior->argument_columns[k], work->arguments + at};
        for (size_t i = 0; i < count; i++, at++) work->arguments[at] = work->prior[at * n + l];
    }
}

/* What moves of a node that drives a state is rest + slope * node. */
typedef struct state_line {
    double rest, slope;
} state_line;

static state_line find_state_line(const lowered_prior *prior, size_t n, size_t l, const prior_workspace *work) {
    const size_t at = svmp_program_outputs(prior->values.program) - 2 * prior->bounds - 2;
    return (state_line){work->prior[at * n + l], work->prior[(at + 1) * n + l]};
}

moved_line svmp_prior_location_scale(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                                     size_t k, const prior_workspace *work) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    const size_t part = lowered->parts[node->output + k], first = prior->argument_rows[0] * prior->argument_columns[0];
    const size_t second = prior->argument_rows[1] * prior->argument_columns[1];
    const double location = work->prior[(first == 1 ? 0 : part) * n + l];
    const double tau = work->prior[(first + (second == 1 ? 0 : part)) * n + l];
    const int scale = svmp_distribution_location_scale(node->distribution)->power == -1;
    const moved_line own = {location, scale ? tau : sqrt(tau)};
    if (node->state_slope == 0) return own;
    const state_line state = find_state_line(prior, n, l, work);
    return (moved_line){state.rest + state.slope * own.origin, own.root / fabs(state.slope)};
}

moved_line svmp_prior_line(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, size_t k,
                           const prior_workspace *work) {
    if (node->state_slope) {
        const state_line state = find_state_line(&lowered->priors[node->prior], n, l, work);
        return (moved_line){-state.rest / state.slope, state.slope};
    }
    const moved_line own = svmp_prior_location_scale(lowered, node, n, l, k, work);
    if (node->coordinates.centring == 0) return own;
    const double precision = own.root * own.root, information = node->coordinates.information;
    const double sum = information + precision;
    return (moved_line){(information * node->coordinates.centre + precision * own.origin) / sum, sqrt(sum)};
}

void svmp_prior_to_moved(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                         prior_workspace *work) {
    for (size_t k = 0; svmp_node_is_moved(node) && k < node->variables; k++) {
        const moved_line line = svmp_prior_line(lowered, node, n, l, k, work);
        work->variables[k] = (work->variables[k] - line.origin) * line.root;
    }
}

void svmp_prior_from_moved(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                           prior_workspace *work) {
    for (size_t k = 0; svmp_node_is_moved(node) && k < node->variables; k++) {
        const moved_line line = svmp_prior_line(lowered, node, n, l, k, work);
        work->variables[k] = line.origin + work->variables[k] / line.root;
    }
}

void svmp_prior_put(const lowered_node *node, size_t n, size_t l, const double *numbers, double *variables) {
    for (size_t k = 0; k < node->variables; k++) variables[(node->variable + k) * n + l] = numbers[k];
}

size_t svmp_lowered_level_start(const lowered_model *lowered, size_t level) {
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
