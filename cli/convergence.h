/* Where a particle method stands: its Stein discrepancy and its last step, measured, recorded, read back, told. */
#ifndef SVMP_CLI_CONVERGENCE_H
#define SVMP_CLI_CONVERGENCE_H

#include "svmp_parallel.h"

enum { WORST_NODES = 10, NODE_NAME = 128 };

typedef struct node_discrepancy {
    char name[NODE_NAME];
    size_t node; /* where it was measured: which one of the whole graph */
    svmp_discrepancy discrepancy;
} node_discrepancy;

typedef struct convergence {
    int known;            /* 0: the method is not measured in this way, and nothing below holds */
    size_t nodes, beyond; /* nodes in all, and those beyond a limit */
    size_t processes;     /* that it was measured by */
    char method[16];
    svmp_discrepancy total;
    size_t worst_count;
    node_discrepancy worst[WORST_NODES]; /* the largest excess first */
    double largest_step, relative_step;  /* NaN: there was none */
    char relative_name[NODE_NAME];       /* the variable of the latter, */
    size_t relative_variable;            /* and which one of the whole model it is */
} convergence;

/* Measures the run as it stands, and makes the measurement part of its way. What cannot be measured is left unknown.
 * `nodes`: room for the discrepancy of every own node. Of several processes all call it, and get that of all. */
convergence convergence_measure(const svmp_context *context, svmp_run *run, const svmp_model *model,
                                svmp_discrepancy *nodes);

/* The ratio and the excess of all nodes as series of the particles, in the order of the model; of several processes, in
 * the first one. */
svmp_status convergence_attach(const svmp_context *context, const convergence *c, const svmp_model *model,
                               const svmp_discrepancy *nodes, svmp_particles *particles);

/* The lines "ksd_u = ...", "ksd_node NAME = U V RATIO LIMIT Z LIMIT", ... of a run's record, and back. */
void convergence_write(const convergence *c, FILE *file);
convergence convergence_read(const char *comments);

/* `worst`: with the table of the worst nodes. `particles` is how many there are. */
void print_convergence(const convergence *c, size_t particles, int worst);

#endif
