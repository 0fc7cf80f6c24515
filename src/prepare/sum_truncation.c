#include "prepare/sum_truncation.h"

#include <math.h>

#include "model/text_model.h"
#include "prepare/prepare_constants.h"

int svmp_model_has_open_sums(const svmp_model *model) {
    const lowered_summed *summed = model->lowered ? &model->lowered->summed : NULL;
    for (size_t k = 0; summed && k < summed->count; k++)
        if (summed->unknowns[k].open) return 1;
    return 0;
}

/* The ends are few, so that many sums have the same one, and its program: 12, 16, 24, 32, 48, 64, ... values. */
static uint32_t round_up(double states) {
    uint32_t power = 8;
    while (power < states && power + power / 2 < states) power *= 2;
    return power >= states ? power : power + power / 2;
}

/* How many values are needed, by their probabilities in the other parts of the posterior, in pairs
 * (model/summed_unknowns.h); all where these are unknown. */
static double states_needed(const lowered_discrete *unknown, size_t n, const double *probability) {
    double beyond = 0;
    uint32_t states = unknown->states;
    for (; states > 1; states--) {
        beyond += (probability[2 * (states - 1)] + probability[2 * (states - 1) + 1]) / (double)n;
        if (!(beyond <= no_weight)) break;
    }
    return states == unknown->states ? states : 1.125 * states + 2;
}

/* What the last value has, in units of `much`; 0 where it is unknown. */
static double at_end(const lowered_discrete *unknown, size_t n, const double *probability, double much) {
    const double *last = probability + 2 * (size_t)(unknown->states - 1);
    const double weight = (last[0] + last[1]) / (double)n * unknown->states;
    return isnan(weight) ? 0 : weight / much;
}

/* Twice or four times as many values where there is weight at the end, by `near`; fewer where there is none, by `far`.
 */
static void choose(const lowered_summed *summed, size_t n, const double *near, const double *far, uint32_t *ends,
                   uint32_t *worst, truncation_change *found) {
    double weight = 0;
    *found = TRUNCATION_SAME;
    for (size_t k = 0, place = 0; k < summed->count; place += summed->unknowns[k++].states) {
        const lowered_discrete *unknown = &summed->unknowns[k];
        ends[k] = 0;
        if (!unknown->open) continue;
        const double certain = at_end(unknown, n, near + 2 * place, near_weight),
                     own = fmax(certain, at_end(unknown, n, far + 2 * place, far_weight));
        const uint32_t states = round_up(states_needed(unknown, n, far + 2 * place));
        if (own > 1) {
            ends[k] = (uint32_t)unknown->least + (certain > 100 ? 4 : 2) * unknown->states - 1;
            *found = certain > 1 || *found == TRUNCATION_LONGER ? TRUNCATION_LONGER : TRUNCATION_MAYBE_LONGER;
        } else if (states < unknown->states) {
            ends[k] = (uint32_t)unknown->least + states - 1;
            if (*found == TRUNCATION_SAME) *found = TRUNCATION_SHORTER;
        }
        if (own <= weight) continue;
        weight = own;
        if (worst) *worst = (uint32_t)k;
    }
    if (*found < TRUNCATION_MAYBE_LONGER) return;
    for (size_t k = 0; k < summed->count; k++) /* shorter ones are found when the model is looked at again */
        if (ends[k] != 0 && ends[k] < (uint32_t)summed->unknowns[k].least + summed->unknowns[k].states) ends[k] = 0;
}

svmp_status svmp_truncation_choose(const svmp_model *model, const gaussian *q, size_t n, const double *x,
                                   uint32_t *ends, uint32_t *unknown, truncation_change *found) {
    svmp_context *context = model->context;
    const lowered_summed *summed = &model->lowered->summed;
    const size_t variables = model->graph->variables, states = svmp_summed_states(summed);
    const double *mean = svmp_gaussian_mean(q);
    double *near = NULL, *far = NULL, *moved = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, near, 2 * states));
    SVMP_CHECK(SVMP_NEW(context, far, 2 * states));
    SVMP_CHECK(SVMP_NEW(context, moved, variables * n));
    for (size_t i = 0; i < variables; i++)
        for (size_t l = 0; l < n; l++) moved[i * n + l] = mean[i] + tail_spread * (x[i * n + l] - mean[i]);
    SVMP_CHECK(svmp_summed_draw(context, summed, 0, n, NULL, x, NULL, near));
    SVMP_CHECK(svmp_summed_draw(context, summed, 0, n, NULL, moved, NULL, far));
    choose(summed, n, near, far, ends, unknown, found);
done:
    svmp_release(context, near);
    svmp_release(context, far);
    svmp_release(context, moved);
    return status;
}
