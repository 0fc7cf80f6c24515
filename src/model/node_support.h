/* The values of a node that functions build, where they are not all real numbers, and the unconstrained variables u
 * that move in their place:
 *
 *     bounded       each value as in model/transform.h: lower + exp(u), upper - exp(u), between both, or u
 *     ordered       x_1 = u_1, x_k = x_{k-1} + exp(u_k)
 *     simplex       stick-breaking, as in model/transform.h
 *     correlation   X = L L', row i of L from the canonical partial correlations z_ij = tanh(u_ij), j < i:
 *                   L_ij = z_ij s_ij, L_ii = s_ii, s_ij = prod_{k<j} sqrt(1 - z_ik^2) (Lewandowski et al. 2009)
 *
 * A factor is a function of the values; its gradient is pulled back to the variables, and the logarithm of
 * |dx/du| is a factor of its own. */
#ifndef SVMP_MODEL_NODE_SUPPORT_H
#define SVMP_MODEL_NODE_SUPPORT_H

#include <stdbool.h>

#include "base/context.h"

typedef struct node_support {
    svmp_support kind;
    size_t values, variables;
    double *lower, *upper; /* of the values of a bounded node; else NULL */
} node_support;

/* Fails if there is no such node; `name` is for the error. */
svmp_status svmp_support_check(svmp_context *context, const node_support *support, const char *name);

size_t svmp_support_variables(svmp_support kind, size_t values);

/* How many numbers the functions below need for themselves. */
size_t svmp_support_workspace(const node_support *support);

/* The values of one particle, and their inverse; false: they are not in the support. */
void svmp_support_values(const node_support *support, const double *u, double *x, double *work);
bool svmp_support_inverse(const node_support *support, const double *x, double *u, double *work);

/* The gradient by the variables from that by the values. */
void svmp_support_pull(const node_support *support, const double *u, const double *x, const double *by_values,
                       double *by_variables, double *work);

/* log |dx/du| and its gradient. */
double svmp_support_jacobian(const node_support *support, const double *u, double *gradient);

#endif
