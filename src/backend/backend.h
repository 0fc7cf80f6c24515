/* The contract of a backend: it stores the particles and performs the four operations of an iteration.
 *
 *     exchange   receive the particles of neighbouring processes
 *     score      s = d log p / dx, all particles at once
 *     stein      phi from local kernels, node by node
 *     step       x <- x + displacement of phi
 *
 * All of them read the same old particles and may divide the work in any way that does not change the bits. `ref` is
 * plain loops, the oracle for all others. For a part of a model (model/model_part.h) a backend moves the own nodes;
 * exchange_rows.h then wraps the local backend and exchanges rows. A backend whose particles are not in the memory of
 * this process handles all own nodes at once, when the halo has arrived. */
#ifndef SVMP_BACKEND_BACKEND_H
#define SVMP_BACKEND_BACKEND_H

#include <stdbool.h>

#include "base/peer_columns.h"
#include "model/evaluator.h"
#include "stein/kernel.h"
#include "stein/step_rule.h"

typedef struct backend backend;

/* The arrays of a backend: variables * n numbers each, but one standard deviation per variable. Between iterations, if
 * `moved` is set, phi holds the particles before the last step; during an iteration, a method without a kernel may use
 * it freely. */
typedef enum backend_array {
    ARRAY_PARTICLES,
    ARRAY_SCORE,
    ARRAY_PHI,
    ARRAY_STEP_FIRST,
    ARRAY_STEP_SECOND,
    ARRAY_SD
} backend_array;

typedef struct backend_kind {
    const char *name;

    /* Of a backend on a device: the plug-in that has it, or the device itself (device_backend.h). */
    const char *plugin;
    const struct svmp_device *device;

    /* Allocates the backend's state (`local_state`) for a kernel; `k` is NULL for a method without a kernel. */
    svmp_status (*alloc)(backend *b, const kernel *k);
    void (*free)(backend *b);

    svmp_status (*exchange)(backend *b); /* NULL if there are no other processes */

    /* The same, but complete on return: for code that reads particles between iterations. */
    svmp_status (*refresh)(backend *b);

    svmp_status (*score)(backend *b);

    /* Updates the sd first (svmp_host_units), once per iteration, if it is used. */
    svmp_status (*stein)(backend *b, const kernel *k, size_t t);
    svmp_status (*step)(backend *b, const step *s, double rate, size_t t);

    /* Langevin's move: x <- x + rate s + sqrt(2 rate) noise. */
    svmp_status (*diffuse)(backend *b, double rate, size_t t);

    /* For a backend that queues steps, up to b->most_queued: waits until all of them are complete. SVMP_NOT_FINITE: a
     * step failed, and the state is as if it had been the last one; b->rolled_back counts the later steps that were
     * taken back, so that iterations can be recounted. Operations and access to arrays may return this, too. NULL: a
     * step is complete on return. */
    svmp_status (*await)(backend *b);

    /* For a backend whose particles are not in the memory of this process: `fetch` copies an array to b->x, b->score,
     * ..., `store` copies it back. NULL: the backend works on these arrays directly. */
    svmp_status (*fetch)(backend *b, backend_array which);
    svmp_status (*store)(backend *b, backend_array which);

    /* The same for variables first ... last - 1 of the particles, of a part of a model: the boundary is fetched to be
     * sent, and the halo stored when it has arrived. */
    svmp_status (*fetch_rows)(backend *b, size_t first, size_t last);
    svmp_status (*store_rows)(backend *b, size_t first, size_t last);

    /* Computes the measures of the Stein discrepancy (stein/discrepancy.h) for the first `count` particles with a
     * kernel: `measured` has room for the own variables; random domains are those of iteration t. Kernel and count are
     * the same in every call. If it fails, for lack of memory or because of scores that are not finite,
     * stein/discrepancy.c can still compute them in this process. NULL: it always does. */
    svmp_status (*measure)(backend *b, const kernel *k, size_t count, size_t t, svmp_stein_measure *measured);

    /* Undoes the last step, which succeeded here and failed in another process. NULL: x and phi are swapped. */
    void (*take_back)(backend *b);

    /* Whether the kernel between all pairs of particles is stored for a domain shared by this many variables, instead
     * of being recomputed for each. For estimates of memory; NULL: never in this process. */
    int (*keeps)(double pairs, size_t variables);
} backend_kind;

extern const backend_kind svmp_backend_ref, svmp_backend_cpu, svmp_backend_cpu_baseline, svmp_backend_cpu_avx2,
    svmp_backend_cpu_avx512;

/* The first device of the plug-ins where it can run the model and the run is large enough, else `cpu`. */
extern const backend_kind svmp_backend_auto;

/* The name of backend k; NULL beyond the last one. */
const char *svmp_backend_name(size_t k);

/* Returns NULL, with an error that lists the names, if there is no backend of that name. */
const backend_kind *svmp_backend_find(svmp_context *context, const char *name);

enum { BACKEND_MOST_QUEUED = 32 }; /* the most steps that a backend may queue */

struct backend {
    const backend_kind *kind, *local; /* `local` does the work; it differs from `kind` only with several processes */
    svmp_context *context;
    const svmp_model *model;
    size_t n;
    peer_columns columns; /* which of the particles of a run these are; all of them, unless processes share chains */
    bool ahead;           /* of a share: its particles have changed since they were gathered */
    uint64_t seed;
    const step_rule *rule; /* of steps; NULL: none */
    int threads;
    node_span
        span; /* the nodes that `score` and `stein` process: all own nodes, or first the interior and then the rest */
    const char *runs_as; /* the name of the backend that `kind` selected on this machine; NULL: `kind` itself */
    double *x, *score, *phi, *state[2]; /* variables * n each; a state that the rule does not keep is NULL. For backends
                                         * alone: others call svmp_backend_view and svmp_backend_edit */
    double *sd; /* variables: the particles' own standard deviation (dividing by n), smoothed over iterations, if kernel
                   or step are in units of it; 0: not computed yet, or all particles are equal. NULL if unused */
    double *z;  /* variables * n, where sd is: x less its mean, in units of the sd */
    struct messages *messages; /* to nodes (node_messages.h); NULL: the kernel needs none */
    double largest;     /* max |phi| of the last step, before the rule turns it into a displacement, or the method's own
                           quantity */
    size_t most_queued; /* steps whose outcome may be unknown when `step` and `diffuse` return */
    size_t queued;      /* steps whose outcome is unknown; `largest` is that of the step before them, */
    double past[BACKEND_MOST_QUEUED]; /* and that of step t < those is past[t % BACKEND_MOST_QUEUED] */
    size_t rolled_back;            /* steps before the current one that were taken back since the caller set it to 0 */
    int moved;                     /* whether phi holds the particles before the last step, and x those after it */
    evaluator *evaluator;          /* of backends that use the model's own */
    void *local_state;             /* of the local backend */
    struct row_exchange *exchange; /* with several processes */
};

/* `k` and `s` may be NULL: no kernel, no step state. */
svmp_status svmp_backend_create(const backend_kind *kind, const svmp_model *model, size_t n, uint64_t seed,
                                const kernel *k, const step *s, backend **made);
void svmp_backend_free(backend *b);

/* A backend for this process's share of the particles of another one, which each process has: on the host, with the
 * same seed and without a kernel. For one process, that one itself. Collective. */
svmp_status svmp_backend_share(backend *all, const svmp_peers *peers, backend **own);
void svmp_backend_free_share(backend *own, const backend *all);

/* The particles of all shares, if they have changed; collective. And back to the own share, without a message. */
svmp_status svmp_backend_gather(backend *own, backend *all);
svmp_status svmp_backend_take(backend *own, backend *all);

/* An evaluator for the particles of a backend. */
svmp_status svmp_backend_evaluator(const backend *b, evaluator **made);

/* Whether kernel or step are in units of the particles' standard deviations. */
bool svmp_backend_has_units(const backend *b);

/* Access to an array in the memory of this process, valid until the next operation. A host backend returns its own
 * array at no cost; NULL if kernel and step do not use it. Changes to an array from svmp_backend_edit take effect with
 * svmp_backend_commit. */
svmp_status svmp_backend_view(backend *b, backend_array which, const double **values);
svmp_status svmp_backend_edit(backend *b, backend_array which, double **values);
svmp_status svmp_backend_commit(backend *b, backend_array which);

/* The neighbours' particles as they are now, for code that reads them between iterations. Nothing in one process. */
svmp_status svmp_backend_refresh(backend *b);

/* sd <- 0.95 sd + 0.05 (sd of the current particles), or the latter if sd is 0; and z. Once an iteration, before the
 * kernel; for own variables with the first nodes of `span`, for the halo with the last ones. Does nothing if unused. */
void svmp_host_units(backend *b);

/* The variables that go with the span above: own ones, the halo, both or none. */
typedef struct variable_span {
    size_t first, last;
} variable_span;

variable_span svmp_host_fresh(const backend *b);

/* The moves for backends whose particles are in the memory of this process. On SVMP_NOT_FINITE the particles are
 * unchanged. */
svmp_status svmp_host_step(backend *b, const step *s, double rate, size_t t);
svmp_status svmp_host_diffuse(backend *b, double rate, size_t t);

/* The error of a step after which the scores or the new particles, in phi, are not all finite: names the first number
 * that is not finite and, if possible, the reason. Reads the arrays in the memory of this process. */
svmp_status svmp_host_not_finite(backend *b, size_t t);

#endif
