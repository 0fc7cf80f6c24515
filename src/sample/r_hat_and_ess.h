/* R-hat, effective draws and standard errors of chains: Vehtari, Gelman, Simpson, Carpenter and Buerkner,
 * Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC, 2021. */
#ifndef SVMP_SAMPLE_R_HAT_AND_ESS_H
#define SVMP_SAMPLE_R_HAT_AND_ESS_H

#include "base/context.h"
#include "maths/fourier.h"
#include "maths/sort_with_indices.h"

/* Working memory of one thread for the draws of one variable; reused for many variables. */
typedef struct chain_workspace {
    size_t chains, draws; /* the size of each variable */
    double unit;          /* of the current draws: halves are in units of it */
    size_t half;          /* half the length of a chain; the middle draw of an odd number is left out */
    double *scores;       /* normal scores of the ranks 1, 1.5, 2, ... */
    double *halves;       /* the 2*chains halves, one after the other */
    double *lags;         /* autocorrelations */
    fourier transform;    /* for sums at many lags; length 0 if chains are so short that there are few; */
    double *power;        /* the halves' power spectrum, */
    double *re, *im;      /* two halves as one complex series; finally, in re, the sums over all halves at each lag; */
    int transformed;      /* whether these have been computed */
    placed *sorted, *spare;
} chain_workspace;

/* `ranks` 0: only for sorting and standard errors, without normal scores. */
svmp_status svmp_chain_workspace_create(svmp_context *context, size_t chains, size_t draws, int ranks,
                                        chain_workspace *workspace);
void svmp_chain_workspace_free(svmp_context *context, chain_workspace *workspace);

/* The mixing of draws[c*draws + t], chain c. All NaN if nothing varies, with fewer than 6 draws per chain, or if a draw
 * is not finite. Standard errors: mean       sd / sqrt(N of x) sd         sqrt( (mean z^4 - (mean z^2)^2) / (4 mean z^2
 * N of z^2) ),  z = x - mean quantile   half of the distance between the order statistics at the quantiles Phi(-1) and
 * Phi(1) of Beta(N p + 1, N (1 - p) + 1),  N of x <= quantile with N the effective draws. */
svmp_mixing svmp_chains_mixing(chain_workspace *workspace, const double *draws);

/* All NaN, for particles that are not chains. */
extern const svmp_mixing svmp_mixing_unknown;

/* The standard error of the mean of the draws, sd / sqrt(effective draws); NaN as above, but 0 if nothing varies. */
double svmp_chains_error(chain_workspace *workspace, const double *draws);

#endif
