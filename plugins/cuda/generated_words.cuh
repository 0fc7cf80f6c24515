// Kernels that were generated and compiled when a run started: loaded and launched by the driver, which the runtime has
// loaded already. Its functions are looked up by name: all drivers have them, and no toolkit's runtime is asked for
// more.
struct driver {
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*unload)(CUmodule);
    CUresult (*find)(CUfunction *, CUmodule, const char *);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                       void **, void **);
    CUresult (*launch_with)(const CUlaunchConfig *, CUfunction, void **, void **); // NULL: an older driver
};

static int bind_driver(driver *made) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return 0;
    made->load = (decltype(made->load))dlsym(library, "cuModuleLoadData");
    made->unload = (decltype(made->unload))dlsym(library, "cuModuleUnload");
    made->find = (decltype(made->find))dlsym(library, "cuModuleGetFunction");
    made->launch = (decltype(made->launch))dlsym(library, "cuLaunchKernel");
    made->launch_with = (decltype(made->launch_with))dlsym(library, "cuLaunchKernelEx");
    return made->load && made->unload && made->find && made->launch;
}

struct generated_code {
    driver calls;
    CUmodule module;
};

static int capability(const device *d) { return d->capability; }

static void unload(device *d) {
    if (d->generated && d->generated->module) d->generated->calls.unload(d->generated->module);
    delete d->generated;
    d->generated = nullptr;
}

static int load(device *d, const void *image, size_t bytes, size_t count, void **kernels) {
    (void)bytes; // the image knows
    if (enter(d)) return 1;
    unload(d);
    d->generated = new (std::nothrow) generated_code();
    if (d->generated == nullptr) return 1;
    generated_code *made = d->generated;
    int failed = !bind_driver(&made->calls) || made->calls.load(&made->module, image) != CUDA_SUCCESS;
    for (size_t s = 0; !failed && s < count; s++) {
        char name[32];
        snprintf(name, sizeof name, "generated_%zu", s);
        failed = made->calls.find((CUfunction *)&kernels[s], made->module, name) != CUDA_SUCCESS;
    }
    if (failed) unload(d);
    return failed;
}

static int launch_generated(device *d, const generated_args *a, size_t blocks) {
    const driver *calls = &d->generated->calls;
    const step_gate gate = gate_of(d);
    const unsigned long long *wrong_at = &gate.report->state.wrong_at;
    unsigned long long step = gate.step;
    void *parameters[] = {(void *)a, (void *)&wrong_at, (void *)&step};
    CUresult result;
    if (d->waits && calls->launch_with) {
        CUlaunchAttribute attribute = {};
        CUlaunchConfig how = {};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        how.gridDimX = (unsigned)blocks;
        how.blockDimX = GENERATED_BLOCK;
        how.gridDimY = how.gridDimZ = how.blockDimY = how.blockDimZ = 1;
        how.hStream = (CUstream)d->stream;
        how.attrs = &attribute;
        how.numAttrs = 1;
        result = calls->launch_with(&how, (CUfunction)a->kernel, parameters, nullptr);
    } else {
        result = calls->launch((CUfunction)a->kernel, (unsigned)blocks, 1, 1, GENERATED_BLOCK, 1, 1, 0,
                               (CUstream)d->stream, parameters, nullptr);
    }
    return result == CUDA_SUCCESS ? 0 : check(d, cudaErrorLaunchFailure);
}
