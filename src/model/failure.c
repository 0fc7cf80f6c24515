/* Factors that could not be evaluated, in words. */
#include <string.h>

#include "model/model.h"

/* " (x.1, x.2, ...)", the variables that a factor reads; nothing when it is not of this process. */
static void name_scope(const svmp_model *model, size_t factor, char *text, size_t size) {
    enum { NAMED = 3 };
    *text = '\0';
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        for (size_t k = 0; k < group->instances; k++) {
            if (svmp_model_factor(model, g, k) != factor) continue;
            for (size_t j = 0; j < group->slots && j < NAMED; j++) {
                char name[64];
                const size_t length = strlen(text);
                svmp_model_variable_name(model, group->variables[k * group->slots + j], name, sizeof name);
                snprintf(text + length, size - length, "%s%s", j ? ", " : " (", name);
            }
            snprintf(text + strlen(text), size - strlen(text), group->slots > NAMED ? ", ...)" : ")");
            return;
        }
    }
}

svmp_status svmp_model_fail(const svmp_model *model, size_t failure) {
    const size_t factor = failure / 4;
    char scope[256];
    name_scope(model, factor, scope, sizeof scope);
    if (failure % 4 == FACTOR_FAILED)
        return svmp_fail(model->context, SVMP_CALLBACK_FAILED, "The callback of factor %zu%s failed.", factor, scope);
    if (failure % 4 == FACTOR_NO_VALUE)
        return svmp_fail(model->context, SVMP_NOT_FINITE,
                         "The log value of factor %zu%s is not finite here, so its gradient cannot be checked.", factor,
                         scope);
    return svmp_fail(model->context, SVMP_NOT_FINITE,
                     "The callback of factor %zu%s returned NaN at a finite point. It must return -INFINITY where the "
                     "density is zero.",
                     factor, scope);
}
