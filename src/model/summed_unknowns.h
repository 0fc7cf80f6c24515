/* Discrete unknowns that were summed out of a model: given a particle, they have a distribution that can be drawn from
 * and whose probabilities are exact. */
#ifndef SVMP_MODEL_SUMMED_UNKNOWNS_H
#define SVMP_MODEL_SUMMED_UNKNOWNS_H

#include "expr/program.h"

typedef struct lowered_discrete {
    char *name; /* Stan's way: z.3 */
    double least;
    uint32_t states;
    bool open;   /* larger values are possible; the sum ends where their weight is thought to be nothing */
    size_t read; /* values of other nodes whose distributions depend on it, and factor()s that do */
} lowered_discrete;

/* One unknown given those that were summed out later. Its probabilities are values of the component's program from
 * `first` on, in logs: the unknown's own state runs fastest, then those of given[0], given[1], ... */
typedef struct lowered_step {
    uint32_t unknown, given_count;
    size_t given; /* lowered_summed.given from there on, ascending in the order of the steps */
    size_t first, size;
    uint32_t parent; /* the step, counted in its component, whose unknowns include all given ones; UINT32_MAX: none */
} lowered_step;

/* Unknowns that depend on each other: steps in the order of summation. */
typedef struct lowered_component {
    uint32_t values, instance; /* which program, and which of its instances */
    size_t first, steps;       /* lowered_summed.steps */
    size_t size;               /* of all tables of its steps */
} lowered_component;

typedef struct discrete_values {
    program *program;
    bound_program *bound;
    uint32_t *variables;
} discrete_values;

typedef struct lowered_summed {
    lowered_discrete *unknowns;
    size_t count;
    lowered_component *components;
    size_t component_count, component_capacity;
    lowered_step *steps;
    size_t step_count, step_capacity;
    uint32_t *given;
    size_t given_count, given_capacity;
    discrete_values *values;
    size_t value_count;
} lowered_summed;

void svmp_summed_free(svmp_context *context, lowered_summed *summed);

/* For n particles x, variables*n numbers: draws (count*n values, may be NULL) and, may be NULL, the probabilities of
 * all states of all unknowns, one behind the other: their sums over the particles are added, each as two numbers whose
 * sum it is. `seed` and draw[l] are the keys of the draws for particle l. Where a particle has no density, both are
 * NaN. */
svmp_status svmp_summed_draw(svmp_context *context, const lowered_summed *summed, uint64_t seed, size_t n,
                             const uint64_t *draw, const double *x, double *draws, double *probabilities);

/* How many states all unknowns have together. */
size_t svmp_summed_states(const lowered_summed *summed);

#endif
