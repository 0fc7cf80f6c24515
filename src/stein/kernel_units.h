/* Units: one kernel matrix each, shared by all nodes that have the same domain. */
#ifndef SVMP_STEIN_KERNEL_UNITS_H
#define SVMP_STEIN_KERNEL_UNITS_H

#include "stein/near_domain.h"

/* One kernel matrix, on the nodes `domain`, and the nodes `members` that use it; if `message` is set, also on the
 * message of its only member. */
typedef struct stein_unit {
    const uint32_t *domain, *members;
    size_t domain_count, member_count;
    int message;
} stein_unit;

/* The source of units, which point into it and into the graph. */
typedef struct unit_source {
    const svmp_graph *graph;
    const uint32_t *nodes;   /* 0, 1, 2, ... for all nodes */
    const index_lists *hubs; /* term of the kernel -> the lists of near_domain.h; NULL: no term is on `near` */
} unit_source;

/* The number of units of a domain: one for `all`, one per distinct neighbourhood for `blanket`, one per own node
 * otherwise. */
size_t svmp_unit_count(const svmp_graph *graph, kernel_domain domain);

/* The units of a span of own nodes: those whose first member lies in it; that of `all` belongs to the last own node. */
typedef struct unit_span {
    size_t first, last;
} unit_span;

unit_span svmp_unit_span(const svmp_graph *graph, kernel_domain domain, node_span nodes);

/* Unit u of term a of a kernel; for a random domain, without the drawn neighbours. */
stein_unit svmp_unit_find(const unit_source *from, const kernel *k, size_t a, size_t u);

/* The unit in iteration t; the neighbours of a random domain are drawn into `drawn`, which has room for them. */
stein_unit svmp_unit_draw(const unit_source *from, const kernel *k, size_t a, size_t u, uint64_t seed, size_t t,
                          uint32_t *drawn);

/* Finds the rows of the domain's variables in an array of all variables with n numbers each, followed by the rows of
 * the messages in an array of own variables; returns their number. */
size_t svmp_unit_rows(const svmp_graph *graph, const stein_unit *unit, size_t n, const double *array,
                      const double *messages, const double **rows);

/* The maximum number of rows of a unit of the kernel, and of nodes of a random domain, including the node itself. */
size_t svmp_unit_rows_most(const svmp_graph *graph, const kernel *k);
size_t svmp_unit_drawn_most(const kernel *k);

#endif
