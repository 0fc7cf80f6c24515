#include "backend/cuda/nvrtc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/sources.h"
#include "base/hash.h"

/* ---- the library ------------------------------------------------------------------------------------------------- */

static int bind(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol); /* C has no cast from an object's address to a function's */
    return symbol != NULL;
}

static int bind_all(void *library, nvrtc *made) {
    return bind(library, "nvrtcVersion", &made->version) && bind(library, "nvrtcCreateProgram", &made->create) &&
           bind(library, "nvrtcCompileProgram", &made->compile) &&
           bind(library, "nvrtcGetCUBINSize", &made->image_size) && bind(library, "nvrtcGetCUBIN", &made->image) &&
           bind(library, "nvrtcGetProgramLogSize", &made->log_size) &&
           bind(library, "nvrtcGetProgramLog", &made->log) && bind(library, "nvrtcDestroyProgram", &made->destroy) &&
           made->version(&made->major, &made->minor) == 0;
}

static void *open_in(const char *folder) {
    char path[4096];
    const int length = folder && *folder ? snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", folder) : 0;
    return length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* The library stays loaded until the program ends. */
static void *open_library(void) {
    const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    void *library = NULL;
    for (size_t k = 0; library == NULL && k < sizeof names / sizeof *names; k++)
        library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = open_in(getenv("CUDA_PATH"));
    if (library == NULL) library = open_in("/usr/local/cuda");
    return library ? library : open_in("/opt/cuda");
}

int svmp_nvrtc_find(nvrtc *made, char *why, size_t size) {
    const char *given = getenv("SVMP_NVRTC");
    if (given && *given == '\0') {
        snprintf(why, size, "SVMP_NVRTC is empty");
        return 0;
    }
    void *library = given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : open_library();
    if (library == NULL) {
        snprintf(why, size, "NVRTC (%s) was not found", given ? given : "libnvrtc.so");
        return 0;
    }
    if (bind_all(library, made)) return 1;
    snprintf(why, size, "%s is not NVRTC 11.2 or newer", given ? given : "libnvrtc.so");
    return 0;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* Beside the files of this library those of the system, which NVRTC does not need: generated.h has what they have. */
#define SYSTEM_LIST(X) X("math.h") X("float.h") X("stdint.h") X("string.h")
static const char *const source_names[] = {
#define ROW(symbol, name) name,
    SOURCE_LIST(ROW)
#undef ROW
#define ROW(name) name,
        SYSTEM_LIST(ROW)
#undef ROW
};
enum { SOURCES = sizeof source_names / sizeof *source_names };

static const embedded_file *const sources[] = {
#define ROW(symbol, name) &symbol,
    SOURCE_LIST(ROW)
#undef ROW
};
enum { OWN_SOURCES = sizeof sources / sizeof *sources };

uint64_t svmp_nvrtc_key(const nvrtc *compiler, const char *text, int capability, uint64_t start) {
    uint64_t hash = svmp_hash_word(svmp_hash_word(SVMP_HASH_START, start), (uint64_t)capability);
    hash = svmp_hash_word(svmp_hash_word(hash, (uint64_t)compiler->major), (uint64_t)compiler->minor);
    for (size_t k = 0; k < OWN_SOURCES; k++)
        hash = svmp_hash_bytes(svmp_hash_word(hash, sources[k]->size), sources[k]->size, sources[k]->bytes);
    return svmp_hash_bytes(svmp_hash_word(hash, strlen(text)), strlen(text), text);
}

/* Copies the first error of what the compiler says. */
static void read_log(const nvrtc *compiler, nvrtc_program program, char *why, size_t size) {
    char *log = NULL;
    size_t bytes = 0;
    snprintf(why, size, "NVRTC does not compile them");
    if (compiler->log_size(program, &bytes) != 0 || bytes < 2 || (log = calloc(bytes + 1, 1)) == NULL) return;
    if (compiler->log(program, log) == 0) {
        char *found = strstr(log, "error");
        while (found && found > log && found[-1] != '\n') found--;
        if (found == NULL) found = log;
        found[strcspn(found, "\n")] = '\0';
        snprintf(why, size, "NVRTC does not compile them: %s", found);
    }
    free(log);
}

svmp_status svmp_nvrtc_compile(svmp_context *context, const nvrtc *compiler, const char *text, int capability,
                               char **image, size_t *bytes, char *why, size_t size) {
    const char *contents[SOURCES];
    char architecture[64];
    const char *const options[] = {architecture, "--std=c++17"};
    nvrtc_program program = NULL;
    svmp_status status = SVMP_OK;
    for (size_t k = 0; k < SOURCES; k++) contents[k] = k < OWN_SOURCES ? (const char *)sources[k]->bytes : "";
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", capability);
    snprintf(why, size, "NVRTC does not take them");
    *image = NULL;
    *bytes = 0;
    if (compiler->create(&program, text, "programs.cu", SOURCES, contents, source_names) != 0) return SVMP_OK;
    if (compiler->compile(program, sizeof options / sizeof *options, options) != 0) {
        read_log(compiler, program, why, size);
    } else if (compiler->image_size(program, bytes) == 0 && *bytes > 0) {
        SVMP_CHECK(SVMP_NEW(context, *image, *bytes));
        if (compiler->image(program, *image) != 0) {
            svmp_release(context, *image);
            *image = NULL;
        }
    }
done:
    compiler->destroy(&program);
    return status;
}
