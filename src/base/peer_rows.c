#include "base/peer_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t svmp_spread_rows(size_t n) {
    const size_t rows = ((size_t)8 << 20) / sizeof(double) / (n + 1);
    return rows > 0 ? rows : 1;
}

size_t svmp_spread_most(size_t whole, size_t n) {
    const size_t rows = svmp_spread_rows(n);
    return (rows < whole ? rows : whole) * n;
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

/* All that a process needs until the end. */
static svmp_status plan(spread *s, const uint32_t *place) {
    const size_t count = s->peers->count;
    const int first = s->peers->rank == 0;
    if (count == 1) return SVMP_NEW(s->context, s->all, s->capacity);
    SVMP_TRY(sort_rows(s, place));
    SVMP_TRY(SVMP_NEW(s->context, s->first, count + 1));
    SVMP_TRY(SVMP_NEW(s->context, s->sizes, count));
    SVMP_TRY(SVMP_NEW(s->context, s->at, count));
    SVMP_TRY(SVMP_NEW(s->context, s->places, first ? s->whole : 0));
    SVMP_TRY(SVMP_NEW(s->context, s->mine, s->capacity));
    return SVMP_NEW(s->context, s->all, first ? 2 * s->capacity : 0);
}

/* Gathers in process 0 which process has which rows. */
static void learn_places(spread *s) {
    const svmp_peers *t = s->peers;
    const size_t size = s->own * sizeof *s->place;
    if (t->count == 1) return;
    t->gather(t, sizeof size, &size, s->sizes);
    for (size_t k = 0; k < t->count; k++) s->first[k + 1] = s->first[k] + s->sizes[k] / sizeof *s->place;
    t->collect(t, size, s->place, s->sizes, s->places);
}

svmp_status svmp_spread_open(svmp_context *context, const svmp_peers *peers, size_t whole, size_t own,
                             const uint32_t *place, size_t most, svmp_status status, spread *s) {
    *s = (spread){.context = context, .peers = peers, .whole = whole, .own = own, .capacity = most};
    if (status == SVMP_OK) status = plan(s, place);
    SVMP_TRY(svmp_agree(context, peers, status));
    learn_places(s);
    return SVMP_OK;
}

void svmp_spread_close(spread *s) {
    if (s->context == NULL) return;
    svmp_release_all(s->context, s->order, s->place, s->first, s->places, s->sizes, s->at, s->mine, s->all);
    *s = (spread){0};
}

/* The first of ascending places that is at least `row`. */
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

/* Which of this process's rows are in the block; in process 0, also how much each process has of it. */
static void find_rows(spread *s, spread_block which, size_t *from, size_t *to) {
    const size_t length = which.last - which.first;
    assert((which.to - which.from) * length <= s->capacity);
    *from = find(s->place, s->own, which.from);
    *to = find(s->place, s->own, which.to);
    for (size_t k = 0; s->peers->rank == 0 && k < s->peers->count; k++) {
        const uint32_t *places = s->places + s->first[k];
        const size_t rows = s->first[k + 1] - s->first[k], begin = find(places, rows, which.from);
        s->at[k] = s->first[k] + begin;
        s->sizes[k] = (find(places, rows, which.to) - begin) * length * sizeof *s->all;
    }
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

/* Names have any length: they arrive in one piece, each terminated by a zero, in the order of the processes. */
svmp_status svmp_spread_names(spread *s, size_t limit, spread_namer name, const void *user_data, char **text,
                              const char **names) {
    const svmp_peers *t = s->peers;
    char *mine = NULL, *at;
    size_t size = 0, total = 0, own = 0;
    svmp_status status;
    while (own < s->own && s->place[own] < limit) size += strlen(name(user_data, s->order[own++])) + 1;
    t->gather(t, sizeof size, &size, s->sizes);
    for (size_t k = 0; k < t->count; k++) total += s->sizes[k];
    status = SVMP_NEW(s->context, mine, size);
    if (status == SVMP_OK) status = SVMP_NEW(s->context, *text, t->rank == 0 ? total : 0);
    SVMP_CHECK(svmp_agree(s->context, t, status));
    at = mine;
    for (size_t k = 0; k < own; k++) at = stpcpy(at, name(user_data, s->order[k])) + 1;
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

const double *svmp_spread_collect(spread *s, spread_block which, size_t n, const double *values) {
    const size_t length = which.last - which.first;
    size_t from, to;
    if (s->peers->count == 1) {
        for (size_t i = which.from; i < which.to; i++)
            memcpy(s->all + (i - which.from) * length, values + i * n + which.first, length * sizeof *values);
        return s->all;
    }
    find_rows(s, which, &from, &to);
    for (size_t k = from; k < to; k++)
        memcpy(s->mine + (k - from) * length, values + s->order[k] * n + which.first, length * sizeof *values);
    s->peers->collect(s->peers, (to - from) * length * sizeof *s->mine, s->mine, s->sizes, s->all);
    if (s->peers->rank > 0) return NULL;
    order_rows(s, which, 1);
    return ordered(s, which);
}

double *svmp_spread_space(const spread *s, spread_block which) {
    if (s->peers->count == 1) return s->all;
    return s->peers->rank == 0 ? ordered(s, which) : NULL;
}

void svmp_spread_deal(spread *s, spread_block which, size_t n, double *values) {
    const size_t length = which.last - which.first;
    size_t from, to;
    if (s->peers->count == 1) {
        for (size_t i = which.from; i < which.to; i++)
            memcpy(values + i * n + which.first, s->all + (i - which.from) * length, length * sizeof *values);
        return;
    }
    find_rows(s, which, &from, &to);
    if (s->peers->rank == 0) order_rows(s, which, 0);
    s->peers->deal(s->peers, (to - from) * length * sizeof *s->mine, s->mine, s->sizes, s->all);
    for (size_t k = from; k < to; k++)
        memcpy(values + s->order[k] * n + which.first, s->mine + (k - from) * length, length * sizeof *values);
}
