/* The choice of the backend `auto`: whether a run is worth a GPU, and whether there is one. */
#ifndef SVMP_BACKEND_BACKEND_CHOICE_H
#define SVMP_BACKEND_BACKEND_CHOICE_H

#include "backend/backend.h"

/* BROKEN: a library for GPUs is there, or SVMP_CUDA names one, and it cannot be used. */
typedef enum gpu_state { GPU_FOUND, GPU_ABSENT, GPU_BROKEN } gpu_state;

/* `words` are the name of the GPU, or sentences of which the first one says why there is none. */
gpu_state svmp_gpu_search(char *words, size_t size);

/* Why n particles of the model belong on the CPU, as a clause: "the run is small for a GPU"; "" if they do not. `k` is
 * NULL for a method without a kernel. A GPU is only searched for if it would pay off; a broken library is a warning. */
void svmp_backend_choose(const svmp_model *model, size_t n, const kernel *k, char *why, size_t size);

#endif
