#include "maths/sparse_factor.h"

#include <math.h>
#include <string.h>

#include "base/target_clones.h"
#include "base/threads.h"
#include "maths/sparse_supernodes.h"

enum { DENSE_ORDER = 3000 }; /* the largest matrix that is factorised without CHOLMOD */

struct factorisation {
    svmp_context *context;
    const sparsity *pattern;
    triangle L;
    double *workspace; /* permuted columns */
    size_t workspace_capacity;
#ifdef SVMP_HAVE_CHOLMOD
    cholmod_common common;
    cholmod_sparse *A;
    cholmod_factor *factor;
    supernodes *panels; /* or NULL */
#else
    int64_t *start, *count, *row, *permutation;
    double *value;
#endif
};

/* ---- the factor -------------------------------------------------------------------------------------------------- */

#ifdef SVMP_HAVE_CHOLMOD

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "CHOLMOD's long integers have 64 bits");

/* CHOLMOD failed: out of memory, or a defect. */
static svmp_status report(const factorisation *f) {
    if (f->common.status == CHOLMOD_OUT_OF_MEMORY)
        return svmp_fail(f->context, SVMP_NO_MEMORY, "Out of memory in the sparse Cholesky factorisation.");
    return svmp_fail(f->context, SVMP_UNSUPPORTED, "The sparse Cholesky factorisation failed with CHOLMOD's status %d.",
                     f->common.status);
}

/* Multiplications of a factorisation from which on supernodes are faster, and a second elimination order is worth the
 * search for it. */
static const double many = 1e6, costly = 5e7;

/* The supernodes of the better of two elimination orders, if the first one is expensive. */
static svmp_status find_supernodes(factorisation *f) {
    cholmod_common *common = &f->common;
    common->nmethods = common->fl > costly ? 2 : 1;
    common->method[0].ordering = CHOLMOD_AMD;
    common->method[1].ordering = CHOLMOD_METIS; /* skipped by a CHOLMOD without METIS */
    common->supernodal = CHOLMOD_SUPERNODAL;
    cholmod_l_free_factor(&f->factor, common);
    cholmod_factor *factor = cholmod_l_analyze(f->A, common);
    svmp_status status = factor && common->status >= CHOLMOD_OK ? SVMP_OK : report(f);
    if (status == SVMP_OK) status = svmp_supernodes_create(f->context, f->pattern, factor, &f->panels);
    if (status == SVMP_OK) f->L = svmp_supernodes_triangle(f->panels);
    cholmod_l_free_factor(&factor, common);
    return status;
}

static svmp_status analyse(factorisation *f) {
    const sparsity *pattern = f->pattern;
    const size_t order = pattern->order;
    cholmod_common *common = &f->common;
    cholmod_l_start(common);
    common->supernodal = CHOLMOD_SIMPLICIAL; /* no BLAS: the same bits for any number of threads */
    common->final_ll = 1;                    /* LL', not LDL' */
    common->quick_return_if_not_posdef = 1;
    common->print = 0;
    f->A = cholmod_l_allocate_sparse(order, order, pattern->entries, 1, 1, -1, CHOLMOD_REAL, common);
    if (f->A == NULL) return report(f);
    SuiteSparse_long *start = f->A->p, *row = f->A->i;
    for (size_t j = 0; j <= order; j++) start[j] = (SuiteSparse_long)pattern->start[j];
    for (size_t e = 0; e < pattern->entries; e++) row[e] = pattern->row[e];
    f->factor = cholmod_l_analyze(f->A, common);
    if (f->factor == NULL || common->status < CHOLMOD_OK) return report(f);
    return common->fl > many ? find_supernodes(f) : SVMP_OK;
}

static void release(factorisation *f) {
    svmp_supernodes_free(f->panels);
    cholmod_l_free_sparse(&f->A, &f->common);
    cholmod_l_free_factor(&f->factor, &f->common);
    cholmod_l_finish(&f->common);
}

svmp_status svmp_factorise(factorisation *f, const double *A, size_t *bad) {
    *bad = SIZE_MAX;
    if (f->panels) return svmp_supernodes_factorise(f->panels, A, bad), SVMP_OK;
    memcpy(f->A->x, A, f->pattern->entries * sizeof *A);
    cholmod_l_factorize(f->A, f->factor, &f->common);
    if (f->common.status < CHOLMOD_OK) return report(f);
    const cholmod_factor *L = f->factor;
    if (L->minor < L->n) *bad = (size_t)((const SuiteSparse_long *)L->Perm)[L->minor];
    f->L = (triangle){.start = (const int64_t *)L->p,
                      .count = (const int64_t *)L->nz,
                      .row = (const int64_t *)L->i,
                      .row_start = (const int64_t *)L->p,
                      .permutation = (const int64_t *)L->Perm,
                      .value = L->x};
    return SVMP_OK;
}

#else

static svmp_status analyse(factorisation *f) {
    const size_t order = f->pattern->order;
    if (order > DENSE_ORDER)
        return svmp_fail(f->context, SVMP_UNSUPPORTED,
                         "A model of %zu variables is too large without CHOLMOD, which this build does not have "
                         "(Debian: libsuitesparse-dev).",
                         order);
    SVMP_TRY(SVMP_NEW(f->context, f->start, order + 1));
    SVMP_TRY(SVMP_NEW(f->context, f->count, order));
    SVMP_TRY(SVMP_NEW(f->context, f->permutation, order));
    SVMP_TRY(SVMP_NEW(f->context, f->row, order * (order + 1) / 2));
    SVMP_TRY(SVMP_NEW(f->context, f->value, order * (order + 1) / 2));
    for (size_t j = 0, at = 0; j < order; j++) {
        f->start[j] = (int64_t)at;
        f->count[j] = (int64_t)(order - j);
        f->permutation[j] = (int64_t)j;
        for (size_t i = j; i < order; i++) f->row[at++] = (int64_t)i;
    }
    f->L = (triangle){f->start, f->count, f->row, f->start, f->permutation, f->value};
    return SVMP_OK;
}

static void release(factorisation *f) {
    svmp_release_all(f->context, f->start, f->count, f->row, f->permutation, f->value);
}

/* Right-looking, column by column: each column is subtracted from those after it. */
svmp_status svmp_factorise(factorisation *f, const double *A, size_t *bad) {
    const sparsity *pattern = f->pattern;
    const size_t order = pattern->order;
    *bad = SIZE_MAX;
    memset(f->value, 0, order * (order + 1) / 2 * sizeof *f->value);
    for (size_t j = 0; j < order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            f->value[(size_t)f->start[j] + pattern->row[e] - j] = A[e];
    for (size_t j = 0; j < order; j++) {
        double *column = f->value + f->start[j];
        if (!(column[0] > 0 && column[0] < INFINITY)) {
            *bad = j;
            return SVMP_OK;
        }
        column[0] = sqrt(column[0]);
        for (size_t i = 1; i < order - j; i++) column[i] /= column[0];
        for (size_t k = 1; k < order - j; k++) {
            double *later = f->value + f->start[j + k];
            if (column[k] == 0) continue;
            for (size_t i = k; i < order - j; i++) later[i - k] -= column[i] * column[k];
        }
    }
    return SVMP_OK;
}

#endif

svmp_status svmp_factorisation_create(svmp_context *context, const sparsity *pattern, factorisation **made) {
    factorisation *f = NULL;
    SVMP_TRY(SVMP_NEW(context, f, 1));
    f->context = context;
    f->pattern = pattern;
    svmp_status status = analyse(f);
    if (status == SVMP_OK)
        *made = f;
    else
        svmp_factorisation_free(f);
    return status;
}

void svmp_factorisation_free(factorisation *f) {
    if (f == NULL) return;
    release(f);
    svmp_release_all(f->context, f->workspace, f);
}

size_t svmp_factorisation_entries(const factorisation *f) {
    size_t entries = 0;
    for (size_t j = 0; j < f->pattern->order; j++) entries += (size_t)f->L.count[j];
    return entries;
}

const triangle *svmp_factorisation_triangle(const factorisation *f) { return &f->L; }

double svmp_factorisation_log_determinant(const factorisation *f) {
    double sum = 0;
    for (size_t j = 0; j < f->pattern->order; j++) sum += log(f->L.value[f->L.start[j]]);
    return 2 * sum;
}

size_t svmp_factorisation_rounded_pivot(const factorisation *f, const double *A) {
    static const double rounding = 1e-14; /* of a diagonal element, relative */
    for (size_t j = 0; j < f->pattern->order; j++) {
        const size_t row = (size_t)f->L.permutation[j];
        const double root = f->L.value[f->L.start[j]];
        if (!(root * root > rounding * A[f->pattern->start[row]])) return row;
    }
    return SIZE_MAX;
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

enum { AT_ONCE = 4 }; /* columns or rows of L that are applied to a row of y each time it is loaded */

/* Whether columns j ... j + AT_ONCE - 1 have the same rows below them. The rows of a column are a subset of those of
 * its parent, the column of its first row, so it suffices to compare counts. */
static inline int go_together(const triangle *L, size_t order, size_t j) {
    if (j + AT_ONCE > order) return 0;
    for (size_t k = j; k + 1 < j + AT_ONCE; k++)
        if (L->count[k + 1] != L->count[k] - 1 || L->row[L->row_start[k] + 1] != (int64_t)k + 1) return 0;
    return 1;
}

/* Columns from ... to - 1 of y, rows of n numbers: y = L^-1 y. */
SVMP_CLONES static void solve_forward(const triangle *L, size_t order, size_t n, size_t from, size_t to, double *y) {
    for (size_t j = 0, together; j < order; j += together) {
        together = go_together(L, order, j) ? AT_ONCE : 1;
        for (size_t k = j; k < j + together; k++) {
            const double *value = L->value + L->start[k];
            double *yk = y + k * n;
            for (size_t l = from; l < to; l++) yk[l] /= value[0];
            for (size_t i = k + 1; i < j + together; i++) {
                double *yi = y + i * n;
#pragma omp simd
                for (size_t l = from; l < to; l++) yi[l] -= value[i - k] * yk[l];
            }
        }
        const int64_t below = L->count[j] - (int64_t)together, *row = L->row + L->row_start[j] + together;
        const double *v0 = L->value + L->start[j] + together, *y0 = y + j * n;
        if (together == 1) {
            for (int64_t e = 0; e < below; e++) {
                double *yi = y + (size_t)row[e] * n;
#pragma omp simd
                for (size_t l = from; l < to; l++) yi[l] -= v0[e] * y0[l];
            }
            continue;
        }
        const double *v1 = L->value + L->start[j + 1] + 3, *v2 = L->value + L->start[j + 2] + 2,
                     *v3 = L->value + L->start[j + 3] + 1, *y1 = y0 + n, *y2 = y1 + n, *y3 = y2 + n;
        for (int64_t e = 0; e < below; e++) {
            const double a0 = v0[e], a1 = v1[e], a2 = v2[e], a3 = v3[e];
            double *yi = y + (size_t)row[e] * n;
#pragma omp simd
            for (size_t l = from; l < to; l++) yi[l] = (((yi[l] - a0 * y0[l]) - a1 * y1[l]) - a2 * y2[l]) - a3 * y3[l];
        }
    }
}

/* y = L'^-1 y */
SVMP_CLONES static void solve_back(const triangle *L, size_t order, size_t n, size_t from, size_t to, double *y) {
    for (size_t j = order; j-- > 0;) {
        const double *value = L->value + L->start[j];
        const int64_t *row = L->row + L->row_start[j], count = L->count[j];
        double *yj = y + j * n;
        int64_t e = 1;
        for (; e + AT_ONCE <= count; e += AT_ONCE) {
            const double a0 = value[e], a1 = value[e + 1], a2 = value[e + 2], a3 = value[e + 3];
            const double *y0 = y + (size_t)row[e] * n, *y1 = y + (size_t)row[e + 1] * n,
                         *y2 = y + (size_t)row[e + 2] * n, *y3 = y + (size_t)row[e + 3] * n;
#pragma omp simd
            for (size_t l = from; l < to; l++) yj[l] = (((yj[l] - a0 * y0[l]) - a1 * y1[l]) - a2 * y2[l]) - a3 * y3[l];
        }
        for (; e < count; e++) {
            const double *yi = y + (size_t)row[e] * n;
#pragma omp simd
            for (size_t l = from; l < to; l++) yj[l] -= value[e] * yi[l];
        }
        for (size_t l = from; l < to; l++) yj[l] /= value[0];
    }
}

/* Each thread takes a share of the n columns of y. */
typedef struct solution {
    const triangle *L;
    size_t order, n, shares;
    double *y;
    int forward;
} solution;

static void solve_share(void *work, size_t k) {
    const solution *s = work;
    const size_t from = s->n * k / s->shares, to = s->n * (k + 1) / s->shares;
    if (s->forward) solve_forward(s->L, s->order, s->n, from, to, s->y);
    solve_back(s->L, s->order, s->n, from, to, s->y);
}

static svmp_status solve(factorisation *f, int threads, size_t n, double *x, int forward) {
    const size_t order = f->pattern->order;
    const triangle *L = &f->L;
    SVMP_TRY(SVMP_GROW(f->context, f->workspace, f->workspace_capacity, order * n));
    double *y = f->workspace;
    for (size_t j = 0; forward && j < order; j++) memcpy(y + j * n, x + (size_t)L->permutation[j] * n, n * sizeof *y);
    if (!forward) memcpy(y, x, order * n * sizeof *y);
    threads = svmp_threads_for(threads, 4 * (double)svmp_factorisation_entries(f) * (double)n);
    if ((size_t)threads > n) threads = (int)n;
    solution shared = {L, order, n, (size_t)threads, y, forward};
    svmp_parallel_for(threads, shared.shares, 1, solve_share, &shared);
    for (size_t j = 0; j < order; j++) memcpy(x + (size_t)L->permutation[j] * n, y + j * n, n * sizeof *y);
    return SVMP_OK;
}

svmp_status svmp_factorisation_solve(factorisation *f, int threads, size_t n, double *x) {
    return solve(f, threads, n, x, 1);
}

svmp_status svmp_factorisation_correlate(factorisation *f, int threads, size_t n, double *x) {
    return solve(f, threads, n, x, 0);
}

/* ---- the inverse ------------------------------------------------------------------------------------------------- */

/* Takahashi's recursion. Z = A^-1 (permuted) is needed on the pattern of L only; with S_j the rows below the diagonal
 * of column j, for j from last to first:
 *     Z_ij = - 1/L_jj sum_{k in S_j} Z_ik L_kj   (i in S_j),    Z_jj = 1/L_jj^2 - 1/L_jj sum_{k in S_j} Z_kj L_kj
 * Every Z_ik with i, k in S_j lies on the pattern: column k is traversed once, and its rows are found through
 * place[]. */
static void invert_on_pattern(const triangle *L, size_t order, double *Z, size_t *place, double *sum) {
    for (size_t j = order; j-- > 0;) {
        const int64_t from = L->start[j], count = L->count[j], *row = L->row + L->row_start[j];
        const double *value = L->value + from, diagonal = value[0];
        for (int64_t e = 1; e < count; e++) {
            place[row[e]] = (size_t)e;
            sum[e] = 0;
        }
        for (int64_t e = 1; e < count; e++) {
            const int64_t k = row[e], *rows = L->row + L->row_start[k];
            const double *Zk = Z + L->start[k];
            for (int64_t c = 0; c < L->count[k]; c++) {
                const size_t at = place[rows[c]];
                if (at == 0) continue;
                sum[at] += Zk[c] * value[e];                   /* Z_ik L_kj,  i = rows[c] */
                if (rows[c] != k) sum[e] += Zk[c] * value[at]; /* Z_ki L_ij */
            }
        }
        double own = 1 / diagonal;
        for (int64_t e = 1; e < count; e++) {
            Z[from + e] = -sum[e] / diagonal;
            own -= Z[from + e] * value[e];
            place[row[e]] = 0;
        }
        Z[from] = own / diagonal;
    }
}

/* The position of the entry in row i of column j of L, which must exist. */
static int64_t find(const triangle *L, size_t j, int64_t i) {
    const int64_t *row = L->row + L->row_start[j];
    int64_t from = 0, to = L->count[j];
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        *(row[middle] <= i ? &from : &to) = middle;
    }
    return L->start[j] + from;
}

svmp_status svmp_factorisation_inverse(factorisation *f, double *inverse) {
    const sparsity *pattern = f->pattern;
    const size_t order = pattern->order;
    const triangle *L = &f->L;
    svmp_context *context = f->context;
    svmp_status status;
    size_t *place = NULL;
    int64_t *position = NULL; /* row of A -> its position in L */
    double *Z = NULL, *sum = NULL;
    size_t numbers = 0;
    for (size_t j = 0; j < order; j++)
        if ((size_t)(L->start[j] + L->count[j]) > numbers) numbers = (size_t)(L->start[j] + L->count[j]);
    SVMP_CHECK(SVMP_NEW(context, Z, numbers));
    SVMP_CHECK(SVMP_NEW(context, place, order));
    SVMP_CHECK(SVMP_NEW(context, sum, order + 1));
    SVMP_CHECK(SVMP_NEW(context, position, order));
    invert_on_pattern(L, order, Z, place, sum);
    for (size_t j = 0; j < order; j++) position[L->permutation[j]] = (int64_t)j;
    for (size_t j = 0; j < order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
            const int64_t a = position[j], b = position[pattern->row[e]];
            inverse[e] = Z[find(L, (size_t)(a < b ? a : b), a < b ? b : a)];
        }
done:
    svmp_release_all(context, Z, place, sum, position);
    return status;
}
