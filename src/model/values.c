/* The reported values of a model for programs that evaluate it themselves: names, and both directions of the transform.
 */
#include <math.h>

#include "model/natural.h"

size_t svmp_model_values(const svmp_model *model) {
    return model && model->finished ? svmp_model_outputs(model) + svmp_model_monitored(model) : 0;
}

const char *svmp_model_value_name(const svmp_model *model, size_t value, char *buffer, size_t size) {
    if (value < svmp_model_values(model) && buffer && size > 0)
        return svmp_model_output_name(model, value, buffer, size);
    if (buffer && size > 0) buffer[0] = '\0';
    return buffer;
}

static svmp_status check(const svmp_model *model, const char *function, size_t n, const double *from,
                         const double *to) {
    SVMP_TRY(svmp_model_require_finished(model));
    SVMP_TRY(svmp_model_require_whole(model, function));
    if (n > 0 && from && to) return SVMP_OK;
    return svmp_fail(model->context, SVMP_BAD_CALL, "%s: %s.", function,
                     n == 0 ? "there are no particles" : "an array is NULL");
}

svmp_status svmp_model_to_values(const svmp_model *model, size_t n, const double *x, double *values) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(check(model, "svmp_model_to_values", n, x, values));
    SVMP_TRY(svmp_model_natural(model, n, x, values));
    return svmp_model_monitor(model, n, x, values + svmp_model_outputs(model) * n);
}

svmp_status svmp_model_from_values(const svmp_model *model, size_t n, const double *values, double *x) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(check(model, "svmp_model_from_values", n, values, x));
    const size_t outputs = svmp_model_outputs(model);
    for (size_t k = 0; k < outputs * n; k++) {
        char name[128];
        if (!isfinite(values[k]))
            return svmp_fail(model->context, SVMP_BAD_INPUT, "The value of %s in particle %zu is %g.",
                             svmp_model_output_name(model, k / n, name, sizeof name), k % n + 1, values[k]);
    }
    return svmp_model_unconstrain(model, n, values, x);
}
