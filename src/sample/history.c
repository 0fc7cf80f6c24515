#include "sample/history.h"

#include <stdio.h>

static void drop_every_other(history *h) {
    for (size_t k = 0; k < HISTORY_COLUMNS; k++)
        for (size_t r = 0; r < HISTORY_MOST / 2; r++) h->column[k][r] = h->column[k][2 * r + 1];
    h->count = HISTORY_MOST / 2;
    h->stride *= 2;
}

void svmp_history_add(history *h, const double row[HISTORY_COLUMNS]) {
    const int again = h->count > 0 && h->column[0][h->count - 1] == row[0];
    if (h->stride == 0) h->stride = 1;
    if (!again && h->count == HISTORY_MOST) drop_every_other(h);
    if (!again) h->count++;
    for (size_t k = 0; k < HISTORY_COLUMNS; k++) h->column[k][h->count - 1] = row[k];
}

void svmp_history_follow(history *h, size_t iteration, double first, double second) {
    if (h->count == HISTORY_MOST) drop_every_other(h);
    if (h->stride > 1 && iteration % h->stride != 0) return;
    svmp_history_add(h, (const double[HISTORY_COLUMNS]){(double)iteration, first, second});
}

svmp_status svmp_history_archive(archive *a, const char *name, history *h) {
    char item[ARCHIVE_NAME + 1];
    snprintf(item, sizeof item, "%s count", name);
    SVMP_TRY(svmp_archive_count(a, item, &h->count));
    if (h->count > HISTORY_MOST)
        return svmp_fail(a->context, SVMP_BAD_INPUT, "The checkpoint has a history of %zu rows; the maximum is %d.",
                         h->count, HISTORY_MOST);
    snprintf(item, sizeof item, "%s stride", name);
    SVMP_TRY(svmp_archive_count(a, item, &h->stride));
    for (size_t k = 0; k < HISTORY_COLUMNS; k++) {
        snprintf(item, sizeof item, "%s column %zu", name, k + 1);
        SVMP_TRY(svmp_archive_reals(a, item, h->count, h->column[k]));
    }
    return SVMP_OK;
}
