/* The words of generated code (generate_code.c): NVRTC compiles it for a device, and the tests as plain C. The text
 * before this file defines WIDTH, the particles of a thread. */
#ifndef SVMP_CUDA_GENERATED_WORDS_H
#define SVMP_CUDA_GENERATED_WORDS_H

#include "cuda/device_program.h"
#include "maths/fast_power.h"

#ifdef __CUDACC_RTC__
#define NAN         __longlong_as_double(0x7ff8000000000000ll)
#define INFINITY    __longlong_as_double(0x7ff0000000000000ll)
#define M_PI        3.14159265358979323846
#define DBL_MIN     0x1p-1022
#define DBL_EPSILON 0x1p-52
#else
#include <float.h>
#include <math.h>
#endif

/* The interpreter rounds what an instruction computes before the next one reads it. For the same bits no product of one
 * instruction (PRODUCT, as in expr/opcodes.h), and no product that a function of libm ends with, may be joined to a sum
 * of another. */
#ifdef __CUDACC__
#define ROUNDED(v) __dadd_rn(v, -0.0)
#else
#define PRODUCT(p, q) ((p) * (q))
#define ROUNDED(v)    (v)
#endif

#define OPERATION(name, ...)                                                                                           \
    BODY double do_##name(double a, double b, double c) {                                                              \
        (void)a, (void)b, (void)c;                                                                                     \
        return __VA_ARGS__;                                                                                            \
    }

/* Instance k of a program, and the particles of this thread. Those from `end` on are not written; in their place, those
 * from n on read the last one. */
typedef struct generated_lane {
    const double *x, *columns;
    const uint32_t *variables; /* of the instance */
    double *outputs;
    size_t instances;
    uint32_t n, end, particle[WIDTH], from[WIDTH];
} generated_lane;

#define EACH_PARTICLE UNROLL for (uint32_t j = 0; j < WIDTH; j++)
#define INPUT(name, slot)                                                                                              \
    double name[WIDTH];                                                                                                \
    {                                                                                                                  \
        const double *row = at->x + (size_t)READ_ONLY(&at->variables[slot]) * at->n;                                   \
        EACH_PARTICLE name[j] = row[at->from[j]];                                                                      \
    }
#define COLUMN(name, number) const double name = READ_ONLY(&at->columns[(number)*at->instances]);
#define VALUE(name, operation, p, q, r)                                                                                \
    double name[WIDTH];                                                                                                \
    EACH_PARTICLE name[j] = do_##operation(p, q, r);
#define COPY(name, p)                                                                                                  \
    double name[WIDTH];                                                                                                \
    EACH_PARTICLE name[j] = p;
#define OUTPUT(slot, value)                                                                                            \
    {                                                                                                                  \
        double *row = at->outputs + (size_t)(slot)*at->n;                                                              \
        EACH_PARTICLE if (at->particle[j] < at->end) row[at->particle[j]] = value;                                     \
    }

/* Finds the program of a block and the lane of this thread; returns whether the thread has one. */
BODY int generated_find(const generated_args *all, uint32_t block, uint32_t thread, uint32_t *which, uint32_t *k,
                        generated_lane *at) {
    uint32_t g = 0;
    while (g + 1 < all->count && all->first[g + 1] <= block) g++;
    const uint32_t t = (block - all->first[g]) * GENERATED_BLOCK + thread;
    const generated_program *p = &all->list[g];
    *which = g;
    *k = (uint32_t)((unsigned long long)t * all->multiplier >> all->shift);
    at->x = all->x;
    at->columns = p->columns + *k;
    at->variables = p->variables;
    at->outputs = p->gradient;
    at->instances = p->instances;
    at->n = at->end = all->n;
    EACH_PARTICLE at->particle[j] = t - *k * all->share + j * all->share;
    EACH_PARTICLE at->from[j] = WIDTH == 1 || at->particle[j] < all->n ? at->particle[j] : all->n - 1;
    return *k < p->instances;
}

/* The lane of an instance whose program has `slots` slots. */
BODY void generated_begin(generated_lane *at, uint32_t k, uint32_t slots) {
    at->variables += (size_t)k * slots;
    at->outputs += (size_t)k * slots * at->n;
}

/* A kernel of some programs: the cases of a switch. A device that was halted writes nothing. */
#if defined __CUDACC_VER_MAJOR__ && __CUDACC_VER_MAJOR__ >= 12
#define GRID_CONSTANT __grid_constant__
#else
#define GRID_CONSTANT
#endif
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900 /* waits for the kernel before, and lets the next be set up */
#define WAIT_FOR_KERNELS() asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;" ::: "memory")
#else
#define WAIT_FOR_KERNELS() (void)0
#endif
#ifdef __CUDACC__
#define PROGRAMS(name, ...)                                                                                            \
    extern "C" __global__ void __launch_bounds__(GENERATED_BLOCK)                                                      \
        name(const GRID_CONSTANT generated_args all, const unsigned long long *wrong_at, unsigned long long step) {    \
        generated_lane lane, *at = &lane;                                                                              \
        uint32_t which, k;                                                                                             \
        const bool found = generated_find(&all, blockIdx.x, threadIdx.x, &which, &k, at);                              \
        WAIT_FOR_KERNELS();                                                                                            \
        const bool closed = __ldcg(wrong_at) < step;                                                                   \
        if (!found) return;                                                                                            \
        if (closed) lane.end = 0;                                                                                      \
        switch (which) { __VA_ARGS__ }                                                                                 \
    }
#else
#define PROGRAMS(name, ...)                                                                                            \
    void name(const generated_args *all, uint32_t block, uint32_t thread);                                             \
    void name(const generated_args *all, uint32_t block, uint32_t thread) {                                            \
        generated_lane lane, *at = &lane;                                                                              \
        uint32_t which, k;                                                                                             \
        if (!generated_find(all, block, thread, &which, &k, at)) return;                                               \
        switch (which) { __VA_ARGS__ }                                                                                 \
    }
#endif

#endif
