/* The reported values of a model for programs that evaluate it themselves: names, and both ways of the transform. */
#include <math.h>
#include <string.h>

#include "model/natural_values.h"
#include "model/text_model.h"

size_t svmp_model_values(const svmp_model *model) { return model && model->finished ? svmp_model_outputs(model) : 0; }

const char *svmp_model_value_name(const svmp_model *model, size_t value, char *buffer, size_t size) {
    if (buffer == NULL || size == 0) return buffer;
    if (value < svmp_model_values(model)) return svmp_model_output_name(model, value, buffer, size);
    buffer[0] = '\0';
    return buffer;
}

const char *svmp_model_label(const svmp_model *model, const char *array, size_t dimension, size_t index) {
    if (model == NULL || model->lowered == NULL || array == NULL) return NULL;
    for (size_t k = 0; k < model->lowered->label_count; k++) {
        const lowered_labels *labels = &model->lowered->labels[k];
        if (labels->dimension != dimension || strcmp(labels->array, array) != 0) continue;
        return index == 0 ? labels->text : index <= labels->levels.count ? labels->levels.text[index - 1] : NULL;
    }
    return NULL;
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
    for (size_t k = 0; k < svmp_model_outputs(model) * n; k++) values[k] = NAN;
    return svmp_model_natural(model, n, x, values);
}

svmp_status svmp_model_from_values(const svmp_model *model, size_t n, const double *values, double *x) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(check(model, "svmp_model_from_values", n, values, x));
    return svmp_model_unconstrain(model, n, values, x);
}
