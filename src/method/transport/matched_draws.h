/* Draws of chains, matched to the averages over all iterations. */
#ifndef SVMP_METHOD_TRANSPORT_MATCHED_DRAWS_H
#define SVMP_METHOD_TRANSPORT_MATCHED_DRAWS_H

#include "method/transport/covariance.h"
#include "model/model.h"
#include "prepare/fitted_gaussian.h"

typedef struct match_targets {
    gaussian *q;
    covariance *covariance; /* NULL: variances alone */
    const average *rows;    /* of the variables */
    const average *text;    /* of those that move in other coordinates, on the scale of the text */
} match_targets;

/* Gives the n draws x[i*n + l] the moments of the targets. A draw whose density is then 0 stays as it was; all do if
 * that distorts a variable. Needs room for x three times. */
svmp_status svmp_match_draws(const svmp_model *model, const match_targets *to, size_t n, size_t chains, double *x);

/* Gives nodes that move in other coordinates the moments `to`, on the scale of the text. */
svmp_status svmp_match_text(const svmp_model *model, const average *to, size_t n, double *x);

#endif
