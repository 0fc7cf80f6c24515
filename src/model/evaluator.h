/* Evaluates the log density and score of a model for n particles, with working memory that is allocated once. */
#ifndef SVMP_MODEL_EVALUATOR_H
#define SVMP_MODEL_EVALUATOR_H

#include "model/model.h"

typedef struct evaluator evaluator;

enum { EVALUATOR_WAVE = 1 << 17 }; /* gradients that are kept at a time, for each thread */

/* `threads`: at most this many; an evaluator of one thread may be used inside a parallel region. */
svmp_status svmp_evaluator_create(const svmp_model *model, size_t n, int threads, evaluator **made);

/* The same for n of `whole` particles: sums over factors have an order that depends on the number of particles, and
 * this is that of an evaluator for all of them. */
svmp_status svmp_evaluator_create_share(const svmp_model *model, size_t n, size_t whole, int threads, evaluator **made);
void svmp_evaluator_free(evaluator *e);

/* log_density[l] and score[i*n + l], of own variables; either may be NULL. Allocates nothing. */
svmp_status svmp_evaluate(evaluator *e, const double *x, double *log_density, double *score);

/* The scores of a span of own nodes: 0 ... interior, interior ... own, or all. The first of these does not read the
 * halo. */
svmp_status svmp_evaluate_span(evaluator *e, node_span span, const double *x, double *score);

/* The same as svmp_evaluate without an error message, for use inside a parallel region: returns 0, or another value if
 * a factor could not be evaluated; after the region, svmp_evaluator_fail reports which. */
int svmp_evaluate_silently(evaluator *e, const double *x, double *log_density, double *score);
svmp_status svmp_evaluator_fail(const evaluator *e);

/* log p of all particles as exact sums (base/exact_sum.h) over all factors and all variables of the quadratic; for a
 * part, over all processes. The bits are the same for any number of threads and processes and any partition, but differ
 * from those of `log_density` above. *known is 0 if a callback failed. */
svmp_status svmp_evaluate_log_density(evaluator *e, const double *x, double *log_density, int *known);

/* What this process adds to these sums, as EXACT_WORDS integers for each particle (svmp_exact_to_words); without the
 * constant of the quadratic. */
svmp_status svmp_evaluate_own_sums(evaluator *e, const double *x, int64_t *words, int *known);

/* The factor of a variable whose derivative is not finite in a particle of x, or whose value is NaN; SIZE_MAX if there
 * is no single such factor. */
size_t svmp_evaluator_find_failure(evaluator *e, const double *x, size_t variable, size_t particle);

/* Fails because score[at] of the n particles x is not finite at iteration t: names the variable, the particle, its
 * value and, as far as can be told, the factor. `e` may be NULL. */
svmp_status svmp_evaluator_fail_score(evaluator *e, const svmp_model *model, size_t n, const double *x,
                                      const double *score, size_t at, size_t t);

/* The line of the factor's statement in the model text; 0: none. */
size_t svmp_model_factor_line(const svmp_model *model, size_t factor);

/* The line of the statement that fails where this factor does, at x, for an evaluator of one particle: that of what it
 * reads, if this is computed and not finite; otherwise its own. */
size_t svmp_evaluator_failure_line(evaluator *e, const double *x, size_t factor);

#endif
