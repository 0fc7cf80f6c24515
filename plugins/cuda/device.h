/* The contract of a device: memory of its own, and kernels that run over it in the order in which they are launched.
 *
 * The backend (cuda_backend.c) is written against this table. device.cu implements it on an NVIDIA GPU; the tests
 * implement it with plain loops over the same bodies (thread_bodies.h). No CUDA header is included here: C and CUDA C++
 * both read this file.
 *
 * All arrays named in arguments are on the device. Functions return 0, or another number after a failure that `error`
 * puts into words; after a failure a device can only be closed. */
#ifndef SVMP_CUDA_DEVICE_H
#define SVMP_CUDA_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/device_program.h"
#include "expr/opcodes.h"
#include "svmp_plugin.h"

/* ---- scores: after those of programs (program.h) ------------------------------------------------------------------
 */

/* Sums of rows, thread k*n + l: out[k] = constant[k] + (or -) the sum over list k of weight[e] rows[item[e]]. */
typedef struct sum_args {
    const size_t *start;    /* list -> its entries */
    const size_t *end;      /* list -> the end of these; NULL: they end where those of the next begin */
    const uint32_t *to;     /* list -> its row of `out`; NULL: the same */
    const size_t *item;     /* entry -> its row; or NULL */
    const uint32_t *column; /* the same in 32 bits; both NULL: row e itself */
    const double *weight;   /* NULL: 1 */
    const double *constant; /* list -> the first term of the sum; NULL: 0, or the value of `out` if `adds` is set */
    const double *rows;
    double *out;
    size_t n;
    int adds, minus;
} sum_args;

/* The same for two lists in each row, the second added to the first (start NULL: no second list); and sums of the
 * pieces of long lists, which these lists leave out. */
typedef struct score_args {
    sum_args first, second, pieces;
    size_t piece_count;
} score_args;

/* ---- places of particles ----------------------------------------------------------------------------------------- */

/* Of every variable (a team of 32 threads each): mean, standard deviation, variance and centred rows; with a metric
 * also rows in units of the sd that is smoothed over iterations. */
typedef struct centre_args {
    const double *x;
    size_t n;
    double *sd;                 /* NULL if unused */
    double *variance, *inverse; /* inverse: 1/sd or 0, where sd is not NULL */
    double *mean;
    double *z64, *scaled64; /* centred rows and those in units of sd; NULL: not wanted */
    float *z32, *scaled32;
    float *placed; /* the rows of z32, in places of their own; NULL: not wanted */
    int brief;     /* nothing but z32 and `placed` is wanted */
} centre_args;

/* Messages (stein/near_domain.h): scores at the means, standardised (a team each). */
typedef struct message_args {
    const double *rows;
    const uint32_t *to; /* row k of `rows` -> its row below */
    size_t n;
    double *scratch;  /* n each */
    double *variance; /* of row `to`, as the rows below */
    double *z64, *scaled64;
    float *z32, *scaled32;
} message_args;

/* The neighbours of random domains (kernel.h: svmp_domain_draw), a thread for each node. */
typedef struct draw_args {
    const size_t *first, *start; /* node -> its variables; neighbourhood -> its nodes */
    const uint32_t *item, *neighbourhood_of;
    size_t neighbours, width; /* nodes to draw; room in `domain` for each node */
    uint64_t seed, iteration;
    const uint32_t *whole; /* node -> its number in the whole model; NULL: the same */
    uint32_t *drawn;       /* neighbours + 1 for each node */
    uint32_t *domain;      /* the variables, from node*width on */
    size_t *begin, *end;
} draw_args;

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

enum { RULE_MEDIAN, RULE_MEDIAN_LOG, RULE_MEDIAN_ZEROS, RULE_FIXED };

/* What a warp reads of its unit first: its domain and its members; and the row sum that is the first member's score. */
typedef struct unit_header {
    uint32_t begin, rows, variable, members, from, entries, unused[2];
} unit_header;

/* All that a warp has to know of a unit of one member and few rows: its domain, in which row `self` is the member, the
 * row sum that is its score, and its box. */
enum { UNIT_ENTRIES = 8 };
typedef struct unit_record {
    uint32_t rows, entries, variable, self;
    uint32_t row[UNIT_ENTRIES], column[UNIT_ENTRIES];
    double weight[UNIT_ENTRIES], constant, lower, upper, unused;
} unit_record;

/* The length of the centred rows of up to 64 particles that quick_term.cuh reads; numbers beyond the last particle are
 * 0. */
#ifdef __CUDACC__
#define DEVICE_INLINE static __host__ __device__ __forceinline__
#else
#define DEVICE_INLINE static inline
#endif
enum { TILE_PARTICLES = 64 };
DEVICE_INLINE uint32_t tile_places(size_t n) { return n <= 32 ? 32 : 64; }

/* A batch of units (stein/kernel_units.h) of one term. Each has an n*n matrix: squared distances or products first,
 * then k. */
typedef struct pair_args {
    size_t n, units, pieces;   /* pieces of a domain, that are summed in matrices of their own first */
    size_t first;              /* the first unit of the batch; arrays below begin with it */
    const size_t *begin, *end; /* unit -> its domain */
    const uint32_t *domain;    /* rows of z */
    const void *z;             /* float or double, as all of the matrices */
    void *matrix;              /* units*pieces matrices; the result is in the first `units` */
    double *middle;            /* unit -> squared distances of the lower and the upper rank */
    double *scale;             /* unit -> h, or v */
    size_t lower, upper;       /* ranks among pairs of different particles; SIZE_MAX: a distance of 0 */
    int shape, rule, in_sd;
    double fixed, weight, share; /* share: weight / n */
    const double *variance;      /* of rows of z */

    /* Members: entry e is variable[e], which uses the matrix of unit unit_of[e], counted from that of the term. */
    size_t members;
    const uint32_t *variable, *unit_of;
    const double *score, *inverse;
    double *phi;
    int adds; /* to what is in phi; 0: the first term, which writes there */

    /* For terms in one kernel: */
    const size_t *member_start;    /* unit of the term -> its first member, of term_variable */
    const uint32_t *term_variable; /* as `variable`, of all units */
    double *guess; /* unit of the term -> 3 numbers that the search for its median keeps; they affect its time alone */
    size_t longest, most_members; /* rows of a domain; members of a unit */
    const unit_header *header;    /* of all units of the term; NULL: domains change, or it is unused */
    int recorded;                 /* whether there are records of its units (iteration_args) */
} pair_args;

/* ---- the Stein discrepancy (stein_kappa.h)
 * -------------------------------------------------------------------------------
 */

/* The first n particles of rows that have `stride` of them. Thread i*n + l. */
typedef struct first_args {
    const double *from;
    double *to;
    size_t stride, n;
} first_args;

/* The sums of every variable that need no kernel, and a measure to which terms are added (a team each). */
typedef struct survey_args {
    size_t n;
    const double *x, *score;
    svmp_stein_measure *measured;
} survey_args;

/* What the members of a batch of units add to their measures (a team each); matrices have distances, or products of
 * linear terms; linear terms may have no matrix. */
typedef struct kappa_args {
    pair_args pair;
    const double *sd; /* of variables; NULL: no term is in units of it */
    svmp_stein_measure *measured;
} kappa_args;

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Particles that move: phi becomes the new particles. Thread i*n + l. */
typedef struct step_args {
    size_t n;
    const double *x, *score, *lower, *upper;
    double *phi, *first, *second;
    const double *unit; /* variable -> the unit of phi and of the displacement; NULL: 1. Not above 0: 1 */
    int rule;
    double rate, decay1, decay2, correct1, correct2, delta;
    uint64_t seed, iteration; /* of noise */
    const uint32_t *whole;    /* variable -> its number in the whole model; NULL: the same */
    int awaited;              /* the host awaits the outcome at once */
    int quick;                /* displacements to about 1e-13 of them */
} step_args;

typedef struct step_result {
    uint64_t largest; /* the bits of max |phi| */
    uint64_t wrong;   /* whether any new particle is not finite */
} step_result;

/* ---- iterations -------------------------------------------------------------------------------------------------- */

/* A whole iteration of a kernel of one term, of whose units every variable is a member once: scores, velocities, the
 * step and the centred rows that the next iteration reads. */
typedef struct iteration_args {
    pair_args pair;
    sum_args score;  /* all scores as one sum; its start NULL: they are not */
    sum_args gather; /* what is added to it, with ITERATES_GATHERS; it has columns. Its start NULL: nothing */
    int scored;      /* whether they are in pair.score */
    step_args step;
    float *z;                  /* where the centred rows of the new particles go */
    const unit_record *record; /* of all units; NULL: some have more in them */
    int drawn;                 /* whether the domains are pair.begin and so on, and not the records' */
    const float *placed; /* with records, or ITERATES_PLACES: centred rows in places of their own, and not pair.z; and
                            those of the next */
    float *placed_next;
} iteration_args;

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Kernels of one body a thread, or a team of 32 threads, and the type of their arguments. */
typedef enum device_kernel {
    KERNEL_PROGRAM,   /* program_args */
    KERNEL_PROGRAMS,  /* programs_args; counts blocks */
    KERNEL_GENERATED, /* generated_args; counts blocks */
    KERNEL_SUM,       /* sum_args */
    KERNEL_LONG_SUM,  /* sum_args, of lists that are long */
    KERNEL_SCORE,     /* score_args */
    KERNEL_CENTRE,    /* centre_args, teams */
    KERNEL_MESSAGE,   /* message_args, teams */
    KERNEL_DRAW,      /* draw_args */
    KERNEL_MATRIX,    /* pair_args, and so all below; 32: matrices of floats, 64: of doubles */
    KERNEL_ADD_PIECES,
    KERNEL_MIDDLE, /* exact order statistics, a block for each unit */
    KERNEL_SCALE,
    KERNEL_VALUE,
    KERNEL_VELOCITY,
    KERNEL_FINISH,  /* all from KERNEL_MIDDLE on, where `finishes` says so; a block for each unit */
    KERNEL_MOMENTS, /* linear, without matrices; teams, one for each member */
    KERNEL_FIRST,   /* first_args */
    KERNEL_SURVEY,  /* survey_args, teams */
    KERNEL_KAPPA,   /* kappa_args, teams, one for each member */
    KERNEL_STEP,    /* step_args */
    KERNEL_DIFFUSE  /* step_args */
} device_kernel;

enum { DEVICE_STEPS = 64 }; /* steps that may be under way */
enum { DEVICE_FULL = 2 };   /* of `allocate` */

/* Of `iterates`, where it is not 0: an iteration reads the records of units, where they have some, may gather rows of
 * derivatives for its scores, or reads and writes centred rows in places of their own without records. */
enum { ITERATES = 1, ITERATES_RECORDS, ITERATES_GATHERS, ITERATES_PLACES };

typedef struct device device;
typedef struct device_ops device_ops;

struct device_ops {
    /* Device `which`, modulo their number. Fails with a sentence in `text`: no driver, no device, a device that is too
     * old. */
    int (*open)(device **made, size_t which, char *text, size_t size);
    void (*close)(device *d);
    const char *(*describe)(const device *d); /* "NVIDIA H200" */
    const char *(*error)(const device *d);
    size_t (*room)(device *d); /* bytes of memory that are free; SIZE_MAX: it does not say, and has failed */

    /* DEVICE_FULL: not enough memory; the device remains usable. */
    int (*allocate)(device *d, size_t bytes, void **pointer);
    void (*release)(device *d, void *pointer); /* NULL-safe */
    int (*to_device)(device *d, void *to, const void *from, size_t bytes);
    int (*to_host)(device *d, void *to, const void *from, size_t bytes); /* waits for all that was launched */
    int (*clear)(device *d, void *pointer, size_t bytes);

    /* `count` bodies; `bits` is 32 or 64 for kernels on matrices. */
    int (*launch)(device *d, device_kernel which, int bits, const void *args, size_t count);

    /* Whether KERNEL_FINISH can do what comes after matrices of distances. NULL: never. */
    int (*finishes)(const device *d, int bits, const pair_args *args);

    /* Launches a step. After one whose new particles are not all finite, nothing that is launched changes anything,
     * until the host has taken its outcome. */
    int (*step)(device *d, device_kernel which, const step_args *args, size_t count);

    /* Waits for the oldest step whose outcome was not taken, and returns it. At most DEVICE_STEPS may be pending. */
    int (*outcome)(device *d, step_result *result);

    /* A term in one kernel, without matrices, where it fits in the multiprocessors. NULL: not supported. */
    int (*fuses)(const device *d, int bits, const pair_args *args);
    int (*fused)(device *d, int bits, const pair_args *args);

    /* A whole iteration in one kernel, for terms that `iterates` accepts (ITERATES and so on). NULL: there is no such
     * kernel. */
    int (*iterates)(const device *d, int bits, const pair_args *args);
    int (*iterate)(device *d, int bits, const iteration_args *args); /* a step, too */

    /* Code that is generated when a run starts: the compute capability that it is compiled for (90: 9.0), and the
     * kernels generated_0 ... of machine code, which is copied. `load` fails if the device does not take it, and can be
     * used as before. NULL: none. `worth`: instructions of all programs, instances and particles of an iteration from
     * which on compiling is worth its time. */
    int (*capability)(const device *d);
    int (*load)(device *d, const void *image, size_t bytes, size_t count, void **kernels);
    double worth;

    /* How many numbers program_args.far must have for KERNEL_PROGRAM with `count` bodies. NULL: always 0. */
    size_t (*far)(const device *d, const program_args *args, size_t count);
};

/* The NVIDIA GPUs of this machine (device.cu). The plug-in exports it for tests/gpu, too. */
#ifdef __cplusplus
extern "C"
#endif
    const device_ops *
    svmp_cuda_device(void);

#endif
