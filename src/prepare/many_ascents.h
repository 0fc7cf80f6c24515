/* L-BFGS from many points at once (Nocedal and Wright, Algorithm 7.4, with backtracking): each of a few lanes climbs
 * from a point, and takes the next one when it has arrived, so that the model is always evaluated for all lanes. */
#ifndef SVMP_PREPARE_MANY_ASCENTS_H
#define SVMP_PREPARE_MANY_ASCENTS_H

#include "model/evaluator.h"

enum { ASCENT_LANES = 32 };

/* The end of a climb: its log density, not finite if that of the start is not; and whether it arrived. */
typedef struct ascent_end {
    double value;
    bool arrived;
} ascent_end;

/* Replaces `count` points, points[k*variables + i], by those that they climb to. Steps are in the given units, one for
 * each variable; `e` is an evaluator of ASCENT_LANES particles. Adds the number of gradients to *gradients. The end of
 * a point does not depend on the other points. */
svmp_status svmp_many_ascents(const svmp_model *model, evaluator *e, const double *unit, size_t count, double *points,
                              ascent_end *ends, size_t *gradients);

#endif
