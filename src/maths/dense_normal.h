/* Log densities of multivariate normal distributions, eight at a time: a number of each stands in a lane. */
#ifndef SVMP_MATHS_DENSE_NORMAL_H
#define SVMP_MATHS_DENSE_NORMAL_H

#include <stdbool.h>
#include <stddef.h>

enum { DENSE_LANES = 8 };

/* Numbers of the workspace. */
size_t svmp_dense_normal_workspace(size_t p);

/* log N(d; 0, A^-1) if `precision`, else log N(d; 0, A). d[k*8 + l] is element k in lane l; of the symmetric A, the
 * lower triangle row by row: entry (i, j) at (i*(i + 1)/2 + j)*8 + l. Unless `slope` is NULL, also the derivatives:
 * by d, then by the entries of the triangle, those off the diagonal as if both entries moved. NaN where A is not
 * positive definite. All sums have a fixed order. */
void svmp_dense_normal(size_t p, bool precision, const double *d, const double *A, double *workspace, double *value,
                       double *slope);

#endif
