#include "model/natural.h"

#include <string.h>

#include "lang/lowered.h"

size_t svmp_model_outputs(const svmp_model *model) {
    return model->lowered ? model->lowered->outputs : model->graph->variables;
}

const char *svmp_model_output_name(const svmp_model *model, size_t output, char *buffer, size_t size) {
    if (model->lowered == NULL) return svmp_model_variable_name(model, output, buffer, size);
    snprintf(buffer, size, "%s", model->lowered->names[output]);
    return buffer;
}

svmp_status svmp_model_natural(const svmp_model *model, size_t n, const double *variables, double *outputs) {
    if (model->lowered) return svmp_lowered_natural(model->lowered, n, variables, outputs);
    memcpy(outputs, variables, model->graph->variables * n * sizeof *outputs);
    return SVMP_OK;
}

svmp_status svmp_model_unconstrain(const svmp_model *model, size_t n, const double *outputs, double *variables) {
    if (model->lowered) return svmp_lowered_inverse(model->lowered, n, outputs, variables);
    memcpy(variables, outputs, model->graph->variables * n * sizeof *variables);
    return SVMP_OK;
}

svmp_status svmp_model_draw_priors(const svmp_model *model, uint64_t seed, size_t n, double *variables) {
    if (model->lowered) return svmp_lowered_draw(model->lowered, seed, n, variables);
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The model has no priors to start from; 'prior' is for models of the language.");
}

size_t svmp_model_observed(const svmp_model *model) { return model && model->lowered ? model->lowered->observed : 0; }

int svmp_model_array(const svmp_model *model, size_t which, svmp_array *array) {
    if (model == NULL || array == NULL || model->lowered == NULL || which >= model->lowered->array_count) return 0;
    const lowered_array *found = &model->lowered->arrays[which];
    *array = (svmp_array){found->unknown, found->observed, found->unknown_count, found->observed_count,
                          found->name,    found->rank,     found->dimensions,    found->values};
    return 1;
}
