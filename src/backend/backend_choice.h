/* The choice of the backend `auto`: whether a run is worth a device, and whether there is one. */
#ifndef SVMP_BACKEND_BACKEND_CHOICE_H
#define SVMP_BACKEND_BACKEND_CHOICE_H

#include "backend/backend.h"

/* Why n particles of the model belong on the CPU, as a clause: "the run is small for a GPU"; "" if they do not. `k` is
 * NULL for a method without a kernel. A device is only searched for if it would pay off; a plug-in that cannot be
 * used is a warning. */
void svmp_backend_choose(const svmp_model *model, size_t n, const kernel *k, char *why, size_t size);

#endif
