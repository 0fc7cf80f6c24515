#include "model/cholesky.h"

#include <string.h>

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

#ifdef SVMP_HAVE_CHOLMOD

#include <cholmod.h>

struct cholesky {
    const svmp_model *model;
    cholmod_common common;
    cholmod_factor *L;
};

/* Says why the model has no exact answer. */
static void refuse(const svmp_model *model) {
    char name[128];
    size_t i = 0;
    if (model->group_count > 0 && model->groups[0].line > 0)
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "The method 'exact' needs a jointly Gaussian model, but the factor on line %zu is not "
                    "linear-quadratic in its unknowns.",
                    model->groups[0].line);
    else if (model->group_count > 0)
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "The method 'exact' needs a jointly Gaussian model, but factor %zu is not linear-quadratic.",
                    model->group_factor[0]);
    else if (svmp_model_transformed(model) != SIZE_MAX)
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "The method 'exact' needs a jointly Gaussian model, but %s is bounded.",
                    svmp_model_node_name(model, svmp_model_transformed(model), name, sizeof name));
    else if (model->boxed) {
        while (i + 1 < model->graph->variables && model->lower[i] * 0 != 0 && model->upper[i] * 0 != 0) i++;
        svmp_record(model->context, SVMP_UNSUPPORTED,
                    "The method 'exact' needs a jointly Gaussian model, but %s has a box.",
                    svmp_model_variable_name(model, i, name, sizeof name));
    } else
        svmp_record(model->context, SVMP_UNSUPPORTED, "The method 'exact' needs factors, but this model has none.");
}

/* CHOLMOD failed: out of memory, or something that should not be. */
static svmp_status report(const cholesky *f) {
    if (f->common.status == CHOLMOD_OUT_OF_MEMORY)
        return svmp_fail(f->model->context, SVMP_NO_MEMORY, "Out of memory in the sparse Cholesky factorisation.");
    return svmp_fail(f->model->context, SVMP_UNSUPPORTED,
                     "The sparse Cholesky factorisation failed with CHOLMOD's status %d.", f->common.status);
}

/* The lower triangle of A, column by column; A is symmetric, so its rows serve as columns. */
static cholmod_sparse *lower_triangle(cholesky *f) {
    const quadratic *q = &f->model->quadratic;
    const size_t variables = f->model->graph->variables;
    size_t entries = 0;
    for (size_t i = 0; i < variables; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++) entries += q->column[e] >= i;
    cholmod_sparse *A = cholmod_l_allocate_sparse(variables, variables, entries, 1, 1, -1, CHOLMOD_REAL, &f->common);
    if (A == NULL) return NULL;
    SuiteSparse_long *start = A->p, *row = A->i, at = 0;
    double *value = A->x;
    for (size_t i = 0; i < variables; i++) {
        start[i] = at;
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++)
            if (q->column[e] >= i) {
                row[at] = q->column[e];
                value[at++] = q->value[e];
            }
    }
    start[variables] = at;
    return A;
}

static svmp_status factorise(cholesky *f) {
    char name[128];
    cholmod_common *common = &f->common;
    common->supernodal = CHOLMOD_SIMPLICIAL; /* no BLAS: the same bits for any number of threads */
    common->final_ll = 1;                    /* LL', not LDL' */
    common->print = 0;
    cholmod_sparse *A = lower_triangle(f);
    if (A) f->L = cholmod_l_analyze(A, common);
    if (f->L) cholmod_l_factorize(A, f->L, common);
    cholmod_l_free_sparse(&A, common);
    if (f->L == NULL || common->status < CHOLMOD_OK) return report(f);
    if (f->L->minor < f->L->n) {
        size_t variable = (size_t)((SuiteSparse_long *)f->L->Perm)[f->L->minor];
        return svmp_fail(f->model->context, SVMP_NOT_POSITIVE_DEFINITE,
                         "The precision matrix is not positive definite: the pivot of %s is not positive.",
                         svmp_model_variable_name(f->model, variable, name, sizeof name));
    }
    return SVMP_OK;
}

svmp_status svmp_cholesky_create(const svmp_model *model, cholesky **factor) {
    if (!svmp_model_is_gaussian(model)) {
        refuse(model);
        return SVMP_UNSUPPORTED;
    }
    cholesky *f = NULL;
    SVMP_TRY(SVMP_NEW(model->context, f, 1));
    f->model = model;
    cholmod_l_start(&f->common);
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
    cholmod_l_free_factor(&f->L, &f->common);
    cholmod_l_finish(&f->common);
    svmp_release(f->model->context, f);
}

/* Solves one of CHOLMOD's systems, and frees the right-hand side. */
static cholmod_dense *solve(cholesky *f, int system, cholmod_dense *right) {
    cholmod_dense *solution = right ? cholmod_l_solve(system, f->L, right, &f->common) : NULL;
    cholmod_l_free_dense(&right, &f->common);
    return solution;
}

svmp_status svmp_cholesky_mean(cholesky *f, double *mean) {
    const size_t variables = f->model->graph->variables;
    cholmod_dense *right = cholmod_l_allocate_dense(variables, 1, variables, CHOLMOD_REAL, &f->common);
    if (right) memcpy(right->x, f->model->quadratic.linear, variables * sizeof *mean);
    cholmod_dense *solution = solve(f, CHOLMOD_A, right);
    if (solution == NULL) return report(f);
    memcpy(mean, solution->x, variables * sizeof *mean);
    cholmod_l_free_dense(&solution, &f->common);
    return SVMP_OK;
}

enum { DRAWS_AT_ONCE = 32 };

svmp_status svmp_cholesky_draws(cholesky *f, size_t n, const double *z, double *x) {
    const size_t variables = f->model->graph->variables;
    double *mean = NULL;
    SVMP_TRY(SVMP_NEW(f->model->context, mean, variables));
    svmp_status status = svmp_cholesky_mean(f, mean);
    for (size_t l = 0; status == SVMP_OK && l < n; l += DRAWS_AT_ONCE) {
        size_t count = n - l < DRAWS_AT_ONCE ? n - l : DRAWS_AT_ONCE;
        cholmod_dense *draws = cholmod_l_allocate_dense(variables, count, variables, CHOLMOD_REAL, &f->common);
        double *value = draws ? draws->x : NULL;
        for (size_t k = 0; value && k < count; k++)
            for (size_t i = 0; i < variables; i++) value[k * variables + i] = z[i * n + l + k];
        draws = solve(f, CHOLMOD_Pt, solve(f, CHOLMOD_Lt, draws));
        if (draws == NULL) {
            status = report(f);
            break;
        }
        value = draws->x;
        for (size_t k = 0; k < count; k++)
            for (size_t i = 0; i < variables; i++) x[i * n + l + k] = mean[i] + value[k * variables + i];
        cholmod_l_free_dense(&draws, &f->common);
    }
    svmp_release(f->model->context, mean);
    return status;
}

/* Takahashi's recursion. Z = A^-1 (permuted) is needed on the pattern of L only; with S_j the rows below the diagonal
 * of column j, for j from last to first:
 *     Z_ij = - 1/L_jj sum_{k in S_j} Z_ik L_kj   (i in S_j),    Z_jj = 1/L_jj^2 - 1/L_jj sum_{k in S_j} Z_kj L_kj
 * Every Z_ik with i, k in S_j lies on the pattern: column k is walked once and met rows are found through place[]. */
static void invert_on_pattern(const cholmod_factor *L, double *Z, size_t *place, double *sum) {
    const SuiteSparse_long *start = L->p, *count = L->nz, *row = L->i;
    const double *value = L->x;
    for (size_t j = L->n; j-- > 0;) {
        const SuiteSparse_long from = start[j], to = start[j] + count[j]; /* the diagonal stands at `from` */
        const double diagonal = value[from];
        for (SuiteSparse_long e = from + 1; e < to; e++) {
            place[row[e]] = (size_t)(e - from);
            sum[e - from] = 0;
        }
        for (SuiteSparse_long e = from + 1; e < to; e++) {
            const SuiteSparse_long k = row[e];
            for (SuiteSparse_long c = start[k]; c < start[k] + count[k]; c++) {
                const size_t at = place[row[c]];
                if (at == 0) continue;
                sum[at] += Z[c] * value[e]; /* Z_ik L_kj,  i = row[c] */
                if (row[c] != k) sum[e - from] += Z[c] * value[from + (SuiteSparse_long)at]; /* Z_ki L_ij */
            }
        }
        double own = 1 / diagonal;
        for (SuiteSparse_long e = from + 1; e < to; e++) {
            Z[e] = -sum[e - from] / diagonal;
            own -= Z[e] * value[e];
            place[row[e]] = 0;
        }
        Z[from] = own / diagonal;
    }
}

svmp_status svmp_cholesky_variance(cholesky *f, double *variance) {
    svmp_context *context = f->model->context;
    const size_t variables = f->L->n;
    const SuiteSparse_long *start = f->L->p, *permutation = f->L->Perm;
    svmp_status status;
    size_t *place = NULL;
    double *Z = NULL, *sum = NULL;
    SVMP_CHECK(SVMP_NEW(context, Z, f->L->nzmax));
    SVMP_CHECK(SVMP_NEW(context, place, variables));
    SVMP_CHECK(SVMP_NEW(context, sum, variables + 1));
    invert_on_pattern(f->L, Z, place, sum);
    for (size_t j = 0; j < variables; j++) variance[permutation[j]] = Z[start[j]];
done:
    svmp_release(context, Z);
    svmp_release(context, place);
    svmp_release(context, sum);
    return status;
}

#else

svmp_status svmp_cholesky_create(const svmp_model *model, cholesky **factor) {
    (void)factor;
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "Exact inference needs CHOLMOD, which this build does not have (Debian: libsuitesparse-dev).");
}

void svmp_cholesky_free(cholesky *factor) { (void)factor; }

svmp_status svmp_cholesky_mean(cholesky *factor, double *mean) { return (void)factor, (void)mean, SVMP_UNSUPPORTED; }

svmp_status svmp_cholesky_variance(cholesky *factor, double *variance) {
    return (void)factor, (void)variance, SVMP_UNSUPPORTED;
}

svmp_status svmp_cholesky_draws(cholesky *factor, size_t n, const double *z, double *x) {
    return (void)factor, (void)n, (void)z, (void)x, SVMP_UNSUPPORTED;
}

#endif
