/* Matrices in the Matrix Market exchange format (https://math.nist.gov/MatrixMarket/formats.html). */
#ifndef SVMP_DATA_MATRIX_MARKET_H
#define SVMP_DATA_MATRIX_MARKET_H

#include "base/context.h"

typedef struct matrix_entry {
    uint32_t row, column; /* from 0 */
    double value;
} matrix_entry;

typedef struct matrix {
    size_t rows, columns;
    size_t announced, count; /* entries in the file, and those that were kept */
    matrix_entry *entries;   /* by row, then by column; no place twice */
    int symmetric;           /* the lower triangle stands for both: row >= column */
} matrix;

/* Whether an entry is wanted; of a symmetric matrix row >= column. */
typedef int (*matrix_filter)(const void *user_data, matrix_entry entry);

/* Reads `coordinate` and `array`, `real` and `integer`, `general` and `symmetric` matrices, of which it keeps the
 * entries that `keep` wants, or all (NULL). Costs time in proportion to the file and memory in proportion to what is
 * kept, whatever sizes it announces; entries that are out of order cost a sort. Two entries at one place are found when
 * they are kept. */
svmp_status svmp_matrix_read(svmp_context *context, const char *path, matrix_filter keep, const void *user_data,
                             matrix *result);
void svmp_matrix_free(svmp_context *context, matrix *result); /* accepts an all-zero value */

/* The value at a place, 0 where no entry is. Costs a binary search. Asks the lower triangle when symmetric. */
double svmp_matrix_at(const matrix *from, uint32_t row, uint32_t column);

#endif
