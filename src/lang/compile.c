/* Compiles what was parsed to nodes and factors: the order of the passes. A pass notes all errors that it finds; the
 * next one runs only if there were none. */
#include "lang/compile.h"

#include <stdarg.h>
#include <string.h>

#include "base/name_distance.h"
#include "base/number.h"
#include "lang/discrete/discrete_unknowns.h"
#include "model/dense_normal_factors.h"

/* ---- reports -------------------------------------------------------------------------------- */

svmp_status svmp_lowering_log(const model_lowering *lowering, svmp_log_level level, const char *format, ...) {
    compile_report *report = lowering->report;
    char text[1024], *kept;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    SVMP_TRY(SVMP_GROW(lowering->context, report->messages, report->capacity, report->count + 1));
    SVMP_TRY(svmp_duplicate(lowering->context, text, &kept));
    report->messages[report->count++] = (compile_message){level, kept};
    return SVMP_OK;
}

svmp_status svmp_compile_report(svmp_context *context, compile_report *report) {
    if (report->errors) return svmp_diagnostics_report(report->errors);
    for (size_t k = 0; k < report->count; k++)
        svmp_log(context, report->messages[k].level, "%s", report->messages[k].text);
    return SVMP_OK;
}

void svmp_compile_report_free(svmp_context *context, compile_report *report) {
    for (size_t k = 0; k < report->count; k++) svmp_release(context, report->messages[k].text);
    svmp_release(context, report->messages);
    svmp_diagnostics_free(report->errors);
    *report = (compile_report){0};
}

/* ---- life ----------------------------------------------------------------------------------- */

static svmp_status copy(svmp_context *context, const void *from, size_t count, size_t size, void **made) {
    SVMP_TRY(svmp_allocate(context, count, size, made));
    if (count > 0) memcpy(*made, from, count * size);
    return SVMP_OK;
}

#define COPY(member, count) copy(context, from->member, (count), sizeof *from->member, (void **)&lowering->member)

/* Copies the parts of the parsed model that a compilation changes; the others are shared. */
static svmp_status begin(const model_lowering *from, model_lowering *lowering) {
    svmp_context *context = from->context;
    SVMP_TRY(COPY(arrays, from->ast->names.count));
    SVMP_TRY(COPY(states, from->ast->statements));
    SVMP_TRY(COPY(known_calls, from->ast->calls));
    SVMP_TRY(COPY(elements, from->element_count));
    SVMP_TRY(COPY(instances, from->instance_count));
    SVMP_TRY(COPY(edges, from->edge_count));
    SVMP_TRY(COPY(diagnostics, 1));
    SVMP_TRY(svmp_builder_create(context, &lowering->builder));
    SVMP_TRY(svmp_builder_create(context, &lowering->calculator));
    SVMP_TRY(SVMP_NEW(context, lowering->result, 1));
    lowering->result->context = context;
    return SVMP_OK;
}

static model_lowering begin_from(const model_lowering *from) {
    return (model_lowering){.context = from->context,
                            .ast = from->ast,
                            .data = from->data,
                            .counter_values = from->counter_values,
                            .counter_count = from->counter_count,
                            .cut_lower = from->cut_lower,
                            .cut_upper = from->cut_upper,
                            .cut_by = from->cut_by,
                            .names = from->names,
                            .reads = from->reads,
                            .given = from->given,
                            .simulated = from->simulated,
                            .element_count = from->element_count,
                            .element_capacity = from->element_count,
                            .instance_count = from->instance_count,
                            .instance_capacity = from->instance_count,
                            .edge_count = from->edge_count,
                            .edge_capacity = from->edge_count,
                            .stamp = from->stamp,
                            .pending = NOTHING,
                            .instance = NOTHING,
                            .factor = NOTHING,
                            .without = NOTHING};
}

void svmp_lowering_end(model_lowering *lowering) {
    svmp_context *context = lowering->context;
    for (size_t k = 0; k < lowering->pattern_count; k++) {
        factor_pattern *pattern = &lowering->patterns[k];
        svmp_program_free(pattern->program);
        if (pattern->dense) svmp_release(context, pattern->dense->source);
        svmp_release_all(context, pattern->signature, pattern->variables, pattern->numbers, pattern->origin,
                         pattern->last, pattern->whole.elsewhere, pattern->dense);
    }
    svmp_release_all(context, lowering->arrays, lowering->elements, lowering->instances, lowering->states,
                     lowering->items, lowering->slots, lowering->slot_of, lowering->slot_stamp, lowering->parameters,
                     lowering->lower, lowering->upper, lowering->edges, lowering->patterns, lowering->element_of,
                     lowering->pattern_slots, lowering->signature, lowering->parents, lowering->node_of,
                     lowering->index_choices, lowering->stored.row, lowering->known_calls, lowering->stored.places);
    svmp_discrete_free(lowering);
    svmp_builder_free(lowering->builder);
    svmp_builder_free(lowering->calculator);
    svmp_lowered_free(lowering->result);
    svmp_diagnostics_free(lowering->diagnostics);
}

/* ---- passes --------------------------------------------------------------------------------- */

static svmp_status make_nodes(model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (statement->kind != AST_STOCHASTIC || svmp_failed(lowering, statement)) continue;
        lowering->stamp++;
        SVMP_TRY(svmp_go_on(lowering, svmp_make_node(lowering, k)));
    }
    SVMP_TRY(svmp_make_totals(lowering));
    svmp_place_leaves(lowering);
    if (lowering->diagnostics->count == 0) SVMP_TRY(svmp_stored_choose(lowering));
    const size_t variables = lowering->result->variables + lowering->result->leaf_variables + lowering->discrete_count +
                             lowering->stored.most;
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->slot_of, variables));
    return SVMP_NEW(lowering->context, lowering->slot_stamp, variables);
}

/* For a part of the model, or the graph only. */
static svmp_status look_up_nodes(model_lowering *lowering) {
    const lowered_model *result = lowering->result;
    if (lowering->owners == NULL && lowering->graph == NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->node_of, result->variables));
    for (size_t v = 0; v < result->node_count; v++) {
        const lowered_node *node = &result->nodes[v];
        for (size_t k = 0; k < node->variables; k++) lowering->node_of[node->variable + k] = (uint32_t)v;
        if (lowering->graph) SVMP_TRY(svmp_graph_add_node(lowering->graph, node->variables));
    }
    return SVMP_OK;
}

static svmp_status add_factors(model_lowering *lowering) {
    lowering->symbolic = true;
    SVMP_TRY(svmp_stored_begin(lowering));
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (statement->kind == AST_DETERMINISTIC || svmp_failed(lowering, statement)) continue;
        lowering->result->potentials |= statement->kind == AST_FACTOR && statement->offset != lowering->ast->model_end;
        SVMP_TRY(svmp_go_on(lowering, svmp_add_factor(lowering, k)));
    }
    SVMP_TRY(svmp_stored_compute(lowering));
    lowering->symbolic = lowering->storing = false;
    return SVMP_OK;
}

static svmp_status require_unknowns(const model_lowering *lowering) {
    if (lowering->result->variables > 0) return SVMP_OK;
    return svmp_fail(lowering->context, SVMP_BAD_INPUT,
                     "%s: error: the model has no unknowns, so there is nothing to infer.",
                     lowering->diagnostics->source->path);
}

/* A stochastic name of the model without data that is spelt almost like one of the data; NULL: there is none. */
static const char *similar_name(const model_lowering *lowering, const char *name) {
    const char *best = NULL;
    int nearest = 0;
    for (uint32_t k = 0; k < lowering->ast->names.count; k++) {
        const char *candidate = lowering->ast->names.text[k];
        const int distance = svmp_name_distance(name, strlen(name), candidate);
        if (lowering->arrays[k].rank_seen == 0 || svmp_data_find(lowering->data, candidate)) continue;
        if (distance > 0 && (best == NULL || distance < nearest)) best = candidate, nearest = distance;
    }
    return best;
}

/* Data that the model never mentions are usually a mistake; if there are many, the table has more columns. */
static svmp_status warn_of_unread_data(const model_lowering *lowering) {
    enum { SHOWN = 5 };
    size_t unread = 0;
    for (size_t k = 0; k < lowering->data->count; k++) {
        const data_array *array = &lowering->data->arrays[k];
        if (svmp_data_levels(lowering->data, array->name)) continue; /* tables have columns of text besides */
        uint32_t symbol = svmp_names_find(&lowering->ast->names, array->name, strlen(array->name));
        if (symbol != NAMES_NONE && (lowering->arrays[symbol].read || lowering->arrays[symbol].rank_seen > 0)) continue;
        if (unread++ >= SHOWN) continue;
        char sentence[200], text[900];
        const char *near = similar_name(lowering, array->name);
        if (array->name[0] == '.') /* .RNG.seed */
            snprintf(sentence, sizeof sentence, "'%.100s' belongs to inits: if this file has inits, it is no data",
                     array->name);
        else
            snprintf(sentence, sizeof sentence, "'%.100s' is not used by the model%s%.60s%s", array->name,
                     near ? "; did you mean '" : "", near ? near : "", near ? "', which has no data?" : "");
        svmp_data_describe(lowering->data, array, "warning", sentence, text, sizeof text);
        SVMP_TRY(svmp_lowering_log(lowering, SVMP_LOG_WARNING, "%s", text));
    }
    if (unread <= SHOWN) return SVMP_OK;
    return svmp_lowering_log(lowering, SVMP_LOG_WARNING, "%s: warning: %zu more name%s not used by the model",
                             lowering->diagnostics->source->path, unread - SHOWN,
                             unread - SHOWN == 1 ? " of the data is" : "s of the data are");
}

static size_t node_with(const lowered_model *result, uint32_t variable) {
    size_t low = 0, high = result->node_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(result->nodes[middle].variable <= variable ? &low : &high) = middle;
    }
    return low;
}

/* Whether some factor joins several nodes. */
static bool joins_nodes(const lowered_model *result) {
    for (size_t g = 0; g < result->group_count; g++) {
        const factor_group *group = &result->groups[g];
        for (size_t k = 0; k < group->instances * group->slots; k++)
            if (node_with(result, group->variables[k]) !=
                node_with(result, group->variables[k / group->slots * group->slots]))
                return true;
    }
    return false;
}

/* Warns if there are data but no node is observed, so that the result is the prior. That is usually a mistake, unless
 * no node depends on another. */
static svmp_status warn_of_no_observation(const model_lowering *lowering) {
    const lowered_model *result = lowering->result;
    if (result->observed > 0 || result->potentials || lowering->data->count == 0) return SVMP_OK;
    if (!joins_nodes(result) && result->leaf_count == 0) return SVMP_OK;
    return svmp_lowering_log(
        lowering, SVMP_LOG_WARNING,
        "%s: warning: nothing is observed: no node of the model has a value in the data, so the result is the prior",
        lowering->diagnostics->source->path);
}

static svmp_status lower(model_lowering *lowering) {
    const diagnostics *noted = lowering->diagnostics;
    SVMP_TRY(make_nodes(lowering));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(look_up_nodes(lowering));
    SVMP_TRY(add_factors(lowering));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(svmp_discrete_sum(lowering));
    SVMP_TRY(svmp_discrete_finish(lowering));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(require_unknowns(lowering));
    svmp_status status = svmp_order_nodes(lowering);
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(status);
    if (lowering->graph) return SVMP_OK;
    SVMP_TRY(svmp_add_monitors(lowering, lowering->monitors));
    SVMP_TRY(svmp_patterns_finish(lowering));
    SVMP_TRY(svmp_describe_arrays(lowering));
    SVMP_TRY(svmp_label_arrays(lowering));
    if (lowering->given || lowering->simulated) return SVMP_OK; /* the run that is predicted from has printed them */
    SVMP_TRY(warn_of_unread_data(lowering));
    return warn_of_no_observation(lowering);
}

static svmp_status log_auxiliary(const model_lowering *lowering) {
    return svmp_lowering_log(
        lowering, SVMP_LOG_INFO,
        "%s: all unknowns are discrete, so their probabilities are exact. The standard normal variable "
        "'auxiliary.number' was added because particles need a continuous variable.",
        lowering->diagnostics->source->path);
}

static svmp_status compile(const parsed_model *parsed, model_lowering *lowering) {
    number_locale locale = {0};
    svmp_status status;
    SVMP_CHECK(begin(&parsed->resolved, lowering));
    if (parsed->auxiliary) SVMP_CHECK(log_auxiliary(lowering));
    SVMP_CHECK(svmp_number_enter(lowering->context, &locale));
    status = lower(lowering);
    if (status == SVMP_BAD_INPUT && lowering->diagnostics->count > 0) {
        lowering->report->errors = lowering->diagnostics;
        lowering->diagnostics = NULL;
    }
done:
    svmp_number_leave(&locale);
    return status;
}

svmp_status svmp_compile_nodes(const parsed_model *parsed, const choices *made, const graph_owners *owners,
                               compile_report *report, svmp_graph *graph, lowered_model **lowered) {
    model_lowering lowering = begin_from(&parsed->resolved);
    compile_report own = {0};
    lowering.choices = made;
    lowering.owners = owners;
    lowering.graph = graph;
    lowering.monitors = graph ? NULL : parsed->monitors;
    lowering.report = report ? report : &own; /* cppcheck-suppress autoVariables ; until the end of this function */
    svmp_status status = compile(parsed, &lowering);
    if (report == NULL) svmp_compile_report(parsed->context, &own);
    svmp_compile_report_free(parsed->context, &own);
    if (status == SVMP_OK && lowered) {
        *lowered = lowering.result;
        lowering.result = NULL;
    }
    svmp_lowering_end(&lowering);
    return status;
}
