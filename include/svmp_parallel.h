/* svmp_parallel.h: one model in several processes (docs/distributed.md).
 *
 * Every process calls svmp_context_join, then svmp_model_read_shared or svmp_model_read_split, and then the functions
 * of svmp.h on the whole model, whose chains the processes share, or on its part of the model. "Collective" means that
 * all processes of the context must call the function, in the same order; all of them get the same status and the same
 * error. The functions of svmp.h that are collective on a part of a model say so. One process alone works as one of
 * several does.
 */
#ifndef SVMP_PARALLEL_H
#define SVMP_PARALLEL_H

#include "svmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- processes ------------------------------------------------------------------------------ */

/* The environment that mpirun or another launcher has set. MPI itself is not queried. */
typedef struct svmp_launch {
    size_t processes; /* how many it started; 0: there is no launcher */
    size_t process;   /* the index of this one, from 0 */
    double grace;     /* seconds between its SIGTERM and its SIGKILL */
    const char *name; /* "mpirun", "mpiexec" or "srun"; NULL: there is no launcher */
    int connects;     /* whether the environment holds what MPI needs to connect the processes */
} svmp_launch;

/* Reads this from the environment. */
SVMP_API void svmp_launch_read(svmp_launch *launch);

/* Connects this process with the others that the launcher started. Collective. Does nothing if it started one process
 * or none. Fails if the processes run different versions of svmp or C libraries that round differently, and if the
 * launcher started several processes that cannot reach each other (the launcher of another MPI, srun without MPI
 * support, a build without MPI).
 *
 * The processes separate when the context is freed. Further contexts may join, also at the same time, if all processes
 * do so in the same order and from one thread. MPI is initialised unless the program has done so (with threads:
 * MPI_Init_thread, MPI_THREAD_FUNNELED), and is then finalised when the program exits. If a process exits before it has
 * freed its context, it counts as failed and the launcher ends the others. If neither svmp_context_set_threads nor
 * OMP_NUM_THREADS sets a number of threads, processes on the same processors share them. */
SVMP_API svmp_status svmp_context_join(svmp_context *context);

/* The index of this process, from 0, and the number of processes; 0 and 1 without others. */
SVMP_API size_t svmp_context_process(const svmp_context *context);
SVMP_API size_t svmp_context_processes(const svmp_context *context);

/* The bitwise or of `bits` over all processes; only the lowest eight bits are used. Collective. */
SVMP_API unsigned svmp_context_any(const svmp_context *context, unsigned bits);

/* Fails with SVMP_BAD_INPUT in all processes unless `mine` is the same text in each of them. The error, "The processes
 * disagree on {what}: ...", names the first process that differs and its host. Collective. */
SVMP_API svmp_status svmp_context_compare(svmp_context *context, const char *what, const char *mine);

/* Gathers `size` bytes from every process, in order, in every process. Collective. */
SVMP_API void svmp_context_gather(const svmp_context *context, size_t size, const void *mine, void *all);

/* ---- parts of a model ----------------------------------------------------------------------- */

/* How a model was split. Nodes of a part: its own, which it moves, and the halo, nodes of others that it reads. */
typedef struct svmp_split {
    size_t processes, busy;            /* all processes, and those that own nodes */
    size_t nodes, own, halo, boundary; /* nodes of the whole model; of this process: its own, its halo, and those of its
                                        * own that other processes read */
    double imbalance;                  /* the largest work of a process over the mean work, minus 1 */
    size_t cut, edges;                 /* pairs of neighbours in different processes, and all pairs */
} svmp_split;

/* Replaces *model, a finished model that is the same in all processes, by this process's part of it: its own nodes, the
 * halo, and the factors that touch its own nodes. Collective. Fails if the models differ. With one process the model
 * stays as it is. The graph of a part lists the own nodes first, then the halo, and has no factors. A run of the parts
 * computes the same bits as a run of the whole model. `split` may be NULL. */
SVMP_API svmp_status svmp_model_split(svmp_model **model, svmp_split *split);

/* Lets the processes share the chains of a whole model's runs: every process has the model and all particles, and moves
 * a share of them (methods with `shares`, svmp_method_describe). The bits are those of one process. From now on
 * creating a run of the model, and whatever a run does and returns, is collective, and every process gets the same,
 * such as particles, of which one should write the file. Collective. Fails if the models differ. */
SVMP_API svmp_status svmp_model_share(svmp_model *model);

/* svmp_model_read and svmp_model_share in one step: every process reads the files. Collective. Fails if the files
 * differ between processes. `how` may be NULL. */
SVMP_API svmp_status svmp_model_read_shared(svmp_context *context, size_t count, const char *const *paths,
                                            const svmp_reading *how, svmp_model **model);

/* svmp_model_read and svmp_model_split in one step: no process ever holds the whole model. The first process reads and
 * partitions the graph; each process then reads only the data of its own nodes. Collective. Fails if the files
 * differ between processes. To choose coordinates ("auto"), the first process reads the whole model. `how` and `split`
 * may be NULL. */
SVMP_API svmp_status svmp_model_read_split(svmp_context *context, size_t count, const char *const *paths,
                                           const svmp_reading *how, svmp_model **model, svmp_split *split);

/* The number of own nodes of a part, and the index of a node or a variable of the part in the whole model. In a whole
 * graph every node is its own and keeps its index. Neighbourhoods are defined for own nodes, in the order of the whole
 * model. */
SVMP_API size_t svmp_graph_own(const svmp_graph *graph);
SVMP_API size_t svmp_graph_node_in_whole(const svmp_graph *graph, size_t node);
SVMP_API size_t svmp_graph_variable_in_whole(const svmp_graph *graph, size_t variable);

/* Collects one number for each own node into `whole` of the first process, in the order of the whole model. `whole` has
 * room for all nodes; in the other processes it may be NULL. A whole graph's numbers are copied. Collective. */
SVMP_API svmp_status svmp_graph_collect(const svmp_graph *graph, const double *own, double *whole);

/* ---- parts of a sample ---------------------------------------------------------------------- */

/* The number of variables in all processes, where these particles hold those of one process's own nodes. */
SVMP_API size_t svmp_particles_whole(const svmp_particles *particles);

/* New particles with the first variables of the whole model, at most `most`; the same in every process. Statistics are
 * left out. Collective. */
SVMP_API svmp_status svmp_particles_first(const svmp_particles *particles, size_t most, svmp_particles **first);

/* ---- plans ---------------------------------------------------------------------------------- */

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

/* Plans a run of a whole model in `processes` processes of one thread each. For a method with `shares`
 * (svmp_method_describe), such as the default, the plan has the method, the processes, those that have particles or
 * chains, their imbalance, and the memory of a process without the model; the rest is 0. For others, whose processes
 * have parts of the model: the partition and the sizes are exact. The
 * cost of a node is measured for a few seconds on some of the nodes, after the first iterations of a run; with more
 * than 2,000 particles it is measured with 2,000 and scaled. `options` may be NULL: the defaults. */
SVMP_API svmp_status svmp_model_plan(const svmp_model *model, const svmp_options *options, size_t processes,
                                     const svmp_network *network, svmp_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
