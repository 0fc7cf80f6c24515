/* Maps: neighbouring areas in GeoBUGS' lists. Area i has num[i] neighbours; their indices, from 1, follow those of
 * earlier areas in adj, and weight has a number for each of them. */
#ifndef SVMP_DIST_MAP_NEIGHBOURS_H
#define SVMP_DIST_MAP_NEIGHBOURS_H

#include <stdbool.h>

#include "base/context.h"

typedef struct car_map {
    size_t areas, entries;
    const double *adj, *num, *weight;
} car_map;

/* Whether the lists describe a map: neighbours exist, and each pair names each other exactly once; if not, writes why.
 * `scale` divides the weights of each area before these are compared with their opposites; NULL: 1. */
bool svmp_car_is_map(const car_map *map, const double *scale, char *sentence, size_t size);

/* How many components the areas with neighbours form; `root` is workspace for a number per area. */
size_t svmp_car_components(const car_map *map, size_t *root, size_t *islands);

/* The eigenvalues, ascending, of the matrix of the weights, which divided by `scale` is symmetric: C of car.proper,
 * with M. */
svmp_status svmp_car_eigenvalues(svmp_context *context, const car_map *map, const double *scale, double *values);

#endif
