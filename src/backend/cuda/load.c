/* Finds svmp_cuda.so when a run asks for it: programs start, and run on the CPU, on machines without it. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/nvrtc.h"

#define LIBRARY "svmp_cuda.so"

#ifdef SVMP_HAVE_CUDA
static const char absent[] = "it was built, but is not where it was installed";
#else
static const char absent[] = "this build was made without nvcc";
#endif

/* Beside the file that contains this function: libsvmp, or a program that it is linked into. */
static int beside(char *path, size_t size) {
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)&svmp_cuda_load, &info) == 0 || info.dli_fname == NULL) return 0;
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash ? (int)(slash - info.dli_fname) : 1;
    const int length = snprintf(path, size, "%.*s/%s", folder, slash ? info.dli_fname : ".", LIBRARY);
    return length > 0 && (size_t)length < size;
}

/* $SVMP_CUDA, beside the library, or where the system looks. The library stays loaded until the program ends: the CUDA
 * runtime does not survive being unloaded. */
static void *open_library(void) {
    char path[4096];
    const char *given = getenv("SVMP_CUDA");
    if (given && *given) return dlopen(given, RTLD_NOW | RTLD_NODELETE);
    void *library = beside(path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_NODELETE) : NULL;
    return library ? library : dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
}

/* The operations, or the sentence that says why there are none. */
static const device_ops *find(char *why, size_t size) {
    device_entry entry = NULL;
    void *library = open_library();
    if (library == NULL) {
        snprintf(why, size, "The backends on GPUs need %s, which was not found: %s.", LIBRARY, absent);
        return NULL;
    }
    void *symbol = dlsym(library, DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* C has no cast from an object's address to a function's */
    const device_ops *ops = entry ? entry() : NULL;
    if (ops && ops->version == DEVICE_VERSION) return ops;
    snprintf(why, size, "%s belongs to another version of svmp; install both together.", LIBRARY);
    return NULL;
}

svmp_status svmp_cuda_load(svmp_context *context, const device_ops **ops) {
    char why[512];
    *ops = find(why, sizeof why);
    return *ops ? SVMP_OK : svmp_fail(context, SVMP_UNSUPPORTED, "%s", why);
}

int svmp_cuda_found(char *words, size_t size) {
    char why[512];
    device *d = NULL;
    const device_ops *ops = find(why, sizeof why);
    if (ops == NULL || ops->open(&d, 0, why, sizeof why) != 0) {
        snprintf(words, size, "%s", why);
        return 0;
    }
    snprintf(words, size, "%s", ops->describe(d));
    ops->close(d);
    return 1;
}

const char *svmp_gpu_found(char *buffer, size_t size) {
    char words[512], why[512];
    nvrtc compiler;
    if (buffer == NULL || size == 0) return NULL;
    const int found = svmp_cuda_found(words, sizeof words);
    if (!found)
        snprintf(buffer, size, "gpu: no. %s", words);
    else if (svmp_nvrtc_find(&compiler, why, sizeof why))
        snprintf(buffer, size, "gpu: %s, NVRTC %d.%d", words, compiler.major, compiler.minor);
    else
        snprintf(buffer, size, "gpu: %s, no NVRTC", words);
    return buffer;
}
