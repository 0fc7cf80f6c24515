#ifndef SVMP_PLAN_DEMAND_H
#define SVMP_PLAN_DEMAND_H

#include "kernel/kernel.h"

/* What the options of a run come to. */
typedef struct run_demand {
    size_t particles, states; /* states: of the step, kept for every number */
    kernel kernel;            /* no terms: the method has none */
} run_demand;

/* Whether a linear term on all variables is computed from products of particles: where these are no more than
 * variables. Otherwise every process has the particles of all. */
static inline int svmp_demand_multiplies(const run_demand *d, const kernel_term *term, size_t variables) {
    return term->shape->value == NULL && term->domain == DOMAIN_ALL && d->particles <= variables;
}

#endif
