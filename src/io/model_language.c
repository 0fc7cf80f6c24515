/* A model text and its data files to a finished model. */
#include "io/model_read.h"
#include "lang/lowered.h"
#include "model/model.h"

/* Nodes and groups; the model takes over what the groups own. */
static svmp_status add_all(svmp_model *model, lowered_model *lowered) {
    for (size_t k = 0; k < lowered->node_count; k++)
        SVMP_TRY(svmp_model_add_node(model, NULL, lowered->nodes[k].variables, NULL, NULL, NULL));
    SVMP_TRY(svmp_model_add_groups(model, lowered->group_count, lowered->groups));
    return svmp_model_finish(model);
}

static svmp_status build(svmp_context *context, lowered_model *lowered, svmp_model **model) {
    svmp_model *made = NULL;
    svmp_status status = svmp_model_create(context, &made);
    if (status != SVMP_OK) {
        svmp_lowered_free(lowered);
        return status;
    }
    made->lowered = lowered; /* from here on it ends with the model */
    status = add_all(made, lowered);
    if (status == SVMP_OK)
        *model = made;
    else
        svmp_model_free(made);
    return status;
}

svmp_status svmp_model_read_language(svmp_context *context, size_t count, const char *const *paths,
                                     const char *monitors, svmp_model **model) {
    text_source source = {0};
    data_set *data = NULL;
    lowered_model *lowered = NULL;
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_source_read(context, paths[0], &source));
    SVMP_CHECK(svmp_data_create(context, &data));
    for (size_t k = 1; k < count; k++) SVMP_CHECK(svmp_data_read(data, paths[k]));
    SVMP_CHECK(svmp_lower(context, &source, data, monitors, &lowered));
    status = build(context, lowered, model);
done:
    svmp_data_free(data);
    svmp_source_free(context, &source);
    return status;
}
