/* The processes that work on one model (plugins/mpi implements them with MPI). All calls are collective: every process
 * makes them in the same order, and gets the same result unless stated otherwise. A context is never without peers, nor
 * is a graph: alone they are svmp_alone. A context that has joined others may have whole models, too: what is done with
 * a model concerns the peers of its graph. */
#ifndef SVMP_BASE_PEERS_H
#define SVMP_BASE_PEERS_H

#include <stdbool.h>

#include "base/context.h"
#include "base/exact_sum.h"
#include "svmp_parallel.h"

typedef struct svmp_peers svmp_peers;

static inline svmp_launch svmp_launched(void) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    return launch;
}

/* Repeated messages between neighbours, in rows of `length` numbers: out[k] rows are sent to process rank[k] and in[k]
 * rows received from it, in the order of the neighbours. */
typedef struct svmp_peer_routes {
    size_t neighbours, length;
    const uint32_t *rank;
    const size_t *out, *in;
} svmp_peer_routes;

typedef struct svmp_peer_line svmp_peer_line; /* an open connection for these messages */

struct svmp_peers {
    size_t rank, count;
    size_t local; /* the number of this process among those of its machine */
    void *own;

    void (*free)(svmp_context *context, const svmp_peers *peers);

    /* In place, item by item. Only integers are summed: sums of reals would depend on the order. */
    void (*sum)(const svmp_peers *peers, size_t count, int64_t *values);
    void (*max)(const svmp_peers *peers, size_t count, double *values);

    void (*broadcast)(const svmp_peers *peers, size_t from, size_t size, void *bytes);

    /* `size` bytes of every process, in their order. */
    void (*gather)(const svmp_peers *peers, size_t size, const void *mine, void *all);

    /* Moves `mine`, `size` bytes per process, to or from `all` of process 0, where process k has sizes[k] bytes, in
     * order; `sizes` and `all` are used only there. */
    void (*collect)(const svmp_peers *peers, size_t size, const void *mine, const size_t *sizes, void *all);
    void (*deal)(const svmp_peers *peers, size_t size, void *mine, const size_t *sizes, const void *all);

    /* Asynchronous messages between neighbours. `leaving` must not be changed and `arriving` must not be read until
     * `arrived` returns true; it tests, or waits. */
    svmp_status (*connect)(svmp_context *context, const svmp_peers *peers, const svmp_peer_routes *routes,
                           svmp_peer_line **line);
    void (*disconnect)(svmp_context *context, svmp_peer_line *line);
    void (*depart)(const svmp_peers *peers, svmp_peer_line *line, const double *leaving, double *arriving);
    bool (*arrived)(const svmp_peers *peers, svmp_peer_line *line, bool wait);
};

/* One process, count 1: these functions do nothing, or copy what is this process's own. */
extern const svmp_peers svmp_alone;

/* The status of the first process that failed, with its error on all of them; alone: `status`. */
svmp_status svmp_peers_agree(svmp_context *context, const svmp_peers *peers, svmp_status status);

/* The same, inline, so that analysers, which see one file at a time, know that a failed status is not lost. */
static inline svmp_status svmp_agree(svmp_context *context, const svmp_peers *peers, svmp_status status) {
    const svmp_status all = svmp_peers_agree(context, peers, status);
    return all == SVMP_OK ? status : all;
}

/* svmp_context_any. */
unsigned svmp_peers_any(const svmp_peers *peers, unsigned bits);

/* Sums without rounding, one after another. */
void svmp_peers_sum_exactly(const svmp_peers *peers, size_t count, exact_sum *sums);

/* Whether all processes have the same number, such as a checksum. Allocates nothing. */
bool svmp_peers_have_one(const svmp_peers *peers, uint64_t number);

/* svmp_context_compare of a file, by its size and a checksum: "the {what} 'PATH'". */
svmp_status svmp_peers_compare_file(svmp_context *context, const char *what, const char *path);

#endif
