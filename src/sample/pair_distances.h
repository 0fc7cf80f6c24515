/* Squared distances between the points of two samples, tile by tile. */
#ifndef SVMP_SAMPLE_PAIR_DISTANCES_H
#define SVMP_SAMPLE_PAIR_DISTANCES_H

#include <stddef.h>

/* A sample of n points: variable i of point l is x[place[i]*n + l]. */
typedef struct sample {
    size_t n;
    const double *x;
    const size_t *place;
} sample;

enum {
    TILE = 64, /* points per side */
    DEEP = 64, /* variables at a time: both sides and the distances then fit in the second-level cache */
};

typedef struct distance_tile {
    double d[TILE][TILE];                /* the result */
    double x[DEEP][TILE], y[DEEP][TILE]; /* some variables of both sides */
} distance_tile;

/* d[a][b] = sum_i (x_i[I*TILE + a] - y_i[J*TILE + b])^2, the sum in the order of i; beyond its end, a sample is padded
 * with its last point. The same bits on every machine, and with x and y exchanged. */
void svmp_distances(size_t variables, sample x, size_t I, sample y, size_t J, distance_tile *tile);

#endif
