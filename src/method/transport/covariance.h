/* The covariance of chains over a window, for models of few variables; and particles that are to have it. Without it
 * the correlations of n particles are known no better than those of n exact draws, to 1/sqrt(n). */
#ifndef SVMP_METHOD_TRANSPORT_COVARIANCE_H
#define SVMP_METHOD_TRANSPORT_COVARIANCE_H

#include "method/transport/averages.h"

typedef struct covariance covariance;

/* NULL where there are too many variables for n particles, or a single one. */
svmp_status svmp_covariance_create(svmp_context *context, size_t variables, size_t n, int threads, covariance **made);
void svmp_covariance_free(covariance *c); /* NULL-safe, as all of them */

/* Adds the particles x[i*n + l] of an iteration to the window; closes it, and opens a new one. */
void svmp_covariance_add(covariance *c, const double *x);
void svmp_covariance_close(covariance *c);

/* Gives the particles the means and sds of `to` and the correlations of the last window. With S their own covariance
 * and C the one that they shall have, both of the form L L', x - mean <- L_C L_S^-1 (x - mean): each variable's
 * regression on those before it becomes that of the chains. Where an sd is not well known, nothing is
 * changed; where one of the matrices is singular, only the means. */
void svmp_covariance_match(covariance *c, const average *to, double *x);

svmp_status svmp_covariance_state(covariance *c, archive *to);

#endif
