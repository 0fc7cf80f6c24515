/* Rows of numbers that are distributed over several processes, one row per variable: collected block by block in the
 * first process, or dealt out from there. No process holds more than its own rows and one block. With one process, it
 * is a copy. */
#ifndef SVMP_BASE_PEER_ROWS_H
#define SVMP_BASE_PEER_ROWS_H

#include "base/peers.h"

typedef struct spread {
    svmp_context *context;
    const svmp_peers *peers;
    size_t whole, own;  /* numbers of rows: in total, and in this process */
    uint32_t *order;    /* own rows in the order of the whole */
    uint32_t *place;    /* order[k] is row place[k] of the whole */
    size_t *first;      /* process 0: where each process's places begin in `places`; count + 1 */
    uint32_t *places;   /* process 0: the rows of every process, ascending */
    size_t *sizes, *at; /* process 0: bytes of each in a block, and where in `places` its rows begin */
    size_t capacity;    /* numbers of the largest block */
    double *mine, *all; /* a block: what is here of it, and in process 0 all of it */
} spread;

/* Row k < own of this process is row place[k] of the whole. Alone they are the same. No block has more numbers than
 * `most`. Fails in all processes if `status`, of what each has done before, is a failure in one: from here on nothing
 * fails, but for names. */
svmp_status svmp_spread_open(svmp_context *context, const svmp_peers *peers, size_t whole, size_t own,
                             const uint32_t *place, size_t most, svmp_status status, spread *s);
void svmp_spread_close(spread *s); /* accepts an all-zero value */

/* Rows from ... to - 1 of the whole, numbers first ... last - 1 of each: from `values` (own rows of n numbers) to
 * the block of process 0, in the order of the whole; valid until the next call. NULL in the others. */
typedef struct spread_block {
    size_t from, to, first, last;
} spread_block;

const double *svmp_spread_collect(spread *s, spread_block which, size_t n, const double *values);

/* The opposite direction, for complete rows: process 0 fills the block, NULL in the others, between the two calls. */
double *svmp_spread_space(const spread *s, spread_block which);
void svmp_spread_deal(spread *s, spread_block which, size_t n, double *values);

/* names[i] of the first `limit` rows of the whole in process 0, pointing into *text, which svmp_release frees. Not for
 * one process. */
typedef const char *(*spread_namer)(const void *user_data, size_t own_row);
svmp_status svmp_spread_names(spread *s, size_t limit, spread_namer name, const void *user_data, char **text,
                              const char **names);

/* How many rows of n numbers make a block of some megabytes; at least one. */
size_t svmp_spread_rows(size_t n);

/* The numbers of such a block, of `whole` rows in total. */
size_t svmp_spread_most(size_t whole, size_t n);

#endif
