#include <string.h>

#include "base/hash.h"
#include "graph/graph.h"

void svmp_lists_free(svmp_context *context, index_lists *lists) {
    svmp_release_all(context, lists->start, lists->item);
    *lists = (index_lists){0};
}

svmp_status svmp_lists_classify(svmp_context *context, size_t count, const index_lists *lists, uint32_t *kind,
                                size_t *kinds) {
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    uint32_t *table = NULL; /* open addressing: 1 + the first list of a class, 0 for a free slot */
    SVMP_TRY(SVMP_NEW(context, table, slots));

    *kinds = 0;
    for (size_t k = 0; k < count; k++) {
        const uint32_t *item = lists->item + lists->start[k];
        size_t length = lists->start[k + 1] - lists->start[k];
        if (length == 0) {
            kind[k] = (uint32_t)(*kinds)++;
            continue;
        }
        size_t slot = svmp_table_hash(length * sizeof *item, item) & (slots - 1);
        for (; table[slot] != 0; slot = (slot + 1) & (slots - 1)) {
            size_t other = table[slot] - 1;
            if (lists->start[other + 1] - lists->start[other] == length &&
                memcmp(lists->item + lists->start[other], item, length * sizeof *item) == 0)
                break;
        }
        if (table[slot] == 0) {
            table[slot] = (uint32_t)k + 1;
            kind[k] = (uint32_t)(*kinds)++;
        } else {
            kind[k] = kind[table[slot] - 1];
        }
    }
    svmp_release(context, table);
    return SVMP_OK;
}

svmp_status svmp_lists_transpose(svmp_context *context, size_t count, const index_lists *lists, size_t items,
                                 index_lists *transposed) {
    svmp_status status;
    index_lists made = {0};
    size_t total = lists->start[count];
    size_t *next = NULL;
    SVMP_CHECK(SVMP_NEW(context, made.start, items + 1));
    SVMP_CHECK(SVMP_NEW(context, made.item, total));
    SVMP_CHECK(SVMP_NEW(context, next, items));

    for (size_t e = 0; e < total; e++) made.start[lists->item[e] + 1]++;
    for (size_t i = 0; i < items; i++) made.start[i + 1] += made.start[i];
    memcpy(next, made.start, items * sizeof *next);
    for (size_t k = 0; k < count; k++)
        for (size_t e = lists->start[k]; e < lists->start[k + 1]; e++) made.item[next[lists->item[e]]++] = (uint32_t)k;
    *transposed = made;
    made = (index_lists){0};
done:
    svmp_release(context, next);
    svmp_lists_free(context, &made);
    return status;
}
