/* Chooses the centring of nodes of location-scale families, from the information of data and prior about each. */
#ifndef SVMP_PREPARE_COORDINATE_CHOICE_H
#define SVMP_PREPARE_COORDINATE_CHOICE_H

#include "model/model.h"
#include "model/text_model.h"

/* Whether any node of a model text could be moved in other coordinates, and might benefit; a jointly Gaussian model has
 * an exact answer. */
int svmp_model_has_centring_choice(const svmp_model *model);

/* Sets the coordinates of every node that has a choice, from n particles x of a model whose nodes are all centred, on
 * the unconstrained scale. The particles need only be near the posterior. */
svmp_status svmp_centring_choose(const svmp_model *model, size_t n, const double *x, node_coordinates *chosen);

#endif
