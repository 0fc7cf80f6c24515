/* The backend for the processors of this machine: threads over nodes, vectorised loops over particles. */
#ifndef SVMP_BACKEND_CPU_CPU_BACKEND_H
#define SVMP_BACKEND_CPU_CPU_BACKEND_H

#include "backend/backend.h"
#include "backend/cpu/cpu_median.h"
#include "backend/node_messages.h"
#include "stein/kernel_units.h"
#include "stein/order_free_sums.h"

/* Working memory of one thread for a unit. A unit that all threads share uses the first workspace, and the last four
 * members of each thread's workspace. */
typedef struct stein_workspace {
    const double **rows; /* the particles of the domain's variables */
    uint32_t *drawn;     /* the nodes of a random domain */
    uint32_t *members;   /* the variables of the unit's members */
    double *numbers;     /* what the pointers below point into */
    double *packed;      /* rows of particles, for the loops */
    double *k;           /* a tile or all tiles: squared distances, then the kernel */
    double *repulsion;   /* the same, of shapes whose repulsion is not proportional to k */
    double *total;       /* a row: for every particle, the kernel or the repulsion summed over all others */
    double *weight;      /* 2 WEIGHED_VARIABLES rows */
    double *sum;         /* WEIGHED_VARIABLES rows */
    double *list;        /* list_capacity numbers and a vector, for the median */
    tally counts;
} stein_workspace;

/* The number of variables of a domain that are packed at a time to store tiles, and of the members' variables that are
 * multiplied by a tile while it is in the cache. */
enum { PACKED_VARIABLES = 64, WEIGHED_VARIABLES = 4 };

typedef struct cpu {
    const lane_ops *lanes;
    tile *tiles;
    size_t tile_count, largest_tile, all_tiles; /* their number; numbers in the largest, and in all */
    size_t list_capacity;
    int teams;                   /* whether there is workspace for units that all threads share */
    stein_workspace *workspaces; /* one a thread */
    middle **middles;            /* term -> unit -> its last median */
    double *ones;                /* a row of 1, padded with 0 */
    common_grid grid; /* for terms on all variables: a row, padded with infinity, and steps if there are products */
    char *near;       /* for such a term: whether a tile has near pairs */
    uint32_t *nodes;  /* 0, 1, 2, ...: the domain `all`, and every `self` a piece of it */
    double *centred;  /* variables * n: x less its mean over particles, for linear terms */
    double *variance; /* variables: mean square of that */
    double *products; /* n*n: for linear terms on all variables, if there are n or more */
    double *gathered; /* variables * n: `centred` of all processes, for linear terms on all variables, if there are
                         fewer than n */
} cpu;

/* The source of units. */
static inline unit_source svmp_cpu_source(const backend *b) {
    const cpu *own = b->local_state;
    return (unit_source){b->model->graph, own->nodes, b->messages ? b->messages->hubs : NULL};
}

static inline const double *svmp_cpu_messages(const backend *b) { return b->messages ? b->messages->rows : NULL; }

/* Whether other processes have variables of the term's domain, too. */
static inline int svmp_cpu_among_processes(const backend *b, const kernel_term *term) {
    return term->domain == DOMAIN_ALL && b->model->graph->peers->count > 1;
}

/* Whether all tiles of a unit are stored, because they are few or used more than twice. Otherwise every tile is
 * computed twice, for the bandwidth and for the velocities, which is faster than fetching it from memory. Shared units
 * are always stored. */
int svmp_cpu_stores(const backend *b, size_t member_variables);

/* backend_kind.keeps */
int svmp_cpu_keeps(double pairs, size_t variables);

/* Add the phi of a term to the members of a unit, with `threads` threads. With one, several threads may call it at the
 * same time for different units. The bits are the same. */
void svmp_cpu_radial(backend *b, const kernel_term *term, const stein_unit *unit, stein_workspace *workspace,
                     middle *last, int threads);
void svmp_cpu_linear(backend *b, const kernel_term *term, const stein_unit *unit, stein_workspace *workspace,
                     int threads);

/* Fills `centred` and `variance` before svmp_cpu_linear: for own variables with the first nodes, for the halo with the
 * last ones. */
void svmp_cpu_centre(backend *b);

/* dz_i/dx_i of the coordinates that a term uses. */
static inline double svmp_cpu_slope(const backend *b, const kernel_term *term, size_t i) {
    if (term->metric == METRIC_NONE) return 1;
    return b->sd[i] > 0 ? 1 / b->sd[i] : 0;
}

/* The variables of the members, in `workspace->members`; returns how many. */
size_t svmp_cpu_members(const backend *b, const stein_unit *unit, stein_workspace *workspace);

#endif
