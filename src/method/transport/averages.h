/* Averages of chains: the particles are independent Markov chains. The mean and sd of each variable, and Stein's
 * identities, are averaged over particles and iterations; the variation between the particles' own averages gives the
 * standard errors, whatever the autocorrelation of the chains. Sums are kept in three blocks of iterations, an open one
 * and two closed ones before it, so that old iterations can be forgotten and drifts between blocks be seen.
 *
 * For any constant matrix D and w = D s, the score s of the posterior has E[w_i] = 0 and E[w_i (x_i - c)] = -D_ii.
 * These are checks, and control variates: a particle's own mean and variance are regressed on its own averages of w_i
 * and w_i (x_i - mean) + D_ii, and the averages are the intercepts, where those are 0. If the posterior is a Gaussian
 * and D its covariance, w = mean - x, and the averages are exact after any number of iterations. */
#ifndef SVMP_METHOD_TRANSPORT_AVERAGES_H
#define SVMP_METHOD_TRANSPORT_AVERAGES_H

#include <stdbool.h>

#include "base/peer_columns.h"

/* Of a variable, over the blocks of the last estimate. */
typedef struct average {
    double mean, sd;
    double mean_error, sd_error; /* standard errors; NaN for one particle */
    double plain, plain_error;   /* the mean without control variates, and its error, */
    double plain_sd_error;       /* and that of the sd */
    double between_share; /* the variance of the particles' own means over that of all: 1 if no chain has mixed with the
                             others, 1/k after k independent draws each */
    double drift;         /* the plain mean of the open block minus that of the closed ones; NaN if there are none */
    double drift_error;
    double first_identity,
        first_identity_error; /* sd E[w]/D_ii, 0 under the posterior: the residual of Stein's first identity */
    double second_identity,
        second_identity_error; /* 1 + E[w (x - mean)]/D_ii, 0 under the posterior: that of the second */
} average;

typedef struct averages averages;

/* Of particles that processes may share: each adds its own, and all estimate the same averages of all. The first
 * particles that are added after blocks were forgotten, estimates and the state are collective. `columns` must live as
 * long. */
svmp_status svmp_averages_create(svmp_context *context, size_t variables, const peer_columns *columns, int threads,
                                 averages **made);
void svmp_averages_free(averages *a); /* NULL-safe */

/* Also averages Stein's identities, with the diagonal of D, which the caller keeps. 0: not for this variable, whose
 * controls are 0. */
void svmp_averages_control(averages *a, const double *diagonal);

/* Adds the particles x[i*n + l] of an iteration, and w = D s of each, to the open block. w is NULL if there is no D. */
void svmp_averages_add(averages *a, const double *x, const double *w);

/* Estimates the averages over the open block, which has an iteration or more, and the closed ones before it. */
void svmp_averages_estimate(averages *a);

/* Closes the open block and opens a new one. Two closed blocks are kept. */
void svmp_averages_close(averages *a);

/* Forgets all blocks, but not the estimate. */
void svmp_averages_clear(averages *a);

/* A row for each variable; NULL before the first estimate. */
const average *svmp_averages_rows(const averages *a);

svmp_status svmp_averages_state(averages *a, archive *to);

#endif
