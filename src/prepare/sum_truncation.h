/* Where the sums over counts without a largest value end. A model text is read with ends that are far above the data
 * (lang/discrete/discrete_unknowns.c); what particles near the posterior say of the counts then moves them, so that no
 * value with weight is left out and none without is summed. */
#ifndef SVMP_PREPARE_SUM_TRUNCATION_H
#define SVMP_PREPARE_SUM_TRUNCATION_H

#include "model/model.h"
#include "prepare/fitted_gaussian.h"

/* Whether a model sums over such counts. */
int svmp_ends_matter(const svmp_model *model);

typedef enum ends_found {
    ENDS_STAY,
    ENDS_CLOSER,  /* some sums are shorter */
    ENDS_UNSURE,  /* some sums are longer, since tails of the posterior may reach their ends; or */
    ENDS_FURTHER, /* because it does. Either way the model is another one then, and is to be looked at again */
} ends_found;

/* ends[k] is the last value to be summed of discrete unknown k of the model text; 0: as it is, of those that are not
 * such counts, too. From n particles x drawn from q. `unknown` (may be NULL) is the one with most weight at its end. */
svmp_status svmp_ends_choose(const svmp_model *model, const gaussian *q, size_t n, const double *x, uint32_t *ends,
                             uint32_t *unknown, ends_found *found);

#endif
