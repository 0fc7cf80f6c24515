/* A Cholesky factor L of a sparse matrix, P A P' = L L', by columns. */
#ifndef SVMP_MATHS_SPARSE_TRIANGLE_H
#define SVMP_MATHS_SPARSE_TRIANGLE_H

#include <stdint.h>

/* Column j has count[j] numbers from value[start[j]] on, the diagonal first, in the rows from row[row_start[j]] on,
 * ascending. */
typedef struct triangle {
    const int64_t *start, *count, *row, *row_start, *permutation; /* row j of L is row permutation[j] of A */
    double *value;
} triangle;

#endif
