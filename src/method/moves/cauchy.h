/* The Cauchy proposals of node-wise moves. Given its neighbours, variable i of the Gaussian on the graph, N(m, A^-1),
 * has
 *
 *     centre = m_i - sum over j != i of A_ij (x_j - m_j) / A_ii,    scale = A_ii^-1/2,
 *
 * and y = centre + scale * (a Cauchy number) is proposed, every other time with cauchy_stretch times this scale.
 * Proposals do not depend on x_i, so they cross gaps that steps do not; the ratio of the proposal's densities makes
 * them exact. */
#ifndef SVMP_METHOD_MOVES_CAUCHY_H
#define SVMP_METHOD_MOVES_CAUCHY_H

#include "base/random.h"
#include "prepare/fitted_gaussian.h"

typedef struct cauchy cauchy;

/* Takes memory for two numbers for each entry of A. Keeps nothing of q. */
svmp_status svmp_cauchy_create(svmp_context *context, const gaussian *q, cauchy **made);
void svmp_cauchy_free(cauchy *c); /* NULL-safe */

/* Proposes y[l] for variable i of n particles x[j*n + l], and stores the log of the proposal's density at x_i over that
 * at y. Where that ratio overflows, y is x_i. Cauchy numbers are ratios of two normal ones; `random` is the stream of
 * the numerators; the scale is `stretch` times the above. The workspace has n numbers. */
void svmp_cauchy_propose(const cauchy *c, random_stream random, double stretch, size_t n, size_t i, const double *x,
                         double *y, double *log_ratio, double *workspace);

#endif
