/* Inside the backend on a device: what it keeps, and how it is made from the views of the model and the kernel. */
#ifndef SVMP_CUDA_CUDA_BACKEND_H
#define SVMP_CUDA_CUDA_BACKEND_H

#include "cuda/cuda_host.h"
#include "cuda/device.h"
#include "cuda/generate_code.h"

/* Sums of rows for each variable. `whole` leaves out lists of many rows; `pieces` adds these up in pieces, and `last`
 * adds the pieces to the sums of `whole`. */
typedef struct row_sums {
    sum_args whole, pieces, last;
    size_t count, piece_count, last_count; /* rows of sums; piece_count 0: no list is long */
} row_sums;

/* How a term is computed: with a matrix for each unit, by moments (linear), or in one kernel. */
typedef enum cuda_way { WAY_MATRIX, WAY_MOMENTS, WAY_FUSED } cuda_way;

/* A term of the kernel, or a part of it: its units, and how many of them make a batch. */
typedef struct cuda_term {
    cuda_way way;
    pair_args all;
    size_t units, batch;
    size_t *member_start; /* host: unit -> its first member */
    int ranked;           /* whether the bandwidth needs the distances of given ranks */
    draw_args draw;       /* of a random domain; its begin NULL: not random */
    unit_record *record;  /* of units that fit in one; NULL: some do not */
} cuda_term;

typedef struct cuda_messages {
    program_args *programs; /* one or several for each group with a factor of a node that has a message */
    size_t program_count;
    size_t *evaluations;  /* of each program */
    sum_args at_mean;     /* the node's own part of the quadratic, numbers */
    row_sums others, add; /* that of its neighbours, and the derivatives of other factors */
    size_t count;         /* variables of nodes that have messages */
    message_args standardise;
} cuda_messages;

typedef struct cuda_measure cuda_measure; /* cuda_measure.c */

enum { CUDA_TERMS = 16 }; /* the most terms of a kernel */

typedef struct cuda {
    const device_ops *ops;
    device *device;
    int bits;           /* of pair work: 32 or 64 */
    double lacks, free; /* bytes that an allocation needed and that were free, if the memory was too small */
    void **taken;
    size_t taken_count, taken_capacity; /* memory of the device */

    double *x, *score, *phi, *step_state[2], *lower, *upper;
    uint32_t *variable_key, *node_key; /* of a part of a model: indices in the whole; NULL: the same */
    char describe[128];

    program_args *programs; /* one for each group with instances: first those that have a launch of their own, */
    size_t program_count, program_alone;
    programs_args together[2]; /* and then those that have one for all, without special functions and with them */
    size_t blocks[2];          /* of these */
    generated_args *generated; /* those that are compiled: one launch for each set */
    size_t generated_count;
    row_sums quadratic, gather;
    int gathers;

    centre_args centre;
    cuda_term terms[2 * CUDA_TERMS]; /* those of the kernel in their order, in one part or two */
    size_t term_count;
    cuda_messages messages;

    /* An iteration in one launch, where the device can: operations are deferred until the step, or until their
     * results are read. */
    int whole;       /* whether stein and step are one */
    int whole_score; /* whether the score is in it as well */
    unsigned due;    /* operations that are deferred */
    int moved;       /* whether phi has the particles before the last step */
    size_t due_t;    /* their iteration */
    int centred;     /* whether centre.z32 is that of the current particles, */
    int halo_moved;  /* except for the halo */
    int score_lacks; /* whether `score` lacks the scores of the last iteration */
    float *z_next;   /* centred rows of the next iteration, or with records */
    float *placed_next;
    int placed; /* whether whole iterations read `placed` rows */

    cuda_measure *measure; /* of the Stein discrepancy; NULL: not computed yet */
    int unmeasured;        /* the discrepancy does not fit in memory, or cannot be computed here */
} cuda;

enum { DUE_SCORE = 1, DUE_STEIN = 2 };

/* A request of the library (svmp_device_request), and the state that was made for it. */
typedef struct cuda_run {
    svmp_host host;
    const char *backend;
    const svmp_model_view *model;
    svmp_step_view step;
    size_t n;
    uint64_t seed;
    int keeps_sd, has_messages;
    cuda *state;
} cuda_run;

/* The functions of an svmp_device, whose `open` chooses the device and the precision of pairs: 32 or 64 bits. */
int svmp_cuda_open(const svmp_device_request *request, const device_ops *ops, int bits, svmp_device_particles *made);
void svmp_cuda_close(void *run);
int svmp_cuda_score(void *run);
int svmp_cuda_stein(void *run, size_t t);
int svmp_cuda_step(void *run, double rate, size_t t, int awaited);
int svmp_cuda_diffuse(void *run, double rate, size_t t, int awaited);
int svmp_cuda_outcome(void *run, double *largest, int *wrong);
void svmp_cuda_take_back(void *run, size_t steps);
int svmp_cuda_fetch(void *run, svmp_device_array array, size_t first, size_t last, double *to);
int svmp_cuda_store(void *run, svmp_device_array array, size_t first, size_t last, const double *from);
int svmp_cuda_measure(void *run, const svmp_kernel_view *k, size_t count, size_t t, svmp_stein_measure *measured);

#define CUDA_DEVICE(name_, precise_, open_)                                                                            \
    {                                                                                                                  \
        .name = name_, .precise = precise_, .open = open_, .close = svmp_cuda_close, .score = svmp_cuda_score,         \
        .stein = svmp_cuda_stein, .step = svmp_cuda_step, .diffuse = svmp_cuda_diffuse, .outcome = svmp_cuda_outcome,  \
        .take_back = svmp_cuda_take_back, .fetch = svmp_cuda_fetch, .store = svmp_cuda_store,                          \
        .measure = svmp_cuda_measure                                                                                   \
    }

/* svmp_plugin.look for this device. */
int svmp_cuda_look(const device_ops *ops, char *words, size_t size);

/* ---- deferred operations -------------------------------------------------------------------------------- */

/* Performs the deferred operations. */
svmp_status svmp_cuda_settle(cuda_run *run);

/* Parts of an iteration in one launch: centred rows of all variables from `first` on, and random neighbours of
 * iteration t. */
svmp_status svmp_cuda_centre(cuda_run *run, size_t first);
svmp_status svmp_cuda_draw(cuda_run *run, cuda_term *term, size_t t);

/* The derivatives of all factors that are programs, and the scores of particles x, in `to`. */
svmp_status svmp_cuda_launch_programs(cuda_run *run, const double *x);
svmp_status svmp_cuda_launch_score(cuda_run *run, const double *x, double *to);

/* Sums of rows, whose long lists are added up in pieces. */
svmp_status svmp_cuda_launch_sums(cuda_run *run, const row_sums *sums);

/* Units from ... to - 1 of a term; and their matrices: products, or distances, whose ranked ones and bandwidth are
 * found, too. */
pair_args svmp_cuda_batch(const cuda_term *term, size_t from, size_t to);
svmp_status svmp_cuda_matrices(cuda_run *run, const cuda_term *term, const pair_args *batch);

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Calls of the device, with its error as the library's. */
svmp_status svmp_cuda_check(const cuda_run *run, int failure);

/* Memory of the device: empty, zeroed, or with a copy. It is given back with the backend. */
svmp_status svmp_cuda_take(cuda_run *run, size_t count, size_t size, void **pointer);
svmp_status svmp_cuda_put(cuda_run *run, size_t count, size_t size, const void *from, void **pointer);
#define CUDA_TAKE(run, pointer, count) svmp_cuda_take((run), (count), sizeof *(pointer), (void **)&(pointer))
#define CUDA_PUT(run, pointer, count, from)                                                                            \
    svmp_cuda_put((run), (count), sizeof *(pointer), (from), (void **)&(pointer))

/* Gives back what was planned and taken. */
void svmp_cuda_release(const svmp_host *host, cuda *state);
void svmp_cuda_free_measure(cuda_run *run);

/* Cuts lists that are long. `start` is on the host; sums->whole has the entries, which are on the device. */
svmp_status svmp_cuda_cut(cuda_run *run, size_t count, const size_t *start, row_sums *sums);

/* Room for what centring finds, for the terms of a kernel or NULL. */
svmp_status svmp_cuda_take_places(cuda_run *run, const svmp_kernel_view *k);

svmp_status svmp_cuda_plan_score(cuda_run *run);
svmp_status svmp_cuda_plan_terms(cuda_run *run, const svmp_kernel_view *k);
svmp_status svmp_cuda_plan_whole(cuda_run *run);
svmp_status svmp_cuda_plan_messages(cuda_run *run, const svmp_kernel_view *k);
svmp_status svmp_cuda_plan_registers(cuda_run *run); /* of the programs of both */
svmp_status svmp_cuda_find_messages(cuda_run *run);

/* A program for a group of the model, without gradients and particles: its instances; and its instructions, for the
 * derivatives by all slots or by one of them, on the host as well, where the caller frees them, unless `code` is NULL.
 */
#define SVMP_CUDA_ALL_SLOTS SIZE_MAX
svmp_status svmp_cuda_instances(cuda_run *run, const svmp_group_view *group, program_args *made);
svmp_status svmp_cuda_program(cuda_run *run, size_t group, size_t slot, program_args *made, program_code *code);

/* Programs, compiled or not, share a launch if they have few registers: others would keep them from running side by
 * side. From many lanes on, which are instances times particles, a thread has several particles. */
enum { SMALL_REGISTERS = 12, MANY_LANES = 1 << 18 };

/* Compiles the programs that are worth it, with the instructions of each; they are then no longer among those that are
 * interpreted. */
svmp_status svmp_cuda_compile(cuda_run *run, const program_code *codes);

/* Divides n particles among threads of generated code, `width` particles each. */
void svmp_cuda_share(size_t n, unsigned width, generated_args *made);

#endif
