#include "model/quadratic.h"

#include <string.h>

#include "base/target_clones.h"

svmp_status svmp_quadratic_add(svmp_context *context, quadratic *q, uint32_t row, uint32_t column, double value) {
    SVMP_TRY(SVMP_GROW(context, q->entries, q->entries_capacity, q->count + 1));
    q->entries[q->count++] = (quadratic_entry){row, column, value};
    return SVMP_OK;
}

svmp_status svmp_quadratic_extend(svmp_context *context, quadratic *q, size_t variables) {
    size_t before = q->linear_capacity;
    SVMP_TRY(SVMP_GROW(context, q->linear, q->linear_capacity, variables));
    if (q->linear_capacity > before) memset(q->linear + before, 0, (q->linear_capacity - before) * sizeof *q->linear);
    return SVMP_OK;
}

/* One stable pass of a radix sort: by column, then by row, leaves rows with ascending columns, and entries of one
 * place in the order they came. */
static svmp_status sort_by(svmp_context *context, size_t variables, size_t count, const quadratic_entry *from,
                           int by_row, quadratic_entry *to) {
    size_t *next = NULL;
    SVMP_TRY(SVMP_NEW(context, next, variables + 1));
    for (size_t e = 0; e < count; e++) next[(by_row ? from[e].row : from[e].column) + 1]++;
    for (size_t i = 0; i < variables; i++) next[i + 1] += next[i];
    for (size_t e = 0; e < count; e++) to[next[by_row ? from[e].row : from[e].column]++] = from[e];
    svmp_release(context, next);
    return SVMP_OK;
}

svmp_status svmp_quadratic_finish(svmp_context *context, quadratic *q, size_t variables) {
    svmp_status status;
    quadratic_entry *by_column = NULL;
    SVMP_CHECK(SVMP_NEW(context, by_column, q->count));
    SVMP_CHECK(sort_by(context, variables, q->count, q->entries, 0, by_column));
    SVMP_CHECK(sort_by(context, variables, q->count, by_column, 1, q->entries));

    size_t places = 0;
    for (size_t e = 0; e < q->count; e++) {
        quadratic_entry *here = &q->entries[e], *last = places ? &q->entries[places - 1] : NULL;
        if (last && last->row == here->row && last->column == here->column)
            last->value += here->value;
        else
            q->entries[places++] = *here;
    }
    q->count = places;

    SVMP_CHECK(SVMP_NEW(context, q->start, variables + 1));
    SVMP_CHECK(SVMP_NEW(context, q->column, places));
    SVMP_CHECK(SVMP_NEW(context, q->value, places));
    for (size_t e = 0; e < places; e++) {
        q->start[q->entries[e].row + 1]++;
        q->column[e] = q->entries[e].column;
        q->value[e] = q->entries[e].value;
    }
    for (size_t i = 0; i < variables; i++) q->start[i + 1] += q->start[i];
    svmp_release(context, q->entries);
    q->entries = NULL;
done:
    svmp_release(context, by_column);
    return status;
}

void svmp_quadratic_free(svmp_context *context, quadratic *q) {
    svmp_release(context, q->entries);
    svmp_release(context, q->start);
    svmp_release(context, q->column);
    svmp_release(context, q->value);
    svmp_release(context, q->linear);
    *q = (quadratic){0};
}

/* One operation after another for each particle, as if the entries came one by one; four of them share the row's way
 * through memory. */
SVMP_CLONES static void add_row(const quadratic *q, size_t i, size_t n, size_t from, size_t to, const double *x,
                                double *score) {
    const size_t end = q->start[i + 1];
    size_t e = q->start[i];
    for (size_t l = from; l < to; l++) score[l] = q->linear[i];
    for (; e + 4 <= end; e += 4) {
        const double a = q->value[e], b = q->value[e + 1], c = q->value[e + 2], d = q->value[e + 3];
        const double *xa = x + q->column[e] * n, *xb = x + q->column[e + 1] * n, *xc = x + q->column[e + 2] * n,
                     *xd = x + q->column[e + 3] * n;
        for (size_t l = from; l < to; l++) score[l] = (((score[l] - a * xa[l]) - b * xb[l]) - c * xc[l]) - d * xd[l];
    }
    for (; e < end; e++) {
        const double a = q->value[e], *xj = x + q->column[e] * n;
        for (size_t l = from; l < to; l++) score[l] -= a * xj[l];
    }
}

void svmp_quadratic_score(const quadratic *q, size_t i, size_t n, size_t from, size_t to, const double *x,
                          double *score) {
    add_row(q, i, n, from, to, x, score);
}
