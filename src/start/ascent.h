/* The ascent of the bound F(m, A) of start/gaussian.h from one start. */
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

    double *mean, *A, bound; /* where it is; the bound as F, without constants */
    size_t iterations;

    double *x, *score, *log_density; /* at its draws */
    double *H, *slope, *width;       /* -mean Hessian, mean score, sds as differences take them */
    double *next_mean, *next_A, *next_x, *next_score;
} ascent;

svmp_status svmp_ascent_create(const svmp_model *model, uint64_t seed, ascent **made);
void svmp_ascent_free(ascent *a);

/* From a->mean, which is filled in. *found: whether there is a bound, and F was climbed until it gained nothing. */
svmp_status svmp_ascent_climb(ascent *a, int *found);

#endif
