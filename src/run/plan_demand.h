#ifndef SVMP_RUN_PLAN_DEMAND_H
#define SVMP_RUN_PLAN_DEMAND_H

#include "backend/backend.h"
#include "method/method.h"

/* The demand of a run, from its options. */
typedef struct run_demand {
    const method *method;
    size_t particles, states; /* states: of the step, kept for every number */
    kernel kernel;            /* no terms: the method has none */
    const backend_kind *backend;
} run_demand;

#endif
