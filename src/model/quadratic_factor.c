#include "model/quadratic_factor.h"

#include <string.h>

#include "maths/sparse_factor.h"

svmp_status svmp_model_exact_moments(const svmp_model *model, double *mean, double *variance) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(svmp_model_require_finished(model));
    SVMP_TRY(svmp_model_require_whole(model, "svmp_model_exact_moments"));
    cholesky *factor = NULL;
    SVMP_TRY(svmp_cholesky_create(model, &factor));
    svmp_status status = mean ? svmp_cholesky_mean(factor, mean) : SVMP_OK;
    if (status == SVMP_OK && variance) status = svmp_cholesky_variance(factor, variance);
    svmp_cholesky_free(factor);
    return status;
}

struct cholesky {
    const svmp_model *model;
    sparsity pattern;
    factorisation *factor;
};

/* Says why the model has no exact answer. */
static void refuse(const svmp_model *model) {
    char name[128];
    size_t i = 0;
    if (model->group_count > 0 && model->groups[0].line > 0)
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "An exact answer needs a jointly Gaussian model, but the factor on line %zu is not "
                    "linear-quadratic in its unknowns.",
                    model->groups[0].line);
    else if (model->group_count > 0)
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "An exact answer needs a jointly Gaussian model, but factor %zu is not linear-quadratic.",
                    model->group_factor[0]);
    else if (svmp_model_transformed(model) != SIZE_MAX)
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "An exact answer needs a jointly Gaussian model, but %s is bounded.",
                    svmp_model_node_name(model, svmp_model_transformed(model), name, sizeof name));
    else if (model->boxed) {
        while (i + 1 < model->graph->variables && model->lower[i] * 0 != 0 && model->upper[i] * 0 != 0) i++;
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "An exact answer needs a jointly Gaussian model, but %s has a box.",
                    svmp_model_variable_name(model, i, name, sizeof name));
    } else
        svmp_record(model->context, SVMP_UNSUPPORTED, "An exact answer needs factors, but this model has none.");
}

/* The lower triangle of A, entry by entry of its pattern. */
static svmp_status lower_triangle(cholesky *f, double **A) {
    const quadratic *q = &f->model->quadratic;
    svmp_context *context = f->model->context;
    const size_t variables = f->model->graph->variables;
    svmp_status status;
    sparse_place *places = NULL;
    uint32_t *place = NULL;
    size_t count = 0, k = 0;
    for (size_t i = 0; i < variables; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++) count += q->column[e] <= i;
    SVMP_CHECK(SVMP_NEW(context, places, count));
    SVMP_CHECK(SVMP_NEW(context, place, count));
    for (size_t i = 0; i < variables; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++)
            if (q->column[e] <= i) places[k++] = (sparse_place){(uint32_t)i, q->column[e]};
    SVMP_CHECK(svmp_sparsity_create(context, variables, count, places, place, &f->pattern));
    SVMP_CHECK(SVMP_NEW(context, *A, f->pattern.entries));
    k = 0;
    for (size_t i = 0; i < variables; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++)
            if (q->column[e] <= i) (*A)[place[k++]] = q->value[e];
done:
    svmp_release(context, places);
    svmp_release(context, place);
    return status;
}

static svmp_status factorise(cholesky *f) {
    svmp_context *context = f->model->context;
    svmp_status status;
    double *A = NULL;
    char name[128];
    size_t bad;
    SVMP_CHECK(lower_triangle(f, &A));
    SVMP_CHECK(svmp_factorisation_create(context, &f->pattern, &f->factor));
    SVMP_CHECK(svmp_factorise(f->factor, A, &bad));
    if (bad == SIZE_MAX) bad = svmp_factorisation_rounded_pivot(f->factor, A);
    if (bad != SIZE_MAX)
        status = svmp_fail(
            context, SVMP_NOT_POSITIVE_DEFINITE,
            "The precision matrix is not positive definite: the pivot of %s is not positive. The posterior is "
            "improper; give the unknowns proper priors.",
            svmp_model_variable_name(f->model, bad, name, sizeof name));
done:
    svmp_release(context, A);
    return status;
}

svmp_status svmp_cholesky_create(const svmp_model *model, cholesky **factor) {
    if (!svmp_model_is_gaussian(model)) {
        refuse(model);
        return SVMP_UNSUPPORTED;
    }
    cholesky *f = NULL;
    SVMP_TRY(SVMP_NEW(model->context, f, 1));
    f->model = model;
    svmp_status status = factorise(f);
    if (status != SVMP_OK) {
        svmp_cholesky_free(f);
        return status;
    }
    *factor = f;
    return SVMP_OK;
}

void svmp_cholesky_free(cholesky *f) {
    if (f == NULL) return;
    svmp_factorisation_free(f->factor);
    svmp_sparsity_free(f->model->context, &f->pattern);
    svmp_release(f->model->context, f);
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

svmp_status svmp_cholesky_mean(cholesky *f, double *mean) {
    memcpy(mean, f->model->quadratic.linear, f->model->graph->variables * sizeof *mean);
    return svmp_factorisation_solve(f->factor, 1, 1, mean);
}

svmp_status svmp_cholesky_draws(cholesky *f, size_t n, const double *z, double *x) {
    svmp_context *context = f->model->context;
    const size_t variables = f->model->graph->variables;
    svmp_status status;
    double *mean = NULL;
    SVMP_CHECK(SVMP_NEW(context, mean, variables));
    SVMP_CHECK(svmp_cholesky_mean(f, mean));
    memcpy(x, z, variables * n * sizeof *x);
    SVMP_CHECK(svmp_factorisation_correlate(f->factor, svmp_context_threads(context), n, x));
    for (size_t i = 0; i < variables; i++)
        for (size_t l = 0; l < n; l++) x[i * n + l] += mean[i];
done:
    svmp_release(context, mean);
    return status;
}

svmp_status svmp_cholesky_variance(cholesky *f, double *variance) {
    double *inverse = NULL;
    SVMP_TRY(SVMP_NEW(f->model->context, inverse, f->pattern.entries));
    svmp_status status = svmp_factorisation_inverse(f->factor, inverse);
    for (size_t i = 0; status == SVMP_OK && i < f->pattern.order; i++) variance[i] = inverse[f->pattern.start[i]];
    svmp_release(f->model->context, inverse);
    return status;
}
