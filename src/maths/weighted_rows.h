/* Weighted sums of rows of n numbers, 32 lanes at a time in registers: products of a matrix with the particles.
 * The order is that of the rows, and every lane stands alone: the same bits for any n. */
#ifndef SVMP_MATHS_WEIGHTED_ROWS_H
#define SVMP_MATHS_WEIGHTED_ROWS_H

#include <stddef.h>

/* sum[l] = start + weight[0] row[0][l] + weight[1] row[1][l] + ... */
void svmp_weighted_rows(size_t n, size_t count, const double *const *row, const double *weight, double start,
                        double *sum);

/* The same from what stands in `sum`. */
void svmp_add_weighted_rows(size_t n, size_t count, const double *const *row, const double *weight, double *sum);

#endif
