/* Log density and score of a model for n particles, with room that is allocated once. */
#ifndef SVMP_MODEL_EVALUATE_H
#define SVMP_MODEL_EVALUATE_H

#include "model/model.h"

typedef struct evaluator evaluator;

svmp_status svmp_evaluator_create(const svmp_model *model, size_t n, evaluator **made);
void svmp_evaluator_free(evaluator *e);

/* log_density[l] and score[i*n + l]; either may be NULL. Allocates nothing. */
svmp_status svmp_evaluate(evaluator *e, const double *x, double *log_density, double *score);

/* The factor whose gradient made the score of a variable in a particle not finite in the last evaluation; SIZE_MAX
 * when no single factor did. */
size_t svmp_evaluator_blame(const evaluator *e, size_t variable, size_t particle);

#endif
