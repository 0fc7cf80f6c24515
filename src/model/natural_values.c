#include "model/natural_values.h"

#include <math.h>
#include <string.h>

#include "model/supported_nodes.h"
#include "model/text_model.h"

size_t svmp_model_outputs(const svmp_model *model) {
    if (model->supports) return svmp_supported_values(model);
    return model->lowered ? model->lowered->outputs : model->graph->variables;
}

int svmp_model_is_drawn(const svmp_model *model, size_t output) {
    return model->lowered != NULL && model->lowered->drawn[output];
}

const char *svmp_model_output_name(const svmp_model *model, size_t output, char *buffer, size_t size) {
    if (model->supports) return svmp_supported_name(model, output, buffer, size);
    if (model->lowered == NULL) return svmp_model_variable_name(model, output, buffer, size);
    const lowered_model *lowered = model->lowered;
    snprintf(buffer, size, "%s",
             output < lowered->outputs ? lowered->names[output] : lowered->monitors[output - lowered->outputs].name);
    return buffer;
}

size_t svmp_model_monitored(const svmp_model *model) { return model->lowered ? model->lowered->monitor_count : 0; }

/* Without the last subscript: x.3 of x.3.1; 0 when there is none. */
static size_t without_subscript(const char *name, size_t length) {
    size_t digits = 0;
    while (digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9') digits++;
    return digits > 0 && digits < length && name[length - 1 - digits] == '.' ? length - digits - 1 : 0;
}

/* The name may be x.3.1 of an array x, or that of a node that is called so. */
static int is_same(const char *name, size_t length, const char *other) {
    return strlen(other) == length && memcmp(name, other, length) == 0;
}

/* What runs report on request of any model: its deviance, likelihood, discrete unknowns, and new observations, y.rep or
 * y_rep. */
static int is_reported(const lowered_model *lowered, const char *name, size_t length) {
    static const char ending[] = "rep";
    const size_t tail = sizeof ending; /* with the dot before it */
    const int again = length > tail && memcmp(name + length - tail + 1, ending, tail - 1) == 0 &&
                      (name[length - tail] == '.' || name[length - tail] == '_');
    if (is_same(name, length, "deviance") || is_same(name, length, "log_lik")) return 1;
    for (size_t k = 0; k < lowered->array_count; k++) {
        const lowered_array *array = &lowered->arrays[k];
        if (array->summed && is_same(name, length, array->name)) return 1;
        if (again && array->observed && is_same(name, length - tail, array->name)) return 1;
    }
    return 0;
}

int svmp_model_computes(const svmp_model *model, const char *name) {
    if (model == NULL || model->lowered == NULL || name == NULL) return 0;
    if (svmp_names_find(&model->lowered->drawn_names, name, strlen(name)) != NAMES_NONE) return 1;
    for (size_t length = strlen(name); length > 0; length = without_subscript(name, length))
        if (svmp_names_find(&model->lowered->computed, name, length) != NAMES_NONE ||
            is_reported(model->lowered, name, length))
            return 1;
    return 0;
}

svmp_status svmp_model_natural(const svmp_model *model, size_t n, const double *variables, double *outputs) {
    if (model->lowered) return svmp_lowered_natural(model->lowered, n, variables, outputs);
    if (model->supports) return svmp_supported_natural(model, n, variables, outputs);
    memcpy(outputs, variables, model->graph->variables * n * sizeof *outputs);
    return SVMP_OK;
}

double svmp_model_natural_value(const svmp_model *model, size_t n, const double *variables, size_t particle,
                                size_t variable) {
    const size_t d = model->graph->variables, outputs = svmp_model_outputs(model);
    char name[128], other[128];
    double value = variables[variable * n + particle], *one = NULL;
    if (model->lowered == NULL && model->supports == NULL) return value;
    if (SVMP_NEW(model->context, one, d + outputs) != SVMP_OK) return value;
    for (size_t i = 0; i < d; i++) one[i] = variables[i * n + particle];
    svmp_model_variable_name(model, variable, name, sizeof name);
    if (svmp_model_natural(model, 1, one, one + d) == SVMP_OK)
        for (size_t k = 0; k < outputs; k++)
            if (strcmp(svmp_model_output_name(model, k, other, sizeof other), name) == 0) value = one[d + k];
    svmp_release(model->context, one);
    return value;
}

svmp_status svmp_model_unconstrain(const svmp_model *model, size_t n, const double *outputs, double *variables) {
    if (model->lowered) return svmp_lowered_inverse(model->lowered, n, outputs, variables);
    if (model->supports) return svmp_supported_inverse(model, n, outputs, variables);
    memcpy(variables, outputs, model->graph->variables * n * sizeof *variables);
    return SVMP_OK;
}

svmp_status svmp_model_draw_priors(const svmp_model *model, uint64_t seed, size_t n, double *variables) {
    if (model->lowered) return svmp_lowered_draw(model->lowered, seed, n, variables);
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The model has no priors to start from; the start 'prior' needs a model in the model language.");
}

double svmp_model_centring(const svmp_model *model, size_t node) {
    const lowered_model *lowered = model ? model->lowered : NULL;
    if (lowered == NULL || node >= lowered->node_count || !lowered->nodes[node].location_scale) return NAN;
    return lowered->nodes[node].coordinates.centring;
}

size_t svmp_model_observed(const svmp_model *model) { return model && model->lowered ? model->lowered->observed : 0; }

int svmp_model_array(const svmp_model *model, size_t which, svmp_array *array) {
    if (model == NULL || array == NULL || model->lowered == NULL || which >= model->lowered->array_count) return 0;
    const lowered_array *found = &model->lowered->arrays[which];
    *array = (svmp_array){.unknown = found->unknown,
                          .observed = found->observed,
                          .computed = found->computed,
                          .unknown_count = found->unknown_count,
                          .observed_count = found->observed_count,
                          .name = found->name,
                          .rank = found->rank,
                          .dimensions = found->dimensions,
                          .values = found->values,
                          .known = found->known,
                          .drawn = found->drawn,
                          .drawn_count = found->drawn_count,
                          .summed = found->summed,
                          .summed_count = found->summed_count};
    return 1;
}
