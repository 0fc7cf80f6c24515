/* Hubs, whose neighbours are more than n particles can carry in a kernel, and messages, which stand for them.
 *
 *     T_i(x) = s_i(m_v; x)      the score of variable i of node v, all variables of v being at their mean over
 * particles and its neighbours where they are in the particle t_i    = T_i less its mean over particles, in units of
 * its sd; 0 where T_i is not finite
 *
 * A term on `message` sees the variables of the node as its metric has them, and t of each: everything that
 * p(x_v | neighbours) needs of the neighbours in as many numbers as the node has variables. T does not depend on x_v,
 * so dk/dx_i is as for two coordinates. A term on `near` sees the closed neighbourhood if it has at most K variables; a
 * node that has more, a hub, sees itself, its message, and the hubs among its neighbours where these have at most K
 * variables.
 */
#ifndef SVMP_KERNEL_NEAR_H
#define SVMP_KERNEL_NEAR_H

#include "kernel/kernel.h"

/* K of a term on `near`. */
size_t svmp_near_most(const kernel_term *term, size_t n);

/* Marks of the variables of own nodes: 1 those of a hub, 0 others. Processes tell each other those of their halos. */
void svmp_near_mark(const svmp_graph *graph, size_t most, double *hub);

/* Own node -> of a hub the nodes that it sees, itself included, in the order of its neighbourhood; of others none.
 * `hub` has the marks of the halo as well. */
svmp_status svmp_near_lists(const svmp_graph *graph, size_t most, const double *hub, index_lists *lists);

/* Whether a term makes an own node have a message; `hubs` are the lists above, of a term on `near`. */
static inline int svmp_near_asks(const kernel_term *term, const index_lists *hubs, size_t node) {
    if (term->domain != DOMAIN_NEAR) return term->domain == DOMAIN_MESSAGE;
    return hubs->start[node + 1] > hubs->start[node];
}

#endif
