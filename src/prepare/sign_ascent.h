/* A climb by the signs of the score alone, for starts that are very far: whether a density is steep like 1e17 or flat
 * like 1e-9 makes no difference to it, where Newton's steps, in the units of the curvature, do not arrive. */
#ifndef SVMP_PREPARE_SIGN_ASCENT_H
#define SVMP_PREPARE_SIGN_ASCENT_H

#include "model/evaluator.h"

/* Every one of the n points x[i*n + l] climbs: each variable by its own step, which grows while the sign of its score
 * stays and shrinks when it changes. step and score have room for order*n numbers, log_density for n; log_density is
 * that of the last points. Returns the highest point in *best; SIZE_MAX: none has a finite density. */
svmp_status svmp_sign_ascent(evaluator *evaluate, size_t order, size_t n, double *x, double *step, double *score,
                             double *log_density, size_t *best);

#endif
