/* Files of this library that generated code includes, as they were when it was built (cmake/cuda_plugin.cmake). */
#ifndef SVMP_CUDA_EMBEDDED_SOURCES_H
#define SVMP_CUDA_EMBEDDED_SOURCES_H

#include <stddef.h>

typedef struct embedded_file {
    const unsigned char *bytes; /* a zero byte follows them */
    size_t size;
} embedded_file;

/* symbol, name in an #include */
#define SOURCE_LIST(X)                                                                                                 \
    X(svmp_source_program, "cuda/device_program.h")                                                                    \
    X(svmp_source_generated, "cuda/generated_words.h")                                                                 \
    X(svmp_source_special_all, "cuda/device_special.h")                                                                \
    X(svmp_source_special, "maths/special.h")                                                                          \
    X(svmp_source_bits, "maths/fast_bits.h")                                                                           \
    X(svmp_source_exponential, "maths/fast_exponential.h")                                                             \
    X(svmp_source_logarithm, "maths/fast_logarithm.h")                                                                 \
    X(svmp_source_power, "maths/fast_power.h")                                                                         \
    X(svmp_source_trigonometric, "maths/fast_trigonometric.h")                                                         \
    X(svmp_source_fast_gamma, "maths/fast_gamma.h")                                                                    \
    X(svmp_source_normal, "maths/fast_normal.h")                                                                       \
    X(svmp_source_gamma, "maths/special_gamma.c")                                                                      \
    X(svmp_source_beta, "maths/special_beta.c")                                                                        \
    X(svmp_source_hypergeometric, "maths/special_hypergeometric.c")                                                    \
    X(svmp_source_noncentral, "maths/special_noncentral.c")                                                            \
    X(svmp_source_quantile, "maths/special_quantile.c")

#define ROW(symbol, name) extern const embedded_file symbol;
SOURCE_LIST(ROW)
#undef ROW

#endif
