#include "model/density_discontinuities.h"

#include "model/computed.h"
#include "model/program_factors.h"

static svmp_status mark_group(const svmp_model *model, const factor_group *group, bool **discontinuous) {
    svmp_context *context = model->context;
    bool *slots = NULL, any = false;
    if (group->slots == 0) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, slots, group->slots));
    svmp_status status = svmp_computed_group_is(group)
                             ? svmp_computed_group_discontinuities(context, group, slots, &any)
                             : svmp_program_group_discontinuities(group, slots, &any);
    if (status == SVMP_OK && any && *discontinuous == NULL)
        status = SVMP_NEW(context, *discontinuous, model->graph->variables);
    for (size_t k = 0; status == SVMP_OK && any && k < group->instances * group->slots; k++)
        if (slots[k % group->slots]) (*discontinuous)[group->variables[k]] = true;
    svmp_release(context, slots);
    return status;
}

svmp_status svmp_model_discontinuities(const svmp_model *model, bool **discontinuous) {
    svmp_status status = SVMP_OK;
    *discontinuous = NULL;
    for (size_t g = 0; g < model->group_count && status == SVMP_OK; g++)
        status = mark_group(model, &model->groups[g], discontinuous);
    if (status == SVMP_OK) return status;
    svmp_release(model->context, *discontinuous);
    *discontinuous = NULL;
    return status;
}
