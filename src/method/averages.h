/* Averages of chains: the particles are independent Markov chains. The mean and sd of each variable, and Stein's
 * identities, are averaged over particles and iterations; how far the particles' own averages differ gives the standard
 * errors, whatever the correlation along the chains. */
#ifndef SVMP_METHOD_AVERAGES_H
#define SVMP_METHOD_AVERAGES_H

#include <stdbool.h>

#include "base/archive.h"
#include "base/context.h"

/* Of a variable, over the last window that was closed. */
typedef struct average {
    double mean, sd;
    double mean_error, sd_error; /* standard errors; NaN for one particle */
    double apart; /* the variance of the particles' own means over that of all: 1 when no particle has come
                   * to where the others are, 1/k after k independent draws each */
    double drift; /* the mean less that of the window before; NaN: there was none */
    double drift_error;
    double push, push_error; /* sd E[s], which is 0 under the posterior: Stein's first identity */
    double pull, pull_error; /* 1 + E[s (x - mean)], which is 0: the second */
} average;

typedef struct averages averages;

svmp_status svmp_averages_create(svmp_context *context, size_t variables, size_t n, int threads, averages **made);
void svmp_averages_free(averages *a); /* NULL-safe */

/* Adds the particles x[i*n + l] of an iteration, and their score, to the window. NULL: without Stein's identities. */
void svmp_averages_add(averages *a, const double *x, const double *score);

/* Variables that Stein's identities are not asked of: their push and pull are 0. The caller's array; NULL: none. */
void svmp_averages_except(averages *a, const bool *without);

/* Closes the window, which has an iteration or more, and opens a new one. */
void svmp_averages_close(averages *a);

/* How far the moments of the particles x are from the averages: the sum over variables of (mean/sd)^2 + (sd ratio -
 * 1)^2 of the differences. 0 before the first window was closed. */
double svmp_averages_misfit(averages *a, const double *x);

/* A row for each variable; NULL before the first window was closed. */
const average *svmp_averages_rows(const averages *a);

svmp_status svmp_averages_state(averages *a, archive *to);

#endif
