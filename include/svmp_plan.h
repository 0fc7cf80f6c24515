/* svmp_plan.h: estimates the memory and the time of a run in several processes without running it. */
#ifndef SVMP_PLAN_H
#define SVMP_PLAN_H

#include "svmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A network: its latency in seconds, and the bandwidth of a process in bytes per second, in each direction. */
typedef struct svmp_network {
    double latency, bandwidth;
} svmp_network;

/* The load of one process in an iteration. */
typedef struct svmp_load {
    double nodes, halo, boundary; /* its own nodes, nodes of others that it reads, own nodes that others read */
    double neighbours;            /* processes that it exchanges particles with */
    double bytes;                 /* bytes that it sends in an iteration */
    double memory;                /* peak bytes of its part of the model and the run, with one thread */
    double compute, exchange;     /* seconds for its nodes alone, and for its messages alone */
} svmp_load;

/* The plan of a run with several processes. */
typedef struct svmp_plan {
    const char *method;     /* the planned method: of the options, or what `auto` means in several processes */
    size_t processes, busy; /* all processes, and those that own nodes */
    double imbalance;       /* the largest work of a process over the mean work, minus 1 */
    size_t cut, edges;      /* pairs of neighbours in different processes, and all pairs */
    size_t heaviest;        /* the node with the most work; a node cannot be divided */
    double heaviest_share;  /* its share of all work */
    svmp_load most, mean;   /* maximum and mean over processes, field by field */
    double measured;        /* number of nodes on which the rate was measured */
    double rate;            /* seconds that one thread takes for the mean node */
    double alone;           /* seconds per iteration in one process */
    double reduce;          /* seconds per iteration in reductions over all processes */
    double iteration;       /* seconds per iteration; messages travel while interior nodes are computed */
} svmp_plan;

/* Plans a run of a whole model in `processes` processes of one thread each. The partition and the sizes are exact. The
 * cost of a node is measured for a few seconds on some of the nodes, after the first iterations of a run; with more
 * than 2,000 particles it is measured with 2,000 and scaled. `options` may be NULL: the defaults. */
SVMP_API svmp_status svmp_model_plan(const svmp_model *model, const svmp_options *options, size_t processes,
                                     const svmp_network *network, svmp_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
