/* Factors that could not be evaluated, in words. */
#include <string.h>

#include "model/evaluator.h"
#include "model/natural_values.h"

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

svmp_status svmp_evaluator_fail_score(evaluator *e, const svmp_model *model, size_t n, const double *x,
                                      const double *score, size_t at, size_t t) {
    char name[128], where[64] = "";
    const size_t factor = e ? svmp_evaluator_find_failure(e, x, at / n, at % n) : SIZE_MAX;
    const size_t line = factor != SIZE_MAX ? svmp_model_factor_line(model, factor) : 0;
    if (line > 0)
        snprintf(where, sizeof where, " (statement on line %zu)", line);
    else if (factor != SIZE_MAX)
        snprintf(where, sizeof where, " (factor %zu)", factor);
    return svmp_fail(model->context, SVMP_NOT_FINITE,
                     "The score of %s is %g in particle %zu at iteration %zu, at the value %g%s.",
                     svmp_model_variable_name(model, at / n, name, sizeof name), score[at], at % n + 1, t + 1,
                     svmp_model_natural_value(model, n, x, at % n, at / n), where);
}
