/* Inside the backend on a device: what it keeps, and how it is made from the model and the kernel. */
#ifndef SVMP_CUDA_CUDA_BACKEND_H
#define SVMP_CUDA_CUDA_BACKEND_H

#include "backend/backend.h"
#include "cuda/device.h"
#include "cuda/generate_code.h"

/* Sums of rows for each variable. Lists of many rows are left out of `whole`; they are added up in pieces, and the
 * pieces then to what is there. */
typedef struct row_sums {
    sum_args whole, pieces, last;
    size_t count, piece_count, last_count; /* rows of sums; piece_count 0: no list is long */
} row_sums;

/* How a term is computed: with a matrix for each unit, linear by moments, or in one kernel. */
typedef enum cuda_way { WAY_MATRIX, WAY_MOMENTS, WAY_FUSED } cuda_way;

/* A term of the kernel, or a part of it: its units, and how many go in a batch. */
typedef struct cuda_term {
    cuda_way way;
    pair_args all;
    size_t units, batch;
    size_t *member_start; /* host: unit -> its first member */
    int ranked;           /* whether the bandwidth asks for distances of given ranks */
    draw_args draw;       /* of a random domain; its begin NULL: not random */
    unit_record *record;  /* of units that fit in one; NULL: some do not */
} cuda_term;

typedef struct cuda_messages {
    program_args *programs; /* for each group that touches a node that is asked, one or some */
    size_t program_count;
    size_t *evaluations;  /* of each of them */
    sum_args at_mean;     /* the node's own part of the quadratic, numbers */
    row_sums others, add; /* that of its neighbours, and the derivatives of other factors */
    size_t count;         /* variables that are asked */
    message_args standardise;
} cuda_messages;

typedef struct cuda_measure cuda_measure; /* measure.c */

typedef struct cuda {
    const device_ops *ops;
    device *device;
    int bits; /* of pair work: 32 or 64 */
    int full; /* whether the last thing to take did not fit in the memory of the device */
    void **taken;
    size_t taken_count, taken_capacity; /* memory of the device */

    double *x, *score, *phi, *state[2], *lower, *upper;
    uint32_t *variable_key, *node_key; /* of a part of a model: indices in the whole; NULL: the same */
    unsigned fresh;                    /* arrays of which the host has the numbers: bit 1 << backend_array */
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
    cuda_term terms[2 * KERNEL_TERMS_MAX]; /* those of the kernel in their order, in one part or two */
    size_t term_count;
    cuda_messages messages;

    /* An iteration in one launch, where the device can: operations are put off until the step, or until somebody reads
     * what they would have computed. */
    int whole;       /* whether stein and step are one */
    int whole_score; /* whether the score is in it as well */
    unsigned due;    /* operations that were put off */
    size_t due_t;    /* the iteration */
    int centred;     /* whether centre.z32 has the particles as they are, */
    int halo_moved;  /* but for those of the halo */
    int score_lacks; /* whether `score` does not have that of the last iteration */
    float *z_next;   /* centred rows of the next iteration, or with records */
    float *placed_next;
    int placed;    /* whether whole iterations read rows in places of their own */
    size_t last_t; /* the iteration of the last step */

    cuda_measure *measure; /* of the Stein discrepancy; NULL: not asked for yet */
    int unmeasured;        /* it does not fit, or cannot be computed here */
} cuda;

enum { DUE_SCORE = 1, DUE_STEIN = 2 };

/* The backend on a device of these operations; a backend_kind's alloc. */
svmp_status svmp_cuda_alloc(backend *b, const kernel *k, const device_ops *ops, int bits);
void svmp_cuda_free(backend *b);
svmp_status svmp_cuda_score(backend *b);
svmp_status svmp_cuda_stein(backend *b, const kernel *k, size_t t);
svmp_status svmp_cuda_step(backend *b, const step *s, double rate, size_t t);
svmp_status svmp_cuda_diffuse(backend *b, double rate, size_t t);
svmp_status svmp_cuda_await(backend *b);
svmp_status svmp_cuda_fetch(backend *b, backend_array which);
svmp_status svmp_cuda_store(backend *b, backend_array which);
svmp_status svmp_cuda_fetch_rows(backend *b, size_t first, size_t last);
svmp_status svmp_cuda_store_rows(backend *b, size_t first, size_t last);
void svmp_cuda_take_back(backend *b);
svmp_status svmp_cuda_measure(backend *b, const kernel *k, size_t count, size_t t, stein_measure *measured);

#define CUDA_KIND(variable, name_, alloc_)                                                                             \
    const backend_kind variable = {.name = name_,                                                                      \
                                   .alloc = alloc_,                                                                    \
                                   .free = svmp_cuda_free,                                                             \
                                   .score = svmp_cuda_score,                                                           \
                                   .stein = svmp_cuda_stein,                                                           \
                                   .step = svmp_cuda_step,                                                             \
                                   .diffuse = svmp_cuda_diffuse,                                                       \
                                   .await = svmp_cuda_await,                                                           \
                                   .fetch = svmp_cuda_fetch,                                                           \
                                   .store = svmp_cuda_store,                                                           \
                                   .fetch_rows = svmp_cuda_fetch_rows,                                                 \
                                   .store_rows = svmp_cuda_store_rows,                                                 \
                                   .take_back = svmp_cuda_take_back,                                                   \
                                   .measure = svmp_cuda_measure}

/* Finds the library of devices. Fails with a sentence. */
svmp_status svmp_cuda_load(svmp_context *context, const device_ops **ops);

/* ---- operations that were put off -------------------------------------------------------------------------------- */

/* Does what was put off. */
svmp_status svmp_cuda_settle(backend *b);

/* The host's copy of an array is no longer that of the device. */
void svmp_cuda_forget(cuda *own, backend_array which);

/* Parts of an iteration in one launch: centred rows of all variables from `first` on, and random neighbours of
 * iteration t. */
svmp_status svmp_cuda_centre(backend *b, size_t first);
svmp_status svmp_cuda_draw(backend *b, cuda_term *term, size_t t);

/* The derivatives of all factors that are programs, and the scores of particles x, in `to`. */
svmp_status svmp_cuda_launch_programs(backend *b, const double *x);
svmp_status svmp_cuda_launch_score(backend *b, const double *x, double *to);

/* Sums of rows, whose long lists are added up in pieces. */
svmp_status svmp_cuda_launch_sums(backend *b, const row_sums *sums);

/* Units from ... to - 1 of a term; and their matrices: distances, of which the ranked ones and the bandwidth are found,
 * or products. */
pair_args svmp_cuda_batch(const cuda_term *term, size_t from, size_t to);
svmp_status svmp_cuda_matrices(backend *b, const cuda_term *term, const pair_args *batch);

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Calls of the device, with its error as the context's. */
svmp_status svmp_cuda_check(backend *b, int failure);

/* Memory of the device: empty, zeroed, or with a copy. It is given back with the backend. */
svmp_status svmp_cuda_take(backend *b, size_t count, size_t size, void **pointer);
svmp_status svmp_cuda_put(backend *b, size_t count, size_t size, const void *from, void **pointer);
#define CUDA_TAKE(b, pointer, count)      svmp_cuda_take((b), (count), sizeof *(pointer), (void **)&(pointer))
#define CUDA_PUT(b, pointer, count, from) svmp_cuda_put((b), (count), sizeof *(pointer), (from), (void **)&(pointer))

/* Gives back what was planned and taken. */
void svmp_cuda_release(svmp_context *context, cuda *own);
void svmp_cuda_free_measure(backend *b);

/* Cuts lists that are long. `start` is on the host; sums->whole has the entries, which are on the device. */
svmp_status svmp_cuda_cut(backend *b, size_t count, const size_t *start, row_sums *sums);

/* Room for what centring finds, for the terms of a kernel or NULL. */
svmp_status svmp_cuda_take_places(backend *b, const kernel *k);

svmp_status svmp_cuda_plan_score(backend *b);
svmp_status svmp_cuda_plan_terms(backend *b, const kernel *k);
svmp_status svmp_cuda_plan_whole(backend *b);
svmp_status svmp_cuda_plan_messages(backend *b);
svmp_status svmp_cuda_plan_registers(backend *b); /* of the programs of both */
svmp_status svmp_cuda_find_messages(backend *b);

/* A program for a group of the model, without gradients and particles: its instances; and its instructions, for the
 * derivatives by all slots or by one of them, on the host as well, where the caller frees them, unless `code` is NULL.
 */
#define SVMP_CUDA_ALL_SLOTS SIZE_MAX
svmp_status svmp_cuda_instances(backend *b, const factor_group *group, program_args *made);
svmp_status svmp_cuda_program(backend *b, const factor_group *group, size_t slot, program_args *made,
                              program_code *code);

/* Programs, compiled or not, share a launch if they have few registers: others would keep them from running side by
 * side. From many lanes on, which are instances times particles, a thread has several particles. */
enum { SMALL_REGISTERS = 12, MANY_LANES = 1 << 18 };

/* Compiles the programs that are worth it, with the instructions of each; they are then no longer among those that are
 * interpreted. */
svmp_status svmp_cuda_compile(backend *b, const program_code *codes);

/* How threads of generated code divide n particles among them, so many each. */
void svmp_cuda_share(size_t n, unsigned width, generated_args *made);

#endif
