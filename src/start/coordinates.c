/* Models read in coordinates that suit them: what is reported is the same, what is moved is not. */
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

static svmp_status parse(svmp_context *context, size_t count, const char *const *paths, const svmp_reading *how,
                         asked *read) {
    const char *text = how ? how->coordinates : NULL;
    *read = (asked){{.count = count, .paths = paths, .monitors = how ? how->monitors : NULL, .centring = 1}, 0};
    if (text == NULL || strcmp(text, "centred") == 0) return SVMP_OK;
    read->choose = strcmp(text, "auto") == 0;
    if (read->choose) return SVMP_OK;
    read->files.centring = 0;
    if (strcmp(text, "noncentred") == 0) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_CALL, "'%.80s' are no coordinates: they are auto, centred or noncentred.", text);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* What is tried behind the scenes is tried in silence. */
static svmp_context_options hush(svmp_context *context) {
    const svmp_context_options before = context->options;
    context->options.log = NULL;
    context->options.error = NULL;
    return before;
}

/* From draws of the Gaussian on the graph of the model, all of whose nodes are centred. */
static svmp_status choose(const svmp_model *model, node_coordinates *chosen) {
    svmp_context *context = model->context;
    gaussian *q = NULL;
    double *x = NULL;
    const svmp_context_options before = hush(context);
    svmp_status status = SVMP_NEW(context, x, model->graph->variables * DRAWS);
    if (status == SVMP_OK) status = svmp_gaussian_create(model, SEED, &q);
    if (status == SVMP_OK) status = svmp_gaussian_draw(q, SEED, DRAWS, x);
    if (status == SVMP_OK) status = svmp_centring_choose(model, DRAWS, x, chosen);
    svmp_gaussian_free(q);
    svmp_release(context, x);
    context->options = before;
    return status;
}

/* *chosen: the coordinates of every node, the caller's; NULL where all stay centred, as they do in a model that has no
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
    svmp_log(context, SVMP_LOG_WARNING, "No coordinates could be chosen, all nodes are centred: %s",
             svmp_context_error(context));
    return SVMP_OK;
}

svmp_status svmp_model_read_as(svmp_context *context, size_t count, const char *const *paths, const svmp_reading *how,
                               svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    asked read;
    node_coordinates *chosen = NULL;
    svmp_model *centred = NULL;
    svmp_status status;
    SVMP_TRY(parse(context, count, paths, how, &read));
    if (!read.choose || model == NULL) return svmp_read_model(context, &read.files, model);
    SVMP_CHECK(svmp_read_model(context, &read.files, &centred));
    SVMP_CHECK(choose_where_it_matters(centred, &chosen));
    if (chosen == NULL) {
        *model = centred;
        return SVMP_OK;
    }
    read.files.coordinates = chosen;
    const svmp_context_options before = hush(context); /* what there is to say was said */
    status = svmp_read_model(context, &read.files, model);
    context->options = before;
done:
    svmp_model_free(centred);
    svmp_release(context, chosen);
    return status;
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
        const svmp_context_options before = hush(context);
        const svmp_status found = svmp_read_model(context, files, &centred);
        context->options = before;
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

svmp_status svmp_model_read_split_as(svmp_context *context, size_t count, const char *const *paths,
                                     const svmp_reading *how, svmp_model **model, svmp_split *split) {
    if (context == NULL) return SVMP_BAD_CALL;
    asked read;
    node_coordinates *chosen = NULL;
    if (context->team == NULL) {
        SVMP_TRY(svmp_model_read_as(context, count, paths, how, model));
        return svmp_model_split(model, split);
    }
    SVMP_TRY(svmp_team_agree(context, parse(context, count, paths, how, &read)));
    SVMP_TRY(svmp_context_compare(context, "the coordinates", how && how->coordinates ? how->coordinates : "centred"));
    svmp_status status = read.choose ? choose_together(context, &read.files, &chosen) : SVMP_OK;
    read.files.coordinates = chosen;
    if (status == SVMP_OK) status = svmp_read_parts(context, &read.files, model, split);
    svmp_release(context, chosen);
    return status;
}
