/* The plug-in svmp_cuda.so: backends on NVIDIA GPUs. */
#include "cuda/cuda_backend.h"
#include "known_plugins.h"

/* Pairs of particles in single precision, the rest in double. */
static int open_mixed(const svmp_device_request *request, svmp_device_particles *made) {
    return svmp_cuda_open(request, svmp_cuda_device(), 32, made);
}

static int open_double(const svmp_device_request *request, svmp_device_particles *made) {
    return svmp_cuda_open(request, svmp_cuda_device(), 64, made);
}

static int look(char *words, size_t size) { return svmp_cuda_look(svmp_cuda_device(), words, size); }

__attribute__((visibility("default"))) const svmp_plugin *svmp_plugin_entry(void);
const svmp_plugin *svmp_plugin_entry(void) {
    static const svmp_device mixed = CUDA_DEVICE("cuda", "cuda-f64", open_mixed),
                             precise = CUDA_DEVICE("cuda-f64", NULL, open_double);
    static const svmp_device *const devices[] = {&mixed, &precise, NULL};
    static const svmp_plugin plugin = {.version = SVMP_PLUGIN_VERSION,
                                       .kind = SVMP_PLUGIN_DEVICE,
                                       .name = "cuda",
                                       .formulas = KNOWN_FORMULAS,
                                       .look = look,
                                       .devices = devices};
    return &plugin;
}
