/* Ascent that uses only the signs of the score (like Rprop), for very distant starts: it works for any scale of the
 * score, from 1e-9 to 1e17, where Newton's method does not converge. */
#ifndef SVMP_PREPARE_SIGN_ASCENT_H
#define SVMP_PREPARE_SIGN_ASCENT_H

#include "model/evaluator.h"

/* Moves each of the n points x[i*n + l] uphill: each variable has its own step, which grows while the sign of its score
 * stays and shrinks when it changes. step and score have room for order*n numbers, log_density for n; log_density is
 * that of the last points. Returns the highest point in *best; SIZE_MAX: none has a finite density. */
svmp_status svmp_sign_ascent(evaluator *evaluate, size_t order, size_t n, double *x, double *step, double *score,
                             double *log_density, size_t *best);

#endif
