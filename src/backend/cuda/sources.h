/* Files of this library that generated code includes, as they were when it was built (cmake/sources.cmake). */
#ifndef SVMP_BACKEND_CUDA_SOURCES_H
#define SVMP_BACKEND_CUDA_SOURCES_H

#include <stddef.h>

typedef struct embedded_file {
    const unsigned char *bytes; /* a zero byte follows them */
    size_t size;
} embedded_file;

/* symbol, name in an #include */
#define SOURCE_LIST(X)                                                                                                 \
    X(svmp_source_program, "backend/cuda/program.h")                                                                   \
    X(svmp_source_generated, "backend/cuda/generated.h")                                                               \
    X(svmp_source_special_all, "backend/cuda/special.h")                                                               \
    X(svmp_source_special, "expr/special.h")                                                                           \
    X(svmp_source_exponential, "expr/exponential.h")                                                                   \
    X(svmp_source_normal, "expr/special_normal.c")                                                                     \
    X(svmp_source_gamma, "expr/special_gamma.c")                                                                       \
    X(svmp_source_beta, "expr/special_beta.c")                                                                         \
    X(svmp_source_hypergeometric, "expr/special_hypergeometric.c")                                                     \
    X(svmp_source_noncentral, "expr/special_noncentral.c")                                                             \
    X(svmp_source_quantile, "expr/special_quantile.c")

#define ROW(symbol, name) extern const embedded_file symbol;
SOURCE_LIST(ROW)
#undef ROW

#endif
