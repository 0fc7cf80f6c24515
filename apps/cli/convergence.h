/* The convergence of a particle method: its Stein discrepancy and last step, measured, recorded, read back and printed.
 */
#ifndef SVMP_CLI_CONVERGENCE_H
#define SVMP_CLI_CONVERGENCE_H

#include <stdio.h>

#include "svmp_parallel.h"
#include "svmp_tools.h"

enum { WORST_NODES = 10, NODE_NAME = 128 };

typedef struct node_discrepancy {
    char name[NODE_NAME];
    size_t node; /* its number in the whole graph */
    svmp_discrepancy discrepancy;
} node_discrepancy;

typedef struct convergence {
    int known;            /* 0: the method is not measured this way, and the rest is undefined */
    size_t nodes, beyond; /* the number of nodes, and of nodes that fail */
    svmp_discrepancy total;
    size_t worst_count;
    node_discrepancy worst[WORST_NODES]; /* the largest excess first */
    double largest_step, relative_step;  /* NaN: there was none */
    char relative_name[NODE_NAME];       /* the variable of the latter, */
    size_t relative_variable;            /* and which one of the whole model it is */
} convergence;

/* Measures the run and adds the measurement to its history. If it cannot be measured, the result is unknown. `nodes`
 * has room for the discrepancy of every own node. Collective. */
convergence convergence_measure(const svmp_context *context, svmp_run *run, const svmp_model *model,
                                svmp_discrepancy *nodes);

/* Adds the ratio and the excess of all nodes to the particles as series, in the order of the model; with several
 * processes, in the first one. Collective. */
svmp_status convergence_attach(const svmp_context *context, const convergence *c, const svmp_model *model,
                               const svmp_discrepancy *nodes, svmp_particles *particles);

/* The lines "ksd_u = ...", "ksd_node NAME = U V RATIO LIMIT Z LIMIT", ... of a run's record, and back. */
void convergence_write(const convergence *c, FILE *file);
convergence convergence_read(const char *comments);

/* The discrepancy and the last step; `worst`: with the table of the worst nodes. */
void print_convergence(const convergence *c, int worst);

#endif
