/* The curvature of a model's log density, its mean over particles, on the pattern of the graph:
 *
 *     H = - 1/n sum_l  d^2 log p / dx dx'  at x_l
 *
 * Second derivatives come factor by factor: of the model language from the engine (expr/hessian.h), of the quadratic
 * its matrix, of factors given as functions by central differences of their gradients. */
#ifndef SVMP_MODEL_CURVATURE_H
#define SVMP_MODEL_CURVATURE_H

#include "maths/sparse_pattern.h"
#include "model/model.h"

typedef struct curvature curvature;

/* Takes memory for two numbers for each pair of slots of each factor; factors of one group that stand
 * one behind the other and have the same variables count as few. Fails for a part of a model. */
svmp_status svmp_curvature_create(const svmp_model *model, int threads, curvature **made);
void svmp_curvature_free(curvature *c); /* NULL-safe */

const sparsity *svmp_curvature_pattern(const curvature *c);

/* Whether some factors have so many variables and no second derivatives of their own that an evaluation is expensive;
 * of these factors the first few particles stand for all. */
int svmp_curvature_is_expensive(const curvature *c);

/* H[e] for every entry e of the pattern, from n particles x[i*n + l]; sums have a fixed order, the same bits for any
 * number of threads. width[i] is about the standard deviation of variable i, of which differences take a thousandth;
 * NULL: nobody knows. Entries need not be finite. Allocates where n is another than last time. */
svmp_status svmp_curvature_evaluate(curvature *c, size_t n, const double *x, const double *width, double *H);

/* What was evaluated last once more, with the negative eigenvalues of every factor's part set to 0, in coordinates
 * x_i*unit[i]: a sum of positive semidefinite matrices, if the quadratic is one. Factors of more than 64 slots are left
 * as they are. Once after each evaluation. */
svmp_status svmp_curvature_clip(curvature *c, const double *unit, double *H);

#endif
