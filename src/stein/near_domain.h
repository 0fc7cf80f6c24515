/* Hubs, nodes with more neighbours than n particles can support in a kernel, and messages, which summarise the
 * neighbours.
 *
 *     T_i(x) = s_i(m_v; x)   the score of variable i of node v, with the variables of v at their mean over particles
 *                            and its neighbours as in the particle
 *     t_i                    = T_i minus its mean over particles, in units of its sd; 0 if T_i is not finite
 *
 * A term on `message` uses the variables of the node, in the term's metric, and t of each of them. These contain what
 * p(x_v | neighbours) needs to know about the neighbours, in as many numbers as the node has variables. T does not
 * depend on x_v, so dk/dx_i is that of two independent coordinates. A term on `near` uses the closed neighbourhood if
 * it has at most K variables. Otherwise the node is a hub: the term uses the node, its message, and the hubs among its
 * neighbours if these have at most K variables. */
#ifndef SVMP_STEIN_NEAR_DOMAIN_H
#define SVMP_STEIN_NEAR_DOMAIN_H

#include "stein/kernel.h"

/* K of a term on `near`. */
size_t svmp_near_most(const kernel_term *term, size_t n);

/* Marks the variables of own nodes: 1 for those of a hub, 0 for others. Processes exchange the marks of their halos. */
void svmp_near_mark(const svmp_graph *graph, size_t most, double *hub);

/* Own node -> for a hub the nodes that it reads, itself included, in the order of its neighbourhood; an empty list for
 * other nodes. `hub` includes the marks of the halo. */
svmp_status svmp_near_lists(const svmp_graph *graph, size_t most, const double *hub, index_lists *lists);

/* Whether a term needs the message of an own node; `hubs` are the lists above, for a term on `near`. */
static inline int svmp_near_needs_message(const kernel_term *term, const index_lists *hubs, size_t node) {
    if (term->domain != DOMAIN_NEAR) return term->domain == DOMAIN_MESSAGE;
    return hubs != NULL && hubs->start[node + 1] > hubs->start[node];
}

#endif
