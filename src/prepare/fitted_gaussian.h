/* The Gaussian on the graph: q = N(m, A^-1), A with the pattern of the model's second derivatives, that maximises
 *
 *     F(m, A) = mean over l of log p(x_l) - log det(A) / 2,     x_l = m + A^-1/2 z_l
 *
 * for fixed standard normal z_l. It is the start `gaussian`, and the metric in which the method
 * transport moves. All of it is on the unconstrained scale, where particles move. */
#ifndef SVMP_PREPARE_FITTED_GAUSSIAN_H
#define SVMP_PREPARE_FITTED_GAUSSIAN_H

#include "maths/sparse_pattern.h"
#include "maths/sparse_whitening.h"
#include "model/model.h"

typedef struct gaussian gaussian;

/* Of the fits before a run, so that choices do not depend on the seed of the run. It is the default of runs, too: they
 * take such a fit (svmp_gaussian_keep). */
enum { GAUSSIAN_SEED = 1 };

/* The best of several starts; random numbers are keyed by the seed, and the result has the same bits for any number of
 * threads. The model must live as long. Fails as SVMP_UNSUPPORTED, with a sentence, for a part of a model, one with
 * boxes, and one whose density is not finite around any start. */
svmp_status svmp_gaussian_create(const svmp_model *model, uint64_t seed, gaussian **made);

/* The same from one start: `from`, a number for each variable. NULL: from several. */
svmp_status svmp_gaussian_create_from(const svmp_model *model, uint64_t seed, const double *from, gaussian **made);
void svmp_gaussian_free(gaussian *q); /* NULL-safe */

/* Hands q, made by svmp_gaussian_create with this seed, over to its model, also on failure: the next one that is
 * created with the same seed from several starts is this one, and is not fitted again. */
svmp_status svmp_gaussian_keep(svmp_model *model, uint64_t seed, gaussian *q);

/* Frees what is kept and was not taken. */
void svmp_gaussian_drop(const svmp_model *model);

/* The memory that it takes, besides its matrices. */
double svmp_gaussian_bytes(const svmp_model *model);

/* Logs, once a run, that second derivatives of factors given as functions come from differences of their
 * gradients, if there are such factors. */
void svmp_gaussian_log_functions(const svmp_model *model);

const double *svmp_gaussian_mean(const gaussian *q); /* a number for each variable */
double svmp_gaussian_bound(const gaussian *q);       /* on log of the integral of p: E log p - E log q */
size_t svmp_gaussian_entries(const gaussian *q);     /* of the Cholesky factor of A: what a solve costs */

/* Where starts came to an end: the mean of each, with that of the best among them; at most six. Several of them may be
 * the same, and others much lower. NULL beyond the last one. */
const double *svmp_gaussian_local_optimum(const gaussian *q, size_t k);

/* The precision A: entry e of the pattern is value[e]. */
const sparsity *svmp_gaussian_pattern(const gaussian *q);
const double *svmp_gaussian_precision(const gaussian *q);

/* variance[i] = (A^-1)_ii */
svmp_status svmp_gaussian_variance(gaussian *q, double *variance);

/* x = A^-1 x, of n columns x[i*n + l]; and standard normal numbers become draws from N(0, A^-1). */
svmp_status svmp_gaussian_solve(gaussian *q, size_t n, double *x);
svmp_status svmp_gaussian_correlate(gaussian *q, size_t n, double *x);

/* Coordinates in which q is standard normal or, if `diagonal`, has the variances 1. The caller frees them. */
svmp_status svmp_gaussian_whitening(gaussian *q, int diagonal, whitening **made);

/* n particles x[i*n + l] from q, in antithetic pairs, 2l and 2l + 1. One whose density is not finite is pulled in
 * towards the mean, halfway again and again. Keyed by the seed, apart from other purposes' numbers. */
svmp_status svmp_gaussian_draw(gaussian *q, uint64_t seed, size_t n, double *x);

#endif
