/* How far nodes of location-scale families are to be centred: from what the data and the prior say of each. */
#ifndef SVMP_PREPARE_COORDINATE_CHOICE_H
#define SVMP_PREPARE_COORDINATE_CHOICE_H

#include "model/model.h"
#include "model/text_model.h"

/* Whether any node of a model text could be moved in other coordinates, and would gain: a model that is jointly
 * Gaussian has an exact answer. */
int svmp_model_has_centring_choice(const svmp_model *model);

/* The coordinates of every node, of which those that have no choice stay as they are: from n particles x of a model all
 * of whose nodes are centred, on the unconstrained scale, which need not be more than near the posterior. */
svmp_status svmp_centring_choose(const svmp_model *model, size_t n, const double *x, node_coordinates *chosen);

#endif
