/* Log density and score of a model for n particles, with room that is allocated once. */
#ifndef SVMP_MODEL_EVALUATE_H
#define SVMP_MODEL_EVALUATE_H

#include "model/model.h"

typedef struct evaluator evaluator;

/* `threads`: at most this many; an evaluator of one thread may be used inside a parallel region. */
svmp_status svmp_evaluator_create(const svmp_model *model, size_t n, int threads, evaluator **made);
void svmp_evaluator_free(evaluator *e);

/* log_density[l] and score (of own variables)[i*n + l]; either may be NULL. Allocates nothing. */
svmp_status svmp_evaluate(evaluator *e, const double *x, double *log_density, double *score);

/* The scores of a span of own nodes, 0 ... interior, interior ... own, or all of them: the first span reads no halo,
 * and what it leaves is needed by the second. */
svmp_status svmp_evaluate_span(evaluator *e, node_span span, const double *x, double *score);

/* The same without a word, for use inside a parallel region: returns 0, or anything else when a factor's function
 * failed; svmp_evaluator_fail then says which, after the region. */
int svmp_evaluate_silently(evaluator *e, const double *x, double *log_density, double *score);
svmp_status svmp_evaluator_fail(const evaluator *e);

/* log p of all particles: each is a sum without rounding (base/exact.h) of what every factor and every variable of the
 * quadratic yields, of a part over all its processes. It has no order, and so the same bits for any threads, processes
 * and partition, but not those of `log_density` above. *known is 0 when a factor's function failed somewhere. */
svmp_status svmp_evaluate_log_density(evaluator *e, const double *x, double *log_density, int *known);

/* The factor whose gradient made the score of a variable in a particle not finite in the last evaluation; SIZE_MAX
 * when no single factor did. */
size_t svmp_evaluator_blame(const evaluator *e, size_t variable, size_t particle);

#endif
