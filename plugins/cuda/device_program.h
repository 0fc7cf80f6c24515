/* Programs on a device: what the interpreter (interpret_code.h) and generated code (generate_code.c) read. NVRTC reads
 * this file, too, from the library, and without other headers. */
#ifndef SVMP_CUDA_DEVICE_PROGRAM_H
#define SVMP_CUDA_DEVICE_PROGRAM_H

#ifdef __CUDACC_RTC__
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stddef.h>
#include <stdint.h>
#endif

/* What maths/ and expr/opcodes.h leave to a device. */
#ifdef __CUDACC__
#define SVMP_DEVICE
#define FAST          static __device__ __forceinline__
#define FAST_CALLED   static __device__ __noinline__
#define SPECIAL       static __device__ __noinline__
#define SPECIAL_OWN   static __device__ __noinline__
#define MADE(type)    type
#define PRODUCT(p, q) __dmul_rn(p, q)

FAST uint64_t svmp_to_bits(double a) { return (uint64_t)__double_as_longlong(a); }
FAST double svmp_from_bits(uint64_t bits) { return __longlong_as_double((long long)bits); }
#endif

#ifdef __CUDACC__
#define BODY               static __device__ __forceinline__
#define CALLED             static __device__ __noinline__
#define READ_ONLY(pointer) __ldg(pointer)
#define UNROLL             _Pragma("unroll")
#else
#define BODY               static inline
#define CALLED             static inline
#define READ_ONLY(pointer) (*(pointer))
#define UNROLL
#endif

/* An instruction of a program (expr/instructions.h). Places are a kind and a number. */
enum { PLACE_REGISTER, PLACE_LITERAL, PLACE_COLUMN, PLACE_INPUT, PLACE_OUTPUT, PLACE_SHIFT = 29 };

typedef struct device_instruction {
    uint32_t code, out, operand[3];
    uint32_t operands; /* how many are read */
} device_instruction;

/* The derivatives of all instances of a factor group, for n particles: thread k*n + l is instance k of particle l. */
typedef struct program_args {
    const device_instruction *code;
    const double *literals, *columns; /* column h of instance k at h*instances + k */
    const uint32_t *variables;        /* instance k, slot j: variables[k*slots + j] */
    const double *x;
    double *gradient; /* row k*outputs + j */
    size_t instances, n;
    uint32_t count, slots, outputs, registers; /* outputs: one for each slot, or of one slot alone */
    int special;                               /* whether an instruction is more than arithmetic and what libm has */
    double *far; /* registers in memory, where they are too many for a multiprocessor; NULL: they are not */

    /* For messages: evaluation `k` is instance instance[k], with the variables of node node[k] at their means. NULL:
     * all instances, as they are. */
    const uint32_t *instance, *node, *node_of;
    const double *mean;
} program_args;

/* Several programs in one launch: blocks first[g] ... first[g + 1] - 1, of PROGRAM_BLOCK threads, run program g; a
 * thread has one particle or ABREAST. */
enum { PROGRAM_BLOCK = 128, ABREAST = 4 };
typedef struct programs_args {
    const program_args *list;
    const uint32_t *first;
    const double *x; /* instead of theirs */
    uint32_t count, registers;
    int special, abreast;
} programs_args;

/* Programs as generated code, in one launch: number g is that of blocks first[g] ... first[g + 1] - 1. Thread k*share +
 * l of a program is instance k of particles l, l + share, ... */
enum { GENERATED_BLOCK = 128, GENERATED_MOST = 64 };
typedef struct generated_program {
    const double *columns;
    const uint32_t *variables;
    double *gradient;
    size_t instances;
} generated_program;

typedef struct generated_args {
    const void *kernel; /* of the device's `load` */
    const double *x;
    uint32_t n, share, count;
    uint32_t multiplier, shift; /* thread / share = thread*multiplier >> shift */
    uint32_t first[GENERATED_MOST + 1];
    generated_program list[GENERATED_MOST];
} generated_args;

#endif
