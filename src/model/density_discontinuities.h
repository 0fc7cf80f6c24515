/* Variables in which the density may jump: step(x), x > y, a subscript that depends on x. Stein's identities, which
 * integrate by parts, do not hold for them, so that no method may rest on their scores; exact moves are right. */
#ifndef SVMP_MODEL_DENSITY_DISCONTINUITIES_H
#define SVMP_MODEL_DENSITY_DISCONTINUITIES_H

#include "model/model.h"

/* *jumps[i]: of each variable of the model, by the form of its factors; the caller's. NULL: there are none. */
svmp_status svmp_model_discontinuities(const svmp_model *model, bool **discontinuous);

#endif
