#include "base/peer_columns.h"

#include <string.h>

enum { BLOCK = 1 << 16 }; /* numbers of all processes that are gathered at a time, unless a row has more */

void svmp_shared_find(size_t whole, size_t processes, size_t rank, size_t *first, size_t *count) {
    const size_t each = whole / processes, more = whole % processes;
    *first = rank * each + (rank < more ? rank : more);
    *count = each + (rank < more);
    if (processes <= whole) return;
    *first = rank < whole ? rank : whole - 1;
    *count = 1;
}

size_t svmp_shared_owner(size_t whole, size_t processes, size_t column) {
    size_t rank = 0, first, count;
    do svmp_shared_find(whole, processes, rank++, &first, &count);
    while (column >= first + count);
    return rank - 1;
}

void svmp_shared_close(peer_columns *c) {
    if (c->context == NULL) return;
    svmp_release(c->context, c->mine);
    svmp_release(c->context, c->all);
    *c = (peer_columns){0};
}

svmp_status svmp_shared_open(svmp_context *context, const svmp_peers *peers, size_t whole, peer_columns *c) {
    *c = svmp_shared_alone(whole);
    if (peers->count == 1) return SVMP_OK;
    c->context = context;
    c->peers = peers;
    svmp_shared_find(whole, peers->count, peers->rank, &c->first, &c->count);
    c->idle = peers->rank >= whole;
    c->most = whole / peers->count + 1;
    c->together = BLOCK / (c->most * peers->count) + 1;
    svmp_status status = SVMP_NEW(context, c->mine, c->most * c->together);
    if (status == SVMP_OK) status = SVMP_NEW(context, c->all, c->most * c->together * peers->count);
    status = svmp_agree(context, peers, status);
    if (status != SVMP_OK) svmp_shared_close(c);
    return status;
}

/* The columns of process k, in so many rows. */
static void place(const peer_columns *c, size_t k, size_t rows, double *all) {
    const double *given = c->all + k * rows * c->most;
    size_t first, count;
    svmp_shared_find(c->whole, c->peers->count, k, &first, &count);
    for (size_t r = 0; r < rows; r++) memcpy(all + r * c->whole + first, given + r * c->most, count * sizeof *all);
}

void svmp_shared_gather(const peer_columns *c, size_t rows, const double *own, double *all) {
    if (c->peers->count == 1) {
        if (own != all && rows > 0) memcpy(all, own, rows * c->whole * sizeof *all);
        return;
    }
    for (size_t from = 0, together; from < rows; from += together) {
        together = rows - from < c->together ? rows - from : c->together;
        for (size_t r = 0; r < together; r++)
            memcpy(c->mine + r * c->most, own + (from + r) * c->count, c->count * sizeof *own);
        c->peers->gather(c->peers, together * c->most * sizeof *own, c->mine, c->all);
        for (size_t k = 0; k < c->peers->count && k < c->whole; k++) /* those behind them are idle */
            place(c, k, together, all + from * c->whole);
    }
}

void svmp_shared_take(const peer_columns *c, size_t rows, const double *all, double *own) {
    if (own == all) return;
    for (size_t r = 0; r < rows; r++) memcpy(own + r * c->count, all + r * c->whole + c->first, c->count * sizeof *own);
}

void svmp_shared_sum(const peer_columns *c, size_t count, int64_t *values) {
    if (c->idle) memset(values, 0, count * sizeof *values);
    if (c->peers->count > 1) c->peers->sum(c->peers, count, values);
}

svmp_status svmp_shared_archive(const peer_columns *c, archive *a, const char *name, size_t rows, double *own) {
    double *all = NULL;
    svmp_status status;
    if (c->peers->count == 1) return svmp_archive_reals(a, name, rows * c->whole, own);
    status = svmp_allocate(c->context, rows, c->whole * sizeof *all, (void **)&all);
    SVMP_CHECK(svmp_agree(c->context, c->peers, status));
    if (!a->loading) svmp_shared_gather(c, rows, own, all);
    SVMP_CHECK(svmp_archive_reals(a, name, rows * c->whole, all));
    if (a->loading) svmp_shared_take(c, rows, all, own);
done:
    svmp_release(c->context, all);
    return status;
}
