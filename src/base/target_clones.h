/* Functions whose loops are compiled twice: for the instructions that every machine has, and for AVX2. The loader
 * chooses. For static functions: the choice between others would be an exported symbol. Without fused multiply-add, and
 * with every lane by itself, the bits are the same in both. */
#ifndef SVMP_BASE_TARGET_CLONES_H
#define SVMP_BASE_TARGET_CLONES_H

/* The choice is made before sanitizers are ready. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&                           \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SVMP_CLONES      __attribute__((target_clones("avx2", "default")))
#define SVMP_WIDE_CLONES __attribute__((target_clones("avx512f", "avx2", "default"))) /* AVX-512, too */
#else
#define SVMP_CLONES
#define SVMP_WIDE_CLONES
#endif

#endif
