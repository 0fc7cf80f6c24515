/* Counter-based random numbers: each number is a function of the seed, its purpose and its position, so that it depends
 * neither on threads and processes nor on earlier draws. */
#ifndef SVMP_BASE_RANDOM_H
#define SVMP_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The purpose of a random number; two purposes never share a stream. Append only: the order affects the bits. */
typedef enum random_purpose {
    RANDOM_INIT,
    RANDOM_NEIGHBOURS,
    RANDOM_LANGEVIN,
    RANDOM_EXACT,
    RANDOM_TEST,
    RANDOM_PMP_PLAN,
    RANDOM_PMP_WALK,
    RANDOM_PMP_CANDIDATES,
    RANDOM_PMP_DRAW,
    RANDOM_MOMENTUM,  /* a = iteration, b = chain */
    RANDOM_TREE,      /* the same: directions and choices along a trajectory */
    RANDOM_STEP_SIZE, /* the same: the momentum of the search for a step size */
    RANDOM_ACCEPT,    /* a = iteration */
    RANDOM_MODE,      /* a = start, b = variable: where the search for a mode begins */
    RANDOM_FINGERPRINT,
    RANDOM_DATA,            /* a = element: what a model text draws in data { } */
    RANDOM_GAUSSIAN,        /* b = variable: the draws of the Gaussian on the graph */
    RANDOM_VELOCITY,        /* a = iteration, b = variable: of trajectories in its metric */
    RANDOM_VELOCITY_ACCEPT, /* a = iteration; b = 0: which are accepted, 1: how long they are */
    RANDOM_LOCAL,           /* a = sweep, b = variable: a local move */
    RANDOM_LOCAL_ACCEPT,    /* a = sweep, b = node: whether it is accepted */
    RANDOM_LEAF,            /* a = output, b = draw: nodes that are drawn after the run */
    RANDOM_DISCRETE,        /* a = unknown, b = particle: a discrete unknown given the particle */
    RANDOM_OTHER_MODES,     /* a = mode, b = variable: where an examination starts other particles */
    RANDOM_VIEWS,           /* weights of sums that an examination compares */
    RANDOM_ORDER,           /* a = first variable, b = particle: the order of exchangeable unknowns */
    RANDOM_STRATUM,         /* b = which number and group: the order of the strata in a group of sources */
    RANDOM_STRATUM_GROUP,   /* b = which number and interval: the order of the groups in an interval */
    RANDOM_MODE_JUMP,       /* a = iteration, b = particle: to another mode */
    RANDOM_MARGINAL_MOVE,   /* a = iteration, b = chain: of hyperparameters and the nodes below them */
    RANDOM_CAUCHY,          /* a = sweep, b = variable: the denominators of Cauchy proposals */
    RANDOM_MODE_SEARCH,     /* a = draw, b = variable: where a search for modes begins, and its weights */
    RANDOM_MODE_BOUND,      /* b = variable: the bound of the Gaussian of a mode */
} random_purpose;

/* A stream is named by (seed, purpose, a, b): for noise, a = iteration and b = variable. Its numbers are counted from
 * `first` on, so that a process that has some of the particles gets those of its own. */
typedef struct random_stream {
    uint64_t seed, a, b;
    random_purpose purpose;
    uint64_t first;
} random_stream;

/* n numbers of the stream: uniform on the open interval (0, 1), or standard normal. The l-th number does
 * not depend on n. */
void svmp_random_uniforms(random_stream stream, size_t n, double *values);
void svmp_random_normals(random_stream stream, size_t n, double *values);

/* The same to rounding, and some times as fast; and the logarithms of uniform numbers. The bits are the same on every
 * machine. */
void svmp_random_quick_normals(random_stream stream, size_t n, double *values);
void svmp_random_log_uniforms(random_stream stream, size_t n, double *values);

/* The l-th number of svmp_random_uniforms and svmp_random_normals. */
double svmp_random_uniform(random_stream stream, uint64_t l);
double svmp_random_normal(random_stream stream, uint64_t l);

/* The `index`-th number of a stream of integers, uniform on 0 ... bound - 1 (bound > 0). */
uint64_t svmp_random_below(random_stream stream, uint64_t index, uint64_t bound);

/* The place of `index` in a random permutation of 0 ... count - 1 (index < count < 2^62), the stream's own. */
uint64_t svmp_random_place(random_stream stream, uint64_t index, uint64_t count);

#endif
