#include "maths/sparse_whitening.h"

/* Column j of L has the diagonal 1 / inverse[j] and, below it, the entries start[j] ... start[j + 1] - 1. */
struct whitening {
    size_t order, *start, *permutation; /* row j of L is row permutation[j] of A */
    uint32_t *row;
    double *value, *inverse, *mean;
};

static svmp_status create(svmp_context *context, size_t order, size_t entries, whitening **made) {
    whitening *w = NULL;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(context, w, 1));
    w->order = order;
    SVMP_CHECK(SVMP_NEW(context, w->start, order + 1));
    SVMP_CHECK(SVMP_NEW(context, w->permutation, order));
    SVMP_CHECK(SVMP_NEW(context, w->row, entries));
    SVMP_CHECK(SVMP_NEW(context, w->value, entries));
    SVMP_CHECK(SVMP_NEW(context, w->inverse, order));
    SVMP_CHECK(SVMP_NEW(context, w->mean, order));
    *made = w;
    return SVMP_OK;
done:
    svmp_whitening_free(context, w);
    return status;
}

void svmp_whitening_set(whitening *w, const triangle *L, const double *mean) {
    for (size_t j = 0, at = 0; j < w->order; j++) {
        const double *value = L->value + L->start[j];
        const int64_t *row = L->row + L->row_start[j];
        w->mean[j] = mean[j];
        w->permutation[j] = (size_t)L->permutation[j];
        w->inverse[j] = 1 / value[0];
        for (int64_t e = 1; e < L->count[j]; e++, at++) {
            w->row[at] = (uint32_t)row[e];
            w->value[at] = value[e];
        }
        w->start[j + 1] = at;
    }
}

svmp_status svmp_whitening_create(svmp_context *context, size_t order, const triangle *L, const double *mean,
                                  whitening **made) {
    size_t entries = 0;
    for (size_t j = 0; j < order; j++) entries += (size_t)L->count[j] - 1;
    SVMP_TRY(create(context, order, entries, made));
    svmp_whitening_set(*made, L, mean);
    return SVMP_OK;
}

svmp_status svmp_whitening_create_diagonal(svmp_context *context, size_t order, const double *mean, const double *sd,
                                           whitening **made) {
    SVMP_TRY(create(context, order, 0, made));
    for (size_t j = 0; j < order; j++) {
        (*made)->mean[j] = mean[j];
        (*made)->permutation[j] = j;
        (*made)->inverse[j] = sd[j];
    }
    return SVMP_OK;
}

void svmp_whitening_free(svmp_context *context, whitening *w) {
    if (w == NULL) return;
    svmp_release_all(context, w->start, w->permutation, w->row, w->value, w->inverse, w->mean, w);
}

/* sum over e of value[e] y[row[e]], as four sums, so that it is the same for any instruction set. */
static inline double sum_column(const whitening *w, size_t j, const double *y) {
    double sum[4] = {0};
    size_t e = w->start[j];
    const size_t end = w->start[j + 1];
    for (; e + 4 <= end; e += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += w->value[e + k] * y[w->row[e + k]];
    for (; e < end; e++) sum[0] += w->value[e] * y[w->row[e]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* y <- L'^-1 z, column by column from the last */
void svmp_whitening_point(const whitening *w, double *y, const double *z, double *x) {
    for (size_t j = w->order; j-- > 0;) {
        y[j] = (z[j] - sum_column(w, j, y)) * w->inverse[j];
        x[w->permutation[j]] = w->mean[w->permutation[j]] + y[j];
    }
}

/* z = L' y */
void svmp_whitening_coordinates(const whitening *w, double *y, const double *x, double *z) {
    for (size_t j = 0; j < w->order; j++) y[j] = x[w->permutation[j]] - w->mean[w->permutation[j]];
    for (size_t j = 0; j < w->order; j++) z[j] = y[j] / w->inverse[j] + sum_column(w, j, y);
}

/* result = L^-1 P g */
void svmp_whitening_gradient(const whitening *w, const double *g, double *result) {
    for (size_t j = 0; j < w->order; j++) result[j] = g[w->permutation[j]];
    for (size_t j = 0; j < w->order; j++) {
        const double y = result[j] *= w->inverse[j];
        for (size_t e = w->start[j]; e < w->start[j + 1]; e++) result[w->row[e]] -= w->value[e] * y;
    }
}
