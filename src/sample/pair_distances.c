#include "sample/pair_distances.h"

#include <string.h>

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Variables from ... from + count - 1 of tile `I` of a sample. */
static void pack(sample s, size_t I, size_t from, size_t count, double to[DEEP][TILE]) {
    const size_t first = I * TILE, points = smaller(TILE, s.n - first);
    for (size_t i = 0; i < count; i++) {
        const double *x = s.x + s.place[from + i] * s.n + first;
        memcpy(to[i], x, points * sizeof *x);
        for (size_t l = points; l < TILE; l++) to[i][l] = x[points - 1];
    }
}

enum { ROWS = 4, COLUMNS = 4 }; /* a block of distances that stays in registers during the loop over variables */

typedef double columns __attribute__((vector_size(COLUMNS * sizeof(double))));

static inline __attribute__((always_inline)) void add_squares(size_t count, distance_tile *t) {
    for (size_t a = 0; a < TILE; a += ROWS)
        for (size_t b = 0; b < TILE; b += COLUMNS) {
            columns sum[ROWS], there;
            for (size_t r = 0; r < ROWS; r++) memcpy(&sum[r], &t->d[a + r][b], sizeof sum[r]);
            for (size_t i = 0; i < count; i++) {
                memcpy(&there, &t->y[i][b], sizeof there);
                for (size_t r = 0; r < ROWS; r++) {
                    const columns u = t->x[i][a + r] - there;
                    sum[r] += u * u;
                }
            }
            for (size_t r = 0; r < ROWS; r++) memcpy(&t->d[a + r][b], &sum[r], sizeof sum[r]);
        }
}

static void add_squares_plain(size_t count, distance_tile *t) { add_squares(count, t); }

/* AVX2 without fused multiply-add, for the same bits. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void add_squares_avx2(size_t count, distance_tile *t) { add_squares(count, t); }
static int has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
static void add_squares_avx2(size_t count, distance_tile *t) { add_squares(count, t); }
static int has_avx2(void) { return 0; }
#endif

void svmp_distances(size_t variables, sample x, size_t I, sample y, size_t J, distance_tile *tile) {
    void (*const add)(size_t, distance_tile *) = has_avx2() ? add_squares_avx2 : add_squares_plain;
    memset(tile->d, 0, sizeof tile->d);
    for (size_t from = 0; from < variables; from += DEEP) {
        const size_t count = smaller(DEEP, variables - from);
        pack(x, I, from, count, tile->x);
        pack(y, J, from, count, tile->y);
        add(count, tile);
    }
}
