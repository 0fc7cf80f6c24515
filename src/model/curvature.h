/* The curvature of a model's log density, its mean over particles, on the pattern of the graph:
 *
 *     H = - 1/n sum_l  d^2 log p / dx dx'  at x_l
 *
 * Second derivatives come factor by factor: of the model language from the engine (expr/hessian.h), of the quadratic
 * its matrix, of factors given as functions by central differences of their gradients. */
#ifndef SVMP_MODEL_CURVATURE_H
#define SVMP_MODEL_CURVATURE_H

#include "model/model.h"
#include "model/sparsity.h"

typedef struct curvature curvature;

/* For n particles. Takes memory for two numbers for each pair of slots of each factor; factors of one group that stand
 * one behind the other and have the same variables count as few. Fails for a part of a model. */
svmp_status svmp_curvature_create(const svmp_model *model, size_t n, int threads, curvature **made);
void svmp_curvature_free(curvature *c); /* NULL-safe */

const sparsity *svmp_curvature_pattern(const curvature *c);

/* H[e] for every entry e of the pattern, from x[i*n + l]; sums have a fixed order, the same bits for any number of
 * threads. width[i] is about the standard deviation of variable i, of which differences take a thousandth; NULL:
 * nobody knows. Entries need not be finite. */
svmp_status svmp_curvature_evaluate(curvature *c, const double *x, const double *width, double *H);

#endif
