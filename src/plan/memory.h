/* What a process of a run takes in memory. */
#ifndef SVMP_PLAN_MEMORY_H
#define SVMP_PLAN_MEMORY_H

#include "graph/partition.h"
#include "model/model.h"
#include "plan/demand.h"

/* Bytes that a process has for each thing of its part, while it runs and at the end. */
typedef struct memory_rates {
    double node, own_node;         /* of its own and the halo; of its own alone */
    double variable, own_variable; /* the same */
    double neighbour, sent;        /* of a neighbourhood; a variable that is sent */
    double measuring, result;      /* at the end, the one or the other: of a variable, of an own variable */
    double gradient_rows;          /* of factors, for an own variable */
    double process, first;         /* whatever its part is; and of the first process, which has cut the graph */
    double particles;
} memory_rates;

memory_rates svmp_plan_memory_rates(const svmp_model *whole, const run_demand *d);

/* Bytes at their highest, with one thread, beside the program itself: a part of the model, and what the run of it holds
 * while it measures the discrepancy, or makes its result, at the end. What reading takes before is not in it. */
double svmp_plan_memory(const memory_rates *rates, const part_size *part, int first);

#endif
