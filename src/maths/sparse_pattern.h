/* The pattern of a sparse symmetric matrix: its lower triangle, column by column, in the format of CHOLMOD. */
#ifndef SVMP_MATHS_SPARSE_PATTERN_H
#define SVMP_MATHS_SPARSE_PATTERN_H

#include "base/context.h"

typedef struct sparsity {
    size_t order, entries;
    size_t *start; /* column j has the rows row[start[j]] ... row[start[j + 1] - 1], ascending, j itself first */
    uint32_t *row;
} sparsity;

typedef struct sparse_place {
    uint32_t row, column;
} sparse_place;

/* The pattern of the diagonal and of `count` entries from either triangle, possibly repeated; place[k], unless `place`
 * is NULL, becomes the index of the k-th one in the pattern. Linear time. */
svmp_status svmp_sparsity_create(svmp_context *context, size_t order, size_t count, const sparse_place *places,
                                 uint32_t *place, sparsity *made);
void svmp_sparsity_free(svmp_context *context, sparsity *pattern); /* accepts an all-zero value */

#endif
