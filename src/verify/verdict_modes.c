/* The modes of a posterior, as a verdict names them. */
#include <math.h>
#include <string.h>

#include "model/natural_values.h"
#include "model/posterior_modes.h"
#include "verify/verdict_inside.h"

/* The variable in which the means of the modes differ most, in units of their widths. */
static size_t find_distinct(const model_modes *modes) {
    const size_t d = modes->variables;
    double most = 0;
    size_t which = 0;
    for (size_t i = 0; i < d; i++) {
        double least = INFINITY, largest = -INFINITY, width = 0;
        for (size_t k = 0; k < modes->count; k++) {
            const double at = modes->mode[k].mean[i];
            least = fmin(least, at);
            largest = fmax(largest, at);
            for (size_t j = 0; j < d; j++)
                width += modes->mode[k].root[i * d + j] * modes->mode[k].root[i * d + j] / (double)modes->count;
        }
        const double distance = (largest - least) / sqrt(width);
        if (!(distance > most)) continue;
        most = distance;
        which = i;
    }
    return which;
}

/* Puts a mode into the list, the heaviest first. */
static void list_mode(svmp_verdict *v, size_t listed, verdict_mode mode) {
    size_t at = listed < VERDICT_MODES ? listed : VERDICT_MODES;
    for (; at > 0 && mode.share > v->mode[at - 1].share; at--)
        if (at < VERDICT_MODES) v->mode[at] = v->mode[at - 1];
    if (at < VERDICT_MODES) v->mode[at] = mode;
}

void svmp_verdict_set_modes(const svmp_model *model, const model_modes *modes, const mode_share *share,
                            svmp_verdict *verdict) {
    const size_t which = find_distinct(modes);
    verdict->modes = 0;
    svmp_verdict_variable_name(model, which, verdict->mode_name, sizeof verdict->mode_name);
    for (size_t k = 0; k < modes->count; k++) {
        const double value = svmp_model_natural_value(model, 1, modes->mode[k].mean, 0, which);
        list_mode(verdict, verdict->modes++, (verdict_mode){share[k].share, share[k].error, value});
    }
}

svmp_status svmp_verdict_describe_modes(const svmp_run *run, svmp_verdict *verdict) {
    const model_modes *modes = svmp_run_modes(run);
    mode_share *share = NULL;
    if (modes == NULL || run->method->mode_share == NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(run->context, share, modes->count));
    int known = 1;
    for (size_t k = 0; k < modes->count; k++) {
        share[k] = run->method->mode_share(run, k);
        known = known && share[k].share >= 0;
    }
    if (known) svmp_verdict_set_modes(run->model, modes, share, verdict);
    svmp_release(run->context, share);
    return SVMP_OK;
}
