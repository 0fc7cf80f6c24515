/* Prediction: from given draws, or from the priors, what the model says of everything else. */
#include <string.h>

#include "model/model.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "run/derived_values.h"
#include "sample/particles.h"

/* ---- what is returned ------------------------------------------------------------------------ */

/* Unknowns of the text are reported: not the one that is added to texts without any continuous one. */
static bool is_reported(const svmp_model *model, size_t output, bool given) {
    const lowered_model *lowered = model->lowered;
    if (output >= lowered->outputs) return true;
    return !(given && !lowered->drawn[output]) && strcmp(lowered->names[output], AUXILIARY_NAME) != 0;
}

/* Copies the reported values of all that were made. */
static svmp_status report(const svmp_model *model, const svmp_particles *all, bool given, svmp_particles **reported) {
    svmp_context *context = model->context;
    svmp_particles *made = NULL;
    svmp_status status;
    size_t count = 0;
    for (size_t i = 0; i < all->variables; i++) count += is_reported(model, i, given);
    if (count == 0)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "There is nothing to predict: the draws have all unknowns, and nothing is monitored.");
    SVMP_CHECK(svmp_particles_create(context, count, all->count, NULL, &made));
    made->chains = all->chains;
    for (size_t i = 0, k = 0; i < all->variables; i++) {
        char name[1024];
        if (!is_reported(model, i, given)) continue;
        svmp_model_output_name(model, i, name, sizeof name);
        SVMP_CHECK(svmp_particles_set_name(made, k, name));
        memcpy(made->values + k * all->count, all->values + i * all->count, all->count * sizeof *all->values);
        k++;
    }
    SVMP_CHECK(svmp_particles_copy_extras(made, all));
    SVMP_CHECK(svmp_particles_add_data(made, model));
    *reported = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}

static svmp_status create_all(const svmp_model *model, size_t count, size_t chains, svmp_particles **all) {
    SVMP_TRY(svmp_particles_create(model->context, svmp_model_outputs(model) + svmp_model_monitored(model), count, NULL,
                                   all));
    (*all)->chains = chains;
    return SVMP_OK;
}

/* ---- from draws ------------------------------------------------------------------------------ */

/* Copies the given values. The draws must be those that the model was read with: they name the same unknowns. */
static svmp_status take(const svmp_model *model, const svmp_particles *draws, const named_variables *names,
                        svmp_particles *all) {
    const lowered_model *lowered = model->lowered;
    for (size_t i = 0; i < lowered->outputs; i++) {
        size_t variable;
        if (lowered->drawn[i] || strcmp(lowered->names[i], AUXILIARY_NAME) == 0) continue;
        if (!svmp_named_find(names, lowered->names[i], &variable))
            return svmp_fail(model->context, SVMP_BAD_INPUT,
                             "The draws have no '%.100s': the model was read with other draws, or with none.",
                             lowered->names[i]);
        memcpy(all->values + i * all->count, draws->values + variable * all->count, all->count * sizeof *draws->values);
    }
    return SVMP_OK;
}

static svmp_status predict(const svmp_model *model, const svmp_particles *draws, uint64_t seed,
                           svmp_particles **predicted) {
    svmp_context *context = model->context;
    const derivation d = {model, seed, false};
    named_variables names = {.count = draws->variables};
    svmp_particles *all = NULL;
    double *variables = NULL;
    svmp_status status;
    if (model->lowered->discrete_count > 0)
        svmp_log(context, SVMP_LOG_WARNING,
                 "Discrete unknowns are drawn again, given the continuous ones and the data here: whatever tells about "
                 "them, such as the other rows of their groups, must be among these data.");
    SVMP_CHECK(svmp_particles_by_name(draws, &names.sorted));
    SVMP_CHECK(create_all(model, draws->count, draws->chains, &all));
    SVMP_CHECK(take(model, draws, &names, all));
    SVMP_CHECK(SVMP_NEW(context, variables, model->lowered->variables * draws->count));
    SVMP_CHECK(svmp_lowered_inverse(model->lowered, draws->count, all->values, variables));
    SVMP_CHECK(svmp_derive(&d, variables, all));
    status = report(model, all, true, predicted);
done:
    svmp_release(context, names.sorted);
    svmp_release(context, variables);
    svmp_particles_free(all);
    return status;
}

/* What neither function can do without. */
static svmp_status check(const svmp_model *model, const void *result, const char *function) {
    if (result == NULL) return svmp_fail(model->context, SVMP_BAD_CALL, "%s: the result is NULL.", function);
    if (model->lowered == NULL || model->graph == NULL || model->graph->peers->count > 1)
        return svmp_fail(model->context, SVMP_UNSUPPORTED,
                         "%s: only models of a text are predicted from, in one process.", function);
    return SVMP_OK;
}

svmp_status svmp_model_predict(const svmp_model *model, const svmp_particles *draws, uint64_t seed,
                               svmp_particles **predicted) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(check(model, predicted, "svmp_model_predict"));
    if (draws == NULL) return svmp_fail(model->context, SVMP_BAD_CALL, "svmp_model_predict: the draws are NULL.");
    return predict(model, draws, seed, predicted);
}

/* ---- from the priors ------------------------------------------------------------------------- */

static svmp_status check_priors(const svmp_model *model) {
    const lowered_model *lowered = model->lowered;
    if (lowered->potentials)
        return svmp_fail(model->context, SVMP_UNSUPPORTED,
                         "A model with factor() cannot be drawn from: it does not say how its unknowns come about.");
    for (size_t k = 0; k < lowered->node_count; k++) {
        const lowered_node *node = &lowered->nodes[k];
        if (strcmp(node->name, AUXILIARY_NAME) == 0 || (node->distribution->proper && node->distribution->draw))
            continue;
        return svmp_fail(
            model->context, SVMP_UNSUPPORTED, "The prior of '%.100s' cannot be drawn from: %s.", node->name,
            node->distribution->proper ? "svmp has no random numbers of this distribution" : "it is improper");
    }
    return SVMP_OK;
}

svmp_status svmp_model_simulate(const svmp_model *model, size_t count, uint64_t seed, svmp_particles **simulated) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    const derivation d = {model, seed, false};
    svmp_particles *all = NULL;
    double *variables = NULL;
    svmp_status status;
    SVMP_TRY(check(model, simulated, "svmp_model_simulate"));
    if (count == 0) return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_simulate: no draws were asked for.");
    SVMP_TRY(check_priors(model));
    SVMP_CHECK(create_all(model, count, 1, &all));
    SVMP_CHECK(SVMP_NEW(context, variables, model->lowered->variables * count));
    SVMP_CHECK(svmp_lowered_draw(model->lowered, seed, count, variables));
    SVMP_CHECK(svmp_lowered_natural(model->lowered, count, variables, all->values));
    SVMP_CHECK(svmp_derive(&d, variables, all));
    status = report(model, all, false, simulated);
done:
    svmp_release(context, variables);
    svmp_particles_free(all);
    return status;
}
