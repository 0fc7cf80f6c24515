/* A team of processes that work on one model (backend/mpi implements it with MPI). All calls are collective: every
 * process makes them in the same order, and gets the same result unless stated otherwise. */
#ifndef SVMP_BASE_PEERS_H
#define SVMP_BASE_PEERS_H

#include <stdbool.h>

#include "base/context.h"
#include "svmp_parallel.h"

typedef struct team team;

static inline svmp_launch svmp_launched(void) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    return launch;
}

/* Repeated messages between neighbours, in rows of `length` numbers: out[k] rows are sent to process rank[k] and in[k]
 * rows received from it, in the order of the neighbours. */
typedef struct team_routes {
    size_t neighbours, length;
    const uint32_t *rank;
    const size_t *out, *in;
} team_routes;

typedef struct team_line team_line; /* an open connection for these messages */

struct team {
    size_t rank, count; /* count > 1 */
    size_t local;       /* the number of this process among those of its machine */
    void *own;

    void (*free)(svmp_context *context, team *t);

    /* In place, item by item. Only integers are summed: sums of reals would depend on the order. */
    void (*sum)(const team *t, size_t count, int64_t *values);
    void (*max)(const team *t, size_t count, double *values);

    void (*broadcast)(const team *t, size_t from, size_t size, void *bytes);

    /* `size` bytes of every process, in their order. */
    void (*gather)(const team *t, size_t size, const void *mine, void *all);

    /* Moves `mine`, `size` bytes per process, to or from `all` of process 0, where process k has sizes[k] bytes, in
     * order; `sizes` and `all` are used only there. */
    void (*collect)(const team *t, size_t size, const void *mine, const size_t *sizes, void *all);
    void (*deal)(const team *t, size_t size, void *mine, const size_t *sizes, const void *all);

    /* Asynchronous messages between neighbours. `leaving` must not be changed and `arriving` must not be read until
     * `arrived` returns true; it tests, or waits. */
    svmp_status (*connect)(svmp_context *context, const team *t, const team_routes *routes, team_line **line);
    void (*disconnect)(svmp_context *context, team_line *line);
    void (*depart)(const team *t, team_line *line, const double *leaving, double *arriving);
    bool (*arrived)(const team *t, team_line *line, bool wait);
};

/* The status of the first process that failed, with its error on all of them. A context without a team: `status`. */
svmp_status svmp_team_settle(svmp_context *context, svmp_status status);

/* The same, inline, so that analysers, which see one file at a time, know that a failed status is not lost. */
static inline svmp_status svmp_team_agree(svmp_context *context, svmp_status status) {
    const svmp_status all = svmp_team_settle(context, status);
    return all == SVMP_OK ? status : all;
}

/* Whether all processes have the same number, such as a checksum; true without a team. Allocates nothing. */
bool svmp_team_has_one(const team *t, uint64_t number);

/* svmp_context_compare of a file, by its size and a checksum: "the {what} 'PATH'". */
svmp_status svmp_team_compare_file(svmp_context *context, const char *what, const char *path);

#endif
