/* Units: one kernel matrix each, shared by all nodes that have the same domain. */
#ifndef SVMP_KERNEL_UNIT_H
#define SVMP_KERNEL_UNIT_H

#include "kernel/near.h"

/* One kernel matrix and the nodes that it serves: `members` whose domain is `domain`, both lists of nodes; and the
 * message of its only member where `message` says so. */
typedef struct stein_unit {
    const uint32_t *domain, *members;
    size_t domain_count, member_count;
    int message;
} stein_unit;

/* What units are made of. They point into it, and into the graph. */
typedef struct unit_source {
    const svmp_graph *graph;
    const uint32_t *nodes;   /* 0, 1, 2, ... for all nodes */
    const index_lists *hubs; /* term of the kernel -> the lists of near.h; NULL: no term is on `near` */
} unit_source;

/* How many units a domain makes: one for `all`, the distinct neighbourhoods for `blanket`, the own nodes otherwise. */
size_t svmp_unit_count(const svmp_graph *graph, kernel_domain domain);

/* The units of a span of own nodes: those whose first member lies in it; that of `all` belongs to the last own node. */
typedef struct unit_span {
    size_t first, last;
} unit_span;

unit_span svmp_unit_span(const svmp_graph *graph, kernel_domain domain, node_span nodes);

/* Unit u of term a of a kernel, a random one without the neighbours that it draws. */
stein_unit svmp_unit_find(const unit_source *from, const kernel *k, size_t a, size_t u);

/* The unit in iteration t: a random one has its neighbours, in `drawn`, which has room for them. */
stein_unit svmp_unit_draw(const unit_source *from, const kernel *k, size_t a, size_t u, uint64_t seed, size_t t,
                          uint32_t *drawn);

/* The particles of the domain's variables, n numbers each, in an array of all variables, and behind them the messages,
 * in an array of own variables; returns how many. */
size_t svmp_unit_rows(const svmp_graph *graph, const stein_unit *unit, size_t n, const double *array,
                      const double *messages, const double **rows);

/* The maximum number of rows of a unit of the kernel, and of nodes of a random domain, including the node itself. */
size_t svmp_unit_rows_most(const svmp_graph *graph, const kernel *k);
size_t svmp_unit_drawn_most(const kernel *k);

#endif
