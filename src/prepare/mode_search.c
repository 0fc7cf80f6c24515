#include "prepare/mode_search.h"

#include <math.h>
#include <string.h>

#include "base/attempt.h"
#include "model/text_model.h"
#include "prepare/fitted_gaussian.h"
#include "prepare/prepare_constants.h"

/* A combination of values: the Gaussian given it. */
typedef struct given_values {
    gaussian *q;
    svmp_model *model;
    double bound;
} given_values;

typedef struct search {
    svmp_model *model;
    const parsed_model *parsed;
    choices made;
    uint32_t *fixed;
    size_t combinations;
    given_values *given;
} search;

/* ---- which unknowns ---------------------------------------------------------------------------------------------- */

/* Whether at least half as many values depend on the unknown as are observed. */
static bool couples(const lowered_model *lowered, const lowered_discrete *unknown) {
    return !unknown->open && unknown->states > 1 && unknown->read > 0 && 2 * unknown->read >= lowered->observed;
}

/* How many combinations of values those that matter have; 0: none do, or it would be expensive. */
static size_t count_combinations(const svmp_model *model) {
    const lowered_model *lowered = model->lowered;
    size_t combinations = 1;
    if (lowered == NULL || model->graph->variables > MODE_VARIABLES || model->boxed) return 0;
    for (size_t k = 0; k < lowered->summed.count; k++) {
        if (!couples(lowered, &lowered->summed.unknowns[k])) continue;
        combinations *= lowered->summed.unknowns[k].states;
        if (combinations > MODE_COMBINATIONS) return 0;
        if (combinations * lowered->observed * model->graph->variables > MODE_WORK) return 0;
    }
    return combinations > 1 ? combinations : 0;
}

static void fix(const search *s, size_t combination) {
    const lowered_summed *summed = &s->model->lowered->summed;
    for (size_t k = 0; k < summed->count; k++) {
        s->fixed[k] = 0;
        if (!couples(s->model->lowered, &summed->unknowns[k])) continue;
        s->fixed[k] = 1 + (uint32_t)(combination % summed->unknowns[k].states);
        combination /= summed->unknowns[k].states;
    }
}

/* ---- Gaussians --------------------------------------------------------------------------------------------------- */

/* A combination that is impossible, or has no Gaussian, is left out. */
static svmp_status fit(search *s, const double *from, given_values *given) {
    svmp_context *context = s->model->context;
    given->bound = -INFINITY;
    compile_report unused = {0};
    svmp_status status = svmp_compile(s->parsed, &s->made, NULL, &unused, &given->model);
    svmp_compile_report_free(context, &unused);
    if (status == SVMP_OK && given->model->graph->variables != s->model->graph->variables) return SVMP_OK;
    if (status == SVMP_OK) status = svmp_gaussian_create_from(given->model, GAUSSIAN_SEED, from, &given->q);
    if (status == SVMP_OK) given->bound = svmp_gaussian_bound(given->q);
    return status == SVMP_NO_MEMORY ? status : SVMP_OK;
}

/* All from the mean of the Gaussian of the whole; if there is none, each from starts of its own. */
static svmp_status fit_all(search *s) {
    svmp_context *context = s->model->context;
    gaussian *q = NULL;
    svmp_status status = svmp_gaussian_create(s->model, GAUSSIAN_SEED, &q);
    if (status != SVMP_NO_MEMORY) status = SVMP_OK;
    for (size_t k = 0; status == SVMP_OK && k < s->combinations; k++) {
        fix(s, k);
        status = fit(s, q ? svmp_gaussian_mean(q) : NULL, &s->given[k]);
        context->error[0] = '\0';
    }
    if (status == SVMP_OK && q) return svmp_gaussian_keep(s->model, GAUSSIAN_SEED, q);
    svmp_gaussian_free(q);
    return status;
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

/* Those with a share that counts, as modes; NULL if there are fewer than two. */
static svmp_status make_modes(search *s, model_modes **made) {
    svmp_context *context = s->model->context;
    const size_t d = s->model->graph->variables;
    double most = -INFINITY, sum = 0, kept = 0;
    size_t count = 0;
    for (size_t k = 0; k < s->combinations; k++) most = fmax(most, s->given[k].bound);
    if (!isfinite(most)) return SVMP_OK;
    for (size_t k = 0; k < s->combinations; k++) sum += exp(s->given[k].bound - most);
    for (size_t k = 0; k < s->combinations; k++) {
        const double share = exp(s->given[k].bound - most) / sum;
        if (!(share >= least_mode)) s->given[k].bound = -INFINITY;
        count += share >= least_mode;
        kept += share >= least_mode ? share : 0;
    }
    if (count < 2) return SVMP_OK;
    SVMP_TRY(svmp_modes_create(context, count, d, made));
    for (size_t k = 0, at = 0; k < s->combinations; k++) {
        if (!isfinite(s->given[k].bound)) continue;
        posterior_mode *mode = &(*made)->mode[at++];
        mode->share = exp(s->given[k].bound - most) / sum / kept;
        memcpy(mode->mean, svmp_gaussian_mean(s->given[k].q), d * sizeof *mode->mean);
        for (size_t i = 0; i < d * d; i++) mode->root[i] = i % (d + 1) == 0;
        SVMP_TRY(svmp_gaussian_correlate(s->given[k].q, d, mode->root));
    }
    return svmp_modes_finish(context, *made);
}

static svmp_status find(search *s, model_modes **made) {
    svmp_context *context = s->model->context;
    bool apart = false;
    SVMP_TRY(SVMP_NEW(context, s->fixed, s->model->lowered->summed.count));
    SVMP_TRY(SVMP_NEW(context, s->given, s->combinations));
    s->made.fixed = s->fixed;
    SVMP_TRY(fit_all(s));
    SVMP_TRY(make_modes(s, made));
    if (*made) SVMP_TRY(svmp_modes_are_apart(context, *made, main_mode, apart_modes, &apart));
    if (apart) return SVMP_OK;
    svmp_modes_free(context, *made);
    *made = NULL;
    return SVMP_OK;
}

svmp_status svmp_modes_find(svmp_model *model, const parsed_model *parsed, const choices *made_with) {
    svmp_context *context = model->context;
    search s = {.model = model, .parsed = parsed, .made = *made_with, .combinations = count_combinations(model)};
    model_modes *made = NULL;
    if (s.combinations == 0) return SVMP_OK;
    const svmp_error_function on_error = svmp_attempt_begin(context);
    const svmp_status status = find(&s, &made);
    svmp_attempt_end(context, on_error, status);
    for (size_t k = 0; s.given && k < s.combinations; k++) {
        svmp_gaussian_free(s.given[k].q);
        svmp_model_free(s.given[k].model);
    }
    svmp_release(context, s.given);
    svmp_release(context, s.fixed);
    if (status == SVMP_OK) model->modes = made;
    if (status == SVMP_OK && made)
        svmp_log(context, SVMP_LOG_INFO,
                 "The values of a discrete unknown lead to modes that are far apart: particles and chains leap between "
                 "them.");
    if (status != SVMP_OK) svmp_modes_free(context, made);
    if (status == SVMP_NO_MEMORY) return status;
    context->error[0] = '\0';
    return SVMP_OK;
}
