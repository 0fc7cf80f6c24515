/* The memory of a process of a run. */
#ifndef SVMP_RUN_PLAN_MEMORY_H
#define SVMP_RUN_PLAN_MEMORY_H

#include "graph/partition.h"
#include "model/model.h"
#include "run/plan_demand.h"

/* Bytes per node, variable, ... of a part, during the run and at its end. */
typedef struct memory_rates {
    double node, own_node;         /* of own and halo nodes; additionally of own nodes */
    double variable, own_variable; /* the same */
    double neighbour, sent;        /* of a neighbourhood; a variable that is sent */
    double measuring, result;      /* at the end, whichever is larger: per variable, per own variable */
    double gradient_rows;          /* of factors, for an own variable */
    double process, first; /* whatever its part; additionally in the first process, which has partitioned the graph */
    double particles;
} memory_rates;

memory_rates svmp_plan_memory_rates(const svmp_model *whole, const run_demand *d);

/* The peak memory in bytes, with one thread and without the program itself: a part of the model, and the data of the
 * run while it measures the discrepancy or builds its result at the end. It does not include the memory for reading the
 * model. */
double svmp_plan_memory(const memory_rates *rates, const part_size *part, int first);

#endif
