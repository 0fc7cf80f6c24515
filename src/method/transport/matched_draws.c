#include "method/transport/matched_draws.h"

#include <math.h>
#include <string.h>

#include "method/transport/matched_moments.h"
#include "method/transport/matched_text_moments.h"
#include "method/transport/transport_constants.h"
#include "method/transport/transport_failure.h"
#include "model/text_scale.h"

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

svmp_status svmp_match_draws(const svmp_model *model, const match_targets *to, size_t n, double *x) {
    svmp_context *context = model->context;
    const size_t variables = model->graph->variables, bytes = variables * n * sizeof *x;
    double *before = NULL, *workspace = NULL, *density = NULL;
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
done:
    svmp_release(context, density);
    svmp_release(context, before);
    svmp_release(context, workspace);
    return status;
}
