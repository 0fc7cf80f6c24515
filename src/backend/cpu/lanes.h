/* The hot loops, written once over vectors of `width` numbers and compiled for each instruction set (lanes_*.c).
 *
 * The pairs of different particles (l, m), l < m, are processed in tiles of TILE_ROWS rows: rows l = first ... and, for
 * all of them, the columns m = first + 1, ... in vectors. The numbers of a tile are in the order (vector, row, lane).
 * Lanes that are not a pair (m <= l or m >= n) hold an infinite distance, or NaN if also l >= n: their kernel is 0, and
 * they count as the farthest.
 *
 * A *row* has a number for every particle, and PADDING more. Vectors that cross a cache line cost twice: svmp_lanes_row
 * places rows so that those of every other tile do not cross one, and tiles start on a line. */
#ifndef SVMP_BACKEND_CPU_LANES_H
#define SVMP_BACKEND_CPU_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { TILE_ROWS = 4, WIDEST_LANES = 8 };

typedef struct tile {
    size_t first;   /* its first row */
    size_t vectors; /* for each of its rows */
    size_t offset;  /* the offset of its numbers when all tiles are stored */
} tile;

enum { PADDING = 2 * WIDEST_LANES, LINE = 8 }; /* LINE: numbers in a cache line */

/* Numbers from the start of a row to that of the next, and the first row of a block that starts on a line: its number 1
 * is the first of a line. A block of rows takes one line more than the rows themselves. */
static inline size_t svmp_lanes_stride(size_t n) { return (n + PADDING + LINE - 1) / LINE * LINE; }
static inline double *svmp_lanes_row(double *line) { return line + LINE - 1; }

/* The particles of a domain, copied for the loops: variable j at x + j*stride, the padding infinite. */

typedef struct packed_rows {
    const double *x;
    size_t count, stride;
} packed_rows;

/* Counts the numbers below `low` and those in [low, high], of which at most `capacity` are listed. The list has room
 * for WIDEST_LANES more. */
typedef struct tally {
    double low, high;
    size_t below, inside;
    double *list;
    size_t capacity;
} tally;

typedef struct lane_ops {
    const char *name;
    size_t width;

    /* D[v][r][lane] = sum_j (x_j[l] - x_j[m])^2, the sum in the order of j; with `more`, added to the present
     * values. */
    void (*distances)(const packed_rows *rows, const tile *t, int more, double *distance);

    /* The same on a grid, whose padding is infinite (stein/order_free_sums.h): integers, and from these D. Returns
     * whether a pair has fewer steps than `few`. */
    void (*steps)(const packed_rows *rows, const tile *t, const double *grid, int more, int64_t *steps);
    int (*from_steps)(const tile *t, const double *grid, double few, double *distance);

    /* Counts the distances of a tile. */
    void (*count)(const tile *t, const double *distance, tally *counts);

    /* k = exp(-D/h) in place, with a relative error below 2e-15 + 3e-16 D/h (the rounding of D/h); 0 below exp(-708).
     */
    void (*rbf)(const tile *t, double h, double *k);

    /* k = (1 + D/h)^(-1/2) in place, r = k^3/h. */
    void (*imq)(const tile *t, double h, double *k, double *r);

    /* Both directions of every pair: sum[m] += k w[l] and sum[l] += k w[m], for `count` rows w and sum. */
    void (*weigh)(const tile *t, const double *k, size_t count, const double *w, double *sum, size_t stride);

    /* rbf and, for one row, weigh in one; and with w = 1 as well, in total[m] and total[l]. */
    void (*rbf_and_weigh)(const tile *t, double h, double *k, const double *w, double *sum, double *total);
} lane_ops;

/* The best that this machine runs, or the one of that name; NULL if the machine or the build lacks it. */
const lane_ops *svmp_lanes_best(void);
const lane_ops *svmp_lanes_named(const char *name);

extern const lane_ops svmp_lanes_baseline, svmp_lanes_avx2, svmp_lanes_avx512;

#endif
