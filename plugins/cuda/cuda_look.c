/* Finds svmp_cuda.so when a run asks for it: programs start, and run on the CPU, on machines without it. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend_choice.h"
#include "base/shared_library.h"
#include "cuda/cuda_backend.h"
#include "cuda/nvrtc.h"

#define LIBRARY "svmp_cuda.so"

#ifdef SVMP_HAVE_CUDA
static const char advice[] = "Build it with 'make' in svmp's sources, or set SVMP_CUDA to its path.";
#else
static const char advice[] = "This build does not include it: run 'make' in svmp's sources on a machine with nvcc, or "
                             "set SVMP_CUDA to its path.";
#endif

/* Beside the file that contains this function: libsvmp, or a program that it is linked into, unless that was found by
 * its name alone. */
static int beside(char *path, size_t size) {
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)&svmp_cuda_load, &info) == 0 || info.dli_fname == NULL) return 0;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash == NULL) return 0;
    const int length = snprintf(path, size, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname, LIBRARY);
    return length > 0 && (size_t)length < size;
}

/* Beside the library, or where the system looks; `path` says where it is, and *broken whether it is there in vain. */
static void *open_usual(char *path, size_t room, int *broken, char *why, size_t size) {
    char words[300] = "", more[300] = "";
    int absent = 1, absent_there = 1;
    void *library = beside(path, room) ? svmp_library_open(path, 0, &absent, words, sizeof words) : NULL;
    if (library) return library;
    if (absent) snprintf(path, room, "%s", LIBRARY);
    library = svmp_library_open(LIBRARY, 0, &absent_there, more, sizeof more);
    *broken = !absent || !absent_there;
    if (library)
        snprintf(path, room, "%s", LIBRARY);
    else if (absent && absent_there)
        snprintf(why, size, "The backends on GPUs need %s, which was not found. %s", LIBRARY, advice);
    else
        snprintf(why, size, "The backends on GPUs need '%.150s', which cannot be loaded: %s.", path,
                 absent ? more : words);
    return library;
}

/* $SVMP_CUDA, a path, which may be empty; or the usual one. The library stays loaded until the program ends: the CUDA
 * runtime does not survive being unloaded. */
static void *open_library(char *path, size_t room, int *broken, char *why, size_t size) {
    const char *given = getenv("SVMP_CUDA");
    char words[300];
    int absent;
    if (given == NULL) return open_usual(path, room, broken, why, size);
    *broken = *given != '\0';
    if (*given == '\0') {
        snprintf(why, size, "SVMP_CUDA is empty, so GPUs are not used.");
        return NULL;
    }
    snprintf(path, room, "%s%s", strchr(given, '/') ? "" : "./", given); /* the system would look for it elsewhere */
    void *library = svmp_library_open(path, 0, &absent, words, sizeof words);
    if (library == NULL)
        snprintf(why, size,
                 "SVMP_CUDA names '%.150s', which cannot be loaded (%s): it must be the path of %s, or unset.", given,
                 words, LIBRARY);
    return library;
}

static int is_ours(const device_ops *ops) {
    static const size_t layout[] = DEVICE_NUMBERS;
    if (ops == NULL || ops->version != DEVICE_VERSION) return 0;
    for (size_t k = 0; k < sizeof layout / sizeof *layout; k++)
        if (ops->layout[k] != layout[k]) return 0;
    return 1;
}

/* The operations, or the sentence that says why there are none; *broken: because of a library that cannot be used. */
static const device_ops *find(int *broken, char *why, size_t size) {
    device_entry entry = NULL;
    char path[4096];
    void *library = open_library(path, sizeof path, broken, why, size);
    if (library == NULL) return NULL;
    *broken = 1; /* unless it is ours */
    if (!svmp_library_bind(library, DEVICE_ENTRY, &entry)) {
        snprintf(why, size, "'%.300s' is not svmp's library for GPUs, %s.", path, LIBRARY);
        return NULL;
    }
    const device_ops *ops = entry();
    if (is_ours(ops)) return ops;
    snprintf(why, size, "'%.300s' belongs to another build of svmp; build both from the same sources.", path);
    return NULL;
}

svmp_status svmp_cuda_load(svmp_context *context, const device_ops **ops) {
    char why[512];
    int broken;
    *ops = find(&broken, why, sizeof why);
    return *ops ? SVMP_OK : svmp_fail(context, SVMP_UNSUPPORTED, "%s", why);
}

gpu_state svmp_gpu_search(char *words, size_t size) {
    int broken;
    device *d = NULL;
    const device_ops *ops = find(&broken, words, size);
    if (ops == NULL) return broken ? GPU_BROKEN : GPU_ABSENT;
    if (ops->open(&d, 0, words, size) != 0) return GPU_ABSENT;
    snprintf(words, size, "%s", ops->describe(d));
    ops->close(d);
    return GPU_FOUND;
}

/* The compiler matters where the backends can be, also if this machine has no GPU. */
static void describe_nvrtc(char *text, size_t size) {
    char why[512];
    nvrtc compiler;
    if (svmp_nvrtc_find(&compiler, why, sizeof why))
        snprintf(text, size, "\nnvrtc: yes, %d.%d", compiler.major, compiler.minor);
    else
        snprintf(text, size, "\nnvrtc: no, GPUs interpret the statements of a model (%s)", why);
}

const char *svmp_gpu_found(char *buffer, size_t size) {
    char words[512], compiler[640] = "";
    int broken;
    if (buffer == NULL || size == 0) return NULL;
    const int loaded = find(&broken, words, sizeof words) != NULL;
    const int found = svmp_gpu_search(words, sizeof words) == GPU_FOUND;
    if (loaded || svmp_build_has("cuda")) describe_nvrtc(compiler, sizeof compiler);
    snprintf(buffer, size, "gpu: %s%s%s", found ? "" : "no. ", words, compiler);
    return buffer;
}
