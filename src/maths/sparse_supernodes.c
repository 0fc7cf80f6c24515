#include "maths/sparse_supernodes.h"

#include <math.h>
#include <string.h>

#include "base/target_clones.h"
#include "base/threads.h"

#ifdef SVMP_HAVE_CHOLMOD

enum { WIDEST = 48 };            /* columns of a panel: wider ones are split */
enum { LANES = 8, ABREAST = 4 }; /* rows and columns of a product that stay in registers */

/* An update of a panel by panel `from`: rows a ... b - 1 of `from` are columns of the updated panel. */
typedef struct update {
    uint32_t from, a, b;
} update;

struct supernodes {
    svmp_context *context;
    const sparsity *pattern;
    size_t order, count;
    int threads;
    size_t *first;    /* panel -> its first column; count + 1 */
    int64_t *rows_at; /* panel -> where its rows are in `row`; count + 1 */
    int64_t *at;      /* panel -> where its numbers are in `value`, column by column of all its rows; count + 1 */
    int64_t *row;     /* of L, ascending: those of the panel's own columns first */
    int64_t *permutation, *column_start, *column_count, *column_rows;
    size_t *update_start; /* panel -> its updates, from the first panel on; count + 1 */
    update *updates;
    int64_t *place; /* entry of the pattern -> where it is in `value` */
    double *value;
    uint32_t *tree;     /* panels by subtree: those of independent subtrees, then the remaining ones */
    size_t *tree_start; /* subtree -> its first panel; trees + 1; the remaining panels come after the last */
    size_t trees;
    double *workspace; /* of each thread */
    size_t workspace_size;
    uint32_t *local; /* of each thread: row -> its index within a panel */
};

static size_t width_of(const supernodes *s, size_t p) { return s->first[p + 1] - s->first[p]; }
static size_t height_of(const supernodes *s, size_t p) { return (size_t)(s->rows_at[p + 1] - s->rows_at[p]); }

/* ---- analysis ---------------------------------------------------------------------------------------------------- */

/* Splits supernodes into panels of at most WIDEST columns. The panels of one supernode share its row list. */
static svmp_status copy_panels(supernodes *s, const cholmod_factor *L) {
    svmp_context *context = s->context;
    const SuiteSparse_long *super = L->super, *pi = L->pi, *rows = L->s;
    size_t count = 0, numbers = 0, rows_count = 0;
    for (size_t k = 0; k < L->nsuper; k++) count += (size_t)(super[k + 1] - super[k] + WIDEST - 1) / WIDEST;
    SVMP_TRY(SVMP_NEW(context, s->first, count + 1));
    SVMP_TRY(SVMP_NEW(context, s->rows_at, count + 1));
    SVMP_TRY(SVMP_NEW(context, s->at, count + 1));
    for (size_t k = 0; k < L->nsuper; k++)
        for (SuiteSparse_long c = super[k]; c < super[k + 1]; c += WIDEST) {
            const size_t height = (size_t)(pi[k + 1] - pi[k] - (c - super[k]));
            s->first[s->count] = (size_t)c;
            s->rows_at[s->count] = (int64_t)rows_count;
            s->count++;
            rows_count += height;
        }
    s->first[count] = s->order;
    s->rows_at[count] = (int64_t)rows_count;
    SVMP_TRY(SVMP_NEW(context, s->row, rows_count));
    for (size_t k = 0, p = 0; k < L->nsuper; k++)
        for (SuiteSparse_long c = super[k]; c < super[k + 1]; c += WIDEST, p++) {
            for (size_t r = 0; r < height_of(s, p); r++)
                s->row[s->rows_at[p] + (int64_t)r] = rows[pi[k] + c - super[k] + (SuiteSparse_long)r];
            s->at[p] = (int64_t)numbers;
            numbers += height_of(s, p) * width_of(s, p);
        }
    s->at[count] = (int64_t)numbers;
    return SVMP_NEW(context, s->value, numbers);
}

static svmp_status describe_columns(supernodes *s, const cholmod_factor *L) {
    SVMP_TRY(SVMP_NEW(s->context, s->permutation, s->order));
    SVMP_TRY(SVMP_NEW(s->context, s->column_start, s->order));
    SVMP_TRY(SVMP_NEW(s->context, s->column_count, s->order));
    SVMP_TRY(SVMP_NEW(s->context, s->column_rows, s->order));
    for (size_t j = 0; j < s->order; j++) s->permutation[j] = ((const SuiteSparse_long *)L->Perm)[j];
    for (size_t p = 0; p < s->count; p++)
        for (size_t c = 0; c < width_of(s, p); c++) {
            const size_t j = s->first[p] + c;
            s->column_start[j] = s->at[p] + (int64_t)(c * height_of(s, p) + c);
            s->column_count[j] = (int64_t)(height_of(s, p) - c);
            s->column_rows[j] = s->rows_at[p] + (int64_t)c;
        }
    return SVMP_OK;
}

/* The index of a row within a panel that contains it. */
static size_t find_row(const supernodes *s, size_t p, int64_t row) {
    const int64_t *rows = s->row + s->rows_at[p];
    size_t from = 0, to = height_of(s, p);
    while (to - from > 1) {
        const size_t middle = from + (to - from) / 2;
        *(rows[middle] <= row ? &from : &to) = middle;
    }
    return from;
}

static svmp_status place_entries(supernodes *s, const uint32_t *panel_of) {
    const sparsity *pattern = s->pattern;
    int64_t *position = NULL;
    SVMP_TRY(SVMP_NEW(s->context, s->place, pattern->entries));
    SVMP_TRY(SVMP_NEW(s->context, position, s->order));
    for (size_t j = 0; j < s->order; j++) position[s->permutation[j]] = (int64_t)j;
    for (size_t j = 0; j < s->order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
            const int64_t a = position[j], b = position[pattern->row[e]], column = a < b ? a : b;
            const size_t p = panel_of[column], c = (size_t)column - s->first[p];
            s->place[e] = s->at[p] + (int64_t)(c * height_of(s, p) + find_row(s, p, a < b ? b : a));
        }
    svmp_release(s->context, position);
    return SVMP_OK;
}

/* The end of the range of rows, from a on, of panel p that are columns of one other panel. */
static size_t next_piece(const supernodes *s, const uint32_t *panel_of, size_t p, size_t a) {
    const int64_t *rows = s->row + s->rows_at[p];
    size_t b = a + 1;
    while (b < height_of(s, p) && panel_of[rows[b]] == panel_of[rows[a]]) b++;
    return b;
}

static svmp_status list_updates(supernodes *s, const uint32_t *panel_of) {
    svmp_context *context = s->context;
    SVMP_TRY(SVMP_NEW(context, s->update_start,
                      s->count + 2)); /* counts are stored two places further on: the second pass shifts them */
    for (size_t p = 0; p < s->count; p++)
        for (size_t a = width_of(s, p); a < height_of(s, p); a = next_piece(s, panel_of, p, a))
            s->update_start[panel_of[s->row[s->rows_at[p] + (int64_t)a]] + 2]++;
    for (size_t p = 0; p < s->count; p++) s->update_start[p + 2] += s->update_start[p + 1];
    SVMP_TRY(SVMP_NEW(context, s->updates, s->update_start[s->count + 1]));
    for (size_t p = 0, b; p < s->count; p++)
        for (size_t a = width_of(s, p); a < height_of(s, p); a = b) {
            b = next_piece(s, panel_of, p, a);
            const size_t to = panel_of[s->row[s->rows_at[p] + (int64_t)a]];
            s->updates[s->update_start[to + 1]++] = (update){(uint32_t)p, (uint32_t)a, (uint32_t)b};
        }
    return SVMP_OK;
}

/* The number of multiplications for a panel. */
static double work_of(const supernodes *s, size_t p) {
    double work = (double)height_of(s, p) * (double)(width_of(s, p) * width_of(s, p));
    for (size_t u = s->update_start[p]; u < s->update_start[p + 1]; u++) {
        const update *by = &s->updates[u];
        work += (double)(height_of(s, by->from) - by->a) * (double)(by->b - by->a) * (double)width_of(s, by->from);
    }
    return work;
}

/* Subtrees of at most 1/64 of the work; the parent of a panel is the first panel that it updates. */
static svmp_status plant_trees(supernodes *s, const uint32_t *panel_of) {
    svmp_context *context = s->context;
    svmp_status status;
    double *work = NULL, all = 0;
    uint32_t *root = NULL; /* panel -> root of its subtree; UINT32_MAX: none */
    size_t *next = NULL;
    SVMP_CHECK(SVMP_NEW(context, work, s->count));
    SVMP_CHECK(SVMP_NEW(context, root, s->count));
    SVMP_CHECK(SVMP_NEW(context, next, s->count + 1));
    SVMP_CHECK(SVMP_NEW(context, s->tree, s->count));
    SVMP_CHECK(SVMP_NEW(context, s->tree_start, s->count + 1));
    for (size_t p = 0; p < s->count; p++) { /* children come first */
        const double own = work_of(s, p);
        all += own, work[p] += own;
        if (width_of(s, p) < height_of(s, p))
            work[panel_of[s->row[s->rows_at[p] + (int64_t)width_of(s, p)]]] += work[p];
    }
    for (size_t p = s->count; p-- > 0;) {
        const int has = width_of(s, p) < height_of(s, p);
        const size_t parent = has ? panel_of[s->row[s->rows_at[p] + (int64_t)width_of(s, p)]] : 0;
        root[p] = has && root[parent] != UINT32_MAX ? root[parent] : work[p] <= all / 64 ? (uint32_t)p : UINT32_MAX;
    }
    for (size_t p = 0; p < s->count; p++) next[root[p] == UINT32_MAX ? s->count : root[p]]++;
    for (size_t p = 0, at = 0; p <= s->count; p++) {
        const size_t size = next[p];
        next[p] = at;
        if (size > 0 && p < s->count) s->tree_start[s->trees++] = at;
        at += size;
        if (p + 1 == s->count) s->tree_start[s->trees] = at;
    }
    for (size_t p = 0; p < s->count; p++) s->tree[next[root[p] == UINT32_MAX ? s->count : root[p]]++] = (uint32_t)p;
done:
    svmp_release_all(context, work, root, next);
    return status;
}

/* For products of at most WIDEST columns. */
static svmp_status alloc_workspace(supernodes *s) {
    size_t highest = 0;
    for (size_t p = 0; p < s->count; p++) highest = height_of(s, p) > highest ? height_of(s, p) : highest;
    s->workspace_size = (highest + LANES) * WIDEST;
    SVMP_TRY(SVMP_NEW(s->context, s->workspace, s->workspace_size * (size_t)s->threads));
    return SVMP_NEW(s->context, s->local, s->order * (size_t)s->threads);
}

static svmp_status analyse(supernodes *s, const cholmod_factor *L) {
    svmp_status status;
    uint32_t *panel_of = NULL;
    SVMP_CHECK(copy_panels(s, L));
    SVMP_CHECK(describe_columns(s, L));
    SVMP_CHECK(SVMP_NEW(s->context, panel_of, s->order));
    for (size_t p = 0; p < s->count; p++)
        for (size_t j = s->first[p]; j < s->first[p + 1]; j++) panel_of[j] = (uint32_t)p;
    SVMP_CHECK(place_entries(s, panel_of));
    SVMP_CHECK(list_updates(s, panel_of));
    SVMP_CHECK(plant_trees(s, panel_of));
    SVMP_CHECK(alloc_workspace(s));
done:
    svmp_release(s->context, panel_of);
    return status;
}

svmp_status svmp_supernodes_create(svmp_context *context, const sparsity *pattern, const cholmod_factor *analysed,
                                   supernodes **made) {
    supernodes *s = NULL;
    SVMP_TRY(SVMP_NEW(context, s, 1));
    s->context = context;
    s->pattern = pattern;
    s->order = pattern->order;
    s->threads = svmp_context_threads(context);
    const svmp_status status = analyse(s, analysed);
    if (status == SVMP_OK)
        *made = s;
    else
        svmp_supernodes_free(s);
    return status;
}

void svmp_supernodes_free(supernodes *s) {
    if (s == NULL) return;
    svmp_context *context = s->context;
    svmp_release_all(context, s->first, s->rows_at, s->at, s->row, s->permutation, s->column_start, s->column_count,
                     s->column_rows, s->place, s->update_start, s->updates, s->value, s->tree, s->tree_start,
                     s->workspace, s->local, s);
}

triangle svmp_supernodes_triangle(const supernodes *s) {
    return (triangle){s->column_start, s->column_count, s->row, s->column_rows, s->permutation, s->value};
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* c = a b', m x n from m x k and n x k numbers, column by column, `height` from column to column of a and b, and m of
 * c. Each element is summed from the first column to the last. */
SVMP_CLONES static void multiply(size_t m, size_t n, size_t k, size_t height, const double *a, const double *b,
                                 double *c) {
    for (size_t j = 0; j < n; j += ABREAST) {
        const size_t columns = n - j < ABREAST ? n - j : ABREAST;
        size_t i = 0;
        for (; columns == ABREAST && i + LANES <= m; i += LANES) {
            double sum[ABREAST][LANES] = {{0}};
            for (size_t q = 0; q < k; q++) {
                const double *x = a + q * height + i, *y = b + q * height + j;
                for (size_t v = 0; v < ABREAST; v++)
                    for (size_t u = 0; u < LANES; u++) sum[v][u] += x[u] * y[v];
            }
            for (size_t v = 0; v < ABREAST; v++) memcpy(c + (j + v) * m + i, sum[v], sizeof sum[v]);
        }
        for (; i < m; i++)
            for (size_t v = 0; v < columns; v++) {
                double sum = 0;
                for (size_t q = 0; q < k; q++) sum += a[q * height + i] * b[q * height + j + v];
                c[(j + v) * m + i] = sum;
            }
    }
}

/* Subtracts the update by another panel from columns from ... to - 1 of a panel. */
static void subtract(const supernodes *s, size_t p, const update *by, size_t from, size_t to, const uint32_t *local,
                     double *workspace) {
    const size_t height = height_of(s, by->from);
    const int64_t *rows = s->row + s->rows_at[by->from];
    size_t a = by->a, b = by->b;
    while (a < b && (size_t)rows[a] < s->first[p] + from) a++;
    while (a < b && (size_t)rows[b - 1] >= s->first[p] + to) b--;
    if (a == b) return;
    const double *source = s->value + s->at[by->from] + a;
    const size_t m = height - a, n = b - a, own = height_of(s, p);
    multiply(m, n, width_of(s, by->from), height, source, source, workspace);
    for (size_t j = 0; j < n; j++) {
        double *column = s->value + s->at[p] + ((size_t)rows[a + j] - s->first[p]) * own;
        for (size_t i = j; i < m; i++) column[local[rows[a + i]]] -= workspace[j * m + i];
    }
}

static void update_columns(const supernodes *s, size_t p, size_t from, size_t to, const uint32_t *local,
                           double *workspace) {
    for (size_t u = s->update_start[p]; u < s->update_start[p + 1]; u++)
        subtract(s, p, &s->updates[u], from, to, local, workspace);
}

/* The Cholesky factor of the panel's diagonal block and of the rows below it. Returns the first column whose pivot is
 * not positive. */
SVMP_CLONES static size_t finish(const supernodes *s, size_t p) {
    const size_t height = height_of(s, p), width = width_of(s, p);
    double *panel = s->value + s->at[p];
    for (size_t j = 0; j < width; j++) {
        double *own = panel + j * height;
        if (!(own[j] > 0 && own[j] < INFINITY)) return s->first[p] + j;
        const double root = sqrt(own[j]), inverse = 1 / root;
        own[j] = root;
        for (size_t i = j + 1; i < height; i++) own[i] *= inverse;
        for (size_t k = j + 1; k < width; k++) {
            double *later = panel + k * height;
            const double factor = own[k];
            for (size_t i = k; i < height; i++) later[i] -= factor * own[i];
        }
    }
    return SIZE_MAX;
}

static void number_rows(const supernodes *s, size_t p, uint32_t *local) {
    const int64_t *rows = s->row + s->rows_at[p];
    for (size_t r = 0; r < height_of(s, p); r++) local[rows[r]] = (uint32_t)r;
}

typedef struct trees {
    const supernodes *s;
    atomic_size_t bad; /* the first bad column */
} trees;

/* Factorises the panels of a subtree, children first; stops at a bad pivot. */
static void factorise_tree(void *work, size_t tree) {
    trees *all = work;
    const supernodes *s = all->s;
    const size_t thread = (size_t)svmp_thread_number();
    uint32_t *local = s->local + thread * s->order;
    double *workspace = s->workspace + thread * s->workspace_size;
    size_t bad = SIZE_MAX;
    for (size_t k = s->tree_start[tree]; k < s->tree_start[tree + 1] && bad == SIZE_MAX; k++) {
        number_rows(s, s->tree[k], local);
        update_columns(s, s->tree[k], 0, width_of(s, s->tree[k]), local, workspace);
        bad = finish(s, s->tree[k]);
    }
    svmp_keep_least(&all->bad, bad);
}

typedef struct shared_panel {
    const supernodes *s;
    size_t panel, shares;
} shared_panel;

static void update_share(void *work, size_t k) {
    const shared_panel *of = work;
    const size_t width = width_of(of->s, of->panel);
    update_columns(of->s, of->panel, width * k / of->shares, width * (k + 1) / of->shares, of->s->local,
                   of->s->workspace + k * of->s->workspace_size);
}

/* A panel above the subtrees: the threads share its columns. */
static size_t factorise_top(const supernodes *s, size_t p) {
    const size_t width = width_of(s, p);
    int threads = svmp_threads_for(
        s->threads, 0.1 * work_of(s, p)); /* there are many such panels: each must outweigh the cost of a barrier */
    if ((size_t)threads > (width + ABREAST - 1) / ABREAST) threads = (int)((width + ABREAST - 1) / ABREAST);
    number_rows(s, p, s->local);
    svmp_parallel_for(threads, (size_t)threads, 1, update_share, &(shared_panel){s, p, (size_t)threads});
    return finish(s, p);
}

void svmp_supernodes_factorise(supernodes *s, const double *A, size_t *bad) {
    trees all = {s, SIZE_MAX};
    memset(s->value, 0, (size_t)s->at[s->count] * sizeof *s->value);
    for (size_t e = 0; e < s->pattern->entries; e++) s->value[s->place[e]] = A[e];
    const int threads = svmp_threads_for(s->threads, (double)s->at[s->count]);
    svmp_parallel_for(threads, s->trees, 1, factorise_tree, &all);
    size_t worst = all.bad;
    for (size_t k = s->tree_start[s->trees]; k < s->count && worst == SIZE_MAX; k++)
        worst = factorise_top(s, s->tree[k]);
    *bad = worst == SIZE_MAX ? SIZE_MAX : (size_t)s->permutation[worst];
}

#endif
