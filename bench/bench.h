/* Shared by the benchmarks: time, cycles of the core, a context, grids. Machines are shared, so the minimum of many
 * short rounds counts. */
#ifndef SVMP_BENCH_BENCH_H
#define SVMP_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmp.h>
#include <time.h>

static svmp_context *context;

/* `--quick`: sizes so small that it ends within a second. The tests run every benchmark this way; the output is not a
 * measurement.
 */
static inline int is_quick(int count, char **arguments) { return count > 1 && strcmp(arguments[1], "--quick") == 0; }

static inline void must(svmp_status status) {
    if (status == SVMP_OK) return;
    fprintf(stderr, "%s\n", svmp_context_error(context));
    exit(1);
}

static inline void start_context(int threads) {
    if (svmp_context_create(NULL, &context) != SVMP_OK) exit(1);
    must(svmp_context_set_threads(context, threads));
}

/* side * side nodes N(0, 1), with coupled neighbours. */
static inline svmp_model *grid(size_t side) {
    const double one = 1, pull[] = {0.5, -0.5, -0.5, 0.5};
    svmp_model *model = NULL;
    must(svmp_model_create(context, &model));
    for (size_t row = 0, v = 0; row < side; row++)
        for (size_t column = 0; column < side; column++, v++) {
            must(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
            must(svmp_model_add_gaussian(model, 1, &v, &one, NULL));
            if (column > 0) must(svmp_model_add_gaussian(model, 2, (size_t[]){v - 1, v}, pull, NULL));
            if (row > 0) must(svmp_model_add_gaussian(model, 2, (size_t[]){v - side, v}, pull, NULL));
        }
    must(svmp_model_finish(model));
    return model;
}

/* A chain of nodes N(0, 1), each coupled to the next `reach` ones: blankets of up to 2 reach + 1. */
static inline svmp_model *band(size_t nodes, size_t reach) {
    const double one = 1, by = 1 / (double)reach, pull[] = {by, -by, -by, by};
    svmp_model *model = NULL;
    must(svmp_model_create(context, &model));
    for (size_t v = 0; v < nodes; v++) {
        must(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        must(svmp_model_add_gaussian(model, 1, &v, &one, NULL));
        for (size_t k = v < reach ? 0 : v - reach; k < v; k++)
            must(svmp_model_add_gaussian(model, 2, (size_t[]){k, v}, pull, NULL));
    }
    must(svmp_model_finish(model));
    return model;
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU time of the calling thread, little affected by other programs on the machine. */
static inline double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cycles per second, from a chain of additions that take one cycle each; 0 if this is unknown. */
static inline double core_clock(void) {
#if defined(__x86_64__)
    double best = 1e300;
    for (int round = 0; round < 200; round++) {
        unsigned long chain = 0, one = 1; /* (adding a constant may take no time) */
        const double started = thread_seconds();
        for (int k = 0; k < 10000; k++)
            __asm__ volatile("add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
                             "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
                             : "+r"(chain)
                             : "r"(one));
        const double spent = thread_seconds() - started;
        best = spent < best ? spent : best;
    }
    return 80000 / best;
#else
    return 0;
#endif
}

#endif
