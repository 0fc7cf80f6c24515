/* Parses a model: the text becomes a tree, and the passes that no choice changes are done once. A pass notes all errors
 * that it finds; the next one runs only if there were none. */
#include "lang/parsed_model.h"

#include <string.h>

#include "base/number.h"
#include "base/peers.h"
#include "data/matrix_market.h"
#include "lang/compile/compile_passes.h"
#include "lang/model_files.h"

/* ---- life ----------------------------------------------------------------------------------- */

static void release_resolved(model_lowering *resolved) {
    svmp_release_all(resolved->context, resolved->counter_values, resolved->cut_lower, resolved->cut_upper,
                     resolved->cut_by, resolved->reads.start, resolved->reads.item, resolved->names.component,
                     resolved->names.recursive, resolved->names.discrete);
    svmp_lowering_end(resolved);
}

void svmp_parsed_free(parsed_model *parsed) {
    if (parsed == NULL) return;
    svmp_context *context = parsed->context;
    release_resolved(&parsed->resolved);
    if (!parsed->text_is_given) svmp_text_free(parsed->text);
    svmp_data_free(parsed->read);
    for (size_t k = 0; k < parsed->text_count; k++) svmp_source_free(context, &parsed->texts[k]);
    for (size_t k = 0; k < parsed->matrix_count; k++) svmp_release(context, parsed->matrix_paths[k]);
    for (size_t k = 0; parsed->matrices && k < parsed->matrix_count; k++)
        svmp_matrix_free(context, &parsed->matrices[k]);
    svmp_release_all(context, parsed->matrices, parsed->texts, parsed->matrix_paths, parsed->monitors,
                     parsed->statements, parsed->given.sorted, parsed);
}

svmp_context *svmp_text_context(const svmp_text *text) { return text->context; }

bool svmp_parsed_is_text(const parsed_model *parsed) { return parsed->matrix_paths == NULL; }

/* ---- passes --------------------------------------------------------------------------------- */

static svmp_status begin(parsed_model *parsed) {
    svmp_context *context = parsed->context;
    model_lowering *lowering = &parsed->resolved;
    const size_t count = parsed->text->ast.names.count;
    *lowering = (model_lowering){.context = context,
                                 .ast = &parsed->text->ast,
                                 .data = parsed->data,
                                 .given = parsed->given.sorted ? &parsed->given : NULL,
                                 .fresh = parsed->fresh,
                                 .simulated = parsed->simulated,
                                 .pending = NOTHING,
                                 .instance = NOTHING,
                                 .factor = NOTHING,
                                 .without = NOTHING};
    SVMP_TRY(svmp_diagnostics_create(context, &parsed->text->source, &lowering->diagnostics));
    SVMP_TRY(svmp_builder_create(context, &lowering->builder));
    SVMP_TRY(svmp_builder_create(context, &lowering->calculator));
    SVMP_TRY(SVMP_NEW(context, lowering->arrays, count));
    for (size_t k = 0; k < count; k++) {
        model_array *array = &lowering->arrays[k];
        array->first = SIZE_MAX;
        array->whole = NOTHING;
        array->data = svmp_data_find(lowering->data, parsed->text->ast.names.text[k]);
        if (array->data == NULL) continue;
        array->is_data = array->sized = true;
        array->count = array->data->count;
        array->shape.rank = array->data->rank;
        memcpy(array->shape.dimensions, array->data->dimensions, sizeof array->shape.dimensions);
    }
    return SVMP_OK;
}

/* Columns of text are skipped; a model that uses one is refused. */
static svmp_status refuse_text(const model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->ast->names.count; k++)
        SVMP_TRY(svmp_data_refuse_text(lowering->data, lowering->ast->names.text[k]));
    return SVMP_OK;
}

/* Evaluates the deterministic instances, and those that data { } draws; what depends on unknowns stays opaque. */
static svmp_status compute_all(model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        bool wanted = statement->kind == AST_DETERMINISTIC || (lowering->in_data && statement->kind == AST_STOCHASTIC);
        if (!wanted || svmp_failed(lowering, statement) || lowering->instances[k].computed) continue;
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
    SVMP_TRY(svmp_diagnostics_status(lowering->diagnostics));
    SVMP_TRY(svmp_define(lowering));
    SVMP_TRY(compute_all(lowering));
    SVMP_TRY(svmp_diagnostics_status(lowering->diagnostics));
    for (size_t k = 0; k < lowering->element_count; k++) lowering->elements[k].definition = NOTHING;
    for (size_t k = 0; k < lowering->ast->names.count; k++) {
        model_array *array = &lowering->arrays[k];
        if (array->rank_seen > 0) array->is_data = array->sized = true;
    }
    lowering->instance_count = lowering->edge_count = 0;
    lowering->in_data = false;
    return SVMP_OK;
}

static svmp_status censor_all(model_lowering *lowering) {
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (statement->kind != AST_STOCHASTIC || svmp_failed(lowering, statement)) continue;
        lowering->stamp++;
        SVMP_TRY(svmp_go_on(lowering, svmp_censor(lowering, k)));
    }
    return SVMP_OK;
}

/* Errors of the last two passes are noted in `resolved`: a compilation adds those of nodes. */
static svmp_status resolve(parsed_model *parsed) {
    model_lowering *lowering = &parsed->resolved;
    SVMP_TRY(begin(parsed));
    const diagnostics *noted = lowering->diagnostics;
    SVMP_TRY(refuse_text(lowering));
    SVMP_TRY(svmp_check(lowering, &parsed->text->ast));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->states, parsed->text->ast.statements));
    SVMP_TRY(SVMP_NEW(lowering->context, lowering->known_calls, parsed->text->ast.calls));
    SVMP_TRY(svmp_declare(lowering));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(run_data_block(lowering));
    SVMP_TRY(svmp_size_arrays(lowering, lowering->ast->model));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(svmp_define(lowering));
    SVMP_TRY(svmp_diagnostics_status(noted));
    SVMP_TRY(compute_all(lowering));
    SVMP_TRY(censor_all(lowering));
    SVMP_TRY(svmp_names_graph(lowering));
    return svmp_find_leaves(lowering);
}

/* ---- models without continuous unknowns ----------------------------------------------------- */

/* Whether an instance gives particles something to move in. */
static bool is_continuous(const model_instance *instance, size_t unknown) {
    const distribution *family = instance->statement->distribution;
    const bool sums = family->support == SUPPORT_SIMPLEX || family->support == SUPPORT_ZERO_SUM;
    return !instance->leaf && !family->discrete && unknown > (sums ? 1 : 0);
}

/* Whether there are unknowns, all of them discrete or drawn after the run. */
static svmp_status lacks_variables(model_lowering *lowering, bool *lacks) {
    bool any = false;
    *lacks = false;
    if (lowering->diagnostics->count > 0) return SVMP_OK;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        size_t unknown, count;
        if (lowering->instances[k].statement->kind != AST_STOCHASTIC) continue;
        SVMP_TRY(svmp_count_elements(lowering, k, ELEMENT_UNKNOWN, &unknown, &count));
        if (is_continuous(&lowering->instances[k], unknown)) return SVMP_OK;
        any = any || unknown > 0;
    }
    *lacks = any;
    return SVMP_OK;
}

static svmp_status resolve_text(parsed_model *parsed) {
    SVMP_TRY(resolve(parsed));
    SVMP_TRY(lacks_variables(&parsed->resolved, &parsed->auxiliary));
    if (!parsed->auxiliary) return SVMP_OK;
    release_resolved(&parsed->resolved);
    parsed->resolved = (model_lowering){0};
    SVMP_TRY(svmp_add_auxiliary(&parsed->text->ast));
    return resolve(parsed);
}

/* ---- parsing -------------------------------------------------------------------------------- */

/* The first text is the model, the others are data, which the data set takes over. */
static svmp_status read_data(parsed_model *parsed, const svmp_data *given) {
    SVMP_TRY(svmp_data_create(parsed->context, &parsed->read));
    for (size_t k = 1; k < parsed->text_count; k++) {
        text_source taken = parsed->texts[k];
        parsed->texts[k] = (text_source){0};
        SVMP_TRY(svmp_data_read_source(parsed->read, &taken));
    }
    parsed->data = given ? given : parsed->read;
    return SVMP_OK;
}

/* Adds the nodes that the added statements compute to the monitored ones. */
static svmp_status monitor_all(parsed_model *parsed, const ast_statement *first) {
    for (const ast_statement *s = first; s; s = s->next) {
        if (s->kind == AST_FOR) SVMP_TRY(monitor_all(parsed, s->body));
        if (s->kind != AST_DETERMINISTIC) continue;
        const char *name = parsed->text->ast.names.text[s->left->symbol];
        const size_t length = parsed->monitors ? strlen(parsed->monitors) : 0;
        size_t capacity = 0;
        SVMP_TRY(SVMP_GROW(parsed->context, parsed->monitors, capacity, length + strlen(name) + 2));
        snprintf(parsed->monitors + length, strlen(name) + 2, "%s%s", length > 0 ? "," : "", name);
    }
    return SVMP_OK;
}

static svmp_status add_statements(parsed_model *parsed) {
    SVMP_TRY(svmp_text_add(parsed->text, parsed->statements));
    return monitor_all(parsed, parsed->text->ast.added);
}

static svmp_status parse_texts(parsed_model *parsed, const svmp_data *given) {
    SVMP_TRY(read_data(parsed, given));
    if (parsed->text_is_given)
        svmp_text_restore(parsed->text);
    else
        SVMP_TRY(svmp_text_make(parsed->context, &parsed->texts[0], &parsed->text));
    if (parsed->statements) SVMP_TRY(add_statements(parsed));
    SVMP_TRY(svmp_replicate(&parsed->text->ast, parsed->data, parsed->monitors));
    const svmp_status status = resolve_text(parsed);
    if (status == SVMP_BAD_INPUT) svmp_diagnostics_report(parsed->resolved.diagnostics);
    return status;
}

static svmp_status parse_all(parsed_model *parsed, const svmp_data *given) {
    number_locale locale = {0};
    if (parsed->matrix_paths) return svmp_matrix_parse(parsed);
    svmp_status status = svmp_number_enter(parsed->context, &locale);
    if (status == SVMP_OK) status = parse_texts(parsed, given);
    svmp_number_leave(&locale);
    return status;
}

/* ---- several processes ---------------------------------------------------------------------------------------- */

static svmp_status compare_requests(svmp_context *context, const model_files *files) {
    char words[32];
    snprintf(words, sizeof words, "%zu", files->count);
    SVMP_TRY(svmp_context_compare(context, "the number of files", words));
    return svmp_context_compare(context, "the monitored nodes", files->monitors ? files->monitors : "nothing");
}

svmp_status svmp_parse_first(svmp_context *context, const model_files *files, parsed_model **parsed) {
    parsed_model *made = NULL;
    svmp_status status;
    SVMP_TRY(compare_requests(context, files));
    SVMP_CHECK(svmp_agree(context, context->peers, svmp_files_read(context, files, &made)));
    SVMP_CHECK(svmp_files_compare(made));
    SVMP_CHECK(svmp_agree(context, context->peers, context->peers->rank == 0 ? parse_all(made, NULL) : SVMP_OK));
    *parsed = made;
    return SVMP_OK;
done:
    svmp_parsed_free(made);
    return status;
}

svmp_status svmp_parse_others(parsed_model *parsed) {
    svmp_context *context = parsed->context;
    if (parsed->matrix_paths) return SVMP_OK; /* each reads what its nodes need when it compiles them */
    return svmp_agree(context, context->peers, context->peers->rank == 0 ? SVMP_OK : parse_all(parsed, NULL));
}

/* ---- one process ---------------------------------------------------------------------------------------------- */

svmp_status svmp_parse(svmp_context *context, const model_files *files, parsed_model **parsed) {
    parsed_model *made = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_files_read(context, files, &made));
    SVMP_CHECK(parse_all(made, files->data));
    *parsed = made;
    return SVMP_OK;
done:
    svmp_parsed_free(made);
    return status;
}
