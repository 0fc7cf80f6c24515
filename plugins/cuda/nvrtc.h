/* NVRTC, NVIDIA's compiler as a library, which is loaded when a run needs it and never linked. Without it, programs are
 * interpreted. */
#ifndef SVMP_CUDA_NVRTC_H
#define SVMP_CUDA_NVRTC_H

#include "cuda/cuda_host.h"

/* The functions of nvrtc.h that are used, which is not needed to build, from version 11.2 on; results are 0 or an
 * error. */
typedef struct nvrtc_program_ *nvrtc_program;
typedef struct nvrtc {
    int major, minor;
    int wrong; /* it was not found because SVMP_NVRTC names another file, or because the library cannot be used */
    int (*version)(int *major, int *minor);
    int (*create)(nvrtc_program *made, const char *text, const char *name, int headers, const char *const *contents,
                  const char *const *names);
    int (*compile)(nvrtc_program program, int count, const char *const *options);
    int (*image_size)(nvrtc_program program, size_t *bytes);
    int (*image)(nvrtc_program program, char *to);
    int (*log_size)(nvrtc_program program, size_t *bytes);
    int (*log)(nvrtc_program program, char *to);
    int (*destroy)(nvrtc_program *program);
} nvrtc;

/* Finds the library: $SVMP_NVRTC (empty: it is not used), in the system's library folders, or in a folder of CUDA.
 * Returns 0, with the reason in `why`, if none can be used. */
int svmp_nvrtc_find(nvrtc *made, char *why, size_t size);

/* A number for what the compiler would make of a text: of the text, the files of this library that it includes, the
 * options, the compute capability (90: 9.0) among them, and the versions of the compiler and of svmp. */
uint64_t svmp_nvrtc_key(const nvrtc *compiler, const char *text, int capability, uint64_t start);

/* Machine code of a text. *image is NULL, and `why` has the reason, if the compiler refuses it; else the caller
 * releases it. */
svmp_status svmp_nvrtc_compile(const svmp_host *host, const nvrtc *compiler, const char *text, int capability,
                               char **image, size_t *bytes, char *why, size_t size);

#endif
