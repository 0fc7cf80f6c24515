/* The contract of a method, and the run that it works on. A new method is one file and one row of the registry. */
#ifndef SVMP_METHOD_METHOD_H
#define SVMP_METHOD_METHOD_H

#include "backend/backend.h"
#include "base/archive.h"
#include "method/run_options.h"
#include "model/posterior_modes.h"
#include "prepare/start_particles.h"
#include "sample/history.h"

#define METHOD_INIT        "normal:1"
#define METHOD_EXAMINATION (1.0 / 3)
enum { METHOD_ITERATIONS = 1000, METHOD_WARMUP = 1000 };

static inline svmp_status svmp_share_particles(void *user) {
    backend *b = user;
    SVMP_TRY(svmp_backend_commit(b, ARRAY_PARTICLES));
    return svmp_backend_refresh(b);
}

/* For a start that fills the backend's particles. */
static inline init_target svmp_start_target(backend *b) {
    return (init_target){b->model, b->seed, b->n, b->threads, svmp_share_particles, b};
}

/* Why a method that ends by itself has not converged. */
typedef struct nonconvergence {
    svmp_code why;
    size_t variable; /* that is farthest from convergence, */
    double amount;   /* and by how much, as the note says */
    size_t count;    /* the number of variables with the same problem */
} nonconvergence;

/* Of a mode: its share of the mass, and the standard error. */
typedef struct mode_share {
    double share, error;
} mode_share;

typedef struct method {
    const char *name;
    const char *
        kernel; /* the default of the option kernel; NULL: the method has no kernel, and no phi for the stopping rule */
    const char *step;        /* the default of the option step; NULL: the method takes no step size */
    const char *init;        /* the default of the option init; NULL: METHOD_INIT */
    const char *coordinates; /* the default of the option coordinates; NULL: centred, the model as written */
    size_t iterations;       /* the default of the option iterations; 0: METHOD_ITERATIONS */
    svmp_yield yield;        /* CHAINS: the particles are chains, with `warmup` and then `draws` iterations;
                              * DRAWS: finished after one iteration */
    int sweeps;              /* CHAINS: the chains are the particles; the first `warmup` of the iterations adapt, and
                              * of the rest at most `draws` are kept */
    size_t draws;            /* CHAINS: the default of the option draws */
    size_t answers;      /* PARTICLES: the default of the option draws, the number of draws that make_draws gives; 0:
                          * the particles are the answer */
    const char *largest; /* the quantity whose maximum is the backend's `largest`; NULL: it is NaN */
    int on_device;       /* an iteration is done by the backend alone, at the rate of the step rule: a GPU pays off, and
                            iterations may be queued */
    int on_host;         /* an iteration is computed in this process; the backend only stores particles */
    int fits;            /* it always fits the Gaussian on the graph, whatever the start is */
    size_t arrays;       /* arrays of all particles besides the backend's */
    double examination;  /* the time of the examination as a share of the time of the run; 0: METHOD_EXAMINATION */
    int shared;          /* processes share its chains: each moves some of the particles, or some chains of a sampler */
    int local; /* a node needs only its neighbours, or sums over all nodes, so that it runs on parts of a model */

    /* Checks the options and allocates the data of the method; the backend exists already. */
    svmp_status (*alloc)(svmp_run *run);
    /* Fills the particles for the start `gaussian`, in a method that has that Gaussian already. NULL: fitted as for
     * other methods. */
    svmp_status (*start)(svmp_run *run, double *x);
    svmp_status (*iterate)(svmp_run *run);
    /* The expected number of iterations when the run ends by itself. NULL: all iterations. */
    size_t (*expect)(const svmp_run *run);
    void (*free)(svmp_run *run);                       /* NULL: nothing to free */
    struct gaussian *(*gaussian)(const svmp_run *run); /* its Gaussian on the graph; NULL if it has none */

    /* The modes that it found and jumps between, and the share of iterations that chains are in mode k; NaN: unknown.
     * NULL: it looks for none. */
    const model_modes *(*modes)(const svmp_run *run);
    mode_share (*mode_share)(const svmp_run *run, size_t k);

    /* The result so far as new particles, with chains and statistics but without names; their number may differ from
     * that of the backend. NULL: the particles of the backend. */
    svmp_status (*result)(const svmp_run *run, svmp_particles **particles);

    /* The answer as draws of chains, like `result`, if it is not the particles; *draws stays NULL while there are
     * none. */
    svmp_status (*make_draws)(const svmp_run *run, svmp_particles **draws);

    /* For a `local` method with a result: the own rows of the kth kept state of the backend's particles, and the number
     * of these states. Draw l*count + k is state k of particle l. NULL: only the backend's x. */
    const double *(*kept)(const svmp_run *run, size_t k, size_t *count);

    /* Why it ended without convergence. NULL: the method does not end by itself. */
    nonconvergence (*nonconvergence)(const svmp_run *run);

    /* Saves or loads the state of the method between iterations, except the backend's particles and step states. NULL:
     * stateless. */
    svmp_status (*state)(svmp_run *run, archive *a);
} method;

/* Method k, or its name, in the order of the help; NULL beyond the last one. */
const method *svmp_method_at(size_t k);
const char *svmp_method_name(size_t k);

/* The default method: `transport`, or `graphical` where that cannot run, which is on parts of a model or with boxes. */
#define METHOD_AUTO "auto"
const method *svmp_method_auto(int in_parts, int boxed);

/* Choice k of the option `method`: METHOD_AUTO, then the methods. */
const char *svmp_method_choice(size_t k);

/* Returns NULL, with an error that lists the names, if there is no method of that name. METHOD_AUTO resolves to the
 * default for a whole model without boxes. */
const method *svmp_method_find(svmp_context *context, const char *name);

/* Fails, naming a node, if the model has boxes: with moves projected onto a box, a chain no longer has the posterior as
 * its stationary distribution. */
svmp_status svmp_method_refuse_boxes(const svmp_run *run);

/* Of methods with make_draws. */
enum {
    KEPT_FOR_EACH = 3, /* places for each state that is wanted in the end */
    KEPT_EARLY = 50    /* states of a run that ends as early as it can */
};

/* The `alloc` of Langevin dynamics: fails unless the steps are fixed or decay. */
svmp_status svmp_langevin_check_step(svmp_run *run);

/* The modes that are known of the model, or that its method has found; NULL: there are none. */
const model_modes *svmp_run_modes(const svmp_run *run);

extern const method svmp_method_graphical, svmp_method_vanilla, svmp_method_independent, svmp_method_random,
    svmp_method_combined, svmp_method_langevin, svmp_method_mala, svmp_method_nuts, svmp_method_exact, svmp_method_dpmp,
    svmp_method_tpmp, svmp_method_local, svmp_method_transport;

/* A method that ends by itself is done, or done and converged. */
typedef enum run_end { RUN_CONTINUES, RUN_DONE, RUN_CONVERGED } run_end;

struct svmp_run {
    svmp_context *context;
    const svmp_model *model;
    const method *method;
    run_options options; /* its strings are the run's own */
    kernel kernel;
    step step;
    init start;
    uint64_t started_from; /* a hash of the given start; 0: it was drawn */

    /* Of a method with make_draws: the draws of each chain that the answer is to have, 0 if the particles are the
     * answer; how many it may have if less would leave some number uncertain; and how many times as many there have to
     * be, as `more_draws` finds, which reads the natural and derived values of the states so far. */
    size_t draws_each, draws_most;
    svmp_status (*more_draws)(const svmp_run *run, double *more);
    backend *backend;
    backend *own; /* the particles that this process moves: all of them, unless processes share the chains */
    char backend_reason[512];     /* why the backend `auto` is the CPU; "" if it is not */
    size_t iteration, iterations; /* done, and to do */
    double rate;                  /* of the last iteration */
    size_t divergences;           /* of a sampler's draws so far */
    history trace;                /* of the run: iteration, largest |phi|, rate */
    size_t unreported;            /* iterations missing from it, because their results are not known yet */
    size_t lag;                   /* iterations by which reports to the monitor may lag */
    history measured;             /* iteration, KSD: V and its ratio, bandwidth */
    svmp_monitor monitor;
    void *monitor_data;
    run_end ended; /* whether the method ended the run by itself */
    int unusable;  /* a checkpoint was loaded in part */
    void *state;   /* the method's */
};

#endif
