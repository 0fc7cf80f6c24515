#include "base/peer_rows.h"

#include <stdlib.h>
#include <string.h>

size_t svmp_spread_rows(size_t n) {
    const size_t rows = ((size_t)8 << 20) / sizeof(double) / (n + 1);
    return rows > 0 ? rows : 1;
}

typedef struct placed_row {
    uint32_t place, row;
} placed_row;

static int order_of_places(const void *a, const void *b) {
    const placed_row *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

static svmp_status sort_rows(spread *s, const uint32_t *place) {
    placed_row *rows = NULL;
    SVMP_TRY(SVMP_NEW(s->context, rows, s->own));
    for (size_t k = 0; k < s->own; k++) rows[k] = (placed_row){place[k], (uint32_t)k};
    if (s->own > 0) qsort(rows, s->own, sizeof *rows, order_of_places);
    svmp_status status = SVMP_NEW(s->context, s->order, s->own);
    if (status == SVMP_OK) status = SVMP_NEW(s->context, s->place, s->own);
    for (size_t k = 0; status == SVMP_OK && k < s->own; k++) s->order[k] = rows[k].row, s->place[k] = rows[k].place;
    svmp_release(s->context, rows);
    return status;
}

/* Process 0 learns who has which rows. */
static svmp_status learn_places(spread *s) {
    const svmp_peers *t = s->peers;
    const size_t size = s->own * sizeof *s->place;
    svmp_status status = SVMP_NEW(s->context, s->first, t->count + 1);
    if (status == SVMP_OK) status = SVMP_NEW(s->context, s->sizes, t->count);
    if (status == SVMP_OK) status = SVMP_NEW(s->context, s->at, t->count);
    SVMP_TRY(svmp_agree(s->context, s->peers, status));
    t->gather(t, sizeof size, &size, s->sizes);
    for (size_t k = 0; k < t->count; k++) s->first[k + 1] = s->first[k] + s->sizes[k] / sizeof *s->place;
    SVMP_TRY(svmp_agree(s->context, s->peers, SVMP_NEW(s->context, s->places, t->rank == 0 ? s->first[t->count] : 0)));
    t->collect(t, size, s->place, s->sizes, s->places);
    return SVMP_OK;
}

svmp_status svmp_spread_open(svmp_context *context, const svmp_peers *peers, size_t whole, size_t own,
                             const uint32_t *place, spread *s) {
    *s = (spread){.context = context, .peers = peers, .whole = whole, .own = own};
    if (peers->count == 1) return SVMP_OK;
    SVMP_TRY(svmp_agree(context, peers, sort_rows(s, place)));
    return learn_places(s);
}

void svmp_spread_close(spread *s) {
    if (s->context == NULL) return;
    void *owned[] = {s->order, s->place, s->first, s->places, s->sizes, s->at, s->mine, s->all};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(s->context, owned[k]);
    *s = (spread){0};
}

/* The first of ascending places that is `row` or behind it. */
static size_t find(const uint32_t *places, size_t count, size_t row) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (places[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room for a block: here, and in process 0 for all. Sets its counts. */
static svmp_status reserve(spread *s, spread_block which, size_t *from, size_t *to) {
    const size_t length = which.last - which.first, numbers = (which.to - which.from) * length;
    const int first = s->peers->rank == 0;
    *from = find(s->place, s->own, which.from);
    *to = find(s->place, s->own, which.to);
    svmp_status status = SVMP_GROW(s->context, s->mine, s->mine_capacity, (*to - *from) * length);
    if (status == SVMP_OK && first) status = SVMP_GROW(s->context, s->all, s->all_capacity, 2 * numbers);
    SVMP_TRY(svmp_agree(s->context, s->peers, status));
    for (size_t k = 0; first && k < s->peers->count; k++) {
        const uint32_t *places = s->places + s->first[k];
        const size_t rows = s->first[k + 1] - s->first[k], begin = find(places, rows, which.from);
        s->at[k] = s->first[k] + begin;
        s->sizes[k] = (find(places, rows, which.to) - begin) * length * sizeof *s->all;
    }
    return SVMP_OK;
}

/* The second half of `all` is the block in the order of the whole, the first what came from each process. */
static double *ordered(const spread *s, spread_block which) {
    return s->all + (which.to - which.from) * (which.last - which.first);
}

/* Between the rows as they come from each process and as they stand in the whole. */
static void order_rows(const spread *s, spread_block which, int together) {
    const size_t length = which.last - which.first;
    double *row = s->all, *block = ordered(s, which);
    for (size_t k = 0; k < s->peers->count; k++)
        for (size_t e = 0; e < s->sizes[k] / sizeof *row / length; e++, row += length) {
            double *place = block + (s->places[s->at[k] + e] - which.from) * length;
            memcpy(together ? place : row, together ? row : place, length * sizeof *row);
        }
}

/* Names are of any length: they come in one piece, each with its zero, in the order of the processes. */
svmp_status svmp_spread_names(spread *s, size_t limit, spread_namer name, const void *user_data, char **text,
                              const char **names) {
    const svmp_peers *t = s->peers;
    char *mine = NULL, *at;
    size_t size = 0, total = 0, own = 0;
    svmp_status status;
    while (own < s->own && s->place[own] < limit) size += strlen(name(user_data, s->order[own++])) + 1;
    SVMP_CHECK(svmp_agree(s->context, s->peers, SVMP_NEW(s->context, mine, size)));
    at = mine;
    for (size_t k = 0; k < own; k++) at = stpcpy(at, name(user_data, s->order[k])) + 1;
    t->gather(t, sizeof size, &size, s->sizes);
    for (size_t k = 0; k < t->count; k++) total += s->sizes[k];
    SVMP_CHECK(svmp_agree(s->context, s->peers, SVMP_NEW(s->context, *text, t->rank == 0 ? total : 0)));
    t->collect(t, size, mine, s->sizes, *text);
    at = *text;
    for (size_t k = 0; t->rank == 0 && k < t->count; k++)
        for (size_t e = s->first[k]; e < s->first[k + 1] && s->places[e] < limit; e++) {
            names[s->places[e]] = at;
            at += strlen(at) + 1;
        }
done:
    svmp_release(s->context, mine);
    return status;
}

svmp_status svmp_spread_collect(spread *s, spread_block which, size_t n, const double *values, double **block) {
    const size_t length = which.last - which.first;
    size_t from, to;
    if (s->peers->count == 1) {
        SVMP_TRY(SVMP_GROW(s->context, s->all, s->all_capacity, (which.to - which.from) * length));
        for (size_t i = which.from; i < which.to; i++)
            memcpy(s->all + (i - which.from) * length, values + i * n + which.first, length * sizeof *values);
        *block = s->all;
        return SVMP_OK;
    }
    SVMP_TRY(reserve(s, which, &from, &to));
    for (size_t k = from; k < to; k++)
        memcpy(s->mine + (k - from) * length, values + s->order[k] * n + which.first, length * sizeof *values);
    s->peers->collect(s->peers, (to - from) * length * sizeof *s->mine, s->mine, s->sizes, s->all);
    if (s->peers->rank > 0) return SVMP_OK;
    order_rows(s, which, 1);
    *block = ordered(s, which);
    return SVMP_OK;
}

svmp_status svmp_spread_capacity(spread *s, spread_block which, double **block) {
    size_t from, to;
    if (s->peers->count == 1) {
        SVMP_TRY(SVMP_GROW(s->context, s->all, s->all_capacity, (which.to - which.from) * (which.last - which.first)));
        *block = s->all;
        return SVMP_OK;
    }
    SVMP_TRY(reserve(s, which, &from, &to));
    if (s->peers->rank == 0) *block = ordered(s, which);
    return SVMP_OK;
}

svmp_status svmp_spread_deal(spread *s, spread_block which, size_t n, double *values) {
    const size_t length = which.last - which.first;
    if (s->peers->count == 1) {
        for (size_t i = which.from; i < which.to; i++)
            memcpy(values + i * n + which.first, s->all + (i - which.from) * length, length * sizeof *values);
        return SVMP_OK;
    }
    const size_t from = find(s->place, s->own, which.from), to = find(s->place, s->own, which.to);
    if (s->peers->rank == 0) order_rows(s, which, 0);
    s->peers->deal(s->peers, (to - from) * length * sizeof *s->mine, s->mine, s->sizes, s->all);
    for (size_t k = from; k < to; k++)
        memcpy(values + s->order[k] * n + which.first, s->mine + (k - from) * length, length * sizeof *values);
    return SVMP_OK;
}
