#include "method/transport/matched_draws.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "maths/order_statistics.h"
#include "maths/special.h"
#include "method/transport/matched_moments.h"
#include "method/transport/matched_text_moments.h"
#include "method/transport/transport_constants.h"
#include "method/transport/transport_failure.h"
#include "model/natural_values.h"
#include "model/text_scale.h"
#include "sample/number_errors.h"

svmp_status svmp_match_text(const svmp_model *model, const average *to, size_t n, double *x) {
    text_scale *text = NULL;
    SVMP_TRY(svmp_text_scale_create(model, n, &text));
    for (size_t i = 0; i < svmp_text_scale_rows(text); i++) {
        const text_row row = svmp_text_scale_row(text, i, x); /* parents are matched already */
        svmp_match_text_moments(n, &to[i], &row, x + row.variable * n);
    }
    svmp_text_scale_free(text);
    return SVMP_OK;
}

static svmp_status restore_impossible(const svmp_model *model, size_t n, const double *before, double *density,
                                      double *x) {
    SVMP_TRY(svmp_model_evaluate(model, n, x, density, NULL));
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; !isfinite(density[l]) && i < model->graph->variables; i++) x[i * n + l] = before[i * n + l];
    return SVMP_OK;
}

/* The mean and the quantiles 5 and 95 % of what is reported of a variable. */
static void summarise(size_t n, const double *values, double *workspace, double found[3]) {
    const double last = (double)n - 1;
    found[0] = svmp_sum(n, values) / (double)n;
    for (int k = 1; k < 3; k++) {
        memcpy(workspace, values, n * sizeof *values);
        found[k] = svmp_select(workspace, n, (size_t)(last * (k == 1 ? 0.05 : 0.95)));
    }
}

/* The sd; 0 where tails are so light that matching does no harm. */
static double sd_if_heavy(size_t n, const double *values) {
    const double mean = svmp_sum(n, values) / (double)n;
    double squares = 0, fourths = 0;
    for (size_t l = 0; l < n; l++) {
        const double square = (values[l] - mean) * (values[l] - mean);
        squares += square;
        fourths += square * square;
    }
    return (double)n * fourths > heavy_kurtosis * squares * squares ? sqrt(squares / (double)n) : 0;
}

/* Whether matching moved a natural value by more than the error that the draws had before. What is a small part of an
 * sd where variables move, such as the logarithm of a gamma variable of shape 0.1, may be a large part of one on the
 * natural scale; such draws are better as they were. */
static void find_harm(const svmp_particles *natural, const double *after, double *workspace, int *harmed) {
    const size_t n = natural->count, outputs = natural->variables;
    const double chance = -svmp_normal_quantile(0.005 / (double)outputs);
    for (size_t i = 0; i < outputs && !*harmed; i++) {
        number_errors e;
        double was[3], is[3];
        const double sd = sd_if_heavy(n, natural->values + i * n);
        if (!(sd > 0)) continue;
        svmp_number_errors(natural, i, workspace, &e);
        summarise(n, natural->values + i * n, workspace, was);
        summarise(n, after + i * n, workspace, is);
        *harmed = fabs(is[0] - was[0]) > sd * fmax(harmless, chance * e.mean);
        for (int k = 1; k < 3; k++) *harmed |= fabs(is[k] - was[k]) > sd * fmax(harmless, chance * e.quantile);
    }
}

static svmp_status compare_natural(const svmp_model *model, size_t n, size_t chains, const double *before,
                                   const double *x, int *harmed) {
    const size_t outputs = svmp_model_outputs(model);
    svmp_particles *natural = NULL;
    double *after = NULL, *workspace = NULL;
    svmp_status status;
    *harmed = 0;
    if ((model->lowered == NULL && model->supports == NULL) || outputs == 0) return SVMP_OK;
    SVMP_CHECK(svmp_particles_create(model->context, outputs, n, NULL, &natural));
    SVMP_CHECK(svmp_particles_set_chains(natural, chains));
    SVMP_CHECK(svmp_allocate(model->context, outputs, n * sizeof *after, (void **)&after));
    SVMP_CHECK(svmp_model_natural(model, n, before, natural->values));
    SVMP_CHECK(svmp_model_natural(model, n, x, after));
    SVMP_CHECK(SVMP_NEW(model->context, workspace, 3 * n));
    find_harm(natural, after, workspace, harmed);
done:
    svmp_particles_free(natural);
    svmp_release(model->context, after);
    svmp_release(model->context, workspace);
    return status;
}

svmp_status svmp_match_draws(const svmp_model *model, const match_targets *to, size_t n, size_t chains, double *x) {
    svmp_context *context = model->context;
    const size_t variables = model->graph->variables, bytes = variables * n * sizeof *x;
    double *before = NULL, *workspace = NULL, *density = NULL;
    int harmed = 0;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, density, n));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof *x, (void **)&before));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof *x, (void **)&workspace));
    memcpy(before, x, bytes);
    svmp_covariance_match(to->covariance, to->rows, n, x);
    SVMP_CHECK(svmp_match_moments(to->q, to->rows, variables, n, x, workspace));
    if (svmp_transport_failed(to->rows, variables, n, x, before, off)) {
        memcpy(x, before, bytes);
        goto done;
    }
    SVMP_CHECK(svmp_match_text(model, to->text, n, x));
    SVMP_CHECK(restore_impossible(model, n, before, density, x));
    SVMP_CHECK(compare_natural(model, n, chains, before, x, &harmed));
    if (harmed) memcpy(x, before, bytes);
done:
    svmp_release(context, density);
    svmp_release(context, before);
    svmp_release(context, workspace);
    return status;
}
