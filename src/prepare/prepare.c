/* The public readers of models: a model is parsed once, and compiled with the choices that suit it, which do not change
 * what is reported. */
#include <string.h>

#include "base/peers.h"
#include "model/model_split.h"
#include "prepare/mode_search.h"
#include "prepare/preparation.h"

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

typedef enum coordinates_option { COORDINATES_AUTO, COORDINATES_CENTRED, COORDINATES_NONCENTRED } coordinates_option;

static svmp_status find_option(svmp_context *context, const svmp_reading *how, coordinates_option *found) {
    const char *text = how && how->coordinates ? how->coordinates : "centred";
    static const char *const names[] = {"auto", "centred", "noncentred"};
    for (int k = 0; k < 3; k++)
        if (strcmp(text, names[k]) == 0) return *found = (coordinates_option)k, SVMP_OK;
    return svmp_fail(context, SVMP_BAD_CALL, "Unknown coordinates '%.80s': expected auto, centred or noncentred.",
                     text);
}

/* ---- one process ------------------------------------------------------------------------------------------------- */

/* A model to predict with is compiled as it is written: nothing moves in it. */
static svmp_status prepare(preparation *p, coordinates_option option, bool predicts, svmp_model **model) {
    svmp_model *made = NULL;
    svmp_status status;
    p->made.centring = option != COORDINATES_NONCENTRED;
    SVMP_CHECK(option == COORDINATES_AUTO ? svmp_preparation_compile(p, &made)
                                          : svmp_compile(p->parsed, &p->made, NULL, NULL, &made));
    if (!predicts) SVMP_CHECK(svmp_modes_find(made, p->parsed, &p->made));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    return status;
}

static svmp_status read_model(svmp_context *context, const model_files *files, const svmp_reading *how,
                              svmp_model **model) {
    preparation p = {.context = context};
    parsed_model *parsed = NULL;
    coordinates_option option;
    svmp_status status;
    const bool predicts = files->given || files->simulated;
    SVMP_TRY(find_option(context, how, &option));
    if (predicts) option = COORDINATES_CENTRED;
    SVMP_TRY(svmp_parse(context, files, &parsed));
    p.parsed = parsed;
    status = prepare(&p, option, predicts, model);
    svmp_preparation_free(&p);
    svmp_parsed_free(parsed);
    return status;
}

static void set_reading(model_files *files, const svmp_reading *how) {
    if (how == NULL) return;
    files->monitors = how->monitors;
    files->statements = how->statements;
    files->given = how->given;
    files->simulated = how->simulated != 0;
    files->fresh = how->fresh != 0;
}

svmp_status svmp_model_read(svmp_context *context, size_t count, const char *const *paths, const svmp_reading *how,
                            svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (model == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read: the result is NULL.");
    model_files files = {.count = count, .paths = paths};
    set_reading(&files, how);
    return read_model(context, &files, how, model);
}

svmp_status svmp_model_read_text(svmp_context *context, const char *name, const char *text, const svmp_data *data,
                                 const svmp_reading *how, svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (text == NULL || model == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read_text: the %s is NULL.",
                         text ? "result" : "model text");
    model_files files = {.name = name ? name : "<text>", .text = text, .data = data};
    set_reading(&files, how);
    return read_model(context, &files, how, model);
}

svmp_status svmp_text_model(svmp_text *parsed, const svmp_data *data, const svmp_reading *how, svmp_model **model) {
    if (parsed == NULL) return SVMP_BAD_CALL;
    svmp_context *context = svmp_text_context(parsed);
    if (model == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_text_model: the result is NULL.");
    model_files files = {.parsed = parsed, .data = data};
    set_reading(&files, how);
    return read_model(context, &files, how, model);
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* An array of the first process becomes everybody's. */
static svmp_status broadcast(svmp_context *context, uint64_t bytes, void **array) {
    const svmp_peers *t = context->peers;
    t->broadcast(t, 0, sizeof bytes, &bytes);
    if (bytes == 0) return SVMP_OK;
    SVMP_TRY(svmp_agree(context, context->peers, t->rank == 0 ? SVMP_OK : svmp_allocate(context, bytes, 1, array)));
    t->broadcast(t, 0, bytes, *array);
    return SVMP_OK;
}

/* Chooses by compiling the whole model; sets how many nodes and discrete unknowns it has. */
static svmp_status choose(preparation *p, size_t *nodes, size_t *unknowns) {
    svmp_model *whole = NULL;
    SVMP_TRY(svmp_preparation_compile(p, &whole));
    *nodes = whole->graph->nodes;
    *unknowns = whole->lowered->summed.count;
    svmp_model_free(whole);
    return SVMP_OK;
}

/* The first process chooses for all. */
static svmp_status choose_together(preparation *p) {
    svmp_context *context = p->context;
    const svmp_peers *t = context->peers;
    size_t nodes = 0, unknowns = 0;
    uint64_t flags = 0;
    svmp_status status = t->rank == 0 ? choose(p, &nodes, &unknowns) : SVMP_OK;
    SVMP_TRY(svmp_agree(context, context->peers, status));
    flags = p->made.short_sums + 2 * (uint64_t)p->made.totals;
    void *coordinates = p->coordinates, *ends = p->ends;
    t->broadcast(t, 0, sizeof flags, &flags);
    p->made.short_sums = flags % 2;
    p->made.totals = flags >= 2;
    status = broadcast(context, p->coordinates ? nodes * sizeof *p->coordinates : 0, &coordinates);
    p->made.coordinates = p->coordinates = coordinates;
    SVMP_TRY(status);
    status = broadcast(context, p->ends ? unknowns * sizeof *p->ends : 0, &ends);
    p->made.ends = p->ends = ends;
    return status;
}

/* The first process makes the graph, which is all that it needs to say which process moves each node. */
static svmp_status choose_owners(const preparation *p, uint32_t **owner, size_t *count, svmp_split *split) {
    svmp_context *context = p->context;
    const svmp_peers *t = context->peers;
    svmp_graph *graph = NULL;
    uint64_t nodes = 0;
    svmp_status status;
    SVMP_CHECK(svmp_agree(context, t, t->rank == 0 ? svmp_compile_graph(p->parsed, &p->made, &graph) : SVMP_OK));
    if (graph) nodes = graph->nodes;
    t->broadcast(t, 0, sizeof nodes, &nodes);
    SVMP_CHECK(svmp_agree(context, t, SVMP_NEW(context, *owner, nodes)));
    SVMP_CHECK(svmp_split_choose(context, graph, nodes, *owner, split));
    *count = nodes;
done:
    svmp_graph_free(graph);
    return status;
}

/* Each process compiles the part that its own nodes need. */
static svmp_status compile_parts(const preparation *p, parsed_model *parsed, svmp_model **model, svmp_split *split) {
    svmp_context *context = p->context;
    uint32_t *owner = NULL;
    size_t nodes = 0;
    svmp_model *made = NULL;
    svmp_status status;
    SVMP_CHECK(choose_owners(p, &owner, &nodes, split));
    SVMP_CHECK(svmp_parse_others(parsed));
    const graph_owners own = {owner, (uint32_t)context->peers->rank, nodes};
    SVMP_CHECK(svmp_agree(context, context->peers, svmp_compile(parsed, &p->made, &own, NULL, &made)));
    SVMP_CHECK(svmp_split_fragment(&made, owner));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    svmp_release(context, owner);
    return status;
}

static svmp_status read_split(preparation *p, const model_files *files, coordinates_option option, svmp_model **model,
                              svmp_split *split) {
    parsed_model *parsed = NULL;
    svmp_status status;
    SVMP_TRY(svmp_parse_first(p->context, files, &parsed));
    p->parsed = parsed;
    p->made.centring = option != COORDINATES_NONCENTRED;
    if (option == COORDINATES_AUTO && svmp_parsed_is_text(parsed)) SVMP_CHECK(choose_together(p));
    SVMP_CHECK(compile_parts(p, parsed, model, split));
done:
    svmp_parsed_free(parsed);
    return status;
}

/* What all processes can see before they read anything. */
static svmp_status compare_readings(svmp_context *context, const svmp_reading *how, svmp_model **model,
                                    coordinates_option *option) {
    const svmp_status status = model ? find_option(context, how, option)
                                     : svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read: the result is NULL.");
    SVMP_TRY(svmp_agree(context, context->peers, status));
    return svmp_context_compare(context, "the coordinates", how && how->coordinates ? how->coordinates : "centred");
}

static svmp_status read_copies(svmp_context *context, const model_files *files, coordinates_option option,
                               svmp_model **model) {
    preparation p = {.context = context};
    parsed_model *parsed = NULL;
    svmp_model *made = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_parse_first(context, files, &parsed));
    for (size_t k = 0; !svmp_parsed_is_text(parsed) && k < files->count; k++)
        SVMP_CHECK(svmp_peers_compare_file(context, k == 0 ? "model" : "data", files->paths[k]));
    SVMP_CHECK(svmp_parse_others(parsed));
    p.parsed = parsed;
    SVMP_CHECK(svmp_agree(context, context->peers, prepare(&p, option, false, &made)));
    SVMP_CHECK(svmp_model_share(made));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    svmp_preparation_free(&p);
    svmp_parsed_free(parsed);
    return status;
}

svmp_status svmp_model_read_shared(svmp_context *context, size_t count, const char *const *paths,
                                   const svmp_reading *how, svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    model_files files = {.count = count, .paths = paths};
    coordinates_option option = COORDINATES_CENTRED;
    set_reading(&files, how);
    if (context->peers->count == 1 || files.statements || files.given || files.simulated)
        return svmp_model_read(context, count, paths, how, model);
    SVMP_TRY(compare_readings(context, how, model, &option));
    return read_copies(context, &files, option, model);
}

svmp_status svmp_model_read_split(svmp_context *context, size_t count, const char *const *paths,
                                  const svmp_reading *how, svmp_model **model, svmp_split *split) {
    if (context == NULL) return SVMP_BAD_CALL;
    model_files files = {.count = count, .paths = paths};
    preparation p = {.context = context};
    coordinates_option option = COORDINATES_CENTRED;
    svmp_split made;
    set_reading(&files, how);
    if (context->peers->count == 1) {
        SVMP_TRY(svmp_model_read(context, count, paths, how, model));
        return svmp_model_split(model, split);
    }
    svmp_status status = SVMP_OK;
    if (files.statements || files.given || files.simulated)
        status = svmp_fail(context, SVMP_UNSUPPORTED, "Predictions, and what is derived, are computed in one process.");
    SVMP_TRY(svmp_agree(context, context->peers, status));
    SVMP_TRY(compare_readings(context, how, model, &option));
    status = read_split(&p, &files, option, model, &made);
    svmp_preparation_free(&p);
    if (status == SVMP_OK && split) *split = made;
    return status;
}
