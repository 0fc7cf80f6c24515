/* The values of a run's options; run/option_table.c has their ranges and defaults. */
#ifndef SVMP_METHOD_RUN_OPTIONS_H
#define SVMP_METHOD_RUN_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define SVMP_METHODS_OWN SIZE_MAX /* a count: the method's default */

typedef struct run_options {
    const char *method;
    const char *kernel; /* NULL: the method's own */
    const char *bandwidth;
    const char *step; /* NULL: the method's own */
    const char *init; /* NULL: the method's own */
    const char *backend;
    size_t particles;
    size_t iterations; /* SVMP_METHODS_OWN, or a number */
    double precision, tolerance;
    uint64_t seed;
    size_t chains, warmup, draws; /* SVMP_METHODS_OWN, or a number */
    double accept;
} run_options;

#endif
