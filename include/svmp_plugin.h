/* svmp_plugin.h: what a plug-in and the library share: plain data, and no other header of svmp.
 *
 * A plug-in is a shared library svmp_NAME.so that exports an svmp_plugin_entry_function. The library loads it when a
 * run needs it: $SVMP_NAME is the path of its file (empty: it is not used); else it is sought in the folder
 * $SVMP_PLUGINS, beside the library, and where the system looks for libraries. It stays loaded until the program ends.
 * One of another SVMP_PLUGIN_VERSION is refused, and so is a device with other formulas.
 */
#ifndef SVMP_PLUGIN_H
#define SVMP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SVMP_PLUGIN_VERSION = 3 }; /* of what is in this header */

/* Numbers are never reused. */
typedef enum svmp_plugin_kind { SVMP_PLUGIN_DEVICE = 1, SVMP_PLUGIN_PEERS = 2 } svmp_plugin_kind;

/* What a plug-in may ask of the library; `context` is the first argument of all. */
typedef struct svmp_host {
    void *context;
    void *(*allocate)(void *context, size_t bytes); /* zeroed; NULL, with an error recorded: there is no memory */
    void (*release)(void *context, void *pointer);  /* NULL-safe */
    void (*fail)(void *context, int status, const char *sentence); /* records an error; `status` is an svmp_status */
    void (*log)(void *context, int level, const char *sentence);   /* `level` is an svmp_log_level */
} svmp_host;

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Rows of `length` numbers that go to neighbours and come from them, again and again: out[k] rows to process rank[k],
 * and in[k] rows from it, one neighbour after the other. */
typedef struct svmp_peer_routes {
    size_t neighbours, length;
    const uint32_t *rank;
    const size_t *out, *in;
} svmp_peer_routes;

typedef struct svmp_peer_line svmp_peer_line; /* what carries these rows; each kind of peers has its own */

/* The processes that work on one model, of which this is process `rank`. A call is made by all of them, in the same
 * order, and gives all the same result, unless stated otherwise. None but `plan` allocates or fails. */
typedef struct svmp_peers svmp_peers;
struct svmp_peers {
    size_t rank, count;
    size_t local, sharing; /* its number among those of its machine; how many may run on the same processors as it */
    void *own;
    void (*leave)(const svmp_peers *peers); /* by each for itself: releases `peers`, too */

    /* In place, item by item. Only integers are summed: sums of reals would depend on the order. */
    void (*sum)(const svmp_peers *peers, size_t count, int64_t *values);
    void (*max)(const svmp_peers *peers, size_t count, double *values);

    void (*broadcast)(const svmp_peers *peers, size_t from, size_t size, void *bytes);

    /* `size` bytes of every process, in their order. */
    void (*gather)(const svmp_peers *peers, size_t size, const void *mine, void *all);

    /* Moves `mine`, `size` bytes here, to or from `all` of process 0, where process k has sizes[k] bytes, in order;
     * `sizes` and `all` are used only there. */
    void (*collect)(const svmp_peers *peers, size_t size, const void *mine, const size_t *sizes, void *all);
    void (*deal)(const svmp_peers *peers, size_t size, void *mine, const size_t *sizes, const void *all);

    /* Makes a line; each process for itself, since it may fail: returns an svmp_status. `routes` are copied. If all
     * have succeeded, `connect` follows. `close` is for each line, connected or not, and for NULL. */
    int (*plan)(const svmp_peers *peers, const svmp_peer_routes *routes, svmp_peer_line **line);
    void (*connect)(svmp_peer_line *line);
    void (*close)(svmp_peer_line *line);

    /* `send` begins round `round`, which is above those before it. `leaving` must not be changed and `arriving` not be
     * read until each neighbour's rows of this round have come. `receive` moves on what is on its way, and waits until
     * something has come if `wait` is set; then round[k] is the round of the rows of neighbour k. It may be an earlier
     * one, where rows can be late or lost: ask again. By each process for itself. */
    void (*send)(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving);
    void (*receive)(svmp_peer_line *line, uint64_t *round, int wait);
};

/* ---- devices ------------------------------------------------------------------------------------------------------
 */

/* A device has memory of its own, and moves particles there. The library gives it the model, the kernel and the step
 * rule as plain arrays, keeps count of the steps, and computes on the CPU whatever a device does not offer. The device
 * computes the library's formulas: expr/operations.def, expr/opcodes.h, base/random.h and maths/ of its sources, from
 * which it is built. */

/* Operands and results of instructions: a kind, and a number below 2^29. */
enum { SVMP_PLACE_REGISTER, SVMP_PLACE_LITERAL, SVMP_PLACE_COLUMN, SVMP_PLACE_INPUT, SVMP_PLACE_OUTPUT };
enum { SVMP_PLACE_SHIFT = 29 };

typedef struct svmp_instruction {
    uint32_t code;                      /* expr/opcodes.h */
    uint32_t out, operand[3], operands; /* places, kind << SVMP_PLACE_SHIFT | number; how many operands are read */
} svmp_instruction;

/* A program without branches; every instance and particle runs it with its own columns and inputs. */
typedef struct svmp_code_view {
    const svmp_instruction *instructions;
    const double *literals;
    size_t count, literal_count;
    uint32_t registers;
} svmp_code_view;

/* The factors of a statement: one program for all instances. Its inputs are the variables in its slots, its outputs
 * the derivatives of the log density by each slot. */
typedef struct svmp_group_view {
    size_t instances, slots, columns, first_row;
    const double *column;      /* column h of instance k at h*instances + k */
    const uint32_t *variables; /* instance k, slot j: variables[k*slots + j] */
    svmp_code_view gradient;
} svmp_group_view;

/* A model, or this process's part of one. The score of variable i is linear_i - sum_j A_ij x_j, and the sum of the
 * derivatives gather_row[gather_start[i]] ...: derivative j of instance k of a group is row first_row + k*slots + j. */
typedef struct svmp_model_view {
    size_t nodes, moved;                     /* nodes 0 ... moved - 1 are moved here, the others are read */
    size_t variables, moved_variables;       /* the variables of these nodes come first, too */
    int part;                                /* whether other processes have other nodes */
    const size_t *first;                     /* node -> its first variable; nodes + 1 numbers */
    const uint32_t *node_key, *variable_key; /* numbers in the whole model, for random numbers; NULL: the same */
    const double *lower, *upper;             /* variable -> its box */

    size_t group_count, rows;
    const svmp_group_view *groups;
    const size_t *gather_start, *gather_row;
    const size_t *start; /* row i of A: entries start[i] ... start[i + 1] - 1, with these columns and values */
    const uint32_t *column;
    const double *value, *linear;

    size_t neighbourhoods; /* the different closed neighbourhoods; that of a node, and the nodes of each */
    const uint32_t *neighbourhood_of;
    const size_t *neighbourhood_start;
    const uint32_t *neighbourhood_node;

    /* The derivative by one slot of a group alone; what *view points to lives as long as the model. Returns an
     * svmp_status. */
    int (*derivative)(void *source, size_t group, size_t slot, svmp_code_view *view);
    void *source;
} svmp_model_view;

/* The shapes of kernels that a backend may have loops for. Others are functions of the library. */
typedef enum svmp_shape { SVMP_SHAPE_RBF, SVMP_SHAPE_IMQ, SVMP_SHAPE_LINEAR, SVMP_SHAPE_OTHER } svmp_shape;

enum { SVMP_BANDWIDTH_MEDIAN, SVMP_BANDWIDTH_MEDIAN_LOG, SVMP_BANDWIDTH_MEDIAN_ZEROS, SVMP_BANDWIDTH_FIXED };

/* A term of a kernel. A unit has one kernel matrix, on the rows of its domain, that its members, variables, share. Row
 * i is variable i; row variables + i is the message of variable i. */
typedef struct svmp_term_view {
    int shape; /* svmp_shape; all but SVMP_SHAPE_OTHER */
    int in_sd; /* whether its coordinates are in units of the particles' standard deviations */
    double weight;
    int bandwidth;       /* SVMP_BANDWIDTH_MEDIAN ... */
    double fixed;        /* h, of SVMP_BANDWIDTH_FIXED */
    int ranked;          /* whether h is computed from the squared distances of two ranks: */
    size_t lower, upper; /* ranks among pairs of different particles; SIZE_MAX: a distance of 0 */
    int all;             /* whether its only unit has all variables */
    int multiplies;      /* SVMP_SHAPE_LINEAR: whether it is computed from products of particles, not from moments */
    int random;          /* whether each node draws `neighbours` of its neighbours in each iteration, */
    size_t neighbours;   /* which its domain below does not contain */
    size_t units;
    const size_t *domain_start, *member_start; /* units + 1 numbers each */
    const uint32_t *domain, *member;
} svmp_term_view;

typedef struct svmp_kernel_view {
    size_t count;
    const svmp_term_view *terms;
    const unsigned char *has_message; /* node that is moved -> whether a domain has its message; NULL: none has one */
} svmp_kernel_view;

/* What a step rule computes; others are functions of the library. */
typedef enum svmp_step_kind {
    SVMP_STEP_FIXED,
    SVMP_STEP_ADAGRAD,
    SVMP_STEP_RMSPROP,
    SVMP_STEP_ADAM,
    SVMP_STEP_OTHER
} svmp_step_kind;

typedef struct svmp_step_view {
    int kind;      /* svmp_step_kind; all but SVMP_STEP_OTHER */
    int in_sd;     /* whether phi and displacement are in units of the particles' standard deviations */
    size_t states; /* numbers kept for every scalar between iterations: 0, 1 or 2 */
    double decay1, decay2, delta;
} svmp_step_view;

/* Arrays of variables * n numbers: number l of variable i at i*n + l. SVMP_ARRAY_SD: one number for each variable. */
typedef enum svmp_device_array {
    SVMP_ARRAY_PARTICLES,
    SVMP_ARRAY_SCORE,
    SVMP_ARRAY_PHI, /* after a step: the particles before it */
    SVMP_ARRAY_STEP_FIRST,
    SVMP_ARRAY_STEP_SECOND,
    SVMP_ARRAY_SD
} svmp_device_array;

typedef struct svmp_device_request {
    svmp_host host;
    const char *backend;            /* its name, for messages */
    const svmp_model_view *model;   /* lives as long as the particles */
    const svmp_kernel_view *kernel; /* NULL: a method without one. Lives during the call */
    svmp_step_view step;
    int keeps_sd; /* whether kernel or step use the standard deviations, smoothed over iterations */
    size_t n;     /* particles */
    uint64_t seed;
    size_t process; /* this process among those of its machine, which share the devices */
} svmp_device_request;

typedef struct svmp_device_particles {
    void *state;
    char device[128];     /* its name */
    double lacks, free;   /* bytes: if `open` fails because its memory is too small, without a recorded error */
    size_t most_queued;   /* steps whose outcome may be unknown; at most 32 */
    double largest_score; /* that it can compute with */
} svmp_device_particles;

/* The ingredients of the Stein discrepancy for one variable: sums over particles and their pairs. Sums of kappa: over
 * all n^2 pairs, over the n of a particle and itself, and a bound on the root mean square of the centred kappa between
 * different particles. Sums of terms add up, the bound by the triangle inequality. */
typedef struct svmp_stein_sums {
    double pairs, diagonal, spread;
} svmp_stein_sums;

/* Sums over particles of s, s^2, s z and z^2: s the score, z the variable less its mean. */
typedef struct svmp_stein_moments {
    double score, square, product, variance;
} svmp_stein_moments;

typedef struct svmp_stein_measure {
    svmp_stein_sums sums;
    svmp_stein_moments moments;
    double bandwidth; /* of its node, in the first term that has one; NaN if none has */
} svmp_stein_measure;

/* A backend on a device. Functions return an svmp_status; a failure is recorded by host.fail. */
typedef struct svmp_device {
    const char *name;
    const char *precise; /* the backend of the same plug-in that computes in double precision; NULL: this one */

    int (*open)(const svmp_device_request *request, svmp_device_particles *made);
    void (*close)(void *state);

    /* The operations of an iteration (backend/backend.h). They may be queued; a step is queued without its outcome, and
     * `awaited` says that the outcome is needed at once. If new particles are not all finite, this step and all that
     * follows it change nothing until its outcome has been taken. */
    int (*score)(void *state);
    int (*stein)(void *state, size_t t);
    int (*step)(void *state, double rate, size_t t, int awaited);
    int (*diffuse)(void *state, double rate, size_t t, int awaited);

    /* Waits for the oldest step whose outcome was not taken: max |phi|, and whether particles were not finite. */
    int (*outcome)(void *state, double *largest, int *wrong);

    /* Makes the particles before the last `steps` steps the current ones: one step, or several if the first was
     * not finite, so that none has changed anything. */
    void (*take_back)(void *state, size_t steps);

    /* Rows first ... last - 1 of an array, to and from the memory of this process. */
    int (*fetch)(void *state, svmp_device_array array, size_t first, size_t last, double *to);
    int (*store)(void *state, svmp_device_array array, size_t first, size_t last, const double *from);

    /* The sums of the Stein discrepancy for the first `count` particles with a kernel that is the same in every call;
     * random domains are those of iteration t. SVMP_UNSUPPORTED or SVMP_NOT_FINITE, without a recorded error: the
     * library computes them. */
    int (*measure)(void *state, const svmp_kernel_view *kernel, size_t count, size_t t, svmp_stein_measure *measured);
} svmp_device;

/* ---- plug-ins ---------------------------------------------------------------------------------------------------- */

typedef struct svmp_plugin {
    uint32_t version; /* SVMP_PLUGIN_VERSION */
    uint32_t kind;    /* svmp_plugin_kind */
    const char *name; /* as in svmp_NAME.so */

    /* Whether this machine has what the plug-in is for: 1, with its name in `words`; or 0, with sentences, of which the
     * first one says what is missing. Further lines, "name: value", describe what belongs to it. */
    int (*look)(char *words, size_t size);

    const svmp_device *const *devices; /* of SVMP_PLUGIN_DEVICE; NULL behind the last one */
    const char *formulas;              /* of SVMP_PLUGIN_DEVICE: the checksum of those that it was built from */

    /* Of SVMP_PLUGIN_PEERS: connects this process with the others that the launcher has started, which call it, too;
     * *made is NULL if there are none. `host` and its context outlive what is made. Returns an svmp_status. */
    int (*join)(const svmp_host *host, const svmp_peers **made);
} svmp_plugin;

/* What a plug-in exports, under this name. */
typedef const svmp_plugin *(*svmp_plugin_entry_function)(void);
#define SVMP_PLUGIN_ENTRY "svmp_plugin_entry"

#ifdef __cplusplus
}
#endif

#endif
