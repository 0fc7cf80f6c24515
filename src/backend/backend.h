/* The contract of a backend: where the particles live, and the four moves of an iteration on them.
 *
 *     exchange   neighbours' particles arrive
 *     score      s = d log p / dx, all particles at once
 *     stein      phi from local kernels, node by node
 *     step       x <- x + displacement of phi
 *
 * All of them read the same old particles and are free to share the work in any way that leaves the bits alone.
 * `ref` is plain loops, the oracle of all others. Of a part of a model (model/part.h) they move its own nodes; `mpi`
 * stands before the local backend then, and brings the halo.
 */
#ifndef SVMP_BACKEND_BACKEND_H
#define SVMP_BACKEND_BACKEND_H

#include "kernel/kernel.h"
#include "model/evaluate.h"
#include "step/step.h"

typedef struct backend backend;

/* The arrays of a backend, variables * n numbers each. Between iterations phi holds the particles before the last step,
 * if `moved` says so; during one it is free for a method without a kernel. */
typedef enum backend_array {
    ARRAY_PARTICLES,
    ARRAY_SCORE,
    ARRAY_PHI,
    ARRAY_STEP_FIRST,
    ARRAY_STEP_SECOND
} backend_array;

typedef struct backend_kind {
    const char *name;

    /* Room of the backend's own (`own`) for a kernel; `k` is NULL for a method without one. */
    svmp_status (*alloc)(backend *b, const kernel *k);
    void (*free)(backend *b);

    svmp_status (*exchange)(backend *b); /* NULL: there is nobody to exchange with */

    /* The same, done with when it returns: for those who look at particles between iterations. */
    svmp_status (*refresh)(backend *b);

    svmp_status (*score)(backend *b);
    svmp_status (*stein)(backend *b, const kernel *k, size_t t);
    svmp_status (*step)(backend *b, const step *s, double rate, size_t t);

    /* Langevin's move: x <- x + rate s + sqrt(2 rate) noise. */
    svmp_status (*diffuse)(backend *b, double rate, size_t t);

    /* A backend whose particles are not in this process's memory copies an array into b->x, b->score, ... or takes it
     * from there. NULL: the arrays of `backend` are its own. */
    svmp_status (*fetch)(backend *b, backend_array which);
    svmp_status (*store)(backend *b, backend_array which);
} backend_kind;

extern const backend_kind svmp_backend_ref, svmp_backend_cpu, svmp_backend_cpu_baseline, svmp_backend_cpu_avx2,
    svmp_backend_cpu_avx512;

/* NULL, with an error that lists the names, when there is none of that name. */
const backend_kind *svmp_backend_find(svmp_context *context, const char *name);

struct backend {
    const backend_kind *kind, *local; /* the latter does the work; the same, unless others take part */
    svmp_context *context;
    const svmp_model *model;
    const struct team
        *others; /* the processes that have the other parts of the model (base/team.h); NULL: it is whole */
    size_t n;
    uint64_t seed;
    int threads;
    node_span span; /* the nodes that `score` and `stein` work on: all own ones, or in turn the interior and the rest */
    const char *runs_as; /* the backend in particular that `kind` came to be on this machine; NULL: `kind` itself */
    double *x, *score, *phi, *state[2]; /* variables * n each; a state that the rule does not keep is NULL. For backends
                                         * alone: others call svmp_backend_view and svmp_backend_edit */
    double largest;                     /* max |phi| of the last step, before the rule made a displacement of it, or
                                         * what the method has in its place */
    int moved;                          /* whether phi holds the particles before the last step, and x those after it */
    evaluator *evaluator;               /* of backends that use the model's own */
    void *own;                          /* the local backend's */
    struct mpi_halo *mpi;               /* of `mpi` */
};

/* `k` and `s` may be NULL: no kernel, no step state. */
svmp_status svmp_backend_create(const backend_kind *kind, const svmp_model *model, size_t n, uint64_t seed,
                                const kernel *k, const step *s, backend **made);
void svmp_backend_free(backend *b);

/* An array, in this process's memory, valid until the next move. A host backend gives its own, for nothing; NULL where
 * the step rule does not keep it. What `svmp_backend_edit` gave and the caller has filled is the backend's after
 * svmp_backend_commit. */
svmp_status svmp_backend_view(backend *b, backend_array which, const double **values);
svmp_status svmp_backend_edit(backend *b, backend_array which, double **values);
svmp_status svmp_backend_commit(backend *b, backend_array which);

/* The moves, for backends whose particles are in this process's memory. On SVMP_NOT_FINITE the old particles stay. */
svmp_status svmp_host_step(backend *b, const step *s, double rate, size_t t);
svmp_status svmp_host_diffuse(backend *b, double rate, size_t t);

#endif
