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
    matrix_entry *entries;   /* by row, then by column, without duplicates */
    int symmetric;           /* only the lower triangle is stored: row >= column */
    size_t bytes;            /* of the file, and its checksum */
    uint64_t checksum;
} matrix;

/* Whether to keep an entry; for symmetric matrices row >= column. */
typedef int (*matrix_filter)(const void *user_data, matrix_entry entry);

/* Reads `coordinate` and `array`, `real` and `integer`, `general` and `symmetric` matrices, of which it keeps the
 * entries that `keep` wants, or all (NULL). Time is proportional to the file and memory to the entries kept, whatever
 * sizes the header declares; unordered entries cost a sort. Duplicates are detected among the entries kept. */
svmp_status svmp_matrix_read(svmp_context *context, const char *path, matrix_filter keep, const void *user_data,
                             matrix *result);
void svmp_matrix_free(svmp_context *context, matrix *result); /* accepts an all-zero value */

/* The value of an element, 0 if there is no entry, by binary search; for symmetric matrices in the lower triangle. */
double svmp_matrix_at(const matrix *from, uint32_t row, uint32_t column);

#endif
