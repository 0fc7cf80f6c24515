/* The covariance of chains over blocks of iterations (averages.h), for models with few variables, and particles that
 * are matched to it. Otherwise the correlations of n particles would be as inaccurate as those of n exact draws,
 * 1/sqrt(n). */
#ifndef SVMP_METHOD_TRANSPORT_COVARIANCE_H
#define SVMP_METHOD_TRANSPORT_COVARIANCE_H

#include "method/transport/averages.h"

typedef struct covariance covariance;

/* Of particles that processes may share: `columns` must live as long. *made is NULL if there are too many variables for
 * the particles, or only one. */
svmp_status svmp_covariance_create(svmp_context *context, size_t variables, const peer_columns *columns, int threads,
                                   covariance **made);
void svmp_covariance_free(covariance *c); /* NULL-safe, like all functions here */

/* Adds the particles x[i*n + l] of an iteration, of this process, to the open block; blocks are as in averages.h.
 * Adding, estimating and the state are collective. */
void svmp_covariance_add(covariance *c, const double *x);
void svmp_covariance_estimate(covariance *c);
void svmp_covariance_close(covariance *c);
void svmp_covariance_clear(covariance *c);

/* Gives n particles x[i*n + l] the means and sds of `to` and the correlations of the last estimate. With S their own
 * covariance and C the target, both factored as L L', x - mean <- L_C L_S^-1 (x - mean): the regression of each
 * variable on earlier ones becomes that of the chains. If an sd is inaccurate, nothing is changed; if one of the
 * matrices is singular, only the means are. */
void svmp_covariance_match(covariance *c, const average *to, size_t n, double *x);

svmp_status svmp_covariance_state(covariance *c, archive *to);

#endif
