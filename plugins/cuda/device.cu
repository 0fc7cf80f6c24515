// A device on an NVIDIA GPU: svmp_cuda.so, the plug-in (cuda_plugin.c). One stream, so that kernels
// run in the order of their launches; no atomics on floating-point numbers, so that the bits are the same in every run.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <type_traits>

#include "cuda/device_special.h"

#include "cuda/thread_bodies.h"
#include "cuda/stein_kappa.h"

#define REAL       float
#define REAL_EXP   expf
#define REAL_SQRT  sqrtf
#define REAL_FMA   fmaf
#define PAIR(name) name##_32
#include "cuda/pair_bodies.h"
#undef REAL
#undef REAL_EXP
#undef REAL_SQRT
#undef REAL_FMA
#undef PAIR
#define REAL       double
#define REAL_EXP   exp
#define REAL_SQRT  sqrt
#define REAL_FMA   fma
#define PAIR(name) name##_64
#include "cuda/pair_bodies.h"
#undef REAL
#undef REAL_EXP
#undef REAL_SQRT
#undef REAL_FMA
#undef PAIR

#include "cuda/gate.cuh"

struct device {
    cudaStream_t stream;
    cudaError_t failed;
    int number, processors, shared_most;
    int waits;      // whether kernels can start before the one before them has ended
    int tensors;    // whether tensor cores have products in single precision
    int once;       // whether those in half precision are rounded once (tensor.cuh)
    int capability; // 90: 9.0
    char words[128];
    step_report *report;
    volatile unsigned long long *reported;
    int awaited;                      // whether the last step reports itself
    const void *prepared;             // the kernel of the last allow_shared()
    const void *counted;              // the kernel whose blocks were last counted,
    size_t counted_bytes;             // with so much shared memory each:
    int fit;                          // those that a multiprocessor has at once
    unsigned long long steps, taken;  // launched or deferred; whose outcome the host has
    struct iteration_queue *queue;    // queue.cuh
    struct generated_code *generated; // generated.cuh
};

static int flush(device *d);
static unsigned long long launched_steps(const device *d);

enum { THREADS = 256, PROGRAM_THREADS = PROGRAM_BLOCK };

static int check(device *d, cudaError_t error) {
    if (error != cudaSuccess && d->failed == cudaSuccess) d->failed = error;
    return error != cudaSuccess;
}

// Launches a kernel that may start `early`, before the one before it has ended.
template <class... Arguments>
static int launch_early(device *d, void (*kernel)(Arguments...), dim3 grid, dim3 block, size_t shared, bool early,
                        const typename std::decay<Arguments>::type &...arguments) {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t how = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    how.gridDim = grid;
    how.blockDim = block;
    how.dynamicSmemBytes = shared;
    how.stream = d->stream;
    how.attrs = &attribute;
    how.numAttrs = early ? 1 : 0;
    return check(d, cudaLaunchKernelEx(&how, kernel, arguments...));
}

// The same, early where a device can do so: the kernel waits for the one before it.
template <class... Arguments>
static int launch_next(device *d, void (*kernel)(Arguments...), dim3 grid, dim3 block, size_t shared,
                       const typename std::decay<Arguments>::type &...arguments) {
    return launch_early(d, kernel, grid, block, shared, d->waits, arguments...);
}

// The thread that calls may be another one than that which opened the device: its calls go there.
// Before CUDA 12 that alone does not give a thread the context that calls of the driver need (generated_words.cuh); any call
// of the runtime does.
static int enter(device *d) {
    static thread_local int bound = -1;
    if (check(d, cudaSetDevice(d->number))) return 1;
    if (bound == d->number) return 0;
    if (check(d, cudaFree(nullptr))) return 1;
    bound = d->number;
    return 0;
}

// Lets a kernel have all the shared memory that there is. This belongs to the kernel and not to a launch: where two
// threads have a run each, none takes away what the other one needs.
template <class Kernel> static int allow_shared(device *d, Kernel *kernel) {
    cudaFuncAttributes has;
    if (d->prepared == (const void *)kernel) return 0;
    if (check(d, cudaFuncGetAttributes(&has, kernel)) ||
        check(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      d->shared_most - (int)has.sharedSizeBytes)))
        return 1;
    d->prepared = (const void *)kernel;
    return 0;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// Lets the next kernel be set up, and waits for the end of the one before. What is launched without it has waited.
static __device__ __forceinline__ void wait_for_kernels() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// A body for each number below `count`.
#define MAP(name, type, call)                                                                                          \
    static __global__ void __launch_bounds__(THREADS) name(const type a, size_t count, const step_gate gate) {         \
        wait_for_kernels();                                                                                            \
        if (gate.closed()) return;                                                                                     \
        for (size_t t = (size_t)blockIdx.x * THREADS + threadIdx.x; t < count; t += (size_t)gridDim.x * THREADS) call; \
    }
// A body for each number below `count`, done by the 32 threads of a warp.
#define TEAMS(name, type, call)                                                                                        \
    static __global__ void __launch_bounds__(THREADS) name(const type a, size_t count, const step_gate gate) {         \
        wait_for_kernels();                                                                                            \
        if (gate.closed()) return;                                                                                     \
        for (size_t t = ((size_t)blockIdx.x * THREADS + threadIdx.x) / 32; t < count;                                  \
             t += (size_t)gridDim.x * (THREADS / 32))                                                                  \
            call;                                                                                                      \
    }

MAP(kernel_sum, sum_args, body_sum(&a, t))
TEAMS(kernel_centre, centre_args, body_centre(&a, t))
TEAMS(kernel_message, message_args, body_message(&a, t))
MAP(kernel_draw, draw_args, body_draw(&a, t))
MAP(kernel_scale, pair_args, body_scale(&a, t))
MAP(kernel_matrix_32, pair_args, matrix_32(&a, t))
MAP(kernel_matrix_64, pair_args, matrix_64(&a, t))
MAP(kernel_add_pieces_32, pair_args, add_pieces_32(&a, t))
MAP(kernel_add_pieces_64, pair_args, add_pieces_64(&a, t))
MAP(kernel_value_32, pair_args, value_32(&a, t))
MAP(kernel_value_64, pair_args, value_64(&a, t))
MAP(kernel_velocity_32, pair_args, velocity_32(&a, t))
MAP(kernel_velocity_64, pair_args, velocity_64(&a, t))
TEAMS(kernel_moments_32, pair_args, moments_32(&a, t))
TEAMS(kernel_moments_64, pair_args, moments_64(&a, t))
MAP(kernel_first, first_args, body_first(&a, t))
TEAMS(kernel_survey, survey_args, body_survey(&a, t))
TEAMS(kernel_kappa, kappa_args, body_kappa(&a, t))

// Programs: the registers of a lane are in shared memory, lanes side by side, or in global memory where they are many.
template <bool special>
static __global__ void __launch_bounds__(PROGRAM_THREADS)
    kernel_program(const program_args a, size_t count, double *far, const step_gate gate) {
    extern __shared__ double near[];
    if (gate.closed()) return;
    const size_t threads = (size_t)gridDim.x * PROGRAM_THREADS,
                 mine = (size_t)blockIdx.x * PROGRAM_THREADS + threadIdx.x;
    double *registers = far ? far + mine : near + threadIdx.x;
    const size_t stride = far ? threads : PROGRAM_THREADS;
    for (size_t t = mine; t < count; t += threads) run_program(&a, t, registers, stride, special);
}

// Several programs: every block has one of them, which it finds by its number.
template <bool special, bool abreast>
static __global__ void __launch_bounds__(PROGRAM_THREADS)
    kernel_programs(const programs_args all, unsigned blocks, const step_gate gate) {
    extern __shared__ double near[];
    wait_for_kernels();
    if (gate.closed()) return;
    for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
        unsigned g = 0;
        while (g + 1 < all.count && __ldg(&all.first[g + 1]) <= block) g++;
        program_args a = all.list[g];
        a.x = all.x;
        const size_t t = (size_t)(block - __ldg(&all.first[g])) * PROGRAM_THREADS + threadIdx.x;
        if (abreast && t < a.instances * abreast_share(a.n))
            run_abreast(&a, t, near + threadIdx.x, PROGRAM_THREADS, special);
        if (!abreast && t < a.instances * a.n) run_program(&a, t, near + threadIdx.x, PROGRAM_THREADS, special);
    }
}

// ---- order statistics -----------------------------------------------------------------------------------------------

// Numbers that are not negative have the order of their bits; NaN is the largest.
static __device__ __forceinline__ unsigned bits_of(float x) { return __float_as_uint(x) & 0x7fffffffu; }
static __device__ __forceinline__ unsigned long long bits_of(double x) {
    return (unsigned long long)__double_as_longlong(x) & 0x7fffffffffffffffull;
}
static __device__ __forceinline__ double value_of(unsigned bits) { return __uint_as_float(bits); }
static __device__ __forceinline__ double value_of(unsigned long long bits) {
    return __longlong_as_double((long long)bits);
}

// Of counts of 256 digits: the digit of rank `wanted`, how many numbers come before it, and how many it has. Called by
// the first warp; returns true in the lane that has the answer.
struct found_digit {
    unsigned digit, before, count;
};

static __device__ __forceinline__ bool find_digit(const unsigned *counts, size_t wanted, found_digit &found) {
    unsigned mine[8], all = 0; // eight digits a lane
#pragma unroll
    for (int k = 0; k < 8; k++) all += mine[k] = counts[8 * threadIdx.x + k];
    unsigned before = all, digit = 0;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        const unsigned earlier = __shfl_up_sync(0xffffffffu, before, apart);
        if (threadIdx.x >= apart) before += earlier;
    }
    before -= all;
    __syncwarp(); // all know what is wanted
    if (wanted < before || wanted >= before + all) return false;
    while (wanted - before >= mine[digit]) before += mine[digit++];
    found = {8 * threadIdx.x + digit, before, mine[digit]};
    return true;
}

// The squared distances of ranks lower and upper <= lower + 1 among pairs of different particles: a block for each unit
// finds the bits of the lower one, eight at a time, by counting; the upper one is it, or the smallest above it.
template <class Real, class Bits>
static __global__ void __launch_bounds__(THREADS) kernel_middle(const pair_args a, const step_gate gate) {
    __shared__ unsigned counts[256];
    __shared__ Bits prefix;
    __shared__ size_t rank, equal;
    __shared__ unsigned long long above;
    const size_t n = a.n;
    wait_for_kernels();
    if (gate.closed()) return;
    for (size_t u = blockIdx.x; u < a.units; u += gridDim.x) {
        const Real *matrix = (const Real *)a.matrix + u * n * n;
        const size_t lower = a.lower == SIZE_MAX ? a.upper : a.lower;
        __syncthreads();
        if (threadIdx.x == 0) prefix = 0, rank = lower, above = ~0ull;
        for (int shift = 8 * (int)sizeof(Bits) - 8; shift >= 0; shift -= 8) {
            counts[threadIdx.x] = 0;
            __syncthreads();
            const Bits fixed = prefix;
            for (size_t l = threadIdx.x / 32; l < n; l += THREADS / 32)
                for (size_t m = l + 1 + threadIdx.x % 32; m < n; m += 32) {
                    const Bits here = bits_of(matrix[l * n + m]);
                    if (shift + 8 >= 8 * (int)sizeof(Bits) || here >> (shift + 8) == fixed >> (shift + 8))
                        atomicAdd(&counts[(unsigned)(here >> shift) & 255u], 1u);
                }
            __syncthreads();
            found_digit at;
            if (threadIdx.x < 32 && find_digit(counts, rank, at)) {
                prefix |= (Bits)at.digit << shift;
                rank -= at.before;
                equal = at.count;
            }
            __syncthreads();
        }
        const Bits found = prefix;
        if (a.upper > lower && rank + 1 >= equal) { // the next one is larger
            for (size_t l = threadIdx.x / 32; l < n; l += THREADS / 32)
                for (size_t m = l + 1 + threadIdx.x % 32; m < n; m += 32) {
                    const Bits here = bits_of(matrix[l * n + m]);
                    if (here > found) atomicMin(&above, (unsigned long long)here);
                }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            a.middle[2 * u] = a.lower == SIZE_MAX ? 0 : value_of(found);
            a.middle[2 * u + 1] = above != ~0ull ? value_of((Bits)above) : value_of(found);
        }
    }
}

static unsigned blocks_for(const device *d, size_t count, size_t each) {
    const size_t blocks = (count + each - 1) / each, most = (size_t)d->processors * 64;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

#include "cuda/device_steps.cuh"

#include "cuda/fused_term.cuh"

#include "cuda/hub_term.cuh"

#include "cuda/generated_words.cuh"

// ---- the table ------------------------------------------------------------------------------------------------------

static void close_device(device *d) {
    enter(d);
    if (d->stream) cudaStreamSynchronize(d->stream);
    close_queue(d);
    unload(d);
    cudaFree(d->report);
    cudaFreeHost((void *)d->reported);
    if (d->stream) cudaStreamDestroy(d->stream);
    delete d;
}

static int refuse(char *text, size_t size, const char *why) {
    snprintf(text, size, "%s", why);
    return 1;
}

// What fails here only means that it is not known.
static int rounds_once(const device *d) {
    d->reported[0] = 0;
    kernel_try_halves<<<1, 32, 0, d->stream>>>(d->reported);
    return cudaGetLastError() == cudaSuccess && cudaStreamSynchronize(d->stream) == cudaSuccess && d->reported[0] == 1;
}

static int open_device(device **made, size_t which, char *text, size_t size) {
    int count = 0;
    cudaDeviceProp properties;
    cudaFuncAttributes built;
    char why[400];
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver) {
        int driver = 0, runtime = 0;
        if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
            return refuse(text, size,
                          "No NVIDIA driver was found. If this machine has a GPU, nvidia-smi must work, and a "
                          "container must be given access to it.");
        (void)cudaRuntimeGetVersion(&runtime);
        snprintf(why, sizeof why, "The NVIDIA driver is too old: it is for CUDA %d.%d, and this build needs %d.%d.",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
        return refuse(text, size, why);
    }
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
        return refuse(text, size, "This machine has no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it.");
    if (error != cudaSuccess) {
        snprintf(why, sizeof why, "The GPU cannot be used: %s.", cudaGetErrorString(error));
        return refuse(text, size, why);
    }
    const int now = (int)(which % (size_t)count);
    cudaError_t chosen = cudaSetDevice(now); // where another process has all of its memory, this fails, too
    if (chosen == cudaSuccess) chosen = cudaGetDeviceProperties(&properties, now);
    if (chosen != cudaSuccess) {
        snprintf(why, sizeof why, "The GPU cannot be used: %s.", cudaGetErrorString(chosen));
        return refuse(text, size, why);
    }
    if (properties.major * 10 + properties.minor < SVMP_CUDA_OLDEST) {
        snprintf(why, sizeof why, "The GPU %s is too old: its compute capability is %d.%d, and this build needs %d.%d.",
                 properties.name, properties.major, properties.minor, SVMP_CUDA_OLDEST / 10, SVMP_CUDA_OLDEST % 10);
        return refuse(text, size, why);
    }
    device *d = new (std::nothrow) device();
    if (d == nullptr) return refuse(text, size, "Out of memory.");
    d->number = now;
    d->processors = properties.multiProcessorCount;
    d->capability = properties.major * 10 + properties.minor;
    d->shared_most = (int)properties.sharedMemPerBlockOptin;
    snprintf(d->words, sizeof d->words, "%s", properties.name);
    const int failed = check(d, cudaFuncGetAttributes(&built, kernel_sum)) ||
                       check(d, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking)) ||
                       check(d, cudaMalloc(&d->report, sizeof *d->report)) || forget_steps(d) ||
                       check(d, cudaHostAlloc((void **)&d->reported, DEVICE_STEPS * sizeof *d->reported, cudaHostAllocMapped));
    if (failed) {
        snprintf(why, sizeof why, "The GPU cannot be used: %s.", cudaGetErrorString(d->failed));
        close_device(d);
        return refuse(text, size, why);
    }
    d->tensors = built.ptxVersion >= 80; // by what the code was compiled for, which may be older than the device
    d->waits = built.ptxVersion >= 90;
    d->once = d->waits && rounds_once(d);
    *made = d;
    return 0;
}

static const char *describe(const device *d) { return d->words; }
static const char *error_of(const device *d) {
    return d->failed == cudaSuccess ? "a call failed without an error" : cudaGetErrorString(d->failed);
}

static size_t room(device *d) {
    size_t left = 0, all = 0;
    return enter(d) || check(d, cudaMemGetInfo(&left, &all)) ? SIZE_MAX : left;
}

static int allocate(device *d, size_t bytes, void **pointer) {
    if (enter(d)) return 1;
    const cudaError_t error = cudaMalloc(pointer, bytes);
    if (error == cudaErrorMemoryAllocation) (void)cudaGetLastError(); // the caller says so; nothing is broken
    return error == cudaErrorMemoryAllocation ? DEVICE_FULL : check(d, error);
}

static void release(device *d, void *pointer) {
    if (!enter(d)) cudaFree(pointer);
}

static int to_device(device *d, void *to, const void *from, size_t bytes) {
    return enter(d) || flush(d) || check(d, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream)) ||
           check(d, cudaStreamSynchronize(d->stream));
}

static int to_host(device *d, void *to, const void *from, size_t bytes) {
    return enter(d) || flush(d) || check(d, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, d->stream)) ||
           check(d, cudaStreamSynchronize(d->stream));
}

static int clear(device *d, void *pointer, size_t bytes) {
    return enter(d) || flush(d) || check(d, cudaMemsetAsync(pointer, 0, bytes, d->stream));
}

// Programs whose registers do not fit in the shared memory of a multiprocessor have them in global memory, and run in
// fewer blocks.
static size_t program_bytes(const program_args *a) { return (size_t)a->registers * PROGRAM_THREADS * sizeof(double); }
static int is_far(const program_args *a) { return program_bytes(a) > 48 * 1024; }
static unsigned program_blocks(const device *d, const program_args *a, size_t count) {
    const unsigned blocks = blocks_for(d, count, PROGRAM_THREADS), most = (unsigned)d->processors * 8;
    return is_far(a) && blocks > most ? most : blocks;
}

static size_t far_registers(const device *d, const program_args *a, size_t count) {
    return is_far(a) ? (size_t)a->registers * PROGRAM_THREADS * program_blocks(d, a, count) : 0;
}

static int launch_program(device *d, const program_args *a, size_t count) {
    const int far = is_far(a);
    auto *kernel = a->special ? kernel_program<true> : kernel_program<false>;
    if (far && a->far == nullptr) return check(d, cudaErrorInvalidValue);
    kernel<<<program_blocks(d, a, count), PROGRAM_THREADS, far ? 0 : program_bytes(a), d->stream>>>(
        *a, count, far ? a->far : nullptr, gate_of(d));
    return check(d, cudaGetLastError());
}

static int launch_programs(device *d, const programs_args *a, size_t count) {
    const size_t bytes = (size_t)a->registers * PROGRAM_THREADS * (a->abreast ? ABREAST : 1) * sizeof(double);
    auto *kernel = a->special ? (a->abreast ? kernel_programs<true, true> : kernel_programs<true, false>)
                              : (a->abreast ? kernel_programs<false, true> : kernel_programs<false, false>);
    return launch_next(d, kernel, blocks_for(d, count, 1), PROGRAM_THREADS, bytes, *a, (unsigned)count, gate_of(d));
}

#define RUN(kernel, type, each)                                                                                        \
    return launch_next(d, kernel, blocks_for(d, count, each), THREADS, 0, *(const type *)args, count, gate_of(d))
#define RUN_BOTH(kernel, each)                                                                                         \
    do {                                                                                                               \
        if (bits == 32)                                                                                                \
            RUN(kernel##_32, pair_args, each);                                                                         \
        else                                                                                                           \
            RUN(kernel##_64, pair_args, each);                                                                         \
    } while (0)

static int launch_middle(device *d, int bits, const pair_args *a) {
    const unsigned blocks = blocks_for(d, a->units, 1);
    auto *kernel = bits == 32 ? kernel_middle<float, unsigned> : kernel_middle<double, unsigned long long>;
    return launch_next(d, kernel, blocks, THREADS, 0, *a, gate_of(d));
}

static int launch(device *d, device_kernel which, int bits, const void *args, size_t count) {
    if (count == 0) return 0;
    if (enter(d) || flush(d)) return 1;
    switch (which) {
    case KERNEL_PROGRAM: return launch_program(d, (const program_args *)args, count);
    case KERNEL_MIDDLE: return launch_middle(d, bits, (const pair_args *)args);
    case KERNEL_PROGRAMS: return launch_programs(d, (const programs_args *)args, count);
    case KERNEL_GENERATED: return launch_generated(d, (const generated_args *)args, count);
    case KERNEL_SUM: RUN(kernel_sum, sum_args, THREADS);
    case KERNEL_LONG_SUM: return launch_long_sum(d, (const sum_args *)args, count);
    case KERNEL_SCORE: return launch_score(d, (const score_args *)args, count);
    case KERNEL_FINISH: return launch_finish(d, bits, (const pair_args *)args);
    case KERNEL_CENTRE: RUN(kernel_centre, centre_args, THREADS / 32);
    case KERNEL_MESSAGE: RUN(kernel_message, message_args, THREADS / 32);
    case KERNEL_DRAW: RUN(kernel_draw, draw_args, THREADS);
    case KERNEL_SCALE: RUN(kernel_scale, pair_args, THREADS);
    case KERNEL_MATRIX:
        if (is_wide(d, (const pair_args *)args)) return launch_wide_matrix(d, bits, (const pair_args *)args);
        RUN_BOTH(kernel_matrix, THREADS);
    case KERNEL_ADD_PIECES:
        if (((const pair_args *)args)->pieces >= 2 * GROUPS)
            return launch_wide_add(d, bits, (const pair_args *)args, count);
        RUN_BOTH(kernel_add_pieces, THREADS);
    case KERNEL_VALUE: RUN_BOTH(kernel_value, THREADS);
    case KERNEL_VELOCITY: RUN_BOTH(kernel_velocity, THREADS);
    case KERNEL_MOMENTS: RUN_BOTH(kernel_moments, THREADS / 32);
    case KERNEL_FIRST: RUN(kernel_first, first_args, THREADS);
    case KERNEL_SURVEY: RUN(kernel_survey, survey_args, THREADS / 32);
    case KERNEL_KAPPA: RUN(kernel_kappa, kappa_args, THREADS / 32);
    case KERNEL_STEP:
    case KERNEL_DIFFUSE: break;
    }
    return 1;
}

static const device_ops ops = {open_device,  close_device, describe, error_of,
                               room,           allocate,       release, to_device,    to_host,      clear,    launch,
                               finishes,       step,           outcome, fuses,        fused,        iterates, iterate,
                               capability,     load,           1e5,     far_registers};

extern "C" __attribute__((visibility("default"))) const device_ops *svmp_cuda_device(void) { return &ops; }
