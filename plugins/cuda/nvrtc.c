#include "cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/shared_library.h"
#include "cuda/embedded_sources.h"

/* ---- the library ------------------------------------------------------------------------------------------------- */

static int bind_all(void *library, nvrtc *made) {
    return svmp_library_bind(library, "nvrtcVersion", &made->version) &&
           svmp_library_bind(library, "nvrtcCreateProgram", &made->create) &&
           svmp_library_bind(library, "nvrtcCompileProgram", &made->compile) &&
           svmp_library_bind(library, "nvrtcGetCUBINSize", &made->image_size) &&
           svmp_library_bind(library, "nvrtcGetCUBIN", &made->image) &&
           svmp_library_bind(library, "nvrtcGetProgramLogSize", &made->log_size) &&
           svmp_library_bind(library, "nvrtcGetProgramLog", &made->log) &&
           svmp_library_bind(library, "nvrtcDestroyProgram", &made->destroy) &&
           made->version(&made->major, &made->minor) == 0;
}

typedef struct nvrtc_search {
    void *library;
    char why[300]; /* what the system says of the first that is there, but cannot be loaded; or empty */
} nvrtc_search;

static void try_path(nvrtc_search *search, const char *path) {
    char words[200];
    int absent;
    if (search->library) return;
    search->library = svmp_library_open(path, 0, &absent, words, sizeof words);
    if (search->library == NULL && !absent && *search->why == '\0')
        snprintf(search->why, sizeof search->why, "%.80s: %s", path, words);
}

static void try_folder(nvrtc_search *search, const char *folder) {
    char path[4096];
    const int length = folder && *folder ? snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", folder) : 0;
    if (length > 0 && (size_t)length < sizeof path) try_path(search, path);
}

static void look_around(nvrtc_search *search) {
    const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) try_path(search, names[k]);
    try_folder(search, getenv("CUDA_PATH"));
    try_folder(search, "/usr/local/cuda");
    try_folder(search, "/opt/cuda");
}

int svmp_nvrtc_find(nvrtc *made, char *why, size_t size) {
    const char *given = getenv("SVMP_NVRTC");
    nvrtc_search search = {0};
    int absent;
    *made = (nvrtc){0};
    if (given && *given == '\0') {
        snprintf(why, size, "SVMP_NVRTC is empty");
        return 0;
    }
    if (given)
        search.library = svmp_library_open(given, 0, &absent, search.why, sizeof search.why);
    else
        look_around(&search);
    if (search.library && bind_all(search.library, made)) return 1;
    made->wrong = search.library || *search.why;
    if (search.library)
        snprintf(why, size, "%s is not NVRTC 11.2 or newer", given ? given : "libnvrtc.so");
    else if (given)
        snprintf(why, size, "SVMP_NVRTC is '%s': %s", given, search.why);
    else if (made->wrong)
        snprintf(why, size, "NVRTC cannot be loaded: %s", search.why);
    else
        snprintf(why, size, "NVRTC (libnvrtc.so) was not found");
    return 0;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* Beside the files of this library those of the system, which NVRTC does not need: generated_words.h has what they
 * have. */
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

enum { OPTIONS = 2 };
typedef struct nvrtc_options {
    char architecture[64];
    const char *list[OPTIONS];
} nvrtc_options;

static void set_options(nvrtc_options *options, int capability) {
    snprintf(options->architecture, sizeof options->architecture, "--gpu-architecture=sm_%d", capability);
    options->list[0] = options->architecture;
    options->list[1] = "--std=c++17";
}

static uint64_t hash_sized(uint64_t hash, size_t size, const void *bytes) {
    return svmp_hash_bytes(svmp_hash_word(hash, size), size, bytes);
}

uint64_t svmp_nvrtc_key(const nvrtc *compiler, const char *text, int capability, uint64_t start) {
    uint64_t hash = svmp_hash_word(SVMP_HASH_START, start);
    nvrtc_options options;
    set_options(&options, capability);
    hash = hash_sized(hash, strlen(SVMP_VERSION), SVMP_VERSION);
    hash = svmp_hash_word(svmp_hash_word(hash, (uint64_t)compiler->major), (uint64_t)compiler->minor);
    for (size_t k = 0; k < OPTIONS; k++) hash = hash_sized(hash, strlen(options.list[k]), options.list[k]);
    for (size_t k = 0; k < OWN_SOURCES; k++) hash = hash_sized(hash, sources[k]->size, sources[k]->bytes);
    return hash_sized(hash, strlen(text), text);
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

svmp_status svmp_nvrtc_compile(const svmp_host *host, const nvrtc *compiler, const char *text, int capability,
                               char **image, size_t *bytes, char *why, size_t size) {
    const char *contents[SOURCES];
    nvrtc_options options;
    nvrtc_program program = NULL;
    svmp_status status = SVMP_OK;
    for (size_t k = 0; k < SOURCES; k++) contents[k] = k < OWN_SOURCES ? (const char *)sources[k]->bytes : "";
    set_options(&options, capability);
    snprintf(why, size, "NVRTC does not take them");
    *image = NULL;
    *bytes = 0;
    if (compiler->create(&program, text, "programs.cu", SOURCES, contents, source_names) != 0) return SVMP_OK;
    if (compiler->compile(program, OPTIONS, options.list) != 0) {
        read_log(compiler, program, why, size);
    } else if (compiler->image_size(program, bytes) == 0 && *bytes > 0) {
        CUDA_CHECK(CUDA_NEW(host, *image, *bytes));
        if (compiler->image(program, *image) != 0) {
            svmp_host_release(host, *image);
            *image = NULL;
        }
    }
done:
    compiler->destroy(&program);
    return status;
}
