#include "maths/sparse_pattern.h"

/* One stable pass of a radix sort of the entries whose indices are in `from`. */
static svmp_status sort_by(svmp_context *context, size_t order, size_t count, const sparse_place *places, int by_row,
                           const uint32_t *from, uint32_t *to) {
    size_t *next = NULL;
    SVMP_TRY(SVMP_NEW(context, next, order + 1));
    for (size_t k = 0; k < count; k++) next[(by_row ? places[k].row : places[k].column) + 1]++;
    for (size_t i = 0; i < order; i++) next[i + 1] += next[i];
    for (size_t k = 0; k < count; k++) {
        const sparse_place *here = &places[from ? from[k] : k];
        to[next[by_row ? here->row : here->column]++] = from ? from[k] : (uint32_t)k;
    }
    svmp_release(context, next);
    return SVMP_OK;
}

/* The entries of the lower triangle, then those of the diagonal. */
static void fold(size_t order, size_t count, const sparse_place *places, sparse_place *folded) {
    for (size_t k = 0; k < count; k++) {
        const sparse_place p = places[k];
        folded[k] = p.row < p.column ? (sparse_place){p.column, p.row} : p;
    }
    for (size_t i = 0; i < order; i++) folded[count + i] = (sparse_place){(uint32_t)i, (uint32_t)i};
}

static int is_new(const sparse_place *folded, const uint32_t *sorted, size_t k) {
    return k == 0 || folded[sorted[k]].row != folded[sorted[k - 1]].row ||
           folded[sorted[k]].column != folded[sorted[k - 1]].column;
}

svmp_status svmp_sparsity_create(svmp_context *context, size_t order, size_t count, const sparse_place *places,
                                 uint32_t *place, sparsity *made) {
    const size_t all = count + order;
    svmp_status status;
    sparse_place *folded = NULL;
    uint32_t *by_row = NULL, *sorted = NULL;
    *made = (sparsity){.order = order};
    if (all >= UINT32_MAX)
        return svmp_fail(context, SVMP_UNSUPPORTED, "The model has too many second derivatives: %zu.", all);
    SVMP_CHECK(SVMP_NEW(context, folded, all));
    SVMP_CHECK(SVMP_NEW(context, by_row, all));
    SVMP_CHECK(SVMP_NEW(context, sorted, all));
    fold(order, count, places, folded);
    SVMP_CHECK(sort_by(context, order, all, folded, 1, NULL, by_row));
    SVMP_CHECK(sort_by(context, order, all, folded, 0, by_row, sorted));
    for (size_t k = 0; k < all; k++) made->entries += (size_t)is_new(folded, sorted, k);
    SVMP_CHECK(SVMP_NEW(context, made->start, order + 1));
    SVMP_CHECK(SVMP_NEW(context, made->row, made->entries));
    for (size_t k = 0, entry = 0; k < all; k++) {
        if (is_new(folded, sorted, k)) {
            made->row[entry++] = folded[sorted[k]].row;
            made->start[folded[sorted[k]].column + 1] = entry;
        }
        if (place && sorted[k] < count) place[sorted[k]] = (uint32_t)(entry - 1);
    }
done:
    svmp_release_all(context, folded, by_row, sorted);
    if (status != SVMP_OK) svmp_sparsity_free(context, made);
    return status;
}

void svmp_sparsity_free(svmp_context *context, sparsity *pattern) {
    svmp_release_all(context, pattern->start, pattern->row);
    *pattern = (sparsity){0};
}
