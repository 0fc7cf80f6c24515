/* Finds svmp_cuda.so when a run asks for it: programs start, and run on the CPU, on machines without it. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"

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

svmp_status svmp_cuda_load(svmp_context *context, const device_ops **ops) {
    device_entry entry = NULL;
    void *library = open_library();
    if (library == NULL)
        return svmp_fail(context, SVMP_UNSUPPORTED, "The backends on GPUs need %s, which was not found: %s.", LIBRARY,
                         absent);
    void *symbol = dlsym(library, DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* C has no cast from an object's address to a function's */
    *ops = entry ? entry() : NULL;
    if (*ops == NULL || (*ops)->version != DEVICE_VERSION)
        return svmp_fail(context, SVMP_UNSUPPORTED, "%s belongs to another version of svmp; install both together.",
                         LIBRARY);
    return SVMP_OK;
}
