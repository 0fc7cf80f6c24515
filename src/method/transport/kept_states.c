#include "method/transport/kept_states.h"

#include <string.h>

#include "method/transport/transport_constants.h"

struct kept_states {
    svmp_context *context;
    peer_columns columns;
    size_t variables, n, wanted, from;
    size_t capacity, count, stride;
    size_t *passed; /* of each state: the iterations before it */
    double *x;      /* the states, one after the other */
};

svmp_status svmp_kept_states_create(svmp_context *context, size_t variables, const peer_columns *columns, size_t wanted,
                                    size_t most, size_t from, kept_states **made) {
    const size_t n = columns->count;
    kept_states *k = NULL;
    svmp_status status;
    *made = NULL;
    if (wanted == 0) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, k, 1));
    *k = (kept_states){context, *columns, variables, n, wanted, from, .capacity = KEPT_FOR_EACH * most, .stride = 1};
    _Static_assert(KEPT_EARLY == FIRST_INSPECTION - ADAPTATION, "the iterations that count at the earliest end");
    if (KEPT_EARLY / wanted > 1) k->stride = KEPT_EARLY / wanted;
    SVMP_CHECK(SVMP_NEW(context, k->passed, k->capacity));
    SVMP_CHECK(svmp_allocate(context, k->capacity * variables, n * sizeof *k->x, (void **)&k->x));
    *made = k;
    k = NULL;
done:
    svmp_kept_states_free(k);
    return status;
}

void svmp_kept_states_want(kept_states *k, size_t wanted) { k->wanted = wanted; }

size_t svmp_kept_states_wanted(const kept_states *k) { return k->wanted; }

void svmp_kept_states_free(kept_states *k) {
    if (k == NULL) return;
    svmp_release(k->context, k->passed);
    svmp_release(k->context, k->x);
    svmp_release(k->context, k);
}

static void drop_every_other(kept_states *k) {
    const size_t numbers = k->variables * k->n;
    size_t count = 0;
    k->stride *= 2;
    for (size_t j = 0; j < k->count; j++) {
        if (k->passed[j] % k->stride != 0) continue;
        k->passed[count] = k->passed[j];
        if (count < j) memcpy(k->x + count * numbers, k->x + j * numbers, numbers * sizeof *k->x);
        count++;
    }
    k->count = count;
}

void svmp_kept_states_offer(kept_states *k, size_t passed, const double *x) {
    if (k == NULL || passed <= k->from || passed % k->stride != 0) return;
    if (k->count == k->capacity) drop_every_other(k);
    if (passed % k->stride != 0) return;
    const size_t numbers = k->variables * k->n;
    k->passed[k->count] = passed;
    memcpy(k->x + k->count++ * numbers, x, numbers * sizeof *x);
}

/* The states of the last two thirds of the iterations. */
static size_t count_late(const kept_states *k, size_t passed) {
    size_t late = 0;
    while (late < k->count && 3 * k->passed[k->count - 1 - late] > passed) late++;
    return late;
}

size_t svmp_kept_states_count(const kept_states *k, size_t passed) {
    if (k == NULL) return 0;
    const size_t late = count_late(k, passed);
    return late < k->wanted ? late : k->wanted;
}

svmp_status svmp_kept_states_take(const kept_states *k, size_t passed, double *x) {
    const size_t count = svmp_kept_states_count(k, passed), gap = count ? count_late(k, passed) / count : 0;
    double *all = NULL;
    if (count == 0) return SVMP_OK;
    const size_t rows = k->variables * k->n, numbers = k->variables * k->columns.whole;
    const svmp_status status = svmp_agree(k->context, k->columns.peers, SVMP_NEW(k->context, all, numbers));
    for (size_t j = 0; status == SVMP_OK && j < count; j++) {
        svmp_shared_gather(&k->columns, k->variables, k->x + (k->count - 1 - (count - 1 - j) * gap) * rows, all);
        for (size_t e = 0; e < numbers; e++) x[e * count + j] = all[e];
    }
    svmp_release(k->context, all);
    return status;
}

svmp_status svmp_kept_states_state(kept_states *k, archive *a) {
    if (k == NULL) return SVMP_OK;
    const size_t numbers = k->variables * k->n;
    size_t capacity = k->capacity;
    SVMP_TRY(svmp_archive_count(a, "kept capacity", &capacity));
    SVMP_TRY(svmp_archive_count(a, "kept wanted", &k->wanted));
    SVMP_TRY(svmp_archive_count(a, "kept stride", &k->stride));
    SVMP_TRY(svmp_archive_count(a, "kept states", &k->count));
    if (capacity != k->capacity || k->count > k->capacity || k->stride == 0 || k->wanted > capacity) {
        k->count = 0;
        return svmp_fail(a->context, SVMP_BAD_INPUT,
                         "The checkpoint does not fit: it keeps %zu states of each chain, "
                         "this run %zu.",
                         capacity, k->capacity);
    }
    for (size_t j = 0; j < k->count; j++) {
        SVMP_TRY(svmp_archive_count(a, "kept passed", &k->passed[j]));
        SVMP_TRY(svmp_shared_archive(&k->columns, a, "kept state", k->variables, k->x + j * numbers));
    }
    return SVMP_OK;
}
