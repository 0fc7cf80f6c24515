/* Maximises the bound F(m, A) of start/gaussian.h from one start. */
#ifndef SVMP_START_ASCENT_H
#define SVMP_START_ASCENT_H

#include "model/curvature.h"
#include "model/evaluate.h"
#include "model/factorisation.h"

enum { ASCENT_DRAWS = 64 };

typedef struct ascent {
    const svmp_model *model;
    size_t draws;
    int threads;
    evaluator *evaluate;
    curvature *curve;
    const sparsity *pattern;
    factorisation *factor;
    double *z; /* variables * draws standard normal numbers in antithetic pairs, every variable's second moment 1 */

    double *mean, *A, bound; /* the current point; the bound is F, without constants */
    size_t iterations;

    double *x, *score, *log_density; /* the draws, and score and log density there */
    double *H, *slope, *width;       /* minus the mean Hessian, the mean score, sds for differences */
    double *next_mean, *next_A, *next_x, *next_score;
} ascent;

svmp_status svmp_ascent_create(const svmp_model *model, uint64_t seed, ascent **made);
void svmp_ascent_free(ascent *a);

/* Starts at a->mean, which the caller fills in. *found: whether F is bounded and the ascent converged. */
svmp_status svmp_ascent_climb(ascent *a, int *found);

#endif
