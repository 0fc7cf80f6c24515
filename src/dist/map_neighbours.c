#include "dist/map_neighbours.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "maths/eigenvalues.h"

/* The entry of area i's list that names j; SIZE_MAX: none. *times: how many entries name it. */
static size_t entry_of(const car_map *map, size_t first, size_t count, size_t j, size_t *times) {
    size_t found = SIZE_MAX;
    *times = 0;
    for (size_t e = first; e < first + count; e++)
        if (map->adj[e] == (double)j + 1) {
            found = e;
            ++*times;
        }
    return found;
}

/* The start of area i's list. */
static size_t first_of(const car_map *map, size_t i) {
    double first = 0;
    for (size_t k = 0; k < i; k++) first += map->num[k];
    return (size_t)first;
}

/* Whether entry e of area i has an opposite entry of the same weight. */
static bool is_mutual(const car_map *map, const double *scale, size_t i, size_t first, size_t e, char *sentence,
                      size_t size) {
    const double other = map->adj[e];
    size_t times = 0;
    if (!(other >= 1 && other <= (double)map->areas && other == floor(other)))
        return snprintf(sentence, size, "area %zu has the neighbour %g, but there are %zu areas", i + 1, other,
                        map->areas),
               false;
    const size_t j = (size_t)other - 1;
    if (j == i) return snprintf(sentence, size, "area %zu is its own neighbour", i + 1), false;
    entry_of(map, first, (size_t)map->num[i], j, &times);
    if (times > 1) return snprintf(sentence, size, "area %zu has the neighbour %g twice", i + 1, other), false;
    const size_t back = entry_of(map, first_of(map, j), (size_t)map->num[j], i, &times);
    if (back == SIZE_MAX)
        return snprintf(sentence, size, "area %zu has the neighbour %g, but not the other way round", i + 1, other),
               false;
    const double there = map->weight[e] / (scale ? scale[i] : 1), here = map->weight[back] / (scale ? scale[j] : 1);
    if (fabs(there - here) <= 1e-6 * (fabs(there) + fabs(here))) return true;
    return snprintf(sentence, size, "the weights of areas %zu and %g are %g and %g: they must be symmetric%s", i + 1,
                    other, there, here, scale ? " when divided by M" : ""),
           false;
}

bool svmp_car_is_map(const car_map *map, const double *scale, char *sentence, size_t size) {
    double entries = 0;
    for (size_t i = 0; i < map->areas; i++) entries += map->num[i];
    if (entries != (double)map->entries)
        return snprintf(sentence, size, "adj has %zu elements, but num sums to %g", map->entries, entries), false;
    for (size_t i = 0, first = 0; i < map->areas; first += (size_t)map->num[i++])
        for (size_t e = first; e < first + (size_t)map->num[i]; e++)
            if (!is_mutual(map, scale, i, first, e, sentence, size)) return false;
    return true;
}

static size_t root_of(size_t *root, size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

size_t svmp_car_components(const car_map *map, size_t *root, size_t *islands) {
    size_t components = map->areas, e = 0;
    *islands = 0;
    for (size_t i = 0; i < map->areas; i++) root[i] = i;
    for (size_t i = 0; i < map->areas; i++) {
        *islands += map->num[i] == 0;
        for (const size_t end = e + (size_t)map->num[i]; e < end; e++) {
            const size_t a = root_of(root, i), b = root_of(root, (size_t)map->adj[e] - 1);
            if (a == b || map->weight[e] == 0) continue;
            root[a > b ? a : b] = a < b ? a : b;
            components--;
        }
    }
    return components - *islands;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* C is similar to the symmetric S_ij = C_ij sqrt(M_j / M_i). */
svmp_status svmp_car_eigenvalues(svmp_context *context, const car_map *map, const double *scale, double *values) {
    const size_t n = map->areas;
    double *matrix = NULL, *workspace = NULL;
    size_t e = 0;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, matrix, n * n));
    SVMP_CHECK(SVMP_NEW(context, workspace, n));
    for (size_t i = 0; i < n; i++)
        for (const size_t end = e + (size_t)map->num[i]; e < end; e++) {
            const size_t j = (size_t)map->adj[e] - 1;
            matrix[i * n + j] = map->weight[e] * sqrt(scale[j] / scale[i]);
        }
    if (!svmp_eigen_symmetric(n, matrix, values, workspace))
        SVMP_CHECK(svmp_fail(context, SVMP_BAD_INPUT, "Cannot compute the eigenvalues of the matrix C of car.proper."));
    qsort(values, n, sizeof *values, ascending);
done:
    svmp_release_all(context, matrix, workspace);
    return status;
}
