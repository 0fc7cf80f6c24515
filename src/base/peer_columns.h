/* Arrays whose columns several processes share: each has some columns of every row, and computes these alone. A row is
 * gathered where all of its columns are needed, and the same numbers result whatever the number of processes. */
#ifndef SVMP_BASE_PEER_COLUMNS_H
#define SVMP_BASE_PEER_COLUMNS_H

#include <stdbool.h>

#include "base/archive.h"
#include "base/peers.h"

/* This process has columns first ... first + count - 1 of `whole`. Of more processes than columns some are idle: they
 * compute the last column, too, and their copy of it does not count. */
typedef struct peer_columns {
    svmp_context *context; /* NULL: there is one process */
    const svmp_peers *peers;
    size_t first, count, whole;
    bool idle;
    size_t most, together; /* the most columns of a process; rows that are gathered at a time */
    double *mine, *all;    /* a block of rows: of this process, and of all */
} peer_columns;

/* All columns are in this process. */
static inline peer_columns svmp_shared_alone(size_t whole) {
    return (peer_columns){.peers = &svmp_alone, .count = whole, .whole = whole};
}

/* Shares them evenly. Collective, as all functions here that take peers. */
svmp_status svmp_shared_open(svmp_context *context, const svmp_peers *peers, size_t whole, peer_columns *c);
void svmp_shared_close(peer_columns *c); /* accepts those of svmp_shared_alone */

/* The share of a process, and the process whose copy of a column counts. */
void svmp_shared_find(size_t whole, size_t processes, size_t rank, size_t *first, size_t *count);
size_t svmp_shared_owner(size_t whole, size_t processes, size_t column);

/* own[r*count + l] of all processes -> all[r*whole + l]. Allocates nothing. */
void svmp_shared_gather(const peer_columns *c, size_t rows, const double *own, double *all);

/* all[r*whole + l] -> own[r*count + l], without a message. */
void svmp_shared_take(const peer_columns *c, size_t rows, const double *all, double *own);

/* Adds up integers that each process has counted over its columns. */
void svmp_shared_sum(const peer_columns *c, size_t count, int64_t *values);

/* Saves the rows of all processes, or loads the own columns of them, in the format of svmp_archive_reals. */
svmp_status svmp_shared_archive(const peer_columns *c, archive *a, const char *name, size_t rows, double *own);

/* A number from 0 to 1 in units in which sums do not depend on the order, and back. */
static inline int64_t svmp_share_units(double share) { return (int64_t)(share * 0x1p40 + 0.5); }
static inline double svmp_units_share(int64_t units) { return (double)units * 0x1p-40; }

#endif
