#include "maths/weighted_rows.h"

#include <stdbool.h>

#include "base/target_clones.h"

/* Eight lanes: one register of AVX-512, two of AVX2. */
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* Every lane begins with `start`, or with what stands there. */
static inline __attribute__((always_inline)) void add(size_t n, size_t count, const double *const *row,
                                                      const double *weight, bool begins, double start, double *sum) {
    const four all = {start, start, start, start};
    const eight twice = {start, start, start, start, start, start, start, start};
    size_t l = 0;
    for (; l + 32 <= n; l += 32) {
        eight *to = (eight *)(sum + l), first = begins ? twice : to[0], second = begins ? twice : to[1];
        eight third = begins ? twice : to[2], fourth = begins ? twice : to[3];
        for (size_t k = 0; k < count; k++) {
            const eight *of = (const eight *)(row[k] + l);
            first += weight[k] * of[0];
            second += weight[k] * of[1];
            third += weight[k] * of[2];
            fourth += weight[k] * of[3];
        }
        to[0] = first;
        to[1] = second;
        to[2] = third;
        to[3] = fourth;
    }
    for (; l + 4 <= n; l += 4) {
        four some = begins ? all : *(const four *)(sum + l);
        for (size_t k = 0; k < count; k++) some += weight[k] * *(const four *)(row[k] + l);
        *(four *)(sum + l) = some;
    }
    for (; l < n; l++) {
        double one = begins ? start : sum[l];
        for (size_t k = 0; k < count; k++) one += weight[k] * row[k][l];
        sum[l] = one;
    }
}

SVMP_WIDE_CLONES static void begin(size_t n, size_t count, const double *const *row, const double *weight, double start,
                                   double *sum) {
    add(n, count, row, weight, true, start, sum);
}

SVMP_WIDE_CLONES static void go_on(size_t n, size_t count, const double *const *row, const double *weight,
                                   double *sum) {
    add(n, count, row, weight, false, 0, sum);
}

void svmp_weighted_rows(size_t n, size_t count, const double *const *row, const double *weight, double start,
                        double *sum) {
    begin(n, count, row, weight, start, sum);
}

void svmp_add_weighted_rows(size_t n, size_t count, const double *const *row, const double *weight, double *sum) {
    go_on(n, count, row, weight, sum);
}
