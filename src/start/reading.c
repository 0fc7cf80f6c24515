/* The public readers of models: in the coordinates of the text, or in those that suit the model, which do not change
 * what is reported. */
#include <string.h>

#include "base/team.h"
#include "read/read.h"
#include "start/centring.h"
#include "start/gaussian.h"

enum { DRAWS = 64, SEED = 1 }; /* coordinates are the model's, whatever the seed of a run */

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

typedef struct asked {
    model_files files;
    int choose;
} asked;

static svmp_status parse(svmp_context *context, const svmp_reading *how, asked *read) {
    const char *text = how ? how->coordinates : NULL;
    read->files.monitors = how ? how->monitors : NULL;
    read->files.centring = 1;
    read->choose = 0;
    if (text == NULL || strcmp(text, "centred") == 0) return SVMP_OK;
    read->choose = strcmp(text, "auto") == 0;
    if (read->choose) return SVMP_OK;
    read->files.centring = 0;
    if (strcmp(text, "noncentred") == 0) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_CALL, "Unknown coordinates '%.80s': expected auto, centred or noncentred.",
                     text);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* Attempts that may fail are not reported. */
typedef struct callbacks {
    svmp_log_function log;
    svmp_error_function tell;
} callbacks;

static callbacks hush(svmp_context *context) {
    const callbacks before = {context->log, context->tell};
    context->log = NULL;
    context->tell = NULL;
    return before;
}

static void unhush(svmp_context *context, callbacks before) {
    context->log = before.log;
    context->tell = before.tell;
}

/* From draws of the Gaussian on the graph of the model, all of whose nodes are centred. */
static svmp_status choose(const svmp_model *model, node_coordinates *chosen) {
    svmp_context *context = model->context;
    gaussian *q = NULL;
    double *x = NULL;
    const callbacks before = hush(context);
    svmp_status status = SVMP_NEW(context, x, model->graph->variables * DRAWS);
    if (status == SVMP_OK) status = svmp_gaussian_create(model, SEED, &q);
    if (status == SVMP_OK) status = svmp_gaussian_draw(q, SEED, DRAWS, x);
    if (status == SVMP_OK) status = svmp_centring_choose(model, DRAWS, x, chosen);
    svmp_gaussian_free(q);
    svmp_release(context, x);
    unhush(context, before);
    return status;
}

/* *chosen: the coordinates of every node, which the caller frees; NULL if all stay centred, as in a model without a
 * Gaussian on its graph. */
static svmp_status choose_where_it_matters(const svmp_model *model, node_coordinates **chosen) {
    svmp_context *context = model->context;
    int moved = 0;
    if (!svmp_centring_matters(model)) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, *chosen, model->graph->nodes));
    const svmp_status status = choose(model, *chosen);
    for (size_t v = 0; status == SVMP_OK && v < model->graph->nodes; v++) moved |= (*chosen)[v].centring < 1;
    if (status == SVMP_OK && moved) return SVMP_OK;
    svmp_release(context, *chosen);
    *chosen = NULL;
    if (status == SVMP_OK || status == SVMP_NO_MEMORY) return status;
    svmp_log(context, SVMP_LOG_WARNING, "Could not choose coordinates; all nodes are centred: %s",
             svmp_context_error(context));
    return SVMP_OK;
}

static svmp_status read_as(svmp_context *context, asked *read, svmp_model **model) {
    node_coordinates *chosen = NULL;
    svmp_model *centred = NULL;
    svmp_status status;
    if (!read->choose || model == NULL) return svmp_read_model(context, &read->files, model);
    SVMP_CHECK(svmp_read_model(context, &read->files, &centred));
    SVMP_CHECK(choose_where_it_matters(centred, &chosen));
    if (chosen == NULL) {
        *model = centred;
        return SVMP_OK;
    }
    read->files.coordinates = chosen;
    const callbacks before = hush(context); /* the warnings of the first reading suffice */
    status = svmp_read_model(context, &read->files, model);
    unhush(context, before);
done:
    svmp_model_free(centred);
    svmp_release(context, chosen);
    return status;
}

svmp_status svmp_model_read(svmp_context *context, size_t count, const char *const *paths, const svmp_reading *how,
                            svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    asked read = {.files = {.count = count, .paths = paths}};
    SVMP_TRY(parse(context, how, &read));
    return read_as(context, &read, model);
}

svmp_status svmp_model_read_text(svmp_context *context, const char *name, const char *text, const svmp_data *data,
                                 const svmp_reading *how, svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (text == NULL || model == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read_text: the %s is NULL.",
                         text ? "result" : "model text");
    asked read = {.files = {.name = name ? name : "<text>", .text = text, .data = data}};
    SVMP_TRY(parse(context, how, &read));
    return read_as(context, &read, model);
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* The first process reads the whole model, and tells all what it has chosen. What is wrong with the files is told when
 * all of them read these. */
static svmp_status choose_together(svmp_context *context, const model_files *files, node_coordinates **chosen) {
    const team *t = context->team;
    svmp_model *centred = NULL;
    uint64_t nodes = 0;
    svmp_status status = SVMP_OK;
    if (t->rank == 0) {
        const callbacks before = hush(context);
        const svmp_status found = svmp_read_model(context, files, &centred);
        unhush(context, before);
        if (found == SVMP_OK) status = choose_where_it_matters(centred, chosen);
        if (*chosen) nodes = centred->graph->nodes;
    }
    svmp_model_free(centred);
    SVMP_TRY(svmp_team_agree(context, status));
    t->broadcast(t, 0, sizeof nodes, &nodes);
    if (nodes == 0) return SVMP_OK;
    SVMP_TRY(svmp_team_agree(context, t->rank == 0 ? SVMP_OK : SVMP_NEW(context, *chosen, nodes)));
    t->broadcast(t, 0, nodes * sizeof **chosen, *chosen);
    return SVMP_OK;
}

svmp_status svmp_model_read_split(svmp_context *context, size_t count, const char *const *paths,
                                  const svmp_reading *how, svmp_model **model, svmp_split *split) {
    if (context == NULL) return SVMP_BAD_CALL;
    asked read = {.files = {.count = count, .paths = paths}};
    node_coordinates *chosen = NULL;
    if (context->team == NULL) {
        SVMP_TRY(svmp_model_read(context, count, paths, how, model));
        return svmp_model_split(model, split);
    }
    SVMP_TRY(svmp_team_agree(context, parse(context, how, &read)));
    SVMP_TRY(svmp_context_compare(context, "the coordinates", how && how->coordinates ? how->coordinates : "centred"));
    svmp_status status = read.choose ? choose_together(context, &read.files, &chosen) : SVMP_OK;
    read.files.coordinates = chosen;
    if (status == SVMP_OK) status = svmp_read_parts(context, &read.files, model, split);
    svmp_release(context, chosen);
    return status;
}
