#include "method/moves/cauchy.h"

#include <math.h>
#include <string.h>

#include "base/target_clones.h"

/* A, all of it, row by row, without the diagonal. */
struct cauchy {
    svmp_context *context;
    size_t *start;
    uint32_t *column;
    double *value, *mean, *precision; /* A_ij; m; A_ii */
};

static void count_rows(const sparsity *pattern, size_t *start) {
    for (size_t j = 0; j < pattern->order; j++)
        for (size_t e = pattern->start[j] + 1; e < pattern->start[j + 1]; e++) {
            start[j + 1]++;
            start[pattern->row[e] + 1]++;
        }
    for (size_t j = 0; j < pattern->order; j++) start[j + 1] += start[j];
}

static void put(cauchy *c, size_t *next, size_t i, size_t j, double value) {
    c->column[next[i]] = (uint32_t)j;
    c->value[next[i]++] = value;
}

static void fill_rows(cauchy *c, const sparsity *pattern, const double *A, size_t *next) {
    memcpy(next, c->start, pattern->order * sizeof *next);
    for (size_t j = 0; j < pattern->order; j++)
        for (size_t e = pattern->start[j] + 1; e < pattern->start[j + 1]; e++) {
            put(c, next, j, pattern->row[e], A[e]);
            put(c, next, pattern->row[e], j, A[e]);
        }
}

svmp_status svmp_cauchy_create(svmp_context *context, const gaussian *q, cauchy **made) {
    const sparsity *pattern = svmp_gaussian_pattern(q);
    const double *A = svmp_gaussian_precision(q);
    const size_t order = pattern->order, entries = 2 * (pattern->entries - order);
    size_t *next = NULL;
    cauchy *c = NULL;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(context, c, 1));
    c->context = context;
    SVMP_CHECK(SVMP_NEW(context, c->start, order + 1));
    SVMP_CHECK(SVMP_NEW(context, c->column, entries));
    SVMP_CHECK(SVMP_NEW(context, c->value, entries));
    SVMP_CHECK(SVMP_NEW(context, c->mean, order));
    SVMP_CHECK(SVMP_NEW(context, c->precision, order));
    SVMP_CHECK(SVMP_NEW(context, next, order));
    memcpy(c->mean, svmp_gaussian_mean(q), order * sizeof *c->mean);
    for (size_t j = 0; j < order; j++) c->precision[j] = A[pattern->start[j]];
    count_rows(pattern, c->start);
    fill_rows(c, pattern, A, next);
    *made = c;
    c = NULL;
done:
    svmp_release(context, next);
    svmp_cauchy_free(c);
    return status;
}

void svmp_cauchy_free(cauchy *c) {
    if (c == NULL) return;
    void *const arrays[] = {c->start, c->column, c->value, c->mean, c->precision};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(c->context, arrays[k]);
    svmp_release(c->context, c);
}

SVMP_CLONES static void find_centre(const cauchy *c, size_t n, size_t i, const double *x, double *centre) {
    for (size_t l = 0; l < n; l++) centre[l] = c->mean[i];
    for (size_t e = c->start[i]; e < c->start[i + 1]; e++) {
        const size_t j = c->column[e];
        const double by = c->value[e] / c->precision[i], mean = c->mean[j], *other = x + j * n;
        for (size_t l = 0; l < n; l++) centre[l] -= by * (other[l] - mean);
    }
}

/* The density at a distance of z scales is proportional to 1 / (1 + z^2). */
void svmp_cauchy_propose(const cauchy *c, random_stream random, double stretch, size_t n, size_t i, const double *x,
                         double *y, double *log_ratio, double *workspace) {
    const double scale = stretch / sqrt(c->precision[i]), *here = x + i * n;
    double *centre = log_ratio, *denominator = workspace;
    random_stream denominators = random;
    denominators.purpose = RANDOM_CAUCHY;
    find_centre(c, n, i, x, centre);
    svmp_random_quick_normals(random, n, y);
    svmp_random_quick_normals(denominators, n, denominator);
    for (size_t l = 0; l < n; l++) {
        const double there = y[l] / denominator[l], back = (here[l] - centre[l]) / scale;
        const double ratio = (1 + there * there) / (1 + back * back);
        const int proposed = ratio > 0 && ratio < INFINITY;
        y[l] = proposed ? centre[l] + scale * there : here[l];
        log_ratio[l] = proposed ? log(ratio) : 0;
    }
}
