/* Searches for the modes of a posterior and weighs them by their masses.
 *
 *   - Starts: draws of the priors; wide draws around the Gaussian on the graph, q; maxima of the density along lines
 *     through its mean; its mirror image and permutations of short arrays; those of a thousand wide draws that q
 *     explains least.
 *   - Each climbs (many_ascents.h). An end from which the density falls nowhere on the way to a known mode belongs to
 *     it. Others are polished by Newton's method, and have the Gaussian of their curvature; where there is none, as in
 *     a spike, a Gaussian is fitted.
 *   - From new modes whose mass counts the search goes on, for a few rounds.
 *   - Masses come from importance sampling, from Student t of five freedoms at each mode.
 *
 * A narrow mode far from all starts is missed, and nothing shows it. */
#ifndef SVMP_PREPARE_MODES_BY_MASS_H
#define SVMP_PREPARE_MODES_BY_MASS_H

#include "model/posterior_modes.h"
#include "prepare/fitted_gaussian.h"

/* A mode: N(mean, A^-1) is about its shape, where entry e of the pattern of q is A[e]. */
typedef struct found_mode {
    double *mean, *A, log_determinant; /* of A */
    double *top, height;               /* the point from which it was found, and the log density there */
    double log_mass;                   /* of exp(log density), without the constants that the density lacks */
    double share;                      /* of the mass of all that were kept */
    double share_error;                /* the standard error of its share among those that were weighed */
    bool fitted;                       /* by a bound, not by its curvature */
    bool weighed;                      /* the mass comes from importance weights that are even enough */
    size_t ends;                       /* how many starts ended here */
} found_mode;

typedef struct found_modes {
    svmp_context *context;
    size_t variables, starts, ways, count;
    found_mode *mode;   /* the heaviest first */
    size_t evaluations; /* log densities and gradients of one particle, and Hessians, three times */
    bool unfinished;    /* the last round still found a mode */
    bool exhausted;     /* there are more than MOST_MODES: the search ended, and nothing was weighed */
} found_modes;

/* The same bits for any number of threads. Fails as the evaluation of the model fails. */
svmp_status svmp_modes_by_mass(const svmp_model *model, gaussian *q, uint64_t seed, found_modes **made);
void svmp_found_modes_free(found_modes *modes); /* NULL-safe */

/* log of the density of Student's t of five freedoms at mode k, up to a number that is the same for all modes, at a
 * point whose numbers are `stride` apart. `workspace` has a number for each variable. */
double svmp_found_mode_log_t(const found_modes *modes, const sparsity *pattern, size_t k, const double *x,
                             size_t stride, double *workspace);

/* n particles x[i*n + l] from the Gaussian of mode k, keyed by the seed. */
svmp_status svmp_found_mode_draw(const found_modes *modes, const sparsity *pattern, size_t k, uint64_t seed, size_t n,
                                 double *x);

/* The modes as a mixture, if there are several, far apart, and the model is small enough for matrices; else NULL. */
svmp_status svmp_found_modes_mixture(const found_modes *found, const sparsity *pattern, model_modes **made);

#endif
