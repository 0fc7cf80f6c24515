/* Where the sums over counts without a largest value end. A model text is read with ends that are far above the data
 * (lang/discrete/discrete_unknowns.c); what particles near the posterior say of the counts then moves them, so that no
 * value with weight is left out and none without is summed. */
#ifndef SVMP_PREPARE_SUM_TRUNCATION_H
#define SVMP_PREPARE_SUM_TRUNCATION_H

#include "model/model.h"
#include "prepare/fitted_gaussian.h"

/* Whether a model sums over such counts. */
int svmp_model_has_open_sums(const svmp_model *model);

typedef enum truncation_change {
    TRUNCATION_SAME,
    TRUNCATION_SHORTER,      /* some sums are shorter */
    TRUNCATION_MAYBE_LONGER, /* some sums are longer, since tails of the posterior may reach their ends; or */
    TRUNCATION_LONGER, /* because it does. Either way the model is another one then, and is to be looked at again */
} truncation_change;

/* ends[k] is the last value to be summed of discrete unknown k of the model text; 0: as it is, of those that are not
 * such counts, too. From n particles x drawn from q. `unknown` (may be NULL) is the one with most weight at its end. */
svmp_status svmp_truncation_choose(const svmp_model *model, const gaussian *q, size_t n, const double *x,
                                   uint32_t *ends, uint32_t *unknown, truncation_change *found);

#endif
