/* Processes that work on one model together (backend/mpi makes a team of MPI's). Every one of these calls is made by
 * all of them, in the same order; what it yields is the same on all, unless it says otherwise. */
#ifndef SVMP_BASE_TEAM_H
#define SVMP_BASE_TEAM_H

#include <stdbool.h>

#include "base/context.h"
#include "svmp_parallel.h"

typedef struct team team;

static inline svmp_launch svmp_launched(void) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    return launch;
}

/* Rows of `length` numbers that go to neighbours and come from them, again and again: out[k] of them to process rank[k]
 * and in[k] from there, neighbour after neighbour. */
typedef struct team_routes {
    size_t neighbours, length;
    const uint32_t *rank;
    const size_t *out, *in;
} team_routes;

typedef struct team_line team_line; /* what a team keeps of them */

struct team {
    size_t rank, count; /* count > 1 */
    void *own;

    void (*free)(svmp_context *context, team *t);

    /* In place, item by item. Sums are of whole numbers alone: those of reals would have an order. */
    void (*sum)(const team *t, size_t count, int64_t *values);
    void (*max)(const team *t, size_t count, double *values);

    void (*broadcast)(const team *t, size_t from, size_t size, void *bytes);

    /* `size` bytes of every process, in their order. */
    void (*gather)(const team *t, size_t size, const void *mine, void *all);

    /* sizes[k] bytes of process k one behind the other in `all` of process 0, from or to `mine`, `size` bytes; `sizes`
     * and `all` matter there alone. */
    void (*collect)(const team *t, size_t size, const void *mine, const size_t *sizes, void *all);
    void (*deal)(const team *t, size_t size, void *mine, const size_t *sizes, const void *all);

    /* Messages between neighbours that travel while their processes work on. `leaving` is left alone and `arriving` is
     * not looked at until they have arrived, which `arrived` tells, or waits for. */
    svmp_status (*connect)(svmp_context *context, const team *t, const team_routes *routes, team_line **line);
    void (*disconnect)(svmp_context *context, team_line *line);
    void (*depart)(const team *t, team_line *line, const double *leaving, double *arriving);
    bool (*arrived)(const team *t, team_line *line, bool wait);
};

/* The status of the first process that failed, with its error on all of them. A context without a team: `status`. */
svmp_status svmp_team_settle(svmp_context *context, svmp_status status);

/* The same; here, so that analysers, which see one file at a time, know that who has failed does not go on. */
static inline svmp_status svmp_team_agree(svmp_context *context, svmp_status status) {
    const svmp_status all = svmp_team_settle(context, status);
    return all == SVMP_OK ? status : all;
}

/* Whether all processes have the same number, such as a checksum; without a team they do. Nothing is
 * allocated. */
bool svmp_team_has_one(const team *t, uint64_t number);

/* svmp_context_compare of a file, by its size and a checksum: "the {what} 'PATH'". */
svmp_status svmp_team_compare_file(svmp_context *context, const char *what, const char *path);

#endif
