/* Units: one kernel matrix each, shared by all nodes that have the same domain. */
#ifndef SVMP_KERNEL_UNIT_H
#define SVMP_KERNEL_UNIT_H

#include "kernel/kernel.h"

/* One kernel matrix, on the nodes `domain`, and the nodes `members` that use it. */
typedef struct stein_unit {
    const uint32_t *domain, *members;
    size_t domain_count, member_count;
} stein_unit;

/* The number of units of a domain: one for `all`, one per distinct neighbourhood for `blanket`, one per own node
 * otherwise. */
size_t svmp_unit_count(const svmp_graph *graph, kernel_domain domain);

/* The units of a span of own nodes: those whose first member lies in it; that of `all` belongs to the last own node. */
typedef struct unit_span {
    size_t first, last;
} unit_span;

unit_span svmp_unit_span(const svmp_graph *graph, kernel_domain domain, node_span nodes);

/* Unit u of a domain; for a random domain, without the drawn neighbours. `nodes` is 0, 1, 2, ... for all nodes; the
 * unit points into it and into the graph. */
stein_unit svmp_unit_find(const svmp_graph *graph, kernel_domain domain, size_t u, const uint32_t *nodes);

/* The unit of a term in iteration t; the neighbours of a random domain are drawn into `drawn`, which has room for them.
 */
stein_unit svmp_unit_draw(const svmp_graph *graph, const kernel_term *term, size_t u, uint64_t seed, size_t t,
                          const uint32_t *nodes, uint32_t *drawn);

/* Finds the rows of the domain's variables in an array of all variables with n numbers each; returns their number. */
size_t svmp_unit_rows(const svmp_graph *graph, const stein_unit *unit, size_t n, const double *array,
                      const double **rows);

/* The maximum number of rows of a unit of the kernel, and of nodes of a random domain, including the node itself. */
size_t svmp_unit_rows_most(const svmp_graph *graph, const kernel *k);
size_t svmp_unit_drawn_most(const kernel *k);

#endif
