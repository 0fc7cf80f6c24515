/* Compiles a model text and its data to nodes and factors: the order of the passes. A pass records all errors it finds;
 * the next one runs only if there were none. */
#include "lang/discrete/discrete_unknowns.h"

#include <string.h>
#include <strings.h>

#include "base/name_distance.h"

/* ---- life ----------------------------------------------------------------------------------- */

static svmp_status begin(model_lowering *lowering) {
    svmp_context *context = lowering->context;
    size_t count = lowering->ast->names.count;
    SVMP_TRY(SVMP_NEW(context, lowering->arrays, count));
    for (size_t k = 0; k < count; k++) {
        model_array *array = &lowering->arrays[k];
        array->first = SIZE_MAX;
        array->whole = NOTHING;
        array->data = svmp_data_find(lowering->data, lowering->ast->names.text[k]);
        if (array->data == NULL) continue;
        array->is_data = array->sized = true;
        array->count = array->data->count;
        array->shape.rank = array->data->rank;
        memcpy(array->shape.dimensions, array->data->dimensions, sizeof array->shape.dimensions);
    }
    SVMP_TRY(svmp_builder_create(context, &lowering->builder));
    SVMP_TRY(svmp_builder_create(context, &lowering->calculator));
    SVMP_TRY(SVMP_NEW(context, lowering->result, 1));
    lowering->result->context = context;
    return SVMP_OK;
}

static void end(model_lowering *lowering) {
    svmp_context *context = lowering->context;
    for (size_t k = 0; k < lowering->pattern_count; k++) {
        factor_pattern *pattern = &lowering->patterns[k];
        svmp_program_free(pattern->program);
        svmp_release(context, pattern->signature);
        svmp_release(context, pattern->variables);
        svmp_release(context, pattern->numbers);
        svmp_release(context, pattern->origin);
        svmp_release(context, pattern->last);
        svmp_release(context, pattern->whole.elsewhere);
    }
    void *owned[] = {lowering->arrays,        lowering->elements,     lowering->instances, lowering->counter_values,
                     lowering->items,         lowering->slots,        lowering->slot_of,   lowering->slot_stamp,
                     lowering->parameters,    lowering->lower,        lowering->upper,     lowering->edges,
                     lowering->patterns,      lowering->element_of,   lowering->cut_lower, lowering->cut_upper,
                     lowering->pattern_slots, lowering->signature,    lowering->parents,   lowering->cut_by,
                     lowering->node_of,       lowering->last_of_name, lowering->choices,   lowering->stored.row,
                     lowering->stored.places};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
    svmp_discrete_free(lowering);
    svmp_builder_free(lowering->builder);
    svmp_builder_free(lowering->calculator);
    svmp_lowered_free(lowering->result);
}

/* ---- passes --------------------------------------------------------------------------------- */

/* Evaluates the deterministic instances, and those that data { } draws; what depends on unknowns stays opaque. */
static svmp_status compute_all(model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        bool wanted = statement->kind == AST_DETERMINISTIC || (lowering->in_data && statement->kind == AST_STOCHASTIC);
        if (!wanted || statement->failed || lowering->instances[k].computed) continue;
        lowering->stamp++;
        lowering->pending = k;
        SVMP_TRY(svmp_go_on(lowering, svmp_compute_pending(lowering)));
    }
    return SVMP_OK;
}

/* data { } is computed; what it defines is data from then on. */
static svmp_status run_data_block(model_lowering *lowering) {
    lowering->in_data = true;
    SVMP_TRY(svmp_size_arrays(lowering, lowering->ast->data));
    SVMP_TRY(svmp_diagnostics_report(lowering->diagnostics));
    SVMP_TRY(svmp_define(lowering));
    SVMP_TRY(compute_all(lowering));
    SVMP_TRY(svmp_diagnostics_report(lowering->diagnostics));
    for (size_t k = 0; k < lowering->element_count; k++) lowering->elements[k].definition = NOTHING;
    for (size_t k = 0; k < lowering->ast->names.count; k++) {
        model_array *array = &lowering->arrays[k];
        if (array->rank_seen > 0) array->is_data = array->sized = true;
    }
    lowering->instance_count = lowering->edge_count = 0;
    lowering->in_data = false;
    return SVMP_OK;
}

static svmp_status make_nodes(model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (statement->kind != AST_STOCHASTIC || statement->failed) continue;
        lowering->stamp++;
        SVMP_TRY(svmp_go_on(lowering, svmp_censor(lowering, k)));
    }
    SVMP_TRY(svmp_find_leaves(lowering));
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (statement->kind != AST_STOCHASTIC || statement->failed) continue;
        lowering->stamp++;
        SVMP_TRY(svmp_go_on(lowering, svmp_make_node(lowering, k)));
    }
    SVMP_TRY(svmp_make_totals(lowering));
    svmp_place_leaves(lowering);
    const size_t variables = lowering->result->variables + lowering->result->leaf_variables + lowering->discrete_count +
                             lowering->stored.most;
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->slot_of, variables));
    return SVMP_NEW(lowering->context, lowering->slot_stamp, variables);
}

/* For those who need a part alone. */
static svmp_status look_up_nodes(model_lowering *lowering) {
    const lowered_model *result = lowering->result;
    if (lowering->request.owners == NULL && lowering->graph == NULL) return SVMP_OK;
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
        if (statement->kind == AST_DETERMINISTIC || statement->failed) continue;
        lowering->result->potentials |= statement->kind == AST_FACTOR;
        SVMP_TRY(svmp_go_on(lowering, svmp_add_factor(lowering, k)));
    }
    SVMP_TRY(svmp_stored_compute(lowering));
    lowering->symbolic = lowering->storing = false;
    return SVMP_OK;
}

static svmp_status require_unknowns(model_lowering *lowering) {
    if (lowering->result->variables > 0) return SVMP_OK;
    lowering->only_discrete = lowering->discrete_count + lowering->result->leaf_count > 0;
    lowering->model_end = lowering->ast->model_end;
    if (lowering->only_discrete) return SVMP_BAD_INPUT; /* lower_any goes on */
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
        const int distance = strcasecmp(name, candidate) == 0 ? 1 : svmp_name_distance(name, strlen(name), candidate);
        if (lowering->arrays[k].rank_seen == 0 || svmp_data_find(lowering->data, candidate)) continue;
        if (distance > 0 && (best == NULL || distance < nearest)) best = candidate, nearest = distance;
    }
    return best;
}

/* Names in the data that the model never mentions are most often a slip; many of them are a table that has more. */
static void warn_of_unread_data(const model_lowering *lowering) {
    enum { TOLD = 5 };
    size_t unread = 0;
    for (size_t k = 0; k < lowering->data->count; k++) {
        const data_array *array = &lowering->data->arrays[k];
        uint32_t symbol = svmp_names_find(&lowering->ast->names, array->name, strlen(array->name));
        if (symbol != NAMES_NONE && (lowering->arrays[symbol].read || lowering->arrays[symbol].rank_seen > 0)) continue;
        if (unread++ >= TOLD) continue;
        char sentence[200], text[900];
        const char *near = similar_name(lowering, array->name);
        if (array->name[0] == '.') /* .RNG.seed */
            snprintf(sentence, sizeof sentence, "'%.100s' belongs to inits: if this file has inits, it is no data",
                     array->name);
        else
            snprintf(sentence, sizeof sentence, "'%.100s' is not used by the model%s%.60s%s", array->name,
                     near ? "; did you mean '" : "", near ? near : "", near ? "', which has no data?" : "");
        svmp_data_describe(lowering->data, array, "warning", sentence, text, sizeof text);
        svmp_log(lowering->context, SVMP_LOG_WARNING, "%s", text);
    }
    if (unread > TOLD)
        svmp_log(lowering->context, SVMP_LOG_WARNING, "%s: warning: %zu more name%s not used by the model",
                 lowering->diagnostics->source->path, unread - TOLD,
                 unread - TOLD == 1 ? " of the data is" : "s of the data are");
}

static size_t node_with(const lowered_model *result, uint32_t variable) {
    size_t low = 0, high = result->node_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (result->nodes[middle].variable <= variable)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether some factor is of several nodes. */
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

/* With data, of which no node is an observation, the result is the prior: most often a slip, unless no node depends on
 * another. */
static void warn_of_no_observation(const model_lowering *lowering) {
    const lowered_model *result = lowering->result;
    if (result->observed > 0 || result->potentials || lowering->data->count == 0) return;
    if (!joins_nodes(result) && result->leaf_count == 0) return;
    svmp_log(
        lowering->context, SVMP_LOG_WARNING,
        "%s: warning: nothing is observed: no node of the model has a value in the data, so the result is the prior",
        lowering->diagnostics->source->path);
}

/* Text among the data is skipped, unless it is what the model asks for. */
static svmp_status refuse_text(const model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->ast->names.count; k++) {
        const char *name = lowering->ast->names.text[k];
        if (svmp_names_find(&lowering->data->text, name, strlen(name)) != NAMES_NONE)
            return svmp_fail(
                lowering->context, SVMP_BAD_INPUT,
                "%s: error: the values of '%.100s' in the data are text, not numbers. Write NA for a missing "
                "value, and number the levels of a factor from 1.",
                lowering->diagnostics->source->path, name);
    }
    return SVMP_OK;
}

static svmp_status lower(model_lowering *lowering) {
    diagnostics *noted = lowering->diagnostics;
    SVMP_TRY(begin(lowering));
    SVMP_TRY(refuse_text(lowering));
    SVMP_TRY(svmp_check(lowering));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(svmp_declare(lowering));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(run_data_block(lowering));
    SVMP_TRY(svmp_size_arrays(lowering, lowering->ast->model));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(svmp_define(lowering));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(compute_all(lowering));
    SVMP_TRY(make_nodes(lowering));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(look_up_nodes(lowering));
    SVMP_TRY(add_factors(lowering));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(svmp_discrete_sum(lowering));
    SVMP_TRY(svmp_discrete_finish(lowering));
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(require_unknowns(lowering));
    svmp_status status = svmp_order_nodes(lowering);
    SVMP_TRY(svmp_diagnostics_report(noted));
    SVMP_TRY(status);
    if (lowering->graph) return SVMP_OK;
    SVMP_TRY(svmp_add_monitors(lowering, lowering->request.monitors));
    SVMP_TRY(svmp_patterns_finish(lowering));
    SVMP_TRY(svmp_describe_arrays(lowering));
    warn_of_unread_data(lowering);
    warn_of_no_observation(lowering);
    return SVMP_OK;
}

/* `lowering` says what is wanted; the rest of it is filled in. */
static svmp_status lower_text(model_lowering *lowering, const text_source *source, lowered_model **result) {
    svmp_context *context = lowering->context;
    ast_model ast = {0};
    diagnostics *noted = NULL;
    svmp_status status = SVMP_OK;
    lowering->ast = &ast; /* cppcheck-suppress autoVariables ; until the end of this function */
    lowering->pending = lowering->instance = lowering->factor = lowering->without = NOTHING;
    SVMP_CHECK(svmp_diagnostics_create(context, source, &noted));
    lowering->diagnostics = noted;
    SVMP_CHECK(svmp_parse(noted, &ast));
    SVMP_CHECK(svmp_diagnostics_report(noted));
    SVMP_CHECK(svmp_replicate(lowering));
    status = lower(lowering);
    if (status == SVMP_BAD_INPUT)
        svmp_diagnostics_report(noted); /* a pass that stopped at the last error it could note */
    SVMP_CHECK(status);
    if (result) {
        *result = lowering->result;
        lowering->result = NULL;
    }
done:
    end(lowering);
    lowering->ast = NULL;
    svmp_ast_free(context, &ast);
    svmp_diagnostics_free(noted);
    return status;
}

/* The text with one more unknown at the end of model { }, behind all else: where all others are discrete there would be
 * nothing for particles to move in. */
static svmp_status add_auxiliary(svmp_context *context, const text_source *source, size_t end, text_source *made) {
    static const char statement[] = " auxiliary.number ~ dflat(); factor(-0.5 * auxiliary.number^2) ";
    const size_t length = sizeof statement - 1;
    char *text;
    SVMP_TRY(SVMP_NEW(context, text, source->length + length + 1));
    memcpy(text, source->text, end);
    memcpy(text + end, statement, length);
    memcpy(text + end + length, source->text + end, source->length - end);
    svmp_status status = svmp_source_copy(context, source->path, text, source->length + length, made);
    svmp_release(context, text);
    return status;
}

static svmp_status lower_any(model_lowering wanted, const text_source *source, lowered_model **result) {
    model_lowering lowering = wanted;
    text_source amended = {0};
    svmp_status status = lower_text(&lowering, source, result);
    if (status != SVMP_BAD_INPUT || !lowering.only_discrete) return status;
    svmp_log(wanted.context, SVMP_LOG_INFO,
             "%s: all unknowns are discrete, so their probabilities are exact. The standard normal variable "
             "'auxiliary.number' was added because particles need a continuous variable.",
             source->path);
    SVMP_TRY(add_auxiliary(wanted.context, source, lowering.model_end, &amended));
    lowering = wanted;
    status = lower_text(&lowering, &amended, result);
    svmp_source_free(wanted.context, &amended);
    return status;
}

svmp_status svmp_lower(svmp_context *context, const text_source *source, const data_set *data,
                       const lower_request *request, lowered_model **result) {
    model_lowering lowering = {.context = context, .data = data, .request = *request};
    return lower_any(lowering, source, result);
}

svmp_status svmp_lower_graph(svmp_context *context, const text_source *source, const data_set *data,
                             const lower_request *request, svmp_graph *graph) {
    model_lowering lowering = {.context = context, .data = data, .request = *request, .graph = graph};
    lowering.request.monitors = NULL;
    lowering.request.owners = NULL;
    return lower_any(lowering, source, NULL);
}
