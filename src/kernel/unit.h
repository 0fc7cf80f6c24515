/* Kernel matrices and whom they serve: nodes that see the same domain share one. */
#ifndef SVMP_KERNEL_UNIT_H
#define SVMP_KERNEL_UNIT_H

#include "kernel/kernel.h"

/* One kernel matrix and the nodes that it serves: `members` whose domain is `domain`, both lists of nodes. */
typedef struct stein_unit {
    const uint32_t *domain, *members;
    size_t domain_count, member_count;
} stein_unit;

/* How many units a domain makes: one for `all`, the distinct neighbourhoods for `blanket`, the own nodes otherwise. */
size_t svmp_unit_count(const svmp_graph *graph, kernel_domain domain);

/* The units of a span of own nodes: those whose first member lies in it; that of `all` belongs to the last own node. */
typedef struct unit_span {
    size_t first, last;
} unit_span;

unit_span svmp_unit_span(const svmp_graph *graph, kernel_domain domain, node_span nodes);

/* Unit u of a domain, a random one without the neighbours that it draws. `nodes` is 0, 1, 2, ... for all nodes; the
 * unit points into it and into the graph. */
stein_unit svmp_unit_find(const svmp_graph *graph, kernel_domain domain, size_t u, const uint32_t *nodes);

/* The unit of a term in iteration t: a random one has its neighbours, in `drawn`, which has room for them. */
stein_unit svmp_unit_draw(const svmp_graph *graph, const kernel_term *term, size_t u, uint64_t seed, size_t t,
                          const uint32_t *nodes, uint32_t *drawn);

/* The particles of the domain's variables, n numbers each, in an array of all variables; returns how many. */
size_t svmp_unit_rows(const svmp_graph *graph, const stein_unit *unit, size_t n, const double *array,
                      const double **rows);

/* The most rows that a unit of the kernel has, and the most nodes that a random domain of it draws, itself included. */
size_t svmp_unit_rows_most(const svmp_graph *graph, const kernel *k);
size_t svmp_unit_drawn_most(const kernel *k);

#endif
